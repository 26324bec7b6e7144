//! NSKeyedArchiver's archives: a flat list of objects that refer to each other
//! by number.
//!
//! Objects are looked at one step at a time and only as far as somebody asks,
//! so that an archive whose objects contain each other costs nothing.

use std::collections::BTreeMap;

use plist::Value;

/// An archive.
pub(crate) struct Keyed {
    objects: Vec<Value>,
    top: BTreeMap<String, Value>,
}

impl Keyed {
    /// Reads an archive; `None` if it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let archive = Value::from_reader(std::io::Cursor::new(bytes)).ok()?;
        let mut archive = archive.into_dictionary()?;
        let objects = archive.remove("$objects")?.into_array()?;
        let top = archive.remove("$top")?.into_dictionary()?;
        Some(Self {
            objects,
            top: top.into_iter().collect(),
        })
    }

    /// The object that the archive is of.
    pub(crate) fn root(&self) -> Option<Object<'_>> {
        self.top("root")
    }

    /// An object by its name in `$top`.
    pub(crate) fn top(&self, name: &str) -> Option<Object<'_>> {
        self.object(self.top.get(name)?)
    }

    fn object<'a>(&'a self, value: &'a Value) -> Option<Object<'a>> {
        let value = match value {
            Value::Uid(uid) => self.objects.get(usize::try_from(uid.get()).ok()?)?,
            value => value,
        };
        let null = value.as_string() == Some("$null");
        (!null).then_some(Object {
            archive: self,
            value,
        })
    }
}

/// An object of an archive.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    archive: &'a Keyed,
    value: &'a Value,
}

impl<'a> Object<'a> {
    /// A member by name, or an entry of a dictionary by its key.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let dictionary = self.value.as_dictionary()?;
        if let Some(value) = dictionary.get(name) {
            return self.archive.object(value);
        }
        self.entries()
            .find(|(key, _)| key.text() == Some(name))
            .map(|(_, value)| value)
    }

    /// The items of an array or set.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let items = self
            .value
            .as_dictionary()
            .and_then(|d| d.get("NS.objects")?.as_array());
        items
            .into_iter()
            .flatten()
            .filter_map(move |value| self.archive.object(value))
    }

    /// The entries of a dictionary.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        let list = |name| {
            self.value
                .as_dictionary()
                .and_then(|d| d.get(name)?.as_array())
        };
        let keys = list("NS.keys").into_iter().flatten();
        let values = list("NS.objects").into_iter().flatten();
        keys.zip(values).filter_map(move |(key, value)| {
            Some((self.archive.object(key)?, self.archive.object(value)?))
        })
    }

    /// The entries of an XRIntKeyedDictionary: `$0` is their count, then key
    /// and value in turn.
    pub(crate) fn numbered_entries(self) -> impl Iterator<Item = (u64, Self)> {
        let count = self
            .get("$0")
            .and_then(Self::integer)
            .unwrap_or(0)
            .min(1 << 20);
        (0..count).filter_map(move |at| {
            let key = self.get(&format!("${}", 2 * at + 1))?.integer()?;
            Some((key, self.get(&format!("${}", 2 * at + 2))?))
        })
    }

    /// A string, mutable or not.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self.value.as_string() {
            Some(text) => Some(text),
            None => self.value.as_dictionary()?.get("NS.string")?.as_string(),
        }
    }

    pub(crate) fn integer(self) -> Option<u64> {
        self.value.as_unsigned_integer()
    }

    pub(crate) fn real(self) -> Option<f64> {
        self.value.as_real()
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        self.value.as_boolean()
    }
}
