//! What an element says, from its text, its display form and its parts.
//!
//! One copy of the rules, whoever found the element: the reader that knows all
//! of XML, or the one that takes plain rows.

use std::borrow::Cow;

use super::attributes::{parse_u64, shorten, unescape};
use crate::error::Problem;
use crate::kind::Kind;
use crate::label;
use crate::names::{
    Frame, FrameId, Label, Names, Process, ProcessId, StackId, Symbol, Thread, ThreadId,
};

/// The value of a cell: a number, or the bits of a name's number, or null.
pub(crate) type Value = Option<u64>;

/// Which names are worth remembering; what no kept column can hold is checked
/// and forgotten, so that memory follows the columns and not the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeptNames {
    pub(crate) texts: bool,
    pub(crate) labels: bool,
    /// Labels also as displayed.
    pub(crate) rendered: bool,
    pub(crate) stacks: bool,
}

/// An element that came to its end.
#[derive(Debug)]
pub(crate) struct Element<'t> {
    /// Still escaped.
    pub(crate) display: Option<&'t str>,
    pub(crate) text: &'t str,
    pub(crate) parts: &'t Parts,
    pub(crate) frames: &'t [FrameId],
}

/// What the children of a composite said.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) count: u32,
    pub(crate) pid: Value,
    pub(crate) tid: Value,
    pub(crate) submission: Value,
    pub(crate) process: Option<ProcessId>,
    pub(crate) words: Words,
    pub(crate) binary: Option<Symbol>,
    pub(crate) stack: Option<StackId>,
    pub(crate) name: Option<Symbol>,
    pub(crate) address: Option<Symbol>,
}

/// An element without children has these.
pub(crate) const NO_PARTS: &Parts = &Parts {
    count: 0,
    pid: None,
    tid: None,
    submission: None,
    process: None,
    words: Words::None,
    binary: None,
    stack: None,
    name: None,
    address: None,
};

/// The one text among a label's parts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    #[default]
    None,
    One(Symbol),
    /// Several, or a number among them: only the display form has it right.
    Mixed,
}

impl<'t> Element<'t> {
    /// The display form, which is the name of a process or a thread.
    fn name(&self, tag: &'static str) -> Result<Cow<'t, str>, Problem> {
        unescape(self.display.ok_or(Problem::Unnamed { tag })?)
    }

    /// The display form, unescaped.
    fn displayed(&self) -> Result<Cow<'t, str>, Problem> {
        unescape(self.display.unwrap_or(""))
    }
}

/// Makes values, and remembers the names in them.
pub(crate) struct Maker<'n> {
    pub(crate) names: &'n mut Names,
    pub(crate) keep: KeptNames,
}

