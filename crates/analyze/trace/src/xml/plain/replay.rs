//! Appends tokens to columns, by the same rules as for all rows.

use super::token::{ByteRange, PlainRows, RowToken, Text};
use super::tokenize::name_length;
use crate::error::{Problem, malformed};
use crate::xml::attributes::{check_tag, unescape};
use crate::xml::cells::Cells;
use crate::xml::guard::newlines;
use crate::xml::ids::TagId;
use crate::xml::rows::{Row, TableBuilder};
use crate::xml::values::CellValue;

/// The part of a window that became rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Replayed {
    pub(super) bytes: usize,
    pub(super) lines: u64,
}

/// Appends the rows to their table, up to the first one that breaks a rule. That row is undone, and
/// the reader reports its error.
pub(super) fn replay(
    window: &[u8],
    rows: &PlainRows,
    cells: &mut Cells<'_>,
    builder: &mut TableBuilder,
) -> Replayed {
    let mut row = Row::default();
    let mut bytes = 0;
    cells.start_row();
    for token in &rows.tokens {
        let step = match *token {
            RowToken::EndRow { next } => builder.end_row(&row).map(|()| {
                row = Row::default();
                bytes = next as usize;
                cells.start_row();
                None
            }),
            token => step(token, window, &row, cells, builder),
        };
        match step {
            Ok(Some(value)) => builder.append(&mut row, value),
            Ok(None) => {}
            Err(_) => {
                cells.undo_row();
                builder.undo_row();
                let lines = newlines(window.get(..bytes).unwrap_or(&[]));
                return Replayed { bytes, lines };
            }
        }
    }

    Replayed {
        bytes: rows.bytes,
        lines: rows.lines,
    }
}

/// Replays one token inside a row. Returns a value if it completes a cell.
fn step(
    token: RowToken,
    window: &[u8],
    row: &Row,
    cells: &mut Cells<'_>,
    builder: &TableBuilder,
) -> Result<Option<CellValue>, Problem> {
    let expect = |cells: &Cells<'_>, tag: TagId| {
        if cells.is_open() || builder.expected(row, "")? == tag {
            Ok(())
        } else {
            Err(malformed("not the tag of the column"))
        }
    };

    match token {
        RowToken::Reference { tag, id } => {
            expect(cells, tag)?;
            cells.reference(tag, id)
        }
        RowToken::Number { tag, id, number } => {
            expect(cells, tag)?;
            cells.number(tag, id, number)
        }
        RowToken::Null => {
            if !cells.is_open() {
                builder.expected(row, "sentinel")?;
            }
            cells.null()
        }
        RowToken::Leaf {
            tag,
            id,
            display,
            text,
        } => {
            expect(cells, tag)?;
            let display = characters(display, window)?;
            cells.leaf(tag, id, display, &unescaped(text, window)?)
        }
        RowToken::Enter { tag, id, display } => {
            expect(cells, tag)?;
            cells.enter(tag, id, characters(display, window)?);
            Ok(None)
        }
        RowToken::Tag { inside, empty } => {
            let inside = characters(inside, window)?;
            let (name, raw) = inside.split_at(name_length(inside.as_bytes()));
            check_tag(name)?;
            let expected = if cells.is_open() {
                None
            } else {
                Some(builder.expected(row, name)?)
            };
            cells.open(name, raw, expected)?;
            if empty { cells.close() } else { Ok(None) }
        }
        RowToken::Text(text) => {
            cells.text(&unescaped(text, window)?)?;
            Ok(None)
        }
        RowToken::Close => cells.close(),
        RowToken::EndRow { .. } => Ok(None),
    }
}

fn characters(span: ByteRange, window: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(span.bytes(window))
        .map_err(|_| Problem::Unexpected("the text is not UTF-8".to_owned()))
}

fn unescaped(text: Text, window: &[u8]) -> Result<std::borrow::Cow<'_, str>, Problem> {
    let raw = characters(text.span, window)?;
    if text.escaped {
        unescape(raw).map_err(|_| malformed("an unknown entity"))
    } else {
        Ok(raw.into())
    }
}
