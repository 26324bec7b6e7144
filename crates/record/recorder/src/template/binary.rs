//! Changes a binary property list in place. It is a list of objects that refer to each other by
//! number, so another value of a key is another number of the same width:
//!
//! ```text
//! "bplist00" │ object 0 │ object 1 │ … │ offset of each object │ widths, count, top, table
//! ```
//!
//! Bytes that a change does not concern stay as they are. One project saw that `xctrace export` refuses
//! recordings with a template that was written anew as a whole; five others saw none of that.

use std::ops::Range;

/// Bytes of the trailer, which has the widths of numbers and the place of the table.
const TRAILER: usize = 32;
/// Start of every binary property list.
const MAGIC: &[u8] = b"bplist0";

/// A binary property list, whose objects can be read and changed.
#[derive(Debug, Clone)]
pub(super) struct BinaryList {
    /// All bytes before the table of offsets.
    bytes: Vec<u8>,
    /// Offset of each object in these bytes.
    offsets: Vec<usize>,
    /// Number of the object that has all others.
    top: usize,
    /// Width of a reference to an object, in bytes.
    reference_width: usize,
    /// Width of an offset in the table, in bytes.
    offset_width: usize,
    /// First bytes of the trailer, which have no known use.
    unused: [u8; 6],
}

/// An object, as far as archives need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    Scalar(Scalar),
    Text(String),
    Array(References),
    Set(References),
    /// The keys, then their values.
    Dictionary(References),
    Other,
}

/// An object that can be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Boolean(bool),
    /// An integer that is not negative.
    Integer(u64),
    /// A reference inside an archive: the index in its list of objects.
    Uid(u64),
}

/// References to other objects, in the bytes of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct References {
    /// Numbers of the objects.
    pub(super) to: Vec<usize>,
    /// Offset of the first reference.
    at: usize,
}

impl BinaryList {
    /// Reads the structure of a list. None if the bytes are not a complete binary property list.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let (_, trailer) = bytes.split_at_checked(bytes.len().checked_sub(TRAILER)?)?;
        let unused = trailer.get(..6)?.try_into().ok()?;
        let [offset_width, reference_width] = [*trailer.get(6)?, *trailer.get(7)?].map(usize::from);
        let number = |range: Range<usize>| read_number(trailer.get(range)?);
        let [count, top, table] = [number(8..16)?, number(16..24)?, number(24..32)?];
        let [count, top, table] = [count, top, table].map(usize::try_from);
        let (count, top, table) = (count.ok()?, top.ok()?, table.ok()?);
        if !(1..=8).contains(&offset_width) || !(1..=8).contains(&reference_width) || top >= count {
            return None;
        }

