//! Builds the value of a cell from its elements, at any depth.
//!
//! A cell is a number, a text, or a composite whose children are cells again (`formatted-label` →
//! `process` → `pid`). Each element with an `id` is remembered, at any depth, and each `ref`
//! refers to an element before it.

use super::attributes::{CellAttributes, all, shorten};
use super::ids::{Defined, Ids, TagId};
use super::tags::{Role, Tags};
use super::values::{
    CellElement, CellValue, KeptNames, LabelWords, NO_PARTS, Parts, ValueDecoder, bits, symbol_of,
};
use crate::error::{Problem, malformed, too_many};
use crate::kind::Kind;
use crate::mangled::of_rust;
use crate::names::{FrameId, Names, ProcessId, StackId};

/// Builds the values of cells while a document is read.
pub(crate) struct Cells<'n> {
    decoder: ValueDecoder<'n>,
    pub(crate) tags: Tags,
    ids: Ids,
    /// Open elements, outermost first.
    open: Vec<OpenElement>,
    /// Their display forms and texts, without separators.
    text: String,
    /// Frames of the open stacks, without separators.
    frames: Vec<FrameId>,
    /// Number of labels at the beginning of the row.
    labels_before: usize,
    /// True if the open cell is in a column of any type, which keeps texts.
    is_any: bool,
}

/// The type of a column whose cells are elements of other types.
const ANY: &str = "any";

/// An element whose end is not read yet.
#[derive(Debug)]
struct OpenElement {
    tag: TagId,
    content: Content,
    id: Option<u64>,
    /// Start of its display form in `text`, and of its text.
    display_start: usize,
    text_start: usize,
    has_display: bool,
    frames_start: usize,
    parts: Parts,
}

/// The origin of an element's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The value is decoded from text and children at the end of the element.
    Pending(Kind),
    /// The value is known: a `ref` or a sentinel, which have no text and no children.
    Known(CellValue),
}

/// A stack whose end is not read yet.
const STACK: Content = Content::Pending(Kind::Stack);

/// Maximum number of frames in a stack of pieces. A short reference may stand for a long piece.
const MAX_FRAMES: usize = 4096;

impl<'n> Cells<'n> {
    pub(crate) fn new(names: &'n mut Names) -> Self {
        Self {
            decoder: ValueDecoder {
                names,
                keep: KeptNames::default(),
            },
            tags: Tags::default(),
            ids: Ids::default(),
            open: Vec::new(),
            text: String::new(),
            frames: Vec::new(),
            labels_before: 0,
            is_any: false,
        }
    }

    /// Begins a node. Its ids start again.
    pub(crate) fn start_node(&mut self, keep: KeptNames) {
        self.ids.clear();
        self.decoder.keep = keep;
    }

    /// Returns the value of a text, or null if texts are not kept.
    pub(crate) fn symbol(&mut self, text: &str) -> CellValue {
        let decoder = &mut self.decoder;
        let keeps = decoder.keep.texts;
        keeps.then(|| u64::from(decoder.names.symbol(text).to_bits()))
    }

    /// Begins a row.
    pub(crate) fn start_row(&mut self) {
        self.ids.start_row();
        self.labels_before = self.decoder.names.label_count();
    }

    /// Removes everything that a row added, so that it can be read again.
    pub(crate) fn undo_row(&mut self) {
        self.abandon();
        self.ids.undo_row();
        self.decoder.names.forget_labels(self.labels_before);
    }

    /// Begins an element. `expected` is the tag of the column if the element is a cell itself.
    pub(crate) fn open(
        &mut self,
        name: &str,
        raw: &str,
        expected: Option<TagId>,
    ) -> Result<(), Problem> {
        if name == "sentinel" {
            // A sentinel is null with any attributes, but they must be well-formed.
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
        self.push(tag, Content::Pending(kind), attributes.id, attributes.fmt);
        if self.decoder.keep.stacks && matches!(kind, Kind::Frame | Kind::Binary) {
            self.name_parts(raw)?;
        }
        Ok(())
    }

    /// Adds text to the innermost open element.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Problem> {
        match self.open.last() {
            Some(open) if matches!(open.content, Content::Pending(_)) => {
                self.text.push_str(text);
                Ok(())
            }
            _ => Err(unexpected_text(text)),
        }
    }

