//! Reads Apple's binary property lists in place.
//!
//! References are not expanded: a list of ten references to one list of ten references takes twenty
//! numbers, in the file and here. A reader that builds a tree would need a hundred, and a billion
//! for nine such levels. Nothing recurses, so a list that contains itself is harmless.

use std::ops::Range;

/// A binary property list.
pub(crate) struct BinaryPlist {
    bytes: Vec<u8>,
    nodes: Vec<Node>,
    reference_size: usize,
    root: usize,
}

/// An object of a property list.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Boolean(bool),
    Integer(u64),
    Real(f64),
    /// Range of its bytes.
    Text(Range<usize>),
    /// A text in UTF-16, converted.
    Wide(Box<str>),
    Data(Range<usize>),
    /// A reference to an object of an archive.
    Uid(u64),
    List(References),
    Dictionary {
        keys: References,
        values: References,
    },
    /// A date, a negative number, or a null.
    Other,
    /// An object that cannot be read.
    Broken,
}

/// Consecutive references in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct References {
    start: usize,
    count: usize,
}

const MAGIC: &[u8] = b"bplist00";
const TRAILER: usize = 32;
/// Maximum number of objects. An object takes 40 bytes in memory, and perhaps one in the file. Real
/// lists have at most 85,000.
const MAX_OBJECTS: usize = 2 << 20;

