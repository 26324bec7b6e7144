//! Tables as Parquet files.
//!
//! Row groups are small enough that an engine can leave most of them out. Whole
//! numbers are stored as differences: times rise, and take a third of the room.
//! Snappy compresses: it needs no C compiler, and every engine reads it.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::cells::{Cells, Column, Kind, Table};

/// The most rows in a group.
const GROUP_ROWS: usize = 131_072;
/// The key under which a file says of what form it is.
pub(crate) const FORM_KEY: &str = "metalens.dataset";

/// Writes a table. `form` is what the file says of itself.
pub(crate) fn write<W: Write + Send>(
    out: W,
    table: &Table,
    name: &str,
    form: &[(&str, &str)],
) -> Result<()> {
    let schema = schema(table, name)?;
    let mut writer = SerializedFileWriter::new(out, schema, properties(table, form))?;
    let texts: Vec<Vec<ByteArray>> = table.columns.iter().map(different_texts).collect();
    let mut from = 0;
    while from < table.rows {
        let to = table.rows.min(from + GROUP_ROWS);
        let mut group = writer.next_row_group()?;
        for (column, texts) in table.columns.iter().zip(&texts) {
            let mut chunk = group
                .next_column()?
                .ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
            write_cells(chunk.untyped(), &column.cells, texts, from..to)?;
            chunk.close()?;
        }
        group.close()?;
        from = to;
    }
    writer.close()?;
    Ok(())
}

fn properties(table: &Table, form: &[(&str, &str)]) -> WriterPropertiesPtr {
    let pair = |&(key, value): &(&str, &str)| KeyValue::new(key.to_owned(), value.to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("metalens version {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(form.iter().map(pair).collect()))
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS));
    let whole = |column: &&Column| matches!(column.cells.kind(), Kind::Integer | Kind::Id);
    for column in table.columns.iter().filter(whole) {
        let path = ColumnPath::from(column.name.as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Arc::new(properties.build())
}

/// Every column may have absent cells.
fn schema(table: &Table, name: &str) -> Result<TypePtr> {
    let field = |column: &Column| {
        let (physical, logical) = match column.cells.kind() {
            Kind::Integer => (Physical::INT64, None),
            Kind::Id => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Date => (Physical::INT32, Some(LogicalType::Date)),
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

fn different_texts(column: &Column) -> Vec<ByteArray> {
    match &column.cells {
        Cells::Text(texts) => texts
            .different
            .iter()
            .map(|text| text.as_str().into())
            .collect(),
        _ => Vec::new(),
    }
}

fn write_cells(
    chunk: &mut ColumnWriter<'_>,
    cells: &Cells,
    texts: &[ByteArray],
    rows: std::ops::Range<usize>,
) -> Result<()> {
    match (chunk, cells) {
        (ColumnWriter::Int64ColumnWriter(writer), Cells::Integer(cells)) => {
            let (levels, values) = split(cells, rows, |&number| Some(number));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::Int64ColumnWriter(writer), Cells::Id(cells)) => {
            let (levels, values) = split(cells, rows, |&id| Some(id.cast_signed()));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::DoubleColumnWriter(writer), Cells::Number(cells)) => {
            let (levels, values) = split(cells, rows, |&number| Some(number));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::BoolColumnWriter(writer), Cells::Flag(cells)) => {
            let (levels, values) = split(cells, rows, |&flag| Some(flag));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::Int32ColumnWriter(writer), Cells::Date(cells)) => {
            let (levels, values) = split(cells, rows, |&day| Some(day));
            writer.write_batch(&values, Some(&levels), None)
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Text(cells)) => {
            let text = |&number: &u32| texts.get(usize::try_from(number).ok()?).cloned();
            let (levels, values) = split(&cells.numbers, rows, text);
            writer.write_batch(&values, Some(&levels), None)
        }
        _ => Err(ParquetError::General("a column of another type".to_owned())),
    }
    .map(drop)
}

/// Which cells are there (1) or absent (0), and those that are.
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
