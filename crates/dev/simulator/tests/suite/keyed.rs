//! Reads keyed archives, with code that shares nothing with the writer.

use std::collections::BTreeMap;
use std::path::Path;

use plist::{Dictionary, Value};

use crate::trace_bundle::inflated;

/// Reads the roots of a keyed archive. Collections become arrays and dictionaries, and objects
/// become dictionaries of their fields.
pub(crate) fn archive(path: &Path) -> Dictionary {
    archive_to(path, 20)
}

/// Reads an archive down to a depth. Real documents are large and have cycles.
pub(crate) fn archive_to(path: &Path, depth: usize) -> Dictionary {
    let value = Value::from_reader(std::io::Cursor::new(inflated(path))).unwrap();
    let file = value.into_dictionary().unwrap();
    assert_eq!(file["$archiver"].as_string(), Some("NSKeyedArchiver"));
    assert_eq!(file["$version"].as_unsigned_integer(), Some(100_000));
    let objects = file["$objects"].as_array().unwrap();
    assert_eq!(objects[0].as_string(), Some("$null"));

    let top = file["$top"].as_dictionary().unwrap();
    top.iter()
        .map(|(key, value)| (key.clone(), resolved(objects, value, depth)))
        .collect()
}

fn resolved(objects: &[Value], value: &Value, depth: usize) -> Value {
    let at = match value {
        Value::Uid(uid) => usize::try_from(uid.get()).unwrap(),
        inline => return inline.clone(),
    };
    let Some(fields) = objects[at].as_dictionary() else {
        return objects[at].clone();
    };
    let Some(depth) = depth.checked_sub(1) else {
        return Value::String("deeper".to_owned());
    };
    let list = |key: &str| -> Option<Vec<Value>> {
        let items = fields.get(key)?.as_array().unwrap();
        Some(
            items
                .iter()
                .map(|item| resolved(objects, item, depth))
                .collect(),
        )
    };

    match (list("NS.keys"), list("NS.objects")) {
        (Some(keys), Some(values)) => {
            let keys = keys.iter().map(|key| match key {
                Value::String(_) | Value::Integer(_) => plain(key),
                other => format!("{other:?}"),
            });
            Value::Dictionary(keys.zip(values).collect())
        }
        (None, Some(items)) => Value::Array(items),
        _ => {
            let own = fields.iter().filter(|(key, _)| *key != "$class");
            let mut all: Dictionary = own
                .map(|(key, value)| (key.clone(), resolved(objects, value, depth)))
                .collect();
            let class = objects[uid(&fields["$class"])].as_dictionary().unwrap();
            all.insert("$classname".to_owned(), class["$classname"].clone());
            Value::Dictionary(all)
        }
    }
}

fn uid(value: &Value) -> usize {
    usize::try_from(value.as_uid().unwrap().get()).unwrap()
}

/// Returns a key or number as text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => panic!("no key: {other:?}"),
    }
}

/// Returns a member of a dictionary.
pub(crate) fn get<'v>(value: &'v Value, key: &str) -> &'v Value {
    let members = value
        .as_dictionary()
        .unwrap_or_else(|| panic!("no dictionary: {value:?}"));
    members
        .get(key)
        .unwrap_or_else(|| panic!("no {key} in {members:?}"))
}

/// Returns the entries of a dictionary of Instruments' own kind: the count, then keys and values
/// alternating.
pub(crate) fn int_keyed(fields: &Dictionary) -> BTreeMap<String, Value> {
    let count = fields["$0"].as_unsigned_integer().unwrap();
    let field = |n: u64| &fields[format!("${n}").as_str()];
    (0..count)
        .map(|n| (plain(field(2 * n + 1)), field(2 * n + 2).clone()))
        .collect()
}
