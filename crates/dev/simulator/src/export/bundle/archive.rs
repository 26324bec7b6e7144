//! Writes keyed archives like NSKeyedArchiver: a flat list of objects that refer to each other by
//! index, `$null` first, the root second.

use std::io::{self, Write};

use plist::{Dictionary, Uid, Value};
use rustc_hash::FxHashMap;

use super::file::io_error;

/// A class and its ancestors, itself first. A class without ancestors is written without a list.
type Class = &'static [&'static str];

const ARRAY: Class = &["NSArray", "NSObject"];
const MUTABLE_ARRAY: Class = &["NSMutableArray", "NSArray", "NSObject"];
const SET: Class = &["NSSet", "NSObject"];
const MUTABLE_SET: Class = &["NSMutableSet", "NSSet", "NSObject"];
const DICTIONARY: Class = &["NSDictionary", "NSObject"];
const MUTABLE_DICTIONARY: Class = &["NSMutableDictionary", "NSDictionary", "NSObject"];
const MUTABLE_STRING: Class = &["NSMutableString", "NSString", "NSObject"];
const MUTABLE_DATA: Class = &["NSMutableData", "NSData", "NSObject"];
const INT_KEYED: Class = &["XRIntKeyedDictionary", "NSObject"];

/// A value that goes into an archive.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// The missing value (nil), at index 0.
    Null,
    /// A number, text or boolean as an object of its own.
    Plain(Value),
    /// A list or a set.
    List(Class, Vec<Self>),
    /// A dictionary with its pairs.
    Map(Class, Vec<(Self, Self)>),
    /// Any other object, with its fields.
    Object(Class, Vec<(String, Self)>),
    /// A value inside the object whose field it is, as the coder writes numbers. All other nodes are
    /// objects of their own, to which fields and elements refer.
    Inline(Value),
}

impl Node {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Plain(Value::String(text.into()))
    }

    pub(super) fn int(value: u64) -> Self {
        Self::Plain(Value::Integer(value.into()))
    }

    pub(super) const fn bool(value: bool) -> Self {
        Self::Plain(Value::Boolean(value))
    }

    /// Returns a value that stands in a field itself.
    pub(super) fn inline(value: impl Into<Value>) -> Self {
        Self::Inline(value.into())
    }

    /// Returns a text, or nil.
    pub(super) fn text_if(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    pub(super) fn array(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(ARRAY, items.into_iter().collect())
    }

    pub(super) fn mutable_array(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(MUTABLE_ARRAY, items.into_iter().collect())
    }

    pub(super) const fn empty_set() -> Self {
        Self::List(SET, Vec::new())
    }

    pub(super) fn mutable_set(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(MUTABLE_SET, items.into_iter().collect())
    }

    /// Returns a dictionary with texts as keys.
    pub(super) fn dict<'k>(entries: impl IntoIterator<Item = (&'k str, Self)>) -> Self {
        Self::Map(DICTIONARY, keyed(entries))
    }

    /// Returns a mutable dictionary with texts as keys.
    pub(super) fn mutable_dict<'k>(entries: impl IntoIterator<Item = (&'k str, Self)>) -> Self {
        Self::Map(MUTABLE_DICTIONARY, keyed(entries))
    }

    /// Returns a mutable dictionary with any keys.
    pub(super) const fn mutable_map(entries: Vec<(Self, Self)>) -> Self {
        Self::Map(MUTABLE_DICTIONARY, entries)
    }

    pub(super) fn mutable_text(text: &str) -> Self {
        Self::object(MUTABLE_STRING, [("NS.string", Self::inline(text))])
    }

    pub(super) fn mutable_data(bytes: &[u8]) -> Self {
        let bytes = Self::Inline(Value::Data(bytes.to_vec()));
        Self::object(MUTABLE_DATA, [("NS.data", bytes)])
    }

    /// Returns an object with named fields.
    pub(super) fn object<'k>(
        class: Class,
        fields: impl IntoIterator<Item = (&'k str, Self)>,
    ) -> Self {
        let fields = fields
            .into_iter()
            .map(|(key, field)| (key.to_owned(), field));
        Self::Object(class, fields.collect())
    }

    /// Returns an object with its fields in order: `$0`, `$1`, …
    pub(super) fn numbered(class: Class, fields: impl IntoIterator<Item = Self>) -> Self {
        let fields = (0_u64..)
            .zip(fields)
            .map(|(index, field)| (format!("${index}"), field));
        Self::Object(class, fields.collect())
    }

    /// Returns a dictionary of Instruments' own kind: the count, then keys and values alternating.
    pub(super) fn int_keyed(entries: Vec<(u64, Self)>) -> Self {
        let count = Self::inline(entries.len() as u64);
        let pairs = entries.into_iter();
        let pairs = pairs.flat_map(|(key, value)| [Self::int(key), value]);
        Self::numbered(INT_KEYED, std::iter::once(count).chain(pairs))
    }
}

