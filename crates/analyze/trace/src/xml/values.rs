//! Decodes the value of an element from its text, its display form and its parts.
//!
//! Both readers use these rules: the one for all of XML, and the fast one for plain rows.

use std::borrow::Cow;

use super::attributes::{not_whole, parse_u64, shorten, unescape};
use crate::error::Problem;
use crate::kind::Kind;
use crate::label;
use crate::names::{
    Frame, FrameId, Label, Names, Process, ProcessId, StackId, Symbol, Thread, ThreadId,
};

/// The value of a cell: a number, the bits of a name's id, or null.
pub(crate) type CellValue = Option<u64>;

/// The kinds of names to keep. Names that no kept column can contain are checked and dropped, so
/// that memory depends on the columns and not on the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeptNames {
    pub(crate) texts: bool,
    pub(crate) labels: bool,
    /// True if labels are also kept as displayed.
    pub(crate) rendered: bool,
    /// True if labels keep their submission number.
    pub(crate) numbered: bool,
    pub(crate) stacks: bool,
}

/// An element with its complete contents.
#[derive(Debug)]
pub(crate) struct CellElement<'t> {
    /// Display form, still escaped.
    pub(crate) display: Option<&'t str>,
    pub(crate) text: &'t str,
    pub(crate) parts: &'t Parts,
    pub(crate) frames: &'t [FrameId],
}

/// The values of the children of a composite element.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) count: u32,
    pub(crate) pid: CellValue,
    pub(crate) tid: CellValue,
    pub(crate) submission: CellValue,
    pub(crate) process: Option<ProcessId>,
    pub(crate) words: LabelWords,
    pub(crate) binary: Option<Symbol>,
    pub(crate) stack: Option<StackId>,
    pub(crate) name: Option<Symbol>,
    pub(crate) address: Option<Symbol>,
    /// True if a stack has pieces of addresses, whose frames have no names.
    pub(crate) has_addresses: bool,
}

/// The display form of a private value, whose text is 0.
const PRIVATE: &str = "&lt;private&gt;";

/// The parts of an element without children.
pub(crate) const NO_PARTS: &Parts = &Parts {
    count: 0,
    pid: None,
    tid: None,
    submission: None,
    process: None,
    words: LabelWords::None,
    binary: None,
    stack: None,
    name: None,
    address: None,
    has_addresses: false,
};

/// The text among the parts of a label.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelWords {
    #[default]
    None,
    One(Symbol),
    /// Several texts, or a number among them: only the display form has their order.
    Mixed,
}

impl<'t> CellElement<'t> {
    /// Returns the display form, which is the name of a process or a thread.
    fn name(&self, tag: &'static str) -> Result<Cow<'t, str>, Problem> {
        unescape(self.display.ok_or_else(|| {
            Problem::Unexpected(format!(
                "<{tag}> has no `fmt` attribute, which contains its name"
            ))
        })?)
    }

    /// Returns the display form, unescaped.
    fn displayed(&self) -> Result<Cow<'t, str>, Problem> {
        unescape(self.display.unwrap_or(""))
    }
}

/// Decodes values, and adds the names in them to [`Names`].
pub(crate) struct ValueDecoder<'n> {
    pub(crate) names: &'n mut Names,
    pub(crate) keep: KeptNames,
}

