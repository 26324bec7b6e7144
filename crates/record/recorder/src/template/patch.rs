//! Changes settings in a template, and nothing else.
//!
//! A template is an archive (`NSKeyedArchiver`): a flat list of objects that refer to each
//! other by index. A dictionary in it has two lists, keys and values:
//!
//! ```text
//! $objects: … 8: {NS.keys: [9, …], NS.objects: [12, …]}  9: "shaderprofiler"  12: false  …  20: true
//!                                               └─ now 20
//! ```
//!
//! Archives have most small values already, so that a few bytes change. A value that an archive lacks
//! is appended.

use std::io::Cursor;
use std::mem::discriminant;

use plist::{Dictionary, Uid, Value};

use super::binary::{BinaryList, Object, References, Scalar};
use super::change::TemplateChange;

/// Returns the archive with the changes. All other bytes of a binary archive stay as they are.
pub(super) fn patched(
    template: &[u8],
    changes: &[TemplateChange],
) -> Result<Vec<u8>, &'static str> {
    let mut list = BinaryList::parse(template)
        .or_else(|| BinaryList::parse(&as_binary(template)?))
        .ok_or("it is not a property list")?;
    for &change in changes {
        apply(change, &mut list)?;
    }
    Ok(list.into_bytes())
}

/// Returns a property list of another form, such as XML, in binary form.
fn as_binary(template: &[u8]) -> Option<Vec<u8>> {
    let value = Value::from_reader(Cursor::new(template)).ok()?;
    let mut binary = Vec::new();
    with_uids(value).to_writer_binary(&mut binary).ok()?;
    Some(binary)
}

/// Replaces the dictionaries that stand for references in XML, `{CF$UID: 3}`.
fn with_uids(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.into_iter().map(with_uids).collect()),
        Value::Dictionary(entries) => match (entries.len(), entries.get("CF$UID")) {
            (1, Some(Value::Integer(index))) if index.as_unsigned().is_some() => {
                Value::Uid(Uid::new(index.as_unsigned().unwrap_or_default()))
            }
            _ => Value::Dictionary(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, with_uids(value)))
                    .collect::<Dictionary>(),
            ),
        },
        other => other,
    }
}

/// The list of objects of an archive.
struct Objects {
    /// Number of the array in the property list.
    number: usize,
    elements: References,
}

impl Objects {
    /// Finds the list of objects. None if the property list is not an archive.
    fn find(list: &BinaryList) -> Option<Self> {
        let Object::Dictionary(top) = list.object(list.top())? else {
            return None;
        };
        let number = list.value(&top, "$objects")?;
        match list.object(number)? {
            Object::Array(elements) => Some(Self { number, elements }),
            _ => None,
        }
    }

    /// Returns the object that a value refers to, or the value itself if it is not a reference.
    fn resolved(&self, list: &BinaryList, value: usize) -> Option<Object> {
        match list.object(value)? {
            Object::Scalar(Scalar::Uid(index)) => {
                list.object(*self.elements.to.get(usize::try_from(index).ok()?)?)
            }
            object => Some(object),
        }
    }
}

/// Applies one change to a template.
fn apply(change: TemplateChange, list: &mut BinaryList) -> Result<(), &'static str> {
    let objects = Objects::find(list).ok_or("it is not an archive")?;
    let slots = slots(change, list, &objects);
    if slots.is_empty() {
        return Err(change.missing_key());
    }
    // Nothing that writes archives shares these. A change of such a list would change other settings.
    if slots
        .iter()
        .any(|slot| list.users(slot.list) > 1 || list.users(slot.dictionary) > 1)
    {
        return Err("some of its settings share one list");
    }

    let wanted = Object::Scalar(change.value());
    let has_other = |slot: &&Slot| slot.value.as_ref() != Some(&wanted);
    let different: Vec<&Slot> = slots.iter().filter(has_other).collect();
    if different.is_empty() {
        return Ok(());
    }
    let reference = reference_to(change.value(), list, &objects)?;
    for slot in different {
        list.point(&slot.values, slot.index, reference);
    }
    Ok(())
}

/// Returns the number of a reference to this value, which is appended if the archive lacks it.
fn reference_to(
    value: Scalar,
    list: &mut BinaryList,
    objects: &Objects,
) -> Result<usize, &'static str> {
    let elements = &objects.elements.to;
    let index = elements
        .iter()
        .position(|&number| is_scalar(list, number, value));
    let uid = Scalar::Uid(index.unwrap_or(elements.len()) as u64);
    let known = list.all().find(|&number| is_scalar(list, number, uid));
    if let (Some(_), Some(known)) = (index, known) {
        return Ok(known);
    }

    if !list.has_room_for(2) {
        return Err("it has no room for another value");
    }
    if index.is_none() {
        let new = list.append(value);
        list.extend_array(objects.number, &objects.elements, new);
    }
    Ok(known.unwrap_or_else(|| list.append(uid)))
}

fn is_scalar(list: &BinaryList, number: usize, scalar: Scalar) -> bool {
    list.object(number) == Some(Object::Scalar(scalar))
}

/// The place of a setting's value.
struct Slot {
    /// Number of the dictionary.
    dictionary: usize,
    /// Number of the list of its values.
    list: usize,
    values: References,
    /// Index of the value in this list.
    index: usize,
    /// The value.
    value: Option<Object>,
}

/// Returns the places of the first key's values and of its companion's, or nothing if the first key
/// does not exist.
fn slots(change: TemplateChange, list: &BinaryList, objects: &Objects) -> Vec<Slot> {
    let [first, companion] = change.keys();
    let (mut copies, mut has_first) = (Vec::new(), false);
    for &dictionary in &objects.elements.to {
        let Some(Object::Dictionary(contents)) = list.object(dictionary) else {
            continue;
        };
        // A keyed archive stores a dictionary as two lists: its keys, and their values in the same order.
        let array = |name: &str| match list.value(&contents, name) {
            Some(number) => match list.object(number) {
                Some(Object::Array(elements)) => Some((number, elements)),
                _ => None,
            },
            None => None,
        };
        let (Some((_, keys)), Some((number, values))) = (array("NS.keys"), array("NS.objects"))
        else {
            continue;
        };

        let find = |name: &str| {
            let index = keys.to.iter().position(|&key| matches!(objects.resolved(list, key), Some(Object::Text(text)) if text == name))?;
            let value = objects.resolved(list, *values.to.get(index)?);
            Some(Slot {
                dictionary,
                list: number,
                values: values.clone(),
                index,
                value,
            })
        };
        let is_kind = |slot: &Slot| match &slot.value {
            Some(Object::Scalar(value)) => discriminant(value) == discriminant(&change.value()),
            _ => false,
        };
        let first = find(first).filter(is_kind);
        let with_first = change.always_changes_companion() && first.is_some();
        let companion = find(companion).filter(|slot| with_first || is_kind(slot));
        has_first |= first.is_some();
        copies.extend(first.into_iter().chain(companion));
    }
    if has_first { copies } else { Vec::new() }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::template_for_test;
