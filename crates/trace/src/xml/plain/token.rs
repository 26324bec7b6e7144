//! What plain rows consist of, and the names that their tags may have.

use rustc_hash::FxHashMap;

use crate::kind::Kind;
use crate::xml::attributes::is_name;
use crate::xml::ids::TagId;
use crate::xml::tags::Tags;

/// One step through a plain row. Spans lie in the row's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// `<duration ref="4"/>`
    Reference { tag: TagId, id: u64 },
    /// `<sentinel/>`
    Null,
    /// `<duration id="2" fmt="100 ns">100</duration>`
    Number { tag: TagId, id: u64, number: u64 },
    /// `<string id="6" fmt="a">a</string>`
    Leaf {
        tag: TagId,
        id: u64,
        display: Span,
        text: Text,
    },
    /// `<process id="10" fmt="bench (12)">`
    Enter { tag: TagId, id: u64, display: Span },
    /// Any other tag: name and attributes, as they stand there.
    Tag { inside: Span, empty: bool },
    /// Text beside children.
    Text(Text),
    /// `</process>`
    Close,
    /// `</row>`, and where the next row begins.
    EndRow { next: u32 },
}

/// A stretch of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(super) fn of(self, window: &[u8]) -> &[u8] {
        let bytes = window.get(self.start as usize..self.end as usize);
        bytes.unwrap_or(&[])
    }
}

/// Text between tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) span: Span,
    /// Whether there are entities in it.
    pub(super) escaped: bool,
}

/// The plain rows at the beginning of a window.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) tokens: Vec<Token>,
    /// How long they are.
    pub(super) bytes: usize,
    /// The lines in them.
    pub(super) lines: u64,
}

/// The tags that are known, at one moment of a reading.
#[derive(Debug)]
pub(super) struct Lexicon {
    words: Vec<Word>,
    numbers: FxHashMap<Box<str>, TagId>,
    /// The tags of a row's cells.
    columns: Vec<TagId>,
}

/// A known tag.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: Box<str>,
    pub(super) number: TagId,
    pub(super) is_integer: bool,
    /// Not to be told by its spelling alone.
    pub(super) is_special: bool,
}

impl Lexicon {
    pub(super) fn new(tags: &Tags, columns: &[TagId]) -> Self {
        let of = |number| {
            let tag = tags.get(number)?;
            Some(Word {
                name: tag.name.as_str().into(),
                number,
                is_integer: tag.kind == Kind::Integer,
                is_special: is_special(&tag.name, tag.kind),
            })
        };
        let words: Vec<Word> = (1..).map_while(of).collect();
        let numbers = words.iter().map(|word| (word.name.clone(), word.number));
        Self {
            numbers: numbers.collect(),
            words,
            columns: columns.to_vec(),
        }
    }

    /// How many tags there were at that moment.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The tag of a column's cells, 0 if there is no such column.
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

/// Frames and binaries say more in their attributes than an id and a display
/// form; a null is null whatever it has. And a schema may name a type that no
/// tag can be called, such as `a ref`.
fn is_special(name: &str, kind: Kind) -> bool {
    let plain = name.is_ascii() && is_name(name);
    matches!(kind, Kind::Frame | Kind::Binary) || name == "sentinel" || !plain
}
