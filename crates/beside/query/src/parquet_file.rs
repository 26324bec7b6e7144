//! Reads the columns of a Parquet file, and believes none of its numbers.
//!
//! Datasets are shared, and one changed byte in a footer leads the reader of polars out of bounds. So
//! polars never sees a file: the `parquet` crate, whose reader checks its bounds, decodes the cells.
//! Offsets, sizes and counts are checked before it, because it allocates what a page claims to have.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::file::metadata::{
    ColumnChunkMetaData, FooterTail, ParquetMetaData, ParquetMetaDataReader,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use polars::prelude::ChunkedBuilder;
use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use polars_parquet_format::{Encoding, PageHeader};

use crate::cells::ColumnBuilder;
use crate::damage::{Damage, wrong};
use crate::file_bytes::FileBytes;

/// Size of the end of a file: the length of the footer, and four letters.
const TAIL: u64 = 8;
/// Number of cells that are decoded at a time.
const AT_A_TIME: usize = 8_192;

/// A Parquet file whose footer agrees with its length and with itself.
pub(crate) struct ParquetFile {
    bytes: FileBytes,
    metadata: ParquetMetaData,
    rows: usize,
}

impl ParquetFile {
    /// Reads the footer of a file, and checks it.
    pub(crate) fn new(bytes: FileBytes) -> Result<Self, Damage> {
        without_panic(|| {
            let (metadata, data_end) = footer(&bytes)?;
            let rows = checked_rows(&metadata, data_end)?;
            Ok(Self {
                bytes,
                metadata,
                rows,
            })
        })
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns a value of the file's own metadata.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Adds the cells of a column to a builder; a column that the file lacks is null.
    pub(crate) fn read(&self, name: &str, cells: &mut ColumnBuilder) -> Result<(), Damage> {
        let schema = self.metadata.file_metadata().schema_descr();
        let number = schema.columns().iter().position(|column| {
            let path = column.path().parts();
            path.len() == 1 && path.first().is_some_and(|own| own == name)
        });
        let Some(number) = number else {
            cells.push_absent(self.rows);
            return Ok(());
        };

        without_panic(|| {
            for group in self.metadata.row_groups() {
                let chunk = group.columns().get(number);
                let chunk = chunk.ok_or_else(|| wrong("a row group lacks it"))?;
                self.read_chunk(chunk, cells)?;
            }
            Ok(())
        })
        .map_err(|damage| wrong(format!("column {name:?}: {damage}")))
    }

    fn read_chunk(
        &self,
        chunk: &ColumnChunkMetaData,
        cells: &mut ColumnBuilder,
    ) -> Result<(), Damage> {
        refuse_other_type(chunk.column_descr(), cells)?;
        let rows = usize::try_from(chunk.num_values()).map_err(|_| wrong("it has no length"))?;
        let (start, length) = chunk.byte_range();
        let bytes = self.bytes.range(start..start.saturating_add(length))?;
        check_pages(&bytes, chunk)?;

        // The bytes begin with the chunk.
        let dictionary = chunk.dictionary_page_offset().map(|_| 0);
        let chunk = chunk
            .clone()
            .into_builder()
            .set_data_page_offset(0)
            .set_dictionary_page_offset(dictionary)
            .build()?;
        let pages = SerializedPageReader::new(Arc::new(bytes), &chunk, rows, None)?;
        let descriptor = chunk.column_descr_ptr();
        let is_optional = descriptor.max_def_level() == 1;
        let reader = get_column_reader(descriptor, Box::new(pages));
        use ColumnBuilder as To;
        match (reader, cells) {
            (ColumnReader::Int64ColumnReader(from), To::Integer(to)) => {
                each_number(from, rows, is_optional, |cell| to.append_option(cell))
            }
            (ColumnReader::Int64ColumnReader(from), To::Id(to)) => {
                each_number(from, rows, is_optional, |cell| {
                    to.append_option(cell.map(i64::cast_unsigned));
                })
            }
            (ColumnReader::DoubleColumnReader(from), To::Number(to)) => {
                each_number(from, rows, is_optional, |cell| to.append_option(cell))
            }
            (ColumnReader::BoolColumnReader(from), To::Flag(to)) => {
                each_number(from, rows, is_optional, |cell| to.append_option(cell))
            }
            (ColumnReader::Int32ColumnReader(from), To::Date(to)) => {
                each_number(from, rows, is_optional, |cell| to.append_option(cell))
            }
            (ColumnReader::ByteArrayColumnReader(from), To::Text(to)) => {
                each(from, rows, is_optional, |cell| {
                    to.push(cell.map(parquet::data_type::ByteArray::data), 1)
                        .map_err(|_| wrong("a text is not UTF-8"))
                })
            }
            _ => Err(wrong("it has another type than the table's")),
        }
    }
}

/// Returns the footer, and the place where the data before it ends.
fn footer(bytes: &FileBytes) -> Result<(ParquetMetaData, u64), Damage> {
    let length = bytes.len();
    let short = || wrong("it is no Parquet file: it is too short");
    let tail_start = length.checked_sub(TAIL).ok_or_else(short)?;
    let tail = FooterTail::try_from(&*bytes.range(tail_start..length)?)?;
    if tail.is_encrypted_footer() {
        return Err(wrong("it is encrypted"));
    }
    let size = u64::try_from(tail.metadata_length()).unwrap_or(u64::MAX);
    let start = tail_start.checked_sub(size).ok_or_else(short)?;
    let metadata = ParquetMetaDataReader::decode_metadata(&bytes.range(start..tail_start)?)?;
    Ok((metadata, start))
}

/// Returns the number of rows after all row groups and column chunks are checked.
fn checked_rows(metadata: &ParquetMetaData, data_end: u64) -> Result<usize, Damage> {
    let mut rows: i64 = 0;
    let mut ranges = Vec::new();
    for group in metadata.row_groups() {
        if group.num_rows() < 0 {
            return Err(wrong("a row group has less than no rows"));
        }
        rows = rows
            .checked_add(group.num_rows())
            .ok_or_else(|| wrong("it has too many rows"))?;
        for chunk in group.columns() {
            let is_flat = chunk.column_descr().max_rep_level() == 0
                && chunk.column_descr().max_def_level() <= 1;
            if is_flat && chunk.num_values() != group.num_rows() {
                return Err(wrong(format!(
                    "column {} has {} cells in a group of {} rows",
                    chunk.column_path(),
                    chunk.num_values(),
                    group.num_rows()
                )));
            }
            ranges.push(chunk_range(chunk, data_end).ok_or_else(|| {
                wrong(format!(
                    "column {} is outside the file's data",
                    chunk.column_path()
                ))
            })?);
        }
    }

    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    if ranges
        .windows(2)
        .any(|two| matches!(two, [first, next] if next.start < first.end))
    {
        return Err(wrong("two of its columns overlap"));
    }
    if rows != metadata.file_metadata().num_rows() {
        return Err(wrong(format!(
            "its row groups have {rows} rows, but the file has {}",
            metadata.file_metadata().num_rows()
        )));
    }
    usize::try_from(rows).map_err(|_| wrong("it has too many rows"))
}

/// Returns the bytes of a column chunk, dictionary included, if they are inside the data.
fn chunk_range(chunk: &ColumnChunkMetaData, data_end: u64) -> Option<std::ops::Range<u64>> {
    const MAGIC: u64 = 4;
    let data = u64::try_from(chunk.data_page_offset()).ok()?;
    let start = match chunk.dictionary_page_offset() {
        Some(dictionary) => u64::try_from(dictionary)
            .ok()
            .filter(|start| *start < data)?,
        None => data,
    };
    let end = start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?;
    let is_inside = start >= MAGIC && data <= end && end <= data_end;
    (is_inside && chunk.file_path().is_none()).then_some(start..end)
}

/// Checks the headers of a chunk's pages against its length and its number of cells.
fn check_pages(bytes: &[u8], chunk: &ColumnChunkMetaData) -> Result<(), Damage> {
    // What Snappy stores in three bytes has 64 at most.
    let ratio = match chunk.compression() {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 22,
        other => {
            return Err(wrong(format!(
                "it is compressed with {other}, not with Snappy"
            )));
        }
    };

    let has_levels = chunk.column_descr().max_def_level() > 0;
    let (mut rest, mut cells) = (bytes, 0_i64);
    let mut has_dictionary = false;
    while !rest.is_empty() {
        let most = rest.len().saturating_mul(size_of::<u64>());
        let header =
            PageHeader::read_from_in_protocol(&mut TCompactInputProtocol::new(&mut rest, most))?;
        let stored = usize::try_from(header.compressed_page_size)
            .ok()
            .filter(|stored| *stored <= rest.len())
            .ok_or_else(|| wrong("a page is longer than its column"))?;
        let whole = usize::try_from(header.uncompressed_page_size)
            .ok()
            .filter(|whole| *whole <= stored.saturating_mul(ratio))
            .ok_or_else(|| wrong("a page claims to be larger than it can be"))?;

        has_dictionary |= header.dictionary_page_header.is_some();
        let page = match (header.data_page_header, header.data_page_header_v2) {
            (Some(page), _) => {
                // The length of the levels comes first.
                if has_levels && whole < size_of::<u32>() {
                    return Err(wrong("a page is too short"));
                }
                Some((page.num_values, page.encoding))
            }
            (None, page) => page.map(|page| (page.num_values, page.encoding)),
        };
        if let Some((values, encoding)) = page {
            let of_dictionary = [Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];
            if of_dictionary.contains(&encoding) && !has_dictionary {
                return Err(wrong("a page lacks its dictionary"));
            }
            cells = cells.saturating_add(values.into());
        }
        rest = rest.get(stored..).unwrap_or_default();
    }
    if cells != chunk.num_values() {
        return Err(wrong(format!(
            "its pages have {cells} cells, but it has {}",
            chunk.num_values()
        )));
    }
    Ok(())
}

/// Refuses a column of another type than the builder's.
fn refuse_other_type(column: &ColumnDescriptor, cells: &ColumnBuilder) -> Result<(), Damage> {
    let (physical, meaning): (Physical, &[ConvertedType]) = match cells {
        ColumnBuilder::Integer(_) => (
            Physical::INT64,
            &[ConvertedType::NONE, ConvertedType::INT_64],
        ),
        ColumnBuilder::Id(_) => (Physical::INT64, &[ConvertedType::UINT_64]),
        ColumnBuilder::Number(_) => (Physical::DOUBLE, &[ConvertedType::NONE]),
        ColumnBuilder::Flag(_) => (Physical::BOOLEAN, &[ConvertedType::NONE]),
        ColumnBuilder::Text(_) => (Physical::BYTE_ARRAY, &[ConvertedType::UTF8]),
        ColumnBuilder::Date(_) => (Physical::INT32, &[ConvertedType::DATE]),
    };
    let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
    if is_flat && column.physical_type() == physical && meaning.contains(&column.converted_type()) {
        return Ok(());
    }
    Err(wrong("it has another type than the table's"))
}

/// Passes each of a chunk's numbers or flags on, null ones too.
fn each_number<T: DataType<T: Copy>>(
    reader: ColumnReaderImpl<T>,
    rows: usize,
    is_optional: bool,
    mut push: impl FnMut(Option<T::T>),
) -> Result<(), Damage> {
    each(reader, rows, is_optional, |cell| {
        push(cell.copied());
        Ok(())
    })
}

/// Passes each of a chunk's cells on, null ones too.
fn each<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    is_optional: bool,
    mut push: impl FnMut(Option<&T::T>) -> Result<(), Damage>,
) -> Result<(), Damage> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut left = rows;
    while left > 0 {
        levels.clear();
        values.clear();
        let most = left.min(AT_A_TIME);
        let (read, _, _) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(wrong("it has fewer cells than rows"));
        }
        left -= read;
        let mut values = values.iter();
        if is_optional {
            for level in &levels {
                push(if *level == 1 { values.next() } else { None })?;
            }
        } else {
            for value in values {
                push(Some(value))?;
            }
        }
    }
    Ok(())
}

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread reads a file, so that a panic becomes an error, which need not be
/// printed.
pub fn is_reading() -> bool {
    IS_READING.get()
}

/// Turns a panic into an error. The decoder checks its bounds, but some of its checks are assertions.
fn without_panic<T>(read: impl FnOnce() -> Result<T, Damage>) -> Result<T, Damage> {
    IS_READING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(false);
    outcome.unwrap_or_else(|_| Err(wrong("its cells are damaged")))
}

#[cfg(test)]
mod tests;