impl Maker<'_> {
    pub(crate) fn value(&mut self, kind: Kind, of: &Element<'_>) -> Result<Value, Problem> {
        match kind {
            Kind::Integer => integer(of.text).map(Some),
            Kind::Process => self.process_value(of),
            Kind::Thread => self.thread_value(of),
            Kind::Text if self.keep.texts => self.text_value(of),
            Kind::Label if self.keep.labels => self.label_value(of),
            Kind::Stack if self.keep.stacks => Ok(self.stack_value(of)),
            Kind::Frame if self.keep.stacks => Ok(self.frame_value(of)),
            Kind::Text | Kind::Label | Kind::Stack | Kind::Frame => Ok(None),
            Kind::Binary => Ok(of.parts.name.map(|name| u64::from(name.to_bits()))),
        }
    }

    /// Whether a text is nothing but white space.
    pub(crate) fn is_blank(&self, value: Value) -> bool {
        symbol_of(value).is_none_or(|words| self.names.text(words).trim().is_empty())
    }

    /// A text; of a composite, its display form; null if there is neither.
    fn text_value(&mut self, of: &Element<'_>) -> Result<Value, Problem> {
        let composite = of.parts.count > 0;
        let symbol = match of.display {
            None if composite => return Ok(None),
            Some(_) if composite || of.text.is_empty() => self.names.symbol(&of.displayed()?),
            _ => self.names.symbol(of.text),
        };
        Ok(Some(u64::from(symbol.to_bits())))
    }

    fn process_value(&mut self, of: &Element<'_>) -> Result<Value, Problem> {
        let display = of.name("process")?;
        let id = self.process(&display, of.parts.pid)?;
        Ok(Some(u64::from(id.to_bits())))
    }

    fn process(&mut self, display: &str, pid: Value) -> Result<ProcessId, Problem> {
        let (name, displayed_pid) = label::split_process(display);
        let pid = match pid {
            Some(pid) => Some(u32::try_from(pid).map_err(|_| Problem::BadNumber {
                text: pid.to_string(),
            })?),
            None => displayed_pid,
        };
        // `fmt` without the pid in it is all name.
        let name = if displayed_pid == pid { name } else { display };
        let name = self.names.symbol(name);
        Ok(self.names.process_id(Process { name, pid }))
    }

    fn thread_value(&mut self, of: &Element<'_>) -> Result<Value, Problem> {
        let display = of.name("thread")?;
        let thread = Thread {
            display: self.names.symbol(&display),
            tid: of.parts.tid,
            process: of.parts.process,
        };
        let id: ThreadId = self.names.thread_id(thread);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// A label's words: its one text part, or none at all; of several parts the
    /// display form, which alone has them in order.
    fn label_value(&mut self, of: &Element<'_>) -> Result<Value, Problem> {
        let mut label = match (of.parts.words, of.parts.submission) {
            (Words::One(words), Some(id)) => {
                Label::new(self.trimmed(words), of.parts.process, Some(id))
            }
            (Words::None, Some(id)) => {
                Label::new(self.names.symbol(""), of.parts.process, Some(id))
            }
            _ => self.displayed_label(of)?,
        };
        if self.keep.rendered {
            let display = of.displayed()?;
            label.rendered = Some(self.names.symbol(&display));
        }
        let id = self.names.label_id(label);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// A label from its display form, and from what its parts say for certain.
    fn displayed_label(&mut self, of: &Element<'_>) -> Result<Label, Problem> {
        let display = of.displayed()?;
        let parsed = label::parse(&display);
        let (text, process) = match (of.parts.process, parsed.process) {
            (Some(known), _) => {
                let before = label::before(&display, &self.process_display(known));
                (before.unwrap_or(parsed.text), Some(known))
            }
            (None, Some(name)) if of.parts.count == 0 => {
                (parsed.text, Some(self.process(name, None)?))
            }
            (None, _) => (parsed.text, None),
        };
        let text = self.names.symbol(text);
        let submission = of.parts.submission.or(parsed.submission);
        Ok(Label::new(text, process, submission))
    }

    /// `bench (12)`.
    fn process_display(&self, id: ProcessId) -> String {
        let Some(process) = self.names.process(id) else {
            return String::new();
        };
        let name = self.names.text(process.name);
        match process.pid {
            Some(pid) => format!("{name} ({pid})"),
            None => name.to_owned(),
        }
    }

    fn trimmed(&mut self, words: Symbol) -> Symbol {
        let text = self.names.text(words);
        if text.trim().len() == text.len() {
            return words;
        }
        let trimmed = text.trim().to_owned();
        self.names.symbol(&trimmed)
    }

    fn stack_value(&mut self, of: &Element<'_>) -> Value {
        if let Some(inner) = of.parts.stack {
            return Some(u64::from(inner.to_bits()));
        }
        Some(u64::from(self.names.stack_id(of.frames).to_bits()))
    }

    fn frame_value(&mut self, of: &Element<'_>) -> Value {
        let nothing = self.names.symbol("");
        let frame = Frame {
            name: of.parts.name.unwrap_or(nothing),
            address: of.parts.address.unwrap_or(nothing),
            binary: of.parts.binary,
        };
        Some(u64::from(self.names.frame_id(frame).to_bits()))
    }
}

fn integer(text: &str) -> Result<u64, Problem> {
    if let Some(value) = parse_u64(text.as_bytes()) {
        return Ok(value);
    }
    let shown = shorten(text);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    Err(match (is_number, text.starts_with('-')) {
        (false, _) => Problem::BadNumber { text: shown },
        (true, true) => Problem::Negative { text: shown },
        (true, false) => Problem::NumberTooLarge { text: shown },
    })
}

pub(crate) fn symbol_of(value: Value) -> Option<Symbol> {
    value.and_then(|v| Symbol::from_bits(bits(v)))
}

/// Numbers of names are 32 bits; anything wider is none of them.
pub(crate) fn bits(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
