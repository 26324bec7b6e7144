//! Columns out of Parquet files that this crate wrote.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use crate::FORM;
use crate::cells::Kind;
use crate::error::{Error, Result};
use crate::parquet_write::FORM_KEY;

/// An open file of a dataset.
pub(crate) struct PartFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

/// Cells as they lie in a file.
pub(crate) enum Read {
    Integer(Vec<Option<i64>>),
    Id(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<ByteArray>>),
    /// The file has no such column.
    Absent,
}

/// The smallest and the largest of a column's cells in a group, as far as known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bounds {
    Integer(i64, i64),
    Text(Vec<u8>, Vec<u8>),
}

impl PartFile {
    /// Opens a file, and checks that it is of the form that this crate writes.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::read(path, error))?;
        let foreign = |why: String| Error::Foreign {
            path: path.to_owned(),
            why,
        };
        let reader = SerializedFileReader::new(file).map_err(|error| foreign(error.to_string()))?;
        let metadata = reader.metadata().file_metadata().key_value_metadata();
        let mut pairs = metadata.into_iter().flatten();
        let form = pairs
            .find(|pair| pair.key == FORM_KEY)
            .and_then(|pair| pair.value.as_deref());
        match form {
            Some(FORM) => {}
            Some(other) => return Err(foreign(format!("it is {other}, not {FORM}"))),
            None => return Err(foreign("metalens did not write it".to_owned())),
        }
        let path = path.to_owned();
        Ok(Self { path, reader })
    }

    /// How many groups of rows it has.
    pub(crate) fn groups(&self) -> usize {
        self.reader.metadata().num_row_groups()
    }

    /// How many rows a group has.
    pub(crate) fn rows(&self, group: usize) -> usize {
        let rows = self.reader.metadata().row_group(group).num_rows();
        usize::try_from(rows).unwrap_or(0)
    }

    fn place(&self, column: &str) -> Option<usize> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().position(|one| one.name() == column)
    }

    /// Between which values a group's cells of a column lie.
    pub(crate) fn bounds(&self, group: usize, column: &str) -> Option<Bounds> {
        let metadata = self.reader.metadata().row_group(group);
        match metadata.column(self.place(column)?).statistics()? {
            Statistics::Int64(found) => Some(Bounds::Integer(*found.min_opt()?, *found.max_opt()?)),
            // A long text's bounds are cut: the lower one down, the upper one up.
            Statistics::ByteArray(found) => {
                let (least, most) = (found.min_opt()?, found.max_opt()?);
                Some(Bounds::Text(least.data().to_vec(), most.data().to_vec()))
            }
            _ => None,
        }
    }

    /// A group's cells of a column.
    pub(crate) fn read(&self, group: usize, column: &str, kind: Kind) -> Result<Read> {
        let Some(place) = self.place(column) else {
            return Ok(Read::Absent);
        };
        let rows = self.rows(group);
        let read = || {
            let reader = self.reader.get_row_group(group)?.get_column_reader(place)?;
            cells(reader, kind, rows)
        };
        read().map_err(|error| Error::read(&self.path, error))
    }
}

fn cells(reader: ColumnReader, kind: Kind, rows: usize) -> ParquetResult<Read> {
    Ok(match (reader, kind) {
        (ColumnReader::Int64ColumnReader(reader), Kind::Integer) => {
            Read::Integer(gather(reader, rows, |number| number)?)
        }
        (ColumnReader::Int64ColumnReader(reader), Kind::Id) => {
            Read::Id(gather(reader, rows, i64::cast_unsigned)?)
        }
        (ColumnReader::DoubleColumnReader(reader), Kind::Number) => {
            Read::Number(gather(reader, rows, |number| number)?)
        }
        (ColumnReader::BoolColumnReader(reader), Kind::Flag) => {
            Read::Flag(gather(reader, rows, |flag| flag)?)
        }
        (ColumnReader::ByteArrayColumnReader(reader), Kind::Text) => {
            Read::Text(gather(reader, rows, |text| text)?)
        }
        _ => {
            let why = format!("a column that should be {} is not", kind.name());
            return Err(ParquetError::General(why));
        }
    })
}

fn gather<D: DataType, V>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    value: impl Fn(D::T) -> V,
) -> ParquetResult<Vec<Option<V>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if levels.len() != rows {
        return Err(ParquetError::General("it breaks off".to_owned()));
    }
    let mut values = values.into_iter();
    let cell = |level: i16| match level {
        0 => None,
        _ => values.next().map(&value),
    };
    Ok(levels.into_iter().map(cell).collect())
}