impl ValueDecoder<'_> {
    /// Decodes the value of an element. Returns null for values that are not kept.
    pub(crate) fn value(
        &mut self,
        kind: Kind,
        element: &CellElement<'_>,
    ) -> Result<CellValue, Problem> {
        match kind {
            Kind::Integer => integer(element.text).map(Some),
            Kind::Process => self.process_value(element),
            Kind::Thread => self.thread_value(element),
            Kind::Text if self.keep.texts => self.text_value(element),
            Kind::Label if self.keep.labels => self.label_value(element),
            Kind::Stack if self.keep.stacks => self.stack_value(element),
            Kind::Addresses if self.keep.stacks => self.addresses_value(element),
            Kind::Frame if self.keep.stacks => Ok(self.frame_value(element)),
            Kind::Text | Kind::Label | Kind::Stack | Kind::Addresses | Kind::Frame => Ok(None),
            Kind::Binary => Ok(element.parts.name.map(|name| u64::from(name.to_bits()))),
        }
    }

    /// Returns true if a text is only white space.
    pub(crate) fn is_blank(&self, value: CellValue) -> bool {
        symbol_of(value).is_none_or(|words| self.names.text(words).trim().is_empty())
    }

    /// Returns a text, or the display form of a composite. Null if there is neither.
    fn text_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        let composite = element.parts.count > 0;
        let symbol = match element.display {
            None if composite => return Ok(None),
            Some(display) if composite || element.text.is_empty() || display == PRIVATE => {
                self.names.symbol(&element.displayed()?)
            }
            _ => self.names.symbol(element.text),
        };
        Ok(Some(u64::from(symbol.to_bits())))
    }

    fn process_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        let display = element.name("process")?;
        let id = self.process(&display, element.parts.pid)?;
        Ok(Some(u64::from(id.to_bits())))
    }

    fn process(&mut self, display: &str, pid: CellValue) -> Result<ProcessId, Problem> {
        let (name, displayed_pid) = label::split_process(display);
        let pid = match pid {
            Some(pid) => Some(u32::try_from(pid).map_err(|_| not_whole(&pid.to_string()))?),
            None => displayed_pid,
        };
        // If `fmt` does not contain the pid, all of it is the name.
        let name = if displayed_pid == pid { name } else { display };
        let name = self.names.symbol(name);
        Ok(self.names.process_id(Process { name, pid }))
    }

    fn thread_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        let display = element.name("thread")?;
        let thread = Thread {
            display: self.names.symbol(&display),
            tid: element.parts.tid,
            process: element.parts.process,
        };
        let id: ThreadId = self.names.thread_id(thread);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// Returns the id of a label. The words are its only text part, or nothing; for several parts
    /// the display form is used, since only that has their order.
    fn label_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        let mut label = match (element.parts.words, element.parts.submission) {
            (LabelWords::One(words), Some(id)) => {
                Label::new(self.trimmed(words), element.parts.process, Some(id))
            }
            (LabelWords::None, Some(id)) => {
                Label::new(self.names.symbol(""), element.parts.process, Some(id))
            }
            _ => self.displayed_label(element)?,
        };
        if self.keep.rendered {
            let display = element.displayed()?;
            label.rendered = Some(self.names.symbol(&display));
        }
        if !self.keep.numbered {
            label = label.without_submission();
        }
        let id = self.names.label_id(label);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// Returns a label from its display form and its certain parts.
    fn displayed_label(&mut self, element: &CellElement<'_>) -> Result<Label, Problem> {
        let display = element.displayed()?;
        let parsed = label::parse(&display);
        let (text, process) = match (element.parts.process, parsed.process) {
            (Some(known), _) => {
                let before = label::before(&display, &self.process_display(known));
                (before.unwrap_or(parsed.text), Some(known))
            }
            (None, Some(name)) if element.parts.count == 0 => {
                (parsed.text, Some(self.process(name, None)?))
            }
            (None, _) => (parsed.text, None),
        };
        let text = self.names.symbol(text);
        let submission = element.parts.submission.or(parsed.submission);
        Ok(Label::new(text, process, submission))
    }

    /// Returns a process as displayed, such as `bench (12)`.
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

    fn stack_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        if let Some(inner) = element.parts.stack {
            return Ok(Some(u64::from(inner.to_bits())));
        }
        let mut frames = element.frames.to_vec();
        // A stack of addresses has the name of its innermost frame in its display form.
        if element.parts.has_addresses
            && let Some(first) = frames.first_mut()
            && let Some(frame) = self.names.frame(*first)
        {
            let display = element.displayed()?;
            let name = display
                .split_once(" ← (")
                .map_or(&*display, |(name, _)| name);
            let name = self.names.symbol(name);
            *first = self.names.frame_id(Frame { name, ..frame });
        }
        Ok(Some(u64::from(self.names.stack_id(&frames).to_bits())))
    }

    /// Returns the id of a stack of addresses without names. It ends with 0.
    fn addresses_value(&mut self, element: &CellElement<'_>) -> Result<CellValue, Problem> {
        let mut frames = Vec::new();
        for address in element.text.split_ascii_whitespace() {
            let address = integer(address)?;
            if address != 0 {
                let address = self.names.symbol(&format!("0x{address:x}"));
                frames.push(self.names.frame_id(Frame {
                    name: address,
                    address,
                    binary: None,
                }));
            }
        }
        Ok(Some(u64::from(self.names.stack_id(&frames).to_bits())))
    }

    fn frame_value(&mut self, element: &CellElement<'_>) -> CellValue {
        let nothing = self.names.symbol("");
        let frame = Frame {
            name: element.parts.name.unwrap_or(nothing),
            address: element.parts.address.unwrap_or(nothing),
            binary: element.parts.binary,
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
        (false, _) => not_whole(&shown),
        (true, true) => Problem::Unexpected(format!("{shown} is negative")),
        (true, false) => Problem::Unexpected(format!("{shown} does not fit into 64 bits")),
    })
}

pub(crate) fn symbol_of(value: CellValue) -> Option<Symbol> {
    value.and_then(|v| Symbol::from_bits(bits(v)))
}

/// Returns the bits of a name's id. Ids have 32 bits; a wider value is not an id.
pub(crate) fn bits(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
