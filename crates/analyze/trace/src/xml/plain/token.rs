//! Types of the tokens of plain rows, and of the known tags.

use rustc_hash::FxHashMap;

use crate::kind::Kind;
use crate::xml::attributes::is_name;
use crate::xml::ids::TagId;
use crate::xml::tags::Tags;

/// One token of a plain row. Its byte ranges refer to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowToken {
    /// A reference: `<duration ref="4"/>`.
    Reference { tag: TagId, id: u64 },
    /// A null value: `<sentinel/>`.
    Null,
    /// A number: `<duration id="2" fmt="100 ns">100</duration>`.
    Number { tag: TagId, id: u64, number: u64 },
    /// An element without children: `<string id="6" fmt="a">a</string>`.
    Leaf {
        tag: TagId,
        id: u64,
        display: ByteRange,
        text: Text,
    },
    /// The start of a composite: `<process id="10" fmt="bench (12)">`.
    Enter {
        tag: TagId,
        id: u64,
        display: ByteRange,
    },
    /// Any other tag, with its name and raw attributes.
    Tag { inside: ByteRange, empty: bool },
    /// Text between children.
    Text(Text),
    /// The end of a composite: `</process>`.
    Close,
    /// The end of a row, and the position of the next one.
    EndRow { next: u32 },
}

/// A range of bytes in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteRange {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl ByteRange {
    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(super) fn bytes(self, window: &[u8]) -> &[u8] {
        let bytes = window.get(self.start as usize..self.end as usize);
        bytes.unwrap_or(&[])
    }
}

/// A text between two tags of a plain row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) span: ByteRange,
    /// True if the text has entities.
    pub(super) escaped: bool,
}

/// The plain rows at the beginning of a window.
#[derive(Debug, Default)]
pub(super) struct PlainRows {
    pub(super) tokens: Vec<RowToken>,
    /// Length of these rows, in bytes.
    pub(super) bytes: usize,
    /// Number of lines in these rows.
    pub(super) lines: u64,
}

/// The tags that were known at one moment.
#[derive(Debug)]
pub(super) struct Lexicon {
    words: Vec<Word>,
    numbers: FxHashMap<Box<str>, TagId>,
    /// Tags of the cells of a row.
    columns: Vec<TagId>,
}

/// A tag that the tokenizer knows.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: Box<str>,
    pub(super) number: TagId,
    pub(super) is_integer: bool,
    /// True if the form of the tag is not enough to decode it.
    pub(super) is_special: bool,
}

impl Lexicon {
    /// Copies the known tags, so that other threads can use them without a lock.
    pub(super) fn new(tags: &Tags, columns: &[TagId]) -> Self {
        let known_tag = |number| {
            let tag = tags.get(number)?;
            Some(Word {
                name: tag.name.as_str().into(),
                number,
                is_integer: tag.kind == Kind::Integer,
                is_special: is_special(&tag.name, tag.kind),
            })
        };
        let words: Vec<Word> = (1..).map_while(known_tag).collect();
        let numbers = words.iter().map(|word| (word.name.clone(), word.number));
        Self {
            numbers: numbers.collect(),
            words,
            columns: columns.to_vec(),
        }
    }

    /// Returns the number of tags at that moment.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the tag of a column's cells, or 0 if there is no such column.
    pub(super) fn column(&self, at: usize) -> TagId {
        self.columns.get(at).copied().unwrap_or(0)
    }

    pub(super) fn word(&self, number: TagId) -> Option<&Word> {
        self.words.get(usize::from(number).checked_sub(1)?)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Word> {
        self.word(*self.numbers.get(name)?)
    }
}

/// Returns true for tags that need the general path. Frames and binaries have more attributes than
/// an id and a display form, a sentinel is null with any attributes, and a schema may name a type
/// that is not a valid tag name, such as `a ref`.
fn is_special(name: &str, kind: Kind) -> bool {
    let plain = name.is_ascii() && is_name(name);
    matches!(kind, Kind::Frame | Kind::Binary) || name == "sentinel" || !plain
}
