//! From elements to values: one cell, however deep it nests.
//!
//! A cell is a number, a text, or a composite whose children are cells again
//! (`formatted-label` → `process` → `pid`). Each element with an `id` is
//! remembered, at any depth, and each `ref` stands for one remembered before it.

use super::attributes::{CellAttributes, all, shorten};
use super::ids::{Defined, Ids, TagId};
use super::tags::{Role, Tags};
use super::values::{Element, KeptNames, Maker, NO_PARTS, Parts, Value, Words, bits, symbol_of};
use crate::error::{Problem, malformed};
use crate::kind::Kind;
use crate::names::{FrameId, Names, ProcessId, StackId};

pub(crate) struct Cells<'n> {
    maker: Maker<'n>,
    pub(crate) tags: Tags,
    ids: Ids,
    /// The elements that are open, outermost first.
    open: Vec<Open>,
    /// Their display forms and texts, end to end.
    text: String,
    /// Frames of the open stacks, end to end.
    frames: Vec<FrameId>,
    /// The labels there were when the row began.
    labels_before: usize,
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

impl<'n> Cells<'n> {
    pub(crate) fn new(names: &'n mut Names) -> Self {
        Self {
            maker: Maker {
                names,
                keep: KeptNames::default(),
            },
            tags: Tags::default(),
            ids: Ids::default(),
            open: Vec::new(),
            text: String::new(),
            frames: Vec::new(),
            labels_before: 0,
        }
    }

    /// A new node begins: ids start anew.
    pub(crate) fn start_node(&mut self, keep: KeptNames) {
        self.ids.clear();
        self.maker.keep = keep;
    }

    /// A row begins.
    pub(crate) fn start_row(&mut self) {
        self.ids.start_row();
        self.labels_before = self.maker.names.labels();
    }

    /// Takes back what a row brought, so that it can be read again.
    pub(crate) fn undo_row(&mut self) {
        self.abandon();
        self.ids.undo_row();
        self.maker.names.forget_labels(self.labels_before);
    }

    /// An element begins. `expected` is its column's tag if it is a cell itself.
    pub(crate) fn open(
        &mut self,
        name: &str,
        raw: &str,
        expected: Option<TagId>,
    ) -> Result<(), Problem> {
        if name == "sentinel" {
            // Null whatever it has, but not whatever stands in its tag.
            CellAttributes::parse(raw)?;
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
        let kind = self.kind(tag);
        self.push(tag, Content::Of(kind), attributes.id, attributes.fmt);
        if self.maker.keep.stacks && matches!(kind, Kind::Frame | Kind::Binary) {
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
            Content::Of(kind) => {
                let display = self.text.get(open.display_start..open.text_start);
                let element = Element {
                    display: display.filter(|_| open.has_display),
                    text: self.text.get(open.text_start..).unwrap_or(""),
                    parts: &open.parts,
                    frames: self.frames.get(open.frames_start..).unwrap_or(&[]),
                };
                self.maker.value(kind, &element)?
            }
        };
        self.text.truncate(open.display_start);
        self.frames.truncate(open.frames_start);
        self.finish(open.tag, open.id, value)
    }

    /// A whole element that is a reference.
    #[inline]
    pub(crate) fn reference(&mut self, tag: TagId, id: u64) -> Result<Option<Value>, Problem> {
        let value = self.resolve(id, tag)?;
        self.finish(tag, None, value)
    }

    /// A whole element that is null.
    #[inline]
    pub(crate) fn null(&mut self) -> Result<Option<Value>, Problem> {
        self.finish(0, None, None)
    }

    /// A whole element that is a number.
    #[inline]
    pub(crate) fn number(
        &mut self,
        tag: TagId,
        id: u64,
        number: u64,
    ) -> Result<Option<Value>, Problem> {
        self.finish(tag, Some(id), Some(number))
    }

    /// A whole element without children: its display form, still escaped, and its text.
    pub(crate) fn leaf(
        &mut self,
        tag: TagId,
        id: u64,
        display: &str,
        text: &str,
    ) -> Result<Option<Value>, Problem> {
        let element = Element {
            display: Some(display),
            text,
            parts: NO_PARTS,
            frames: &[],
        };
        let kind = self.kind(tag);
        let value = self.maker.value(kind, &element)?;
        self.finish(tag, Some(id), value)
    }

    /// An element begins that is neither a reference nor null.
    pub(crate) fn enter(&mut self, tag: TagId, id: u64, display: &str) {
        let kind = self.kind(tag);
        self.push(tag, Content::Of(kind), Some(id), Some(display));
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

    /// An element ended: what it says is remembered, and handed on.
    #[inline]
    fn finish(
        &mut self,
        tag: TagId,
        id: Option<u64>,
        value: Value,
    ) -> Result<Option<Value>, Problem> {
        if let Some(id) = id
            && !self.ids.define(id, Defined { tag, value })
        {
            return Err(Problem::DuplicateId { id });
        }
        if self.open.is_empty() {
            return Ok(Some(value));
        }
        self.hand_up(tag, value)?;
        Ok(None)
    }

    #[inline]
    fn kind(&self, tag: TagId) -> Kind {
        self.tags.get(tag).map_or(Kind::Text, |tag| tag.kind)
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

    #[inline]
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
        // A number is its text, however it is displayed.
        let display = display.filter(|_| content != Content::Of(Kind::Integer));
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
            let symbol = self.maker.names.symbol(&value);
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
        let blank = role == Role::Words && self.maker.is_blank(value);
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
        let known = match role {
            Role::Pid => parts.pid.is_some(),
            Role::Tid => parts.tid.is_some(),
            Role::Submission => parts.submission.is_some(),
            Role::Process => parts.process.is_some(),
            Role::Stack => parts.stack.is_some(),
            Role::Binary => parts.binary.is_some(),
            Role::Frame | Role::Words | Role::Narrative | Role::Thread | Role::Other => false,
        };
        if known && value.is_some() {
            return Err(Problem::SecondPart {
                found: self.tags.name(tag),
                inside: self.tags.name(parent.tag),
            });
        }
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
}

pub(crate) fn unexpected_text(text: &str) -> Problem {
    Problem::UnexpectedText {
        text: shorten(text.trim()),
    }
}