        let end = table.checked_add(count.checked_mul(offset_width)?)?;
        // Nothing may be between the table and the trailer, since it would be lost.
        if end != bytes.len() - TRAILER {
            return None;
        }
        let table_bytes = bytes.get(table..end)?;
        let offsets: Vec<usize> = table_bytes
            .chunks_exact(offset_width)
            .map(|offset| usize::try_from(read_number(offset)?).ok())
            .collect::<Option<_>>()?;
        let list = Self {
            bytes: bytes.get(..table)?.to_owned(),
            offsets,
            top,
            reference_width,
            offset_width,
            unused,
        };
        let is_complete = (0..count).all(|object| list.object(object).is_some());
        is_complete.then_some(list)
    }

    /// Returns the number of the object that has all others.
    pub(super) const fn top(&self) -> usize {
        self.top
    }

    /// Returns the numbers of all objects.
    pub(super) fn all(&self) -> Range<usize> {
        0..self.offsets.len()
    }

    /// Returns an object, or None if there is none of this number, or it is cut off.
    pub(super) fn object(&self, number: usize) -> Option<Object> {
        let offset = *self.offsets.get(number)?;
        let marker = *self.bytes.get(offset)?;
        let (kind, low) = (marker >> 4, marker & 0xf);
        let simple = |width: usize| self.bytes.get(offset + 1..(offset + 1).checked_add(width)?);
        Some(match (kind, low) {
            (0, 8) => Object::Scalar(Scalar::Boolean(false)),
            (0, 9) => Object::Scalar(Scalar::Boolean(true)),
            (1, 0..=2) => Object::Scalar(Scalar::Integer(read_number(simple(1 << low)?)?)),
            // Integers of eight bytes have a sign, and larger ones have sixteen bytes.
            (1, 3) => match read_number(simple(8)?)? {
                number @ 0..=0x7fff_ffff_ffff_ffff => Object::Scalar(Scalar::Integer(number)),
                _ => Object::Other,
            },
            (8, _) => Object::Scalar(Scalar::Uid(read_number(simple(usize::from(low) + 1)?)?)),
            (5, _) => {
                let text = self.content(offset, low, 1)?;
                Object::Text(text.iter().map(|&letter| char::from(letter)).collect())
            }
            (6, _) => {
                let pairs = self.content(offset, low, 2)?.chunks_exact(2);
                let units =
                    pairs.map(|pair| pair.iter().fold(0, |sum, &byte| sum << 8 | u16::from(byte)));
                Object::Text(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
            }
            (10, _) => Object::Array(self.references(offset, low, 1)?),
            (12, _) => Object::Set(self.references(offset, low, 1)?),
            (13, _) => Object::Dictionary(self.references(offset, low, 2)?),
            _ => Object::Other,
        })
    }

    /// Returns the content of an object that begins at `at` and has elements of this width.
    fn content(&self, offset: usize, low: u8, width: usize) -> Option<&[u8]> {
        let (start, count) = self.count(offset, low)?;
        self.bytes
            .get(start..start.checked_add(count.checked_mul(width)?)?)
    }

    /// Returns where the elements of an object begin, and how many there are. The low half of its
    /// marker has a small count; an integer after it has a large one.
    fn count(&self, offset: usize, low: u8) -> Option<(usize, usize)> {
        if low < 0xf {
            return Some((offset + 1, usize::from(low)));
        }
        let marker = *self.bytes.get(offset + 1)?;
        let width = match marker {
            0x10..=0x13 => 1_usize << (marker & 0xf),
            _ => return None,
        };
        let start = offset + 2 + width;
        let count = read_number(self.bytes.get(offset + 2..start)?)?;
        Some((start, usize::try_from(count).ok()?))
    }

    /// Returns the references in a collection. None if one leads nowhere.
    fn references(&self, offset: usize, low: u8, lists: usize) -> Option<References> {
        let (start, _) = self.count(offset, low)?;
        let content = self.content(offset, low, lists * self.reference_width)?;
        let to: Vec<usize> = content
            .chunks_exact(self.reference_width)
            .map(|reference| usize::try_from(read_number(reference)?).ok())
            .collect::<Option<_>>()?;
        to.iter()
            .all(|object| *object < self.offsets.len())
            .then_some(References { to, at: start })
    }

    /// Returns the number of the value of a key of a dictionary.
    pub(super) fn value(&self, dictionary: &References, key: &str) -> Option<usize> {
        let (keys, values) = dictionary.to.split_at_checked(dictionary.to.len() / 2)?;
        let index = keys.iter().position(
            |number| matches!(self.object(*number), Some(Object::Text(text)) if text == key),
        )?;
        values.get(index).copied()
    }

    /// Makes an element of an array refer to another object.
    pub(super) fn point(&mut self, list: &References, index: usize, to: usize) {
        let offset = list.at + index * self.reference_width;
        let reference = number_of_width(to, self.reference_width);
        if let Some(old) = self.bytes.get_mut(offset..offset + self.reference_width) {
            old.copy_from_slice(&reference);
        }
    }

    /// Returns whether references are wide enough for this many more objects.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        let largest = self.offsets.len() + more - 1;
        self.reference_width >= size_of::<usize>() || largest >> (8 * self.reference_width) == 0
    }

    /// Appends an object, and returns its number.
    pub(super) fn append(&mut self, object: Scalar) -> usize {
        self.offsets.push(self.bytes.len());
        self.bytes.extend(object.encoded());
        self.offsets.len() - 1
    }

    /// Gives an array one more element: writes the longer array at the end, under the same number.
    pub(super) fn extend_array(&mut self, array: usize, elements: &References, more: usize) {
        let mut longer = vec![0xaf, 0x13];
        longer.extend((elements.to.len() as u64 + 1).to_be_bytes());
        for &element in elements.to.iter().chain([&more]) {
            longer.extend(number_of_width(element, self.reference_width));
        }
        if let Some(offset) = self.offsets.get_mut(array) {
            *offset = self.bytes.len();
            self.bytes.extend(longer);
        }
    }

    /// Returns how often other objects refer to an object.
    pub(super) fn users(&self, object: usize) -> usize {
        let lists = self.all().filter_map(|number| match self.object(number) {
            Some(Object::Array(list) | Object::Set(list) | Object::Dictionary(list)) => {
                Some(list.to)
            }
            _ => None,
        });
        lists.flatten().filter(|&to| to == object).count()
    }

    /// Returns the bytes of the list.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        let Self {
            mut bytes, offsets, ..
        } = self;
        let table = bytes.len();
        let mut width = self.offset_width;
        // Appended objects may lie beyond what the offsets can tell.
        while width < size_of::<usize>() && table >> (8 * width) != 0 {
            width += 1;
        }
        for offset in &offsets {
            bytes.extend(number_of_width(*offset, width));
        }
        bytes.extend(self.unused);
        bytes.extend([width, self.reference_width].map(|width| width.to_le_bytes()[0]));
        for number in [offsets.len(), self.top, table] {
            bytes.extend((number as u64).to_be_bytes());
        }
        bytes
    }
}

impl Scalar {
    /// Returns the binary form.
    fn encoded(self) -> Vec<u8> {
        match self {
            Self::Boolean(value) => vec![if value { 9 } else { 8 }],
            // With fewer than eight bytes it has no sign.
            Self::Integer(value @ 0..=0xff) => vec![0x10, value.to_le_bytes()[0]],
            Self::Integer(value) => [&[0x13], &value.to_be_bytes()[..]].concat(),
            Self::Uid(value @ 0..=0xff) => vec![0x80, value.to_le_bytes()[0]],
            Self::Uid(value @ 0..=0xffff) => [&[0x81], &value.to_be_bytes()[6..]].concat(),
            Self::Uid(value) => [&[0x87], &value.to_be_bytes()[..]].concat(),
        }
    }
}

fn read_number(bytes: &[u8]) -> Option<u64> {
    (bytes.len() <= 8).then(|| {
        bytes
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    })
}

/// Returns the last bytes of a number, which has no others.
fn number_of_width(number: usize, width: usize) -> Vec<u8> {
    let bytes = (number as u64).to_be_bytes();
    let missing = width.saturating_sub(bytes.len());
    let from = bytes.len().saturating_sub(width);
    [&vec![0; missing], bytes.get(from..).unwrap_or_default()].concat()
}
