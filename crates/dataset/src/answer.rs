//! What a query found: cells, and files of them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use polars_core::prelude::*;

use crate::cells::{Column as OwnColumn, Kind, Table};
use crate::error::{Error, Result};
use crate::hive::date_text;
use crate::parquet_write;
use crate::sql::{self, Col, Datum};

/// The rows that a query found.
pub struct Answer {
    frame: DataFrame,
    /// Of each column what it is called, and what its cells are.
    columns: Vec<(String, Kind)>,
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
    /// What a query found, and the columns it was planned to have. Of two columns of one
    /// name the second is called `name_1`.
    pub(crate) fn new(mut frame: DataFrame, planned: &[Col]) -> Self {
        frame.rechunk_mut();
        let mut columns: Vec<(String, Kind)> = Vec::new();
        for column in planned {
            let mut name = column.name.clone();
            let mut again = 0;
            while columns.iter().any(|(one, _)| *one == name) {
                again += 1;
                name = format!("{}_{again}", column.name);
            }
            columns.push((name, column.kind.unwrap_or(Kind::Text)));
        }
        Self { frame, columns }
    }

    /// Its columns.
    #[must_use]
    pub fn columns(&self) -> Vec<AnswerColumn> {
        let column = |(name, kind): &(String, Kind)| AnswerColumn {
            name: name.clone(),
            is_number: matches!(kind, Kind::Integer | Kind::Id | Kind::Number),
        };
        self.columns.iter().map(column).collect()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        let columns = self.frame.columns().iter().zip(&self.columns);
        columns.map(move |(column, (_, kind))| {
            column
                .get(row)
                .map_or(Cell::Absent, |value| cell(value, *kind))
        })
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
        let columns = self.frame.columns().iter().zip(&self.columns);
        let table = Table {
            rows: self.rows(),
            columns: columns
                .map(|(column, (name, kind))| own_column(column, name, *kind))
                .collect(),
        };
        parquet_write::write(out, &table, "query", &[("metalens.query", "1")])
            .map_err(|error| Error::write(path, error))
    }
}

fn cell(value: AnyValue<'_>, kind: Kind) -> Cell<'_> {
    match (value, kind) {
        (AnyValue::Boolean(flag), _) => Cell::Flag(flag),
        (AnyValue::String(text), _) => Cell::Text(Cow::Borrowed(text)),
        (AnyValue::StringOwned(text), _) => Cell::Text(Cow::Owned(text.to_string())),
        (AnyValue::Int32(days), Kind::Date) => Cell::Text(Cow::Owned(date_text(days))),
        (AnyValue::Float64(number), _) => Cell::Number(number),
        (AnyValue::Int64(number), _) => Cell::Integer(i128::from(number)),
        (AnyValue::UInt64(number), _) => Cell::Integer(i128::from(number)),
        _ => Cell::Absent,
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

fn own_column(column: &Column, name: &str, kind: Kind) -> OwnColumn {
    let cell = |row| column.get(row).unwrap_or(AnyValue::Null);
    let values = (0..column.len()).map(|row| Datum::of(&cell(row), Some(kind)));
    OwnColumn {
        name: name.to_owned(),
        cells: sql::cells(kind, values),
    }
}
