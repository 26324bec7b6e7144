//! From elements to values: one cell, however deep it nests.
//!
//! A cell is a number, a text, or a composite whose children are cells again
//! (`formatted-label` → `process` → `pid`). Each element with an `id` is
//! remembered, at any depth, and each `ref` stands for one remembered before it.

use super::attributes::{CellAttributes, all, parse_u64, shorten, unescape};
use super::ids::{Defined, Ids, TagId};
use super::pull::malformed;
use super::tags::{Role, Tags};
use crate::error::Problem;
use crate::kind::Kind;
use crate::label;
use crate::names::{
    Frame, FrameId, Label, Names, Process, ProcessId, StackId, Symbol, Thread, ThreadId,
};

/// The value of a cell: a number, or the bits of a name's number, or null.
pub(crate) type Value = Option<u64>;

pub(crate) struct Cells<'n> {
    names: &'n mut Names,
    pub(crate) tags: Tags,
    ids: Ids,
    /// The elements that are open, outermost first.
    open: Vec<Open>,
    /// Their display forms and texts, end to end.
    text: String,
    /// Frames of the open stacks, end to end.
    frames: Vec<FrameId>,
    keep: KeptNames,
}

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

/// An element whose end was not seen yet.
#[derive(Debug)]
struct Open {
    tag: TagId,
    content: Content,
    id: Option<u64>,
    /// Where in `text` its display form and its text begin.
    display_start: usize,
    text_start: usize,
    has_display: bool,
    frames_start: usize,
    parts: Parts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// To be made from text and children.
    Of(Kind),
    /// Already known: a `ref` or a sentinel, which have neither.
    Known(Value),
}

/// What the children of a composite said.
#[derive(Debug, Default)]
struct Parts {
    count: u32,
    pid: Value,
    tid: Value,
    submission: Value,
    process: Option<ProcessId>,
    words: Words,
    binary: Option<Symbol>,
    stack: Option<StackId>,
    name: Option<Symbol>,
    address: Option<Symbol>,
}

/// The one text among a label's parts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Words {
    #[default]
    None,
    One(Symbol),
    /// Several, or a number among them: only the display form has it right.
    Mixed,
}

impl<'n> Cells<'n> {
    pub(crate) fn new(names: &'n mut Names) -> Self {
        Self {
            names,
            tags: Tags::default(),
            ids: Ids::default(),
            open: Vec::new(),
            text: String::new(),
            frames: Vec::new(),
            keep: KeptNames::default(),
        }
    }

    /// A new node begins: ids start anew.
    pub(crate) fn start_node(&mut self, keep: KeptNames) {
        self.ids.clear();
        self.keep = keep;
    }

    /// An element begins. `expected` is its column's tag if it is a cell itself.
    pub(crate) fn open(
        &mut self,
        name: &str,
        raw: &str,
        expected: Option<TagId>,
    ) -> Result<(), Problem> {
        if name == "sentinel" {
            self.push(expected.unwrap_or(0), Content::Known(None), None, None);
            return Ok(());
        }
        let tag = self.tag(name, expected)?;
        let attributes = CellAttributes::parse(raw)?;
        if let Some(id) = attributes.reference {
            let value = self.resolve(id, tag)?;
            self.push(tag, Content::Known(value), None, None);
            return Ok(());
        }
        let kind = self.tags.get(tag).map_or(Kind::Text, |tag| tag.kind);
        let display = attributes.fmt.filter(|_| kind != Kind::Integer);
        self.push(tag, Content::Of(kind), attributes.id, display);
        if self.keep.stacks && matches!(kind, Kind::Frame | Kind::Binary) {
            self.name_parts(raw)?;
        }
        Ok(())
    }

