//! Defines the document: a report, a comparison or an index in the form that every medium shows.
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

pub use select::Unknown;
pub use table::{Cell, Column, ColumnKind, Look, Table, Tone};

use metalens_analyzer::{Cause, Severity};
use metalens_message::{Message, Ns};
use metalens_text::units::rough_time;

/// A document: a title, sections, and a last line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The title of the page.
    pub title: Message,
    /// The sections in the order in which people read them.
    pub sections: Vec<Section>,
    /// The last line of a page: who wrote it, and where the exact numbers are.
    pub footer: Message,
}

/// A section of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The stable name of the section: an anchor on a page, and the word that a filter matches.
    pub id: &'static str,
    /// The heading; empty for the sentences that open a document.
    pub title: Message,
    /// The order in which sections are dropped where there is no room: 0 never, else the highest
    /// first.
    pub priority: u8,
    /// True if a page shows only the heading until the reader opens the section.
    pub is_folded: bool,
    /// The blocks of the section, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The sentence that matters most.
    Lead(Message),
    /// An ordinary sentence of the section.
    Text(Message),
    /// A sentence for readers who want to know more.
    Remark(Message),
    /// A sentence that changes the meaning of every number.
    Warning(Message),
    /// A sentence that says what failed.
    Failure(Message),
    /// The heading of a part of the section.
    Heading(&'static str),
    /// Sentences below each other.
    List(Vec<Item>),
    /// Named values, one below the other.
    Facts(Vec<Fact>),
    /// Names of missing things, with the reason for each. Where there is little room, only the
    /// names are shown.
    Missing(Vec<Fact>),
    /// A table of the section.
    Table(Table),
    /// A picture, or a drawing where there is none.
    Chart(Chart),
    /// Findings, the most important first.
    Findings(Vec<FindingEntry>),
    /// Findings in two lines each: the title, and the first step with what it saves.
    FirstSteps(Vec<FindingEntry>),
}

/// A sentence of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The text of the sentence.
    pub text: Message,
    /// The folder of a report that the sentence is about.
    pub report: Option<String>,
    /// True if the sentence stands out from the others.
    pub is_strong: bool,
}

/// A value with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The name of the value.
    pub name: String,
    /// The value, as text that keeps its types.
    pub value: Message,
}

/// A picture where the medium has it, else a drawing made of characters.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The name of the picture.
    pub id: String,
    /// The drawing that replaces the picture.
    pub drawing: Drawing,
}

/// A drawing that replaces a picture.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// The chart has no drawing, because a table beside it has its figures.
    None,
    /// Bars of characters, each with its name, and an explanation below them.
    Lines(Vec<(String, String)>, String),
    /// The parts of a whole, for a medium that has colors; a table has the figures.
    Parts(Vec<(Cause, Ns)>),
    /// Steps on one scale, each with what its time consists of.
    Step(Vec<StepBar>),
}

/// A step as a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct StepBar {
    /// What the bar stands for.
    pub name: String,
    /// Parts of its time in nanoseconds, in the order of time.
    pub parts: Vec<(BarPart, Ns)>,
    /// Arguments of metalens that predict it.
    pub command: Option<String>,
}

impl StepBar {
    /// Returns its length in nanoseconds.
    pub fn length_ns(&self) -> Ns {
        self.parts.iter().map(|&(_, ns)| ns).sum()
    }

    /// Returns the words beside the bar.
    pub fn told(&self) -> String {
        let length = rough_time(self.length_ns().0);
        match &self.command {
            Some(command) => format!("{length}: {command}"),
            None => length,
        }
    }
}

/// A part of a step's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarPart {
    /// The process had work running on the GPU.
    Gpu,
    /// The least time that the work takes on the GPU.
    Roof,
    /// The GPU worked longer than that.
    AboveRoof,
    /// The GPU was idle for this cause.
    Idle(Cause),
    /// The GPU is idle.
    Rest,
}

impl BarPart {
    /// Returns whether the GPU works.
    pub fn is_busy(self) -> bool {
        matches!(self, Self::Gpu | Self::Roof | Self::AboveRoof)
    }

    /// Returns the part as sentences call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Gpu => "GPU",
            Self::Roof => "roof",
            Self::AboveRoof => "above the roof",
            Self::Idle(cause) => cause.label(),
            Self::Rest => "idle",
        }
    }
}

/// Time that the action of a finding saves.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownGain {
    /// The saved time.
    pub time: Message,
    /// The speedup.
    pub factor: Message,
    /// The words before both: `about` or `at most`.
    pub certainty: &'static str,
    /// Saved share of the time.
    pub share: f64,
}

/// A finding as media show it.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingEntry {
    /// The stable name of the rule.
    pub id: String,
    /// The importance of the finding.
    pub severity: Severity,
    /// The finding in one sentence.
    pub title: Message,
    /// Time that the action saves, if that is known.
    pub gain: Option<ShownGain>,
    /// The numbers behind the finding.
    pub evidence: Message,
    /// The places to look at.
    pub places: Vec<Message>,
    /// The first step, in a few words.
    pub action: Message,
    /// The thing to do.
    pub advice: Message,
    /// The thing to do for users of each framework that the program may use.
    pub framework_advice: Vec<Message>,
    /// The observation that would show the finding to be wrong.
    pub counter_evidence: Message,
}

impl Section {
    /// Changes the heading.
    #[must_use]
    pub fn titled(mut self, title: Message) -> Self {
        self.title = title;
        self
    }

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

    /// Returns the tables, in their order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Returns the tables for changes, in their order.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.blocks.iter_mut().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Marks the section as folded.
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.is_folded = true;
        self
    }

    /// Appends a block to the section.
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

    /// Appends several blocks to the section.
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
    /// Returns a named value.
    pub fn new(name: &str, value: impl Into<Message>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

impl Chart {
    /// Returns a chart whose figures are in a table beside it, so that it needs no drawing.
    pub fn picture(id: &str) -> Block {
        Block::Chart(Self {
            id: id.to_owned(),
            drawing: Drawing::None,
        })
    }
}
