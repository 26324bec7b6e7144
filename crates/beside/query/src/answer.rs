//! Defines the answer to a query, and writes it as CSV, JSON or Parquet.

use std::borrow::Cow;
use std::io::{self, Write};

use metalens_dataset::{CellKind, CellValue, MemoryTable, TableColumn};
use metalens_text::csv;
use polars::prelude::{AnyValue, DataFrame, DataType};

use crate::error::{Error, Result};

/// The rows that a query found.
pub struct QueryAnswer {
    frame: DataFrame,
}

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// A null value of the query.
    Absent,
    /// A whole number with all of its digits.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// A value that is true or false.
    Flag(bool),
    /// Text, or a value that is best written as text: a date, a duration, a list.
    Text(Cow<'a, str>),
}

impl QueryAnswer {
    pub(crate) fn new(mut frame: DataFrame) -> Self {
        frame.rechunk_mut();
        Self { frame }
    }

    /// Returns the names of the columns, and whether their cells are numbers.
    pub fn columns(&self) -> impl Iterator<Item = (&str, bool)> {
        self.frame.columns().iter().map(|column| {
            let is_number = column.dtype().is_primitive_numeric();
            (column.name().as_str(), is_number)
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// Returns the cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        let columns = self.frame.columns().iter();
        columns.map(move |column| column.get(row).map_or(Cell::Absent, cell))
    }

    /// Writes the rows as comma-separated values.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = csv::Writer::new(out);
        out.texts(self.columns().map(|(name, _)| name))?;
        for row in 0..self.rows() {
            for cell in self.row(row) {
                match cell {
                    Cell::Absent => out.text(None)?,
                    Cell::Integer(number) => out.value(number)?,
                    Cell::Number(number) => out.value(format_args!("{number:?}"))?,
                    Cell::Flag(flag) => out.value(flag)?,
                    Cell::Text(text) => out.text(&*text)?,
                }
            }
            out.end()?;
        }
        Ok(())
    }

    /// Writes an array of one object per row, each on a line of its own. Whole numbers have all of
    /// their digits, also beyond 2^53. NaN and infinities are text, since JSON has no such numbers.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns().map(|(name, _)| name).collect();
        out.write_all(b"[")?;
        for row in 0..self.rows() {
            out.write_all(if row == 0 { b"\n{" } else { b",\n{" })?;
            for (index, (name, cell)) in names.iter().zip(self.row(row)).enumerate() {
                if index > 0 {
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

    /// Writes a Parquet file.
    ///
    /// # Errors
    ///
    /// If a number does not fit, or the file cannot be written.
    pub fn write_parquet(&self, out: &mut (dyn Write + Send)) -> Result<()> {
        let columns = self.frame.columns().iter().map(|column| {
            let mut written = TableColumn::new(column.name(), kind(column.dtype()));
            for row in 0..self.rows() {
                let value = column.get(row).unwrap_or(AnyValue::Null);
                if let AnyValue::Date(day) = value {
                    written.push(CellValue::Date(day))?;
                } else {
                    written.push(parquet_cell(&cell(value), column.dtype()))?;
                }
            }
            Ok(written)
        });
        let table = MemoryTable {
            rows: self.rows(),
            columns: columns.collect::<Result<_>>()?,
        };
        let written = table.write_parquet(out);
        written.map_err(|error| Error::Write(error.to_string()))
    }
}

/// Returns the kind of a column in Parquet. What has none is text, as in CSV.
fn kind(dtype: &DataType) -> CellKind {
    match dtype {
        DataType::Boolean => CellKind::Flag,
        DataType::Date => CellKind::Date,
        DataType::Float32 | DataType::Float64 => CellKind::Number,
        DataType::UInt64 => CellKind::Id,
        whole if whole.is_integer() => CellKind::Integer,
        _ => CellKind::Text,
    }
}

fn parquet_cell<'a>(cell: &'a Cell<'_>, dtype: &DataType) -> CellValue<'a> {
    match cell {
        Cell::Absent => CellValue::Absent,
        Cell::Integer(number) if *dtype == DataType::UInt64 => {
            u64::try_from(*number).map_or(CellValue::Absent, CellValue::Id)
        }
        Cell::Integer(number) => {
            i64::try_from(*number).map_or(CellValue::Absent, CellValue::Integer)
        }
        Cell::Number(number) => CellValue::Number(*number),
        Cell::Flag(flag) => CellValue::Flag(*flag),
        Cell::Text(text) => CellValue::Text(text),
    }
}

fn cell(value: AnyValue<'_>) -> Cell<'_> {
    match value {
        AnyValue::Null => Cell::Absent,
        AnyValue::Boolean(flag) => Cell::Flag(flag),
        AnyValue::String(text) => Cell::Text(Cow::Borrowed(text)),
        AnyValue::StringOwned(text) => Cell::Text(Cow::Owned(text.to_string())),
        AnyValue::Float32(number) => Cell::Number(number.into()),
        AnyValue::Float64(number) => Cell::Number(number),
        other => {
            whole(&other).map_or_else(|| Cell::Text(Cow::Owned(other.to_string())), Cell::Integer)
        }
    }
}

fn whole(value: &AnyValue<'_>) -> Option<i128> {
    let is_whole = value.dtype().is_integer() && value.dtype() != DataType::Boolean;
    is_whole.then(|| value.extract()).flatten()
}

fn write_json_cell(out: &mut dyn Write, cell: &Cell<'_>) -> io::Result<()> {
    match cell {
        Cell::Absent => out.write_all(b"null"),
        Cell::Integer(number) => write!(out, "{number}"),
        Cell::Number(number) if number.is_finite() => Ok(serde_json::to_writer(out, number)?),
        Cell::Number(number) => write!(out, "\"{number}\""),
        Cell::Flag(flag) => write!(out, "{flag}"),
        Cell::Text(text) => Ok(serde_json::to_writer(out, text)?),
    }
}