    /// Text inside the element opened last.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Problem> {
        match self.open.last() {
            Some(open) if matches!(open.content, Content::Of(_)) => {
                self.text.push_str(text);
                Ok(())
            }
            _ => Err(unexpected_text(text)),
        }
    }

    /// The element opened last ends. Its value, if it was a cell itself.
    pub(crate) fn close(&mut self) -> Result<Option<Value>, Problem> {
        let Some(open) = self.open.pop() else {
            return Err(malformed("an end tag too many"));
        };
        let value = match open.content {
            Content::Known(value) => value,
            Content::Of(kind) => self.value(kind, &open)?,
        };
        if let Some(id) = open.id {
            let defined = Defined {
                tag: open.tag,
                value,
            };
            if !self.ids.define(id, defined) {
                return Err(Problem::DuplicateId { id });
            }
        }
        self.text.truncate(open.display_start);
        self.frames.truncate(open.frames_start);
        if self.open.is_empty() {
            return Ok(Some(value));
        }
        self.hand_up(open.tag, value)?;
        Ok(None)
    }

    /// Forgets what was open: the row it belonged to is given up.
    pub(crate) fn abandon(&mut self) {
        self.open.clear();
        self.text.clear();
        self.frames.clear();
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn tag(&mut self, name: &str, expected: Option<TagId>) -> Result<TagId, Problem> {
        let Some(expected) = expected else {
            return self.tags.number(name);
        };
        if self.tags.get(expected).is_some_and(|tag| tag.name == name) {
            return Ok(expected);
        }
        Err(Problem::WrongTag {
            expected: self.tags.name(expected),
            found: shorten(name),
        })
    }

    fn resolve(&self, id: u64, tag: TagId) -> Result<Value, Problem> {
        let defined = self.ids.get(id).ok_or(Problem::UnknownRef { id })?;
        if defined.tag != tag {
            return Err(Problem::RefType {
                id,
                expected: self.tags.name(tag),
                found: self.tags.name(defined.tag),
            });
        }
        Ok(defined.value)
    }

    fn push(&mut self, tag: TagId, content: Content, id: Option<u64>, display: Option<&str>) {
        let display_start = self.text.len();
        self.text.push_str(display.unwrap_or(""));
        self.open.push(Open {
            tag,
            content,
            id,
            display_start,
            text_start: self.text.len(),
            has_display: display.is_some(),
            frames_start: self.frames.len(),
            parts: Parts::default(),
        });
    }

    /// Frames and binaries say their names in attributes.
    fn name_parts(&mut self, raw: &str) -> Result<(), Problem> {
        for (name, value) in all(raw)? {
            let symbol = self.names.symbol(&value);
            let Some(open) = self.open.last_mut() else {
                break;
            };
            match name.as_str() {
                "name" => open.parts.name = Some(symbol),
                "addr" => open.parts.address = Some(symbol),
                _ => {}
            }
        }
        Ok(())
    }

    /// A child's value becomes a part of the composite around it.
    fn hand_up(&mut self, tag: TagId, value: Value) -> Result<(), Problem> {
        let role = self.tags.get(tag).map_or(Role::Other, |tag| tag.role);
        let blank =
            || symbol_of(value).is_none_or(|words| self.names.text(words).trim().is_empty());
        let blank = role == Role::Words && blank();
        let Some(parent) = self.open.last_mut() else {
            return Ok(());
        };
        match parent.content {
            Content::Of(Kind::Integer) | Content::Known(_) => {
                return Err(Problem::UnexpectedElement {
                    found: self.tags.name(tag),
                    inside: self.tags.name(parent.tag),
                });
            }
            Content::Of(_) => {}
        }
        let parts = &mut parent.parts;
        parts.count += 1;
        match role {
            Role::Pid => parts.pid = value,
            Role::Tid => parts.tid = value,
            Role::Submission => parts.submission = value,
            Role::Process => parts.process = value.and_then(|v| ProcessId::from_bits(bits(v))),
            Role::Stack => parts.stack = value.and_then(|v| StackId::from_bits(bits(v))),
            Role::Binary => parts.binary = symbol_of(value),
            Role::Frame => {
                let frame = value.and_then(|v| FrameId::from_bits(bits(v)));
                self.frames.extend(frame);
            }
            Role::Words if blank || value.is_none() => {}
            Role::Words => {
                parts.words = match (parts.words, symbol_of(value)) {
                    (Words::None, Some(words)) => Words::One(words),
                    _ => Words::Mixed,
                };
            }
            Role::Narrative | Role::Thread => {}
            Role::Other if value.is_none() => {}
            Role::Other => parts.words = Words::Mixed,
        }
        Ok(())
    }

    fn value(&mut self, kind: Kind, open: &Open) -> Result<Value, Problem> {
        match kind {
            Kind::Integer => integer(self.text_of(open)).map(Some),
            Kind::Process => self.process_value(open),
            Kind::Thread => self.thread_value(open),
            Kind::Text if self.keep.texts => self.text_value(open),
            Kind::Label if self.keep.labels => self.label_value(open),
            Kind::Stack if self.keep.stacks => Ok(self.stack_value(open)),
            Kind::Frame if self.keep.stacks => Ok(self.frame_value(open)),
            Kind::Text | Kind::Label | Kind::Stack | Kind::Frame => Ok(None),
            Kind::Binary => Ok(open.parts.name.map(|name| u64::from(name.to_bits()))),
        }
    }

    fn text_of(&self, open: &Open) -> &str {
        self.text.get(open.text_start..).unwrap_or("")
    }

    /// The display form, unescaped.
    fn display(&self, open: &Open) -> Result<std::borrow::Cow<'_, str>, Problem> {
        let raw = self.text.get(open.display_start..open.text_start);
        unescape(raw.unwrap_or(""))
    }

    /// A text; of a composite, its display form; null if there is neither.
    fn text_value(&mut self, open: &Open) -> Result<Value, Problem> {
        let text = self.text_of(open);
        let composite = open.parts.count > 0;
        let symbol = if composite || (text.is_empty() && open.has_display) {
            if !open.has_display {
                return Ok(None);
            }
            let display = self.display(open)?.into_owned();
            self.names.symbol(&display)
        } else {
            let text = self.text.get(open.text_start..).unwrap_or("");
            self.names.symbol(text)
        };
        Ok(Some(u64::from(symbol.to_bits())))
    }

    fn process_value(&mut self, open: &Open) -> Result<Value, Problem> {
        let display = self.display(open)?.into_owned();
        let id = self.process(&display, open.parts.pid)?;
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

    fn thread_value(&mut self, open: &Open) -> Result<Value, Problem> {
        let display = self.display(open)?.into_owned();
        let thread = Thread {
            display: self.names.symbol(&display),
            tid: open.parts.tid,
            process: open.parts.process,
        };
        let id: ThreadId = self.names.thread_id(thread);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// A label's words: its one text part, or none at all; of several parts the
    /// display form, which alone has them in order.
    fn label_value(&mut self, open: &Open) -> Result<Value, Problem> {
        let mut label = match (open.parts.words, open.parts.submission) {
            (Words::One(words), Some(id)) => {
                Label::new(self.trimmed(words), open.parts.process, Some(id))
            }
            (Words::None, Some(id)) => {
                Label::new(self.names.symbol(""), open.parts.process, Some(id))
            }
            _ => self.displayed_label(open)?,
        };
        if self.keep.rendered {
            let display = self.display(open)?.into_owned();
            label.rendered = Some(self.names.symbol(&display));
        }
        let id = self.names.label_id(label);
        Ok(Some(u64::from(id.to_bits())))
    }

    /// A label from its display form, and from what its parts say for certain.
    fn displayed_label(&mut self, open: &Open) -> Result<Label, Problem> {
        let display = self.display(open)?.into_owned();
        let parsed = label::parse(&display);
        let (text, process) = match (open.parts.process, parsed.process) {
            (Some(known), _) => {
                let before = label::before(&display, &self.process_display(known));
                (before.unwrap_or(parsed.text), Some(known))
            }
            (None, Some(name)) if open.parts.count == 0 => {
                (parsed.text, Some(self.process(name, None)?))
            }
            (None, _) => (parsed.text, None),
        };
        let text = self.names.symbol(text);
        let submission = open.parts.submission.or(parsed.submission);
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

    fn stack_value(&mut self, open: &Open) -> Value {
        if let Some(inner) = open.parts.stack {
            return Some(u64::from(inner.to_bits()));
        }
        let frames = self.frames.get(open.frames_start..).unwrap_or(&[]);
        Some(u64::from(self.names.stack_id(frames).to_bits()))
    }

    fn frame_value(&mut self, open: &Open) -> Value {
        let nothing = self.names.symbol("");
        let frame = Frame {
            name: open.parts.name.unwrap_or(nothing),
            address: open.parts.address.unwrap_or(nothing),
            binary: open.parts.binary,
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

pub(crate) fn unexpected_text(text: &str) -> Problem {
    Problem::UnexpectedText {
        text: shorten(text.trim()),
    }
}

pub(crate) fn symbol_of(value: Value) -> Option<Symbol> {
    value.and_then(|v| Symbol::from_bits(bits(v)))
}

/// Numbers of names are 32 bits; anything wider is none of them.
pub(crate) fn bits(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
