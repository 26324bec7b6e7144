//! A report, a comparison or an index in the form that every medium shows.
//!
//! ```text
//! Document
//!   └─ Section       id, title, priority
//!        └─ Block    sentence, list, facts, table, chart, findings
//!             └─ Message, Cell    text whose names and numbers keep their types
//! ```
//!
//! A builder says once what is shown, in which order and under which heading. A medium decides
//! how: it escapes names, keeps numbers beside their units, and leaves out what has no room.

mod select;
mod table;

pub use select::{Unit, Unknown};
pub use table::{Cell, Column, ColumnKind, Look, Table, Tone};

use metalens_analyzer::{Cause, Message, Severity};

/// A document: a title, sections, and a last line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The title of a page.
    pub title: Message,
    /// The sections in the order in which people read them.
    pub sections: Vec<Section>,
    /// The last line of a page: who wrote it, and where the exact numbers are.
    pub footer: Message,
}

/// A section of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The stable name of the section: an anchor of a page, and the word of a filter.
    pub id: &'static str,
    /// The heading; empty for the sentences that open a document.
    pub title: Message,
    /// The order in which sections go where there is no room: 0 never, else the highest first.
    pub priority: u8,
    /// True if a page shows the heading alone until somebody opens the section.
    pub is_folded: bool,
    /// The contents.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The sentence that matters most.
    Lead(Message),
    /// A sentence.
    Text(Message),
    /// A sentence for those who want to know more.
    Remark(Message),
    /// A sentence that changes the meaning of every number.
    Warning(Message),
    /// A sentence that says what failed.
    Failure(Message),
    /// The heading of a part of the section.
    Heading(&'static str),
    /// Sentences below each other.
    List(Vec<Item>),
    /// Values behind their names.
    Facts(Vec<Fact>),
    /// Names of what is missing, and the reason for each. Where there is little room the names
    /// stand alone.
    Missing(Vec<Fact>),
    /// A table.
    Table(Table),
    /// A picture.
    Chart(Chart),
    /// Findings, the most important first.
    Findings(Vec<FindingEntry>),
    /// Findings in two lines each: the title, and the first step with what it saves.
    FirstSteps(Vec<FindingEntry>),
}

/// A sentence of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The sentence.
    pub text: Message,
    /// The folder of a report that the sentence is about.
    pub report: Option<String>,
    /// True if the sentence stands out from the others.
    pub is_strong: bool,
}

/// A value behind its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Message,
}

/// A picture, where the medium has it; else a drawing made of characters.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The name of the picture.
    pub id: String,
    /// The drawing that stands for the picture.
    pub drawing: Drawing,
}

/// A drawing that stands for a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// The chart has no drawing, because a table beside it has its figures.
    None,
    /// Bars of characters, each behind its name, and an explanation below them.
    Lines(Vec<(String, String)>, String),
    /// The parts of a whole, for a medium that has colors; a table has the figures.
    Parts(Vec<(Cause, u64)>),
}

/// A finding.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingEntry {
    /// The stable name of the rule.
    pub id: String,
    /// The importance.
    pub severity: Severity,
    /// The finding in one sentence.
    pub title: Message,
    /// The time to gain at most, and the speedup.
    pub gain: Option<(Message, Message)>,
    /// The numbers that the finding rests on.
    pub evidence: Message,
    /// The places to look at.
    pub places: Vec<Message>,
    /// The first step, in a few words.
    pub action: Message,
    /// The thing to do.
    pub advice: Message,
    /// The observation that would show the finding to be wrong.
    pub counter_evidence: Message,
}

impl Section {
    /// Returns an empty section.
    pub fn new(id: &'static str, title: impl Into<Message>, priority: u8) -> Self {
        Self {
            id,
            title: title.into(),
            priority,
            is_folded: false,
            blocks: Vec::new(),
        }
    }

    /// Folds the section.
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.is_folded = true;
        self
    }

    /// Appends a block.
    #[must_use]
    pub fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Appends a block if there is one.
    #[must_use]
    pub fn with_some(mut self, block: Option<Block>) -> Self {
        self.blocks.extend(block);
        self
    }

    /// Appends blocks.
    #[must_use]
    pub fn with_all(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks.extend(blocks);
        self
    }
}

impl Block {
    /// Returns a list of sentences; nothing if there are none.
    pub fn list(sentences: impl IntoIterator<Item = Message>) -> Option<Self> {
        let items: Vec<Item> = sentences.into_iter().map(Item::from).collect();
        (!items.is_empty()).then_some(Self::List(items))
    }

    /// Returns a block of facts; nothing if there are none.
    pub fn facts(facts: Vec<Fact>) -> Option<Self> {
        (!facts.is_empty()).then_some(Self::Facts(facts))
    }
}

impl From<Message> for Item {
    fn from(text: Message) -> Self {
        Self {
            text,
            report: None,
            is_strong: false,
        }
    }
}

impl Fact {
    /// Returns a value behind its name.
    pub fn new(name: &str, value: impl Into<Message>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

impl Chart {
    /// Returns a chart that a table stands for where there is no picture.
    #[must_use]
    pub fn picture(id: &str) -> Block {
        Block::Chart(Self {
            id: id.to_owned(),
            drawing: Drawing::None,
        })
    }
}
