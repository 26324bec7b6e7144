//! Reads an archive of objects with the plist crate, more strictly than the reader under test.

use std::io::Cursor;

use plist::{Dictionary, Value};

use super::{Bundled, file};

/// An archive of objects that refer to each other by number.
pub(super) struct Archive {
    objects: Vec<Value>,
    top: Dictionary,
}

impl Archive {
    pub(super) fn read(files: &Bundled, path: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{path}: {what}");
        let bytes = file(files, path)?;
        let value = Value::from_reader(Cursor::new(bytes)).map_err(|e| wrong(&e.to_string()))?;
        let mut members = value.into_dictionary().ok_or_else(|| wrong("no members"))?;
        let objects = members.remove("$objects").and_then(Value::into_array);
        let top = members.remove("$top").and_then(Value::into_dictionary);
        match (objects, top) {
            (Some(objects), Some(top)) => Ok(Self { objects, top }),
            _ => Err(wrong("no archive")),
        }
    }

    /// Returns the object of a reference, or `None` for null. An invalid reference is an error.
    pub(super) fn object<'a>(&'a self, value: &'a Value) -> Result<Option<&'a Value>, String> {
        let Value::Uid(uid) = value else {
            return Ok(Some(value));
        };
        let at = usize::try_from(uid.get()).map_err(|error| error.to_string())?;
        let found = self.objects.get(at).ok_or("a reference to nothing")?;
        Ok(Some(found).filter(|found| found.as_string() != Some("$null")))
    }

    pub(super) fn top(&self, name: &str) -> Result<Option<&Value>, String> {
        match self.top.get(name) {
            Some(value) => self.object(value),
            None => Ok(None),
        }
    }

    pub(super) fn get<'a>(
        &'a self,
        object: &'a Value,
        name: &str,
    ) -> Result<Option<&'a Value>, String> {
        let Some(members) = object.as_dictionary() else {
            return Ok(None);
        };
        match members.get(name) {
            Some(value) => self.object(value),
            None => {
                let found = self.entries(object)?.into_iter();
                let mut found = found.filter(|(key, _)| key.as_string() == Some(name));
                Ok(found.next().map(|(_, value)| value))
            }
        }
    }

    pub(super) fn items<'a>(&'a self, object: &'a Value) -> Result<Vec<&'a Value>, String> {
        let members = object.as_dictionary();
        let items = members.and_then(|members| members.get("NS.objects"));
        let items = items.and_then(Value::as_array).ok_or("no list")?;
        let items = items.iter();
        items
            .map(|item| self.object(item)?.ok_or_else(|| "a null item".to_owned()))
            .collect()
    }

    pub(super) fn entries<'a>(
        &'a self,
        object: &'a Value,
    ) -> Result<Vec<(&'a Value, &'a Value)>, String> {
        let members = object.as_dictionary().ok_or("no members")?;
        let list = |name: &str| members.get(name).and_then(Value::as_array);
        let (Some(keys), Some(values)) = (list("NS.keys"), list("NS.objects")) else {
            return Ok(Vec::new());
        };
        if keys.len() != values.len() {
            return Err(format!("{} keys of {} values", keys.len(), values.len()));
        }
        let mut entries = Vec::new();
        for (key, value) in keys.iter().zip(values) {
            let key = self.object(key)?.ok_or("a null key")?;
            if let Some(value) = self.object(value)? {
                entries.push((key, value));
            }
        }
        Ok(entries)
    }

    pub(super) fn text(&self, object: &Value, name: &str) -> Result<Option<String>, String> {
        let value = self.get(object, name)?;
        Ok(value.and_then(Value::as_string).map(str::to_owned))
    }

    pub(super) fn number(&self, object: &Value, name: &str) -> Result<Option<u64>, String> {
        let value = self.get(object, name)?;
        Ok(value.and_then(Value::as_unsigned_integer))
    }
}