impl BinaryPlist {
    /// Parses a list. `None` if the bytes are not one. A broken object is [`Node::Broken`], since
    /// it may not be needed.
    pub(crate) fn parse(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes: Vec<u8> = bytes.into();
        let end = bytes.len().checked_sub(TRAILER)?;
        let (body, trailer) = bytes.split_at_checked(end)?;
        if !body.starts_with(MAGIC) {
            return None;
        }

        let size = |at: usize| trailer.get(at).map(|&size| usize::from(size));
        let number = |at: usize| usize::try_from(integer(trailer.get(at..at + 8)?)?).ok();
        let (offset_size, reference_size) = (size(6)?, size(7)?);
        let (count, root, table) = (number(8)?, number(16)?, number(24)?);
        if count > MAX_OBJECTS {
            return None;
        }

        if !(1..=8).contains(&offset_size) || !(1..=8).contains(&reference_size) {
            return None;
        }
        let table_end = table.checked_add(count.checked_mul(offset_size)?)?;
        let offsets = body.get(table..table_end)?.chunks_exact(offset_size);
        let mut objects = Objects {
            body,
            reference_size,
            // Objects may overlap, so the converted texts are limited to the size of the file.
            wide: body.len(),
        };

        let nodes = offsets.map(|offset| {
            let offset = integer(offset).and_then(|offset| usize::try_from(offset).ok());
            let node = offset.and_then(|offset| objects.node(offset));
            node.unwrap_or(Node::Broken)
        });
        let nodes: Vec<Node> = nodes.collect();
        Some(Self {
            nodes,
            bytes,
            reference_size,
            root,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if every object can be read and all references are valid. Lists that share
    /// their bytes would take long to check, and are not sound either.
    pub(crate) fn is_sound(&self) -> bool {
        let mut left = self.bytes.len();
        self.nodes.iter().all(|node| {
            let references = match node {
                Node::List(items) => items.count,
                Node::Dictionary { keys, .. } => keys.count,
                _ => 0,
            };
            let affordable = left.checked_sub(references);
            left = affordable.unwrap_or(0);
            affordable.is_some() && self.is_sound_object(node)
        })
    }

    fn is_sound_object(&self, node: &Node) -> bool {
        match *node {
            Node::Broken => false,
            Node::Text(_) => self.text(node).is_some(),
            Node::List(items) => (0..items.count).all(|at| self.item(items, at).is_some()),
            Node::Dictionary { .. } => !self.has_broken_member(node) && !self.has_duplicates(node),
            _ => true,
        }
    }

    /// Returns true if two entries of a dictionary have the same name, which is ambiguous.
    fn has_duplicates(&self, node: &Node) -> bool {
        let mut names: Vec<&[u8]> = self.members(node).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair.first() == pair.last())
    }

    /// Returns the numbers of all referenced objects of an archive.
    pub(crate) fn uids(&self) -> impl Iterator<Item = u64> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Uid(number) => Some(*number),
            _ => None,
        })
    }

    pub(crate) fn root(&self) -> Option<&Node> {
        self.nodes.get(self.root)
    }

    /// Returns the object of a reference.
    pub(crate) fn item(&self, references: References, at: usize) -> Option<&Node> {
        if at >= references.count {
            return None;
        }
        let start = references.start + at * self.reference_size;
        let reference = integer(self.bytes.get(start..start + self.reference_size)?)?;
        self.nodes.get(usize::try_from(reference).ok()?)
    }

    /// Returns true if a dictionary has an entry without a value or without a name.
    pub(crate) fn has_broken_member(&self, node: &Node) -> bool {
        let Node::Dictionary { keys, values } = *node else {
            return false;
        };
        let name = |at: usize| self.item(keys, at).and_then(|key| self.text(key));
        (0..keys.count).any(|at| name(at).is_none() || self.item(values, at).is_none())
    }

    /// Returns the keys and values of a dictionary.
    pub(crate) fn members<'a>(
        &'a self,
        node: &'a Node,
    ) -> impl Iterator<Item = (&'a [u8], &'a Node)> {
        let (keys, values) = match node {
            Node::Dictionary { keys, values } => (*keys, *values),
            _ => (References::NONE, References::NONE),
        };
        (0..keys.count).filter_map(move |at| {
            let key = self.text_bytes(self.item(keys, at)?)?;
            Some((key, self.item(values, at)?))
        })
    }

    pub(crate) fn text<'a>(&'a self, node: &'a Node) -> Option<&'a str> {
        std::str::from_utf8(self.text_bytes(node)?).ok()
    }

    /// Returns the bytes of a text, which may not be UTF-8.
    pub(crate) fn text_bytes<'a>(&'a self, node: &'a Node) -> Option<&'a [u8]> {
        match node {
            Node::Text(range) => self.bytes.get(range.clone()),
            Node::Wide(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    pub(crate) fn data(&self, node: &Node) -> Option<&[u8]> {
        match node {
            Node::Data(range) => self.bytes.get(range.clone()),
            _ => None,
        }
    }
}

impl References {
    const NONE: Self = Self { start: 0, count: 0 };

    pub(crate) fn count(self) -> usize {
        self.count
    }
}

/// The reader of the objects.
struct Objects<'a> {
    body: &'a [u8],
    reference_size: usize,
    /// Number of bytes of UTF-16 that may still be converted.
    wide: usize,
}

impl Objects<'_> {
    /// Parses the object at an offset. `None` if it does not fit into the file.
    fn node(&mut self, offset: usize) -> Option<Node> {
        let &token = self.body.get(offset)?;
        let (kind, low) = (token >> 4, usize::from(token & 0xf));
        let after = offset + 1;
        let number = |size: usize| integer(self.body.get(after..after + size)?);
        Some(match (kind, low) {
            (0x0, 0x0) | (0x3, 3) => Node::Other,
            (0x0, 0x8 | 0x9) => Node::Boolean(low == 0x9),
            (0x1, 0..=2) => Node::Integer(number(1 << low)?),
            (0x1, 3) => match number(8)? {
                negative if i64::try_from(negative).is_err() => Node::Other,
                number => Node::Integer(number),
            },
            // Numbers with more than 63 bits have 16 bytes.
            (0x1, 4) => {
                let high = number(8)?;
                let low = integer(self.body.get(after + 8..after + 16)?)?;
                match high {
                    0 => Node::Integer(low),
                    _ => Node::Other,
                }
            }
            (0x2, 2) => {
                let bits = u32::try_from(number(4)?).ok()?;
                Node::Real(f64::from(f32::from_bits(bits)))
            }
            (0x2, 3) => Node::Real(f64::from_bits(number(8)?)),
            (0x4, _) => Node::Data(self.run(after, low, 1)?.0),
            (0x5, _) => Node::Text(self.run(after, low, 1)?.0),
            (0x6, _) => self.wide(after, low)?,
            (0x8, 0..=7) => Node::Uid(number(low + 1)?),
            (0xa, _) => {
                let (range, count) = self.run(after, low, self.reference_size)?;
                let start = range.start;
                Node::List(References { start, count })
            }
            (0xd, _) => {
                let (range, count) = self.run(after, low, 2 * self.reference_size)?;
                let start = range.start;
                let values = start + count * self.reference_size;
                Node::Dictionary {
                    keys: References { start, count },
                    values: References {
                        start: values,
                        count,
                    },
                }
            }
            _ => return None,
        })
    }

    /// Returns the range and the number of the items of an object.
    fn run(&self, at: usize, low: usize, size: usize) -> Option<(Range<usize>, usize)> {
        let (start, count) = if low < 0xf {
            (at, low)
        } else {
            let &token = self.body.get(at)?;
            let width = 1_usize << (token & 0x3);
            let count = integer(self.body.get(at + 1..at + 1 + width)?)?;
            (at + 1 + width, usize::try_from(count).ok()?)
        };
        let end = start.checked_add(count.checked_mul(size)?)?;
        (end <= self.body.len()).then_some((start..end, count))
    }

    fn wide(&mut self, at: usize, low: usize) -> Option<Node> {
        let bytes = self.body.get(self.run(at, low, 2)?.0)?;
        self.wide = self.wide.checked_sub(bytes.len())?;
        let units = bytes
            .chunks_exact(2)
            .filter_map(|unit| unit.try_into().ok());
        let units = units.map(u16::from_be_bytes);
        let text: Result<String, _> = char::decode_utf16(units).collect();
        Some(Node::Wide(text.ok()?.into()))
    }
}

