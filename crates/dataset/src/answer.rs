//! What a query found: cells, and files of them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use polars_core::prelude::*;

use crate::cells::{Cells, Column as OwnColumn, Kind, Table, Texts};
use crate::error::{Error, Result};
use crate::hive::date_text;
use crate::parquet_write;

/// The rows that a query found.
pub struct Answer {
    frame: DataFrame,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// Whether its cells are numbers.
    pub is_number: bool,
}

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Absent,
    /// A whole number, exactly.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Text, or what is best written as such: a date, a list.
    Text(Cow<'a, str>),
}

impl Answer {
    pub(crate) fn new(mut frame: DataFrame) -> Self {
        frame.rechunk_mut();
        Self { frame }
    }

    /// Its columns.
    #[must_use]
    pub fn columns(&self) -> Vec<AnswerColumn> {
        let columns = self.frame.columns().iter();
        let column = |column: &Column| AnswerColumn {
            name: column.name().to_string(),
            is_number: column.dtype().is_numeric(),
        };
        columns.map(column).collect()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        let columns = self.frame.columns().iter();
        columns.map(move |column| column.get(row).map_or(Cell::Absent, cell))
    }

    /// Comma-separated values; null is empty, an empty text is `""`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self
            .columns()
            .into_iter()
            .map(|column| quoted(&column.name));
        writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
        for row in 0..self.rows() {
            for (at, cell) in self.row(row).enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                match cell {
                    Cell::Absent => {}
                    Cell::Integer(number) => write!(out, "{number}")?,
                    Cell::Number(number) => write!(out, "{number:?}")?,
                    Cell::Flag(flag) => write!(out, "{flag}")?,
                    Cell::Text(text) => out.write_all(quoted(&text).as_bytes())?,
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// An array of one object per row, each on a line of its own. Whole numbers are
    /// written in full, also beyond 2^53.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = self
            .columns()
            .into_iter()
            .map(|column| column.name)
            .collect();
        out.write_all(b"[")?;
        for row in 0..self.rows() {
            out.write_all(if row == 0 { b"\n{" } else { b",\n{" })?;
            for (at, (name, cell)) in names.iter().zip(self.row(row)).enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *out, name)?;
                out.write_all(b":")?;
                write_json_cell(out, &cell)?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"\n]\n")
    }

    /// A Parquet file. `path` is for the words of a failure.
    pub fn write_parquet(&self, out: &mut (dyn Write + Send), path: &Path) -> Result<()> {
        let columns = self.frame.columns().iter().map(own_column);
        let table = Table {
            rows: self.rows(),
            columns: columns.collect::<Result<_>>()?,
        };
        parquet_write::write(out, &table, "query", &[("metalens.query", "1")])
            .map_err(|error| Error::write(path, error))
    }
}

fn cell(value: AnyValue<'_>) -> Cell<'_> {
    match value {
        AnyValue::Null => Cell::Absent,
        AnyValue::Boolean(flag) => Cell::Flag(flag),
        AnyValue::String(text) => Cell::Text(Cow::Borrowed(text)),
        AnyValue::StringOwned(text) => Cell::Text(Cow::Owned(text.to_string())),
        AnyValue::Date(days) => Cell::Text(Cow::Owned(date_text(days))),
        AnyValue::Float32(number) => Cell::Number(f64::from(number)),
        AnyValue::Float64(number) => Cell::Number(number),
        other if other.is_integer() => match other.extract() {
            Some(number) => Cell::Integer(number),
            None => Cell::Text(Cow::Owned(other.to_string())),
        },
        other => Cell::Text(Cow::Owned(other.to_string())),
    }
}

/// JSON has no word for what is no number.
fn write_json_cell(out: &mut dyn Write, cell: &Cell<'_>) -> io::Result<()> {
    match cell {
        Cell::Absent => out.write_all(b"null"),
        Cell::Integer(number) => write!(out, "{number}"),
        Cell::Number(number) => Ok(serde_json::to_writer(out, number)?),
        Cell::Flag(flag) => write!(out, "{flag}"),
        Cell::Text(text) => Ok(serde_json::to_writer(out, text)?),
    }
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains([',', '"', '\n', '\r']);
    match plain {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

fn own_column(column: &Column) -> Result<OwnColumn> {
    let kind = match column.dtype() {
        DataType::UInt64 => Kind::Id,
        DataType::Boolean => Kind::Flag,
        DataType::String | DataType::Null => Kind::Text,
        DataType::Date => Kind::Date,
        whole if whole.is_integer() => Kind::Integer,
        fraction if fraction.is_float() => Kind::Number,
        other => {
            let why = format!(
                "a column of {other} cannot be written as Parquet: CAST {} to another",
                column.name()
            );
            return Err(Error::Query { why });
        }
    };
    let mut cells = Cells::new(kind);
    let values = (0..column.len()).map(|row| column.get(row).unwrap_or(AnyValue::Null));
    for value in values {
        match &mut cells {
            Cells::Integer(cells) => cells.push(value.extract()),
            Cells::Id(cells) => cells.push(value.extract()),
            Cells::Number(cells) => cells.push(value.extract()),
            Cells::Date(cells) => cells.push(match value {
                AnyValue::Date(days) => Some(days),
                _ => None,
            }),
            Cells::Flag(cells) => cells.push(match value {
                AnyValue::Boolean(flag) => Some(flag),
                _ => None,
            }),
            Cells::Text(texts) => push_text(texts, &value),
        }
    }
    let name = column.name().to_string();
    Ok(OwnColumn { name, cells })
}

fn push_text(texts: &mut Texts, value: &AnyValue<'_>) {
    texts.push(value.get_str());
}
