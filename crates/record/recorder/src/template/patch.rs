//! Switches the Shader Timeline on in a template.
//!
//! A template is an archive (`NSKeyedArchiver`): a flat list of objects that refer to each
//! other by index. A dictionary in it has two lists, keys and values:
//!
//! ```text
//! $objects: … 8: {NS.keys: [9, …], NS.objects: [12, …]}  9: "shaderprofiler"  12: false  …  20: true
//!                                               └─ now 20
//! ```

use std::io::Cursor;

use plist::{Dictionary, Uid, Value};

/// Switch of the Shader Timeline, which a template must have.
const SWITCH: &str = "shaderprofiler";
/// Switches to change: a null in the internal one means that the instrument has no such setting.
const SWITCHES: [&str; 2] = [SWITCH, "shaderprofilerinternal"];

/// Returns the archive with the Shader Timeline switched on, in binary form.
pub(super) fn patched(template: &[u8]) -> Result<Vec<u8>, &'static str> {
    let archive = Value::from_reader(Cursor::new(template));
    let mut archive = with_uids(archive.map_err(|_| "it is not a property list")?);
    let objects = archive
        .as_dictionary_mut()
        .and_then(|top| top.get_mut("$objects")?.as_array_mut())
        .ok_or("it is not an archive")?;

    let settings: Vec<Setting> = settings(objects).collect();
    if !settings.iter().any(|setting| setting.name == SWITCH) {
        return Err("it has no switch for the Shader Timeline");
    }
    let is_on = |object: &Value| *object == Value::Boolean(true);
    let on = objects.iter().position(is_on).unwrap_or(objects.len());
    if on == objects.len() {
        objects.push(Value::Boolean(true));
    }
    for setting in settings.iter().filter(|setting| !setting.is_on) {
        let values = objects
            .get_mut(setting.dictionary)
            .and_then(|object| list_mut(object, "NS.objects"));
        if let Some(value) = values.and_then(|values| values.get_mut(setting.place)) {
            *value = Value::Uid(Uid::new(on as u64));
        }
    }

    let mut binary = Vec::new();
    let written = archive.to_writer_binary(&mut binary);
    written.map_err(|_| "it cannot be written")?;
    Ok(binary)
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

/// A switch in an archive.
struct Setting {
    name: &'static str,
    /// Index of its dictionary.
    dictionary: usize,
    /// Place of its value in the list of values.
    place: usize,
    is_on: bool,
}

/// Returns the switches in all dictionaries of an archive.
fn settings(objects: &[Value]) -> impl Iterator<Item = Setting> {
    let each = objects
        .iter()
        .enumerate()
        .flat_map(|at| SWITCHES.map(|name| (at, name)));
    each.filter_map(|((dictionary, object), name)| {
        let (keys, values) = (list(object, "NS.keys")?, list(object, "NS.objects")?);
        let is_named = |key: &Value| resolved(key, objects).as_string() == Some(name);
        let place = keys.iter().position(is_named)?;
        Some(Setting {
            name,
            dictionary,
            place,
            is_on: resolved(values.get(place)?, objects).as_boolean()?,
        })
    })
}

/// Returns a list of an archived dictionary.
fn list<'a>(object: &'a Value, name: &str) -> Option<&'a Vec<Value>> {
    object.as_dictionary()?.get(name)?.as_array()
}

fn list_mut<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    object.as_dictionary_mut()?.get_mut(name)?.as_array_mut()
}

/// Returns the object that a value refers to, or the value itself if it is not a reference.
fn resolved<'a>(value: &'a Value, objects: &'a [Value]) -> &'a Value {
    let index = value.as_uid().map(|uid| usize::try_from(uid.get()));
    let object = index.and_then(|index| objects.get(index.ok()?));
    object.unwrap_or(value)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::template_for_test;
