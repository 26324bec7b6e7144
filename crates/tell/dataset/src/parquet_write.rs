//! Writes tables as Parquet files.
//!
//! Row groups are small enough that an engine can skip most of them. Whole numbers are stored as
//! differences: times rise, so this takes a third of the space. The compression is Snappy, which
//! needs no C compiler and is supported by every engine.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::cells::{CellKind, ColumnCells, MemoryTable, TableColumn};

/// Largest number of rows in a group.
const GROUP_ROWS: usize = 131_072;
/// Metadata key of the format's name.
pub(crate) const FORM_KEY: &str = "metalens.dataset";
/// Metadata key of the table's name.
pub const TABLE_KEY: &str = "metalens.table";
/// Metadata key of the run's name, which the file's folder has, too.
pub const RUN_KEY: &str = "metalens.run";

impl MemoryTable {
    /// Writes the table as a Parquet file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_parquet(&self, out: impl Write + Send) -> io::Result<()> {
        write(out, self, "answer", &[]).map_err(io::Error::other)
    }
}

/// Writes a table. `form` is the metadata of the file.
pub(crate) fn write<W: Write + Send>(
    out: W,
    table: &MemoryTable,
    name: &str,
    form: &[(&str, &str)],
) -> Result<()> {
    let schema = schema(table, name)?;
    let mut writer = SerializedFileWriter::new(out, schema, properties(table, form))?;
    let texts: Vec<Vec<ByteArray>> = table.columns.iter().map(distinct_texts).collect();

    let mut from = 0;
    while from < table.rows {
        let to = table.rows.min(from + GROUP_ROWS);
        let mut group = writer.next_row_group()?;
        for (column, texts) in table.columns.iter().zip(&texts) {
            let mut chunk = group.next_column()?.ok_or_else(|| {
                ParquetError::General("the table has more columns than its schema".to_owned())
            })?;
            write_cells(chunk.untyped(), &column.cells, texts, from..to)?;
            chunk.close()?;
        }
        group.close()?;
        from = to;
    }
    writer.close()?;
    Ok(())
}

fn properties(table: &MemoryTable, form: &[(&str, &str)]) -> WriterPropertiesPtr {
    let pair = |&(key, value): &(&str, &str)| KeyValue::new(key.to_owned(), value.to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("metalens version {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(form.iter().map(pair).collect()))
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS));

    let is_integer =
        |column: &&TableColumn| matches!(column.cells.kind(), CellKind::Integer | CellKind::Id);
    for column in table.columns.iter().filter(is_integer) {
        let path = ColumnPath::from(column.name.as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Arc::new(properties.build())
}

/// Returns the Parquet schema. Every column may have absent cells.
fn schema(table: &MemoryTable, name: &str) -> Result<TypePtr> {
    let field = |column: &TableColumn| {
        let (physical, logical) = match column.cells.kind() {
            CellKind::Integer => (Physical::INT64, None),
            CellKind::Id => (Physical::INT64, Some(LogicalType::integer(64, false))),
            CellKind::Number => (Physical::DOUBLE, None),
            CellKind::Flag => (Physical::BOOLEAN, None),
            CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            CellKind::Date => (Physical::INT32, Some(LogicalType::Date)),
        };
        let builder = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        builder.build().map(Arc::new)
    };
    let fields: Result<Vec<TypePtr>> = table.columns.iter().map(field).collect();
    let group = Type::group_type_builder(name).with_fields(fields?);
    group.build().map(Arc::new)
}

fn distinct_texts(column: &TableColumn) -> Vec<ByteArray> {
    match &column.cells {
        ColumnCells::Text(texts) => texts
            .distinct
            .iter()
            .map(|text| text.as_str().into())
            .collect(),
        _ => Vec::new(),
    }
}

fn write_cells(
    chunk: &mut ColumnWriter<'_>,
    cells: &ColumnCells,
    texts: &[ByteArray],
    rows: std::ops::Range<usize>,
) -> Result<()> {
    match (chunk, cells) {
        (ColumnWriter::Int64ColumnWriter(writer), ColumnCells::Integer(cells)) => {
            let (levels, values) = split(cells, rows, |&number| Some(number));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::Int64ColumnWriter(writer), ColumnCells::Id(cells)) => {
            let (levels, values) = split(cells, rows, |&id| Some(id.cast_signed()));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::DoubleColumnWriter(writer), ColumnCells::Number(cells)) => {
            let (levels, values) = split(cells, rows, |&number| Some(number));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::BoolColumnWriter(writer), ColumnCells::Flag(cells)) => {
            let (levels, values) = split(cells, rows, |&flag| Some(flag));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::Int32ColumnWriter(writer), ColumnCells::Date(cells)) => {
            let (levels, values) = split(cells, rows, |&day| Some(day));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), ColumnCells::Text(cells)) => {
            let text = |&number: &u32| texts.get(usize::try_from(number).ok()?).cloned();
            let (levels, values) = split(&cells.numbers, rows, text);
            writer.write_batch(&values, Some(&levels), None)
        }
        _ => Err(ParquetError::General(
            "the type of a column differs from its schema".to_owned(),
        )),
    }
    .map(drop)
}

/// Splits cells into levels and values. A level is 1 for a present cell and 0 for an absent cell,
/// which has no value.
fn split<T, V>(
    cells: &[Option<T>],
    rows: std::ops::Range<usize>,
    value: impl Fn(&T) -> Option<V>,
) -> (Vec<i16>, Vec<V>) {
    let cells = cells.get(rows).unwrap_or_default();
    let levels = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values = cells.iter().flatten().filter_map(value).collect();
    (levels, values)
}
