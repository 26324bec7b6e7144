//! Reads the events of quick-xml, limited to those that an export may contain.
//!
//! Skips comments and processing instructions, resolves entities, refuses a DOCTYPE, limits the
//! depth, and checks the end of the document. The result is open, text, close and end; all other
//! modules read only these.

use std::borrow::Cow;
use std::io::Read;

use quick_xml::Reader;
use quick_xml::errors::{Error as QuickError, IllFormedError};
use quick_xml::events::{BytesStart, Event};

use super::attributes::{character_of, check_tag, is_name};
use super::guard::{Fault, Guard, TOKEN_LIMIT};
use crate::error::{Error, Problem, Result, malformed};
use crate::place::Place;

/// Maximum depth of elements. Exports have a depth of about ten.
const DEPTH_LIMIT: usize = 64;

/// One step through a document.
#[derive(Debug)]
pub(crate) enum Token<'a> {
    /// A start tag: `<name attributes>`.
    Open {
        /// Name and raw attributes: see [`attributes`](super::attributes).
        tag: BytesStart<'a>,
        /// True for `<name/>`: no content and no `Close` follow.
        empty: bool,
    },
    /// Text between tags, with entities resolved. One text may come in pieces.
    Text(Cow<'a, str>),
    /// The end of the innermost open element.
    Close,
    /// A comment or a processing instruction, which are skipped.
    Nothing,
    /// The end of the document.
    End,
}

/// A reader of XML tokens, which checks what quick-xml does not check.
pub(crate) struct Pull<R: Read> {
    reader: Reader<Guard<R>>,
    buffer: Vec<u8>,
    depth: usize,
    file: String,
    /// True for a property list, which has a DOCTYPE. Entities that it defines stay unknown.
    may_have_doctype: bool,
}

impl<R: Read> Pull<R> {
    /// Returns a reader of Apple's property lists, which all begin with a DOCTYPE.
    pub(crate) fn property_list(input: R, file: &str) -> Self {
        Self {
            may_have_doctype: true,
            ..Self::new(input, file)
        }
    }

    pub(crate) fn new(input: R, file: &str) -> Self {
        let mut reader = Reader::from_reader(Guard::new(input));
        reader.config_mut().check_comments = true;
        Self {
            reader,
            buffer: Vec::with_capacity(4096),
            depth: 0,
            file: file.to_owned(),
            may_have_doctype: false,
        }
    }

    /// Returns the reader below the parser. Use it only between two children of an element, where
    /// the parser has no bytes of its own.
    pub(crate) fn guard(&mut self) -> &mut Guard<R> {
        self.reader.get_mut()
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the next token.
    pub(crate) fn next(&mut self) -> Result<Token<'_>> {
        self.buffer.clear();
        self.reader.get_mut().mark();
        let event = self.reader.read_event_into(&mut self.buffer);
        // The token borrows the buffer, so errors are built from the other fields.
        let refuse = |problem| Err(error_at(&self.reader, &self.file, problem));
        match event {
            Ok(Event::Start(_)) if self.depth >= DEPTH_LIMIT => refuse(Problem::Unexpected(
                format!("elements are nested deeper than {DEPTH_LIMIT}"),
            )),
            Ok(Event::Start(tag)) => {
                self.depth += 1;
                opened(tag, false).or_else(refuse)
            }
            Ok(Event::Empty(tag)) => opened(tag, true).or_else(refuse),
            Ok(Event::Text(text)) => Ok(Token::Text(text.into_inner())),
            Ok(Event::GeneralRef(reference)) => match character_of(&reference.into_inner()) {
                Some(character) => Ok(Token::Text(character.to_string().into())),
                None => refuse(malformed("an unknown entity")),
            },
            Ok(Event::End(_)) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(Token::Close)
            }
            Ok(Event::Decl(_)) if self.depth > 0 => {
                refuse(malformed("an XML declaration inside an element"))
            }
            Ok(Event::PI(instruction)) if !is_name(instruction.target()) => {
                refuse(malformed("a processing instruction without a name"))
            }
            Ok(Event::Comment(_) | Event::PI(_) | Event::Decl(_)) => Ok(Token::Nothing),
            Ok(Event::CData(_)) => refuse(malformed("a CDATA section, which xctrace never writes")),
            Ok(Event::DocType(_)) if self.may_have_doctype && self.depth == 0 => Ok(Token::Nothing),
            Ok(Event::DocType(_)) => refuse(Problem::Unexpected(
                "the document has a DOCTYPE, which xctrace never writes".to_owned(),
            )),
            Ok(Event::Eof) if self.depth > 0 => refuse(Problem::Truncated { whole_rows: 0 }),
            Ok(Event::Eof) => Ok(Token::End),
            Err(error) => Err(quick_error(&self.reader, &self.file, &error)),
        }
    }

    /// Returns an error at the current token.
    pub(crate) fn error(&self, problem: Problem) -> Error {
        error_at(&self.reader, &self.file, problem)
    }
}

fn opened(tag: BytesStart<'_>, empty: bool) -> Result<Token<'_>, Problem> {
    check_tag(tag.name().as_ref())?;
    Ok(Token::Open { tag, empty })
}

/// Returns an error at the start of the current token.
fn error_at<R: Read>(reader: &Reader<Guard<R>>, file: &str, problem: Problem) -> Error {
    let (byte, line) = reader.get_ref().marked();
    let place = Place {
        line: Some(line),
        byte: Some(byte),
        ..Place::file(file)
    };
    Error::new(problem, place)
}

/// Converts an error of quick-xml, and adds its position.
fn quick_error<R: Read>(reader: &Reader<Guard<R>>, file: &str, error: &QuickError) -> Error {
    let at_end = reader.get_ref().exhausted();
    let problem = match error {
        QuickError::Io(error) => return io_error(reader, file, error),
        QuickError::Syntax(_) | QuickError::IllFormed(IllFormedError::UnclosedReference)
            if at_end =>
        {
            Problem::Truncated { whole_rows: 0 }
        }
        QuickError::Encoding(_) if at_end => Problem::Truncated { whole_rows: 0 },
        QuickError::Encoding(_) => Problem::Unexpected("the text is not UTF-8".to_owned()),
        QuickError::Syntax(error) => malformed(error),
        QuickError::IllFormed(error) => malformed(error),
        other => malformed(other),
    };
    error_at(reader, file, problem)
}

/// Converts an input error. The guard reports its faults as input errors, too.
fn io_error<R: Read>(reader: &Reader<Guard<R>>, file: &str, error: &std::io::Error) -> Error {
    let fault = error.get_ref().and_then(|e| e.downcast_ref::<Fault>());
    let problem = match fault {
        Some(&Fault::ControlCharacter { byte, line, offset }) => {
            let place = Place {
                line: Some(line),
                byte: Some(offset),
                ..Place::file(file)
            };
            let detail = format!("byte 0x{byte:02x} may not appear in XML");
            return Error::new(Problem::Unexpected(detail), place);
        }
        Some(Fault::TokenTooLong) => Problem::Unexpected(format!(
            "a single tag or text is longer than {TOKEN_LIMIT} bytes"
        )),
        Some(Fault::EndsEarly) => Problem::Truncated { whole_rows: 0 },
        None => Problem::inside(error)
            .unwrap_or_else(|| Problem::Io(std::io::Error::new(error.kind(), error.to_string()))),
    };
    error_at(reader, file, problem)
}