fn keyed<'k>(entries: impl IntoIterator<Item = (&'k str, Node)>) -> Vec<(Node, Node)> {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (Node::text(key), value))
        .collect()
}

/// Writes an archive with one root, like most files.
pub(super) fn write(root: Node, out: impl Write) -> io::Result<()> {
    write_all([("root", root)], out)
}

/// Writes an archive with several roots.
pub(super) fn write_all<'r>(
    roots: impl IntoIterator<Item = (&'r str, Node)>,
    out: impl Write,
) -> io::Result<()> {
    let mut archive = Archive {
        objects: vec![Value::String("$null".to_owned())],
        plain: FxHashMap::default(),
        classes: FxHashMap::default(),
    };
    let mut top = Dictionary::new();
    for (name, root) in roots {
        let value = archive.add(root);
        top.insert(name.to_owned(), value);
    }

    let mut file = Dictionary::new();
    file.insert("$version".to_owned(), Value::Integer(100_000.into()));
    file.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
    file.insert("$top".to_owned(), Value::Dictionary(top));
    file.insert("$objects".to_owned(), Value::Array(archive.objects));
    Value::Dictionary(file)
        .to_writer_binary(out)
        .map_err(io_error)
}

/// A keyed archive that is being built.
#[derive(Debug)]
struct Archive {
    objects: Vec<Value>,
    /// Indices of plain values; equal numbers and texts are written once.
    plain: FxHashMap<String, u64>,
    classes: FxHashMap<&'static str, u64>,
}

impl Archive {
    /// Adds a node and its contents, and returns a reference to it.
    fn add(&mut self, node: Node) -> Value {
        let (index, class, mut fields) = match node {
            Node::Null => return uid(0),
            Node::Plain(value) => return self.plain(value),
            Node::Inline(value) => return value,
            Node::List(class, items) => {
                let index = self.reserve();
                let items = items.into_iter().map(|item| self.add(item)).collect();
                (index, class, fields([("NS.objects", items)]))
            }
            Node::Map(class, entries) => {
                let index = self.reserve();
                let (keys, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
                let keys = keys.into_iter().map(|key| self.add(key)).collect();
                let values = values.into_iter().map(|value| self.add(value)).collect();
                (
                    index,
                    class,
                    fields([("NS.keys", keys), ("NS.objects", values)]),
                )
            }
            Node::Object(class, named) => {
                let index = self.reserve();
                let mut fields = Dictionary::new();
                for (key, field) in named {
                    fields.insert(key, self.add(field));
                }
                (index, class, fields)
            }
        };

        fields.insert("$class".to_owned(), self.class(class));
        self.objects[index] = Value::Dictionary(fields);
        uid(index as u64)
    }

    fn plain(&mut self, value: Value) -> Value {
        let key = format!("{value:?}");
        if let Some(known) = self.plain.get(&key) {
            return uid(*known);
        }
        let index = self.reserve();
        self.objects[index] = value;
        self.plain.insert(key, index as u64);
        uid(index as u64)
    }

    fn class(&mut self, class: Class) -> Value {
        let name = class.first().copied().unwrap_or_default();
        if let Some(known) = self.classes.get(name) {
            return uid(*known);
        }
        let index = self.reserve();
        let mut fields = Dictionary::new();
        fields.insert("$classname".to_owned(), name.into());
        if class.len() > 1 {
            let chain = class.iter().map(|name| Value::from(*name)).collect();
            fields.insert("$classes".to_owned(), Value::Array(chain));
        }
        self.objects[index] = Value::Dictionary(fields);
        self.classes.insert(name, index as u64);
        uid(index as u64)
    }

    /// Reserves the index of an object whose contents come after it.
    fn reserve(&mut self) -> usize {
        self.objects.push(Value::Boolean(false));
        self.objects.len() - 1
    }
}

fn fields<const N: usize>(lists: [(&str, Vec<Value>); N]) -> Dictionary {
    let mut fields = Dictionary::new();
    for (key, list) in lists {
        fields.insert(key.to_owned(), Value::Array(list));
    }
    fields
}

fn uid(index: u64) -> Value {
    Value::Uid(Uid::new(index))
}