    /// Ends the innermost element. Returns its value if it is a cell itself.
    pub(crate) fn close(&mut self) -> Result<Option<CellValue>, Problem> {
        let Some(open) = self.open.pop() else {
            return Err(malformed("unexpected end tag"));
        };
        let value = match open.content {
            Content::Known(value) => value,
            Content::Pending(kind) => {
                let display = self.text.get(open.display_start..open.text_start);
                let element = CellElement {
                    display: display.filter(|_| open.has_display),
                    text: self.text.get(open.text_start..).unwrap_or(""),
                    parts: &open.parts,
                    frames: self.frames.get(open.frames_start..).unwrap_or(&[]),
                };
                self.decoder.value(kind, &element)?
            }
        };
        self.text.truncate(open.display_start);
        self.frames.truncate(open.frames_start);
        self.finish(open.tag, open.id, value)
    }

    /// Adds a complete element that is a reference.
    #[inline]
    pub(crate) fn reference(&mut self, tag: TagId, id: u64) -> Result<Option<CellValue>, Problem> {
        let value = self.resolve(id, tag)?;
        self.finish(tag, None, value)
    }

    /// Adds a complete element that is null.
    #[inline]
    pub(crate) fn null(&mut self) -> Result<Option<CellValue>, Problem> {
        self.finish(0, None, None)
    }

    /// Adds a complete element that is a number.
    #[inline]
    pub(crate) fn number(
        &mut self,
        tag: TagId,
        id: u64,
        number: u64,
    ) -> Result<Option<CellValue>, Problem> {
        self.finish(tag, Some(id), Some(number))
    }

    /// Adds a complete element without children: its display form, still escaped, and its text.
    pub(crate) fn leaf(
        &mut self,
        tag: TagId,
        id: u64,
        display: &str,
        text: &str,
    ) -> Result<Option<CellValue>, Problem> {
        let element = CellElement {
            display: Some(display),
            text,
            parts: NO_PARTS,
            frames: &[],
        };
        let kind = self.kind(tag);
        let value = self.decoder.value(kind, &element)?;
        self.finish(tag, Some(id), value)
    }

    /// Begins an element that is neither a reference nor null.
    pub(crate) fn enter(&mut self, tag: TagId, id: u64, display: &str) {
        let kind = self.kind(tag);
        self.push(tag, Content::Pending(kind), Some(id), Some(display));
    }

