//! Cells as polars has them.

use parquet::data_type::ByteArray;
use polars_core::prelude::*;

use crate::cells::{Cells, Kind, Table};
use crate::error::Error;
use crate::hive::Partition;
use crate::parquet_read::Read;
use crate::tables::{About, PARTITION, Which};

/// What polars calls a kind. Days are whole numbers to it: its own dates cost more to build
/// than all the rest of its kinds.
pub(crate) fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Integer => DataType::Int64,
        Kind::Id => DataType::UInt64,
        Kind::Number => DataType::Float64,
        Kind::Flag => DataType::Boolean,
        Kind::Text => DataType::String,
        Kind::Date => DataType::Int32,
    }
}

/// The columns of a table.
pub(crate) fn schema(which: Which) -> SchemaRef {
    let field = |about: About| Field::new(about.name.into(), data_type(about.kind));
    Arc::new(which.columns().into_iter().map(field).collect())
}

/// What the folders' names tell, as a column of one value.
pub(crate) fn partition_column(about: &About, partition: &Partition, rows: usize) -> Column {
    let text = |text: &str| AnyValue::StringOwned(text.into());
    let value = match about.name {
        "device" => partition.device.as_deref().map(text),
        "date" => partition.date.map(AnyValue::Int32),
        _ => Some(text(&partition.run)),
    };
    let scalar = Scalar::new(data_type(about.kind), value.unwrap_or(AnyValue::Null));
    Column::new_scalar(about.name.into(), scalar, rows)
}

/// A table with what its folders' names would tell.
pub(crate) fn frame(table: &Table, partition: &Partition) -> PolarsResult<DataFrame> {
    let parts = PARTITION
        .iter()
        .map(|about| partition_column(about, partition, table.rows));
    let own = table
        .columns
        .iter()
        .map(|column| cells(&column.name, &column.cells));
    DataFrame::new(table.rows, parts.chain(own).collect())
}

/// One column.
pub(crate) fn cells(name: &str, cells: &Cells) -> Column {
    let name = PlSmallStr::from(name);
    match cells {
        Cells::Integer(cells) => integers(name, cells.iter().copied()),
        Cells::Id(cells) => {
            UInt64Chunked::from_iter_options(name, cells.iter().copied()).into_column()
        }
        Cells::Number(cells) => {
            Float64Chunked::from_iter_options(name, cells.iter().copied()).into_column()
        }
        Cells::Flag(cells) => {
            BooleanChunked::from_iter_options(name, cells.iter().copied()).into_column()
        }
        Cells::Text(texts) => StringChunked::from_iter_options(name, texts.iter()).into_column(),
        Cells::Date(cells) => {
            Int32Chunked::from_iter_options(name, cells.iter().copied()).into_column()
        }
    }
}

fn integers(name: PlSmallStr, cells: impl Iterator<Item = Option<i64>>) -> Column {
    Int64Chunked::from_iter_options(name, cells).into_column()
}

/// What was read from a file.
pub(crate) fn read(name: &str, kind: Kind, read: Read, rows: usize) -> PolarsResult<Column> {
    let name = PlSmallStr::from(name);
    Ok(match read {
        Read::Integer(cells) => integers(name, cells.into_iter()),
        Read::Id(cells) => UInt64Chunked::from_iter_options(name, cells.into_iter()).into_column(),
        Read::Number(cells) => {
            Float64Chunked::from_iter_options(name, cells.into_iter()).into_column()
        }
        Read::Flag(cells) => {
            BooleanChunked::from_iter_options(name, cells.into_iter()).into_column()
        }
        Read::Text(cells) => texts(name, &cells)?,
        Read::Absent => Column::full_null(name, rows, &data_type(kind)),
    })
}

fn texts(name: PlSmallStr, cells: &[Option<ByteArray>]) -> PolarsResult<Column> {
    let mut texts = StringChunkedBuilder::new(name, cells.len());
    for cell in cells {
        match cell {
            Some(bytes) => texts.append_value(
                bytes
                    .as_utf8()
                    .map_err(|error| polars_err!(ComputeError: "a text is not UTF-8: {error}"))?,
            ),
            None => texts.append_null(),
        }
    }
    Ok(texts.finish().into_column())
}

/// What polars says: the first line says it, the others are plans and schemas.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is handed to `map_err`, which hands over the error"
)]
pub(crate) fn failed(error: PolarsError) -> Error {
    let why = error.to_string();
    let first = why.lines().next().unwrap_or_default();
    Error::Query {
        why: first.to_owned(),
    }
}