/// Parses a big-endian number of up to 8 bytes.
fn integer(bytes: &[u8]) -> Option<u64> {
    let fold = |number: u64, &byte: &u8| (number << 8) | u64::from(byte);
    (bytes.len() <= 8).then(|| bytes.iter().fold(0, fold))
}

#[cfg(test)]
mod tests {
    use plist::{Dictionary, Value};

    use super::*;

    fn written(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.to_writer_binary(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn objects_of_every_kind_are_read() {
        let mut dictionary = Dictionary::new();
        let long = "ä".repeat(300);
        for (key, value) in [
            ("a", Value::from(u64::MAX)),
            ("b", Value::from(-1)),
            ("c", Value::from(70_000)),
            ("d", Value::from(0.5)),
            ("e", Value::from("text")),
            ("f", Value::from(long.as_str())),
            ("g", Value::from(true)),
            ("h", Value::Data(vec![1, 2])),
            ("i", Value::Uid(plist::Uid::new(300))),
            ("j", Value::Array(vec![Value::from(1), Value::from(2)])),
        ] {
            dictionary.insert(key.to_owned(), value);
        }

        let list = BinaryPlist::parse(written(&Value::Dictionary(dictionary))).unwrap();
        let shown = list
            .members(list.root().unwrap())
            .map(|(key, node)| match node {
                Node::Text(_) | Node::Wide(_) => {
                    format!("{}{}", key[0] as char, list.text(node).unwrap().len())
                }
                Node::Data(_) => format!("h{:?}", list.data(node).unwrap()),
                Node::List(references) => format!("j{}", references.count()),
                other => format!("{}{other:?}", key[0] as char),
            });
        let shown: Vec<String> = shown.collect();
        assert_eq!(
            shown.join(" "),
            "aInteger(18446744073709551615) bOther cInteger(70000) dReal(0.5) e4 f600 \
             gBoolean(true) h[1, 2] iUid(300) j2"
        );
    }

    /// A reference may have any number.
    #[test]
    fn invalid_references_give_none() {
        let list = BinaryPlist::parse(written(&Value::Array(vec![Value::from(7)]))).unwrap();
        let Some(&Node::List(references)) = list.root() else {
            panic!("no list");
        };
        assert!(list.item(references, 0).is_some());
        for at in [1, 256, usize::MAX / 2, usize::MAX] {
            assert!(list.item(references, at).is_none());
        }
    }

    #[test]
    fn lists_may_be_cut_off_or_changed_anywhere() {
        let value = Value::Array(vec![Value::from("text"), Value::from("ä"), Value::from(7)]);
        let bytes = written(&value);
        for end in 0..bytes.len() {
            let _ = BinaryPlist::parse(&bytes[..end]);
        }

        for at in 0..bytes.len() {
            for byte in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = byte;
                let Some(list) = BinaryPlist::parse(changed) else {
                    continue;
                };
                if let Some(&Node::List(references)) = list.root() {
                    let items = (0..references.count()).filter_map(|at| list.item(references, at));
                    items.for_each(|item| {
                        assert!(list.text(item).is_none_or(|text| text.len() < 99));
                    });
                }
            }
        }
    }

    /// Many texts at the same place, each of them converted.
    #[test]
    fn overlapping_texts_do_not_outgrow_the_file() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([0x6f, 0x11, 0x80, 0x00]);
        bytes.extend([0; 0x10000]);
        let table = bytes.len() as u64;
        bytes.extend([8].repeat(0x4000));
        bytes.extend([0, 0, 0, 0, 0, 0, 1, 1]);
        for number in [0x4000, 0, table] {
            bytes.extend(number.to_be_bytes());
        }
        let list = BinaryPlist::parse(bytes).unwrap();
        let wide = |node: &&Node| matches!(node, Node::Wide(_));
        assert_eq!(list.nodes.iter().filter(wide).count(), 1);
    }
}