    /// Drops all open elements, since their row is abandoned.
    pub(crate) fn abandon(&mut self) {
        self.is_any = false;
        self.open.clear();
        self.text.clear();
        self.frames.clear();
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Remembers the value of an element that ended, and passes it to its parent or returns it.
    #[inline]
    fn finish(
        &mut self,
        tag: TagId,
        id: Option<u64>,
        value: CellValue,
    ) -> Result<Option<CellValue>, Problem> {
        if let Some(id) = id
            && !self.ids.define(id, Defined { tag, value })
        {
            return Err(Problem::Unexpected(format!("id={id} is defined twice")));
        }
        if self.open.is_empty() {
            let is_any = std::mem::take(&mut self.is_any) && self.decoder.keep.texts;
            let is_number = is_any && self.kind(tag) == Kind::Integer;
            return Ok(Some(match value {
                Some(number) if is_number => {
                    let digits = self.decoder.names.symbol(&number.to_string());
                    Some(u64::from(digits.to_bits()))
                }
                _ => value,
            }));
        }
        self.add_to_parent(tag, value)?;
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
        if self.tags.get(expected).is_some_and(|tag| tag.name == ANY) {
            let tag = self.tags.number(name)?;
            if matches!(self.kind(tag), Kind::Integer | Kind::Text) {
                self.is_any = true;
                return Ok(tag);
            }
        }
        let (found, expected) = (shorten(name), self.tags.name(expected));
        let detail = format!("unexpected <{found}> in a column of <{expected}>");
        Err(Problem::Unexpected(detail))
    }

    #[inline]
    fn resolve(&self, id: u64, tag: TagId) -> Result<CellValue, Problem> {
        let unknown = || {
            Problem::Unexpected(format!(
                "ref={id} points to an id that was not defined before it"
            ))
        };
        let defined = self.ids.get(id).ok_or_else(unknown)?;
        if defined.tag != tag {
            let [expected, found] = [tag, defined.tag].map(|tag| self.tags.name(tag));
            return Err(Problem::Unexpected(format!(
                "<{expected}> has ref={id}, but that id belongs to a <{found}>"
            )));
        }
        Ok(defined.value)
    }

    fn push(&mut self, tag: TagId, content: Content, id: Option<u64>, display: Option<&str>) {
        // The value of a number is its text; the display form does not matter.
        let display = display.filter(|_| content != Content::Pending(Kind::Integer));
        let display_start = self.text.len();
        self.text.push_str(display.unwrap_or(""));
        self.open.push(OpenElement {
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

    /// Reads the names of frames and binaries, which are attributes.
    fn name_parts(&mut self, raw: &str) -> Result<(), Problem> {
        for (name, value) in all(raw)? {
            let symbol = match name.as_str() {
                "name" => self.decoder.names.symbol(&of_rust(&value)),
                _ => self.decoder.names.symbol(&value),
            };
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

    /// Adds the value of a child to the composite around it.
    fn add_to_parent(&mut self, tag: TagId, value: CellValue) -> Result<(), Problem> {
        let role = self.tags.get(tag).map_or(Role::Other, |tag| tag.role);
        let blank = role == Role::Words && self.decoder.is_blank(value);
        let Some(parent) = self.open.last_mut() else {
            return Ok(());
        };

        let is_simple = matches!(
            parent.content,
            Content::Pending(Kind::Integer) | Content::Known(_)
        );
        if is_simple {
            let inside = self.tags.name(parent.tag);
            return Err(unexpected_element(&self.tags.name(tag), &inside));
        }

        let frames_start = parent.frames_start;
        let parts = &mut parent.parts;
        parts.count += 1;
        let known = match role {
            Role::Pid => parts.pid.is_some(),
            Role::Tid => parts.tid.is_some(),
            Role::Submission => parts.submission.is_some(),
            // Each piece of a stack has its process.
            Role::Process => parts.process.is_some() && parent.content != STACK,
            Role::Stack => parts.stack.is_some(),
            Role::Binary => parts.binary.is_some(),
            Role::Frame
            | Role::Words
            | Role::Narrative
            | Role::Thread
            | Role::Addresses
            | Role::Other => false,
        };

        if known && value.is_some() {
            let [found, inside] = [tag, parent.tag].map(|tag| self.tags.name(tag));
            return Err(Problem::Unexpected(format!(
                "duplicate <{found}> inside <{inside}>"
            )));
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
                    (LabelWords::None, Some(words)) => LabelWords::One(words),
                    _ => LabelWords::Mixed,
                };
            }
            Role::Addresses => {
                parts.has_addresses = true;
                let piece = value.and_then(|v| StackId::from_bits(bits(v)));
                let frames = piece.map(|piece| self.decoder.names.frame_ids(piece));
                self.frames.extend(frames.unwrap_or(&[]));
                if self.frames.len() - frames_start > MAX_FRAMES {
                    return Err(too_many("frames in a stack", MAX_FRAMES));
                }
            }
            Role::Narrative | Role::Thread => {}
            Role::Other if value.is_none() => {}
            Role::Other => parts.words = LabelWords::Mixed,
        }

        Ok(())
    }
}

pub(crate) fn unexpected_element(found: &str, inside: &str) -> Problem {
    Problem::Unexpected(format!("unexpected <{found}> inside <{inside}>"))
}

pub(crate) fn unexpected_text(text: &str) -> Problem {
    Problem::Unexpected(format!("unexpected text {:?}", shorten(text.trim())))
}
