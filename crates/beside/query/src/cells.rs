//! Builds columns of polars from cells.

use std::str::Utf8Error;

use metalens_dataset::CellKind;
use polars::prelude::{
    BooleanChunkedBuilder, ChunkTake, ChunkedBuilder, Column, DataType, Float64Type, IdxCa,
    IdxSize, Int32Type, Int64Type, IntoColumn, IntoSeries, NewChunkedArray, PlSmallStr,
    PolarsResult, PrimitiveChunkedBuilder, StringChunkedBuilder, UInt64Type,
};
use rustc_hash::FxHashMap;

/// A column that grows by cells.
pub(crate) enum ColumnBuilder {
    Integer(PrimitiveChunkedBuilder<Int64Type>),
    Id(PrimitiveChunkedBuilder<UInt64Type>),
    Number(PrimitiveChunkedBuilder<Float64Type>),
    Flag(BooleanChunkedBuilder),
    Text(TextBuilder),
    /// Days since 1970-01-01.
    Date(PrimitiveChunkedBuilder<Int32Type>),
}

impl ColumnBuilder {
    pub(crate) fn new(name: &'static str, kind: CellKind) -> Self {
        let own = PlSmallStr::from_static(name);
        match kind {
            CellKind::Integer => Self::Integer(PrimitiveChunkedBuilder::new(own, 0)),
            CellKind::Id => Self::Id(PrimitiveChunkedBuilder::new(own, 0)),
            CellKind::Number => Self::Number(PrimitiveChunkedBuilder::new(own, 0)),
            CellKind::Flag => Self::Flag(BooleanChunkedBuilder::new(own, 0)),
            CellKind::Text => Self::Text(TextBuilder::new(own)),
            CellKind::Date => Self::Date(PrimitiveChunkedBuilder::new(own, 0)),
        }
    }

    /// Adds null cells.
    pub(crate) fn push_absent(&mut self, rows: usize) {
        for _ in 0..rows {
            match self {
                Self::Integer(cells) => cells.append_null(),
                Self::Id(cells) => cells.append_null(),
                Self::Number(cells) => cells.append_null(),
                Self::Flag(cells) => cells.append_null(),
                Self::Text(cells) => cells.rows.push(None),
                Self::Date(cells) => cells.append_null(),
            }
        }
    }

    pub(crate) fn finish(self) -> PolarsResult<Column> {
        Ok(match self {
            Self::Integer(cells) => cells.finish().into_column(),
            Self::Id(cells) => cells.finish().into_column(),
            Self::Number(cells) => cells.finish().into_column(),
            Self::Flag(cells) => cells.finish().into_column(),
            Self::Text(cells) => cells.finish()?,
            Self::Date(cells) => cells.finish().into_series().cast(&DataType::Date)?.into(),
        })
    }
}

/// Texts of a column. Each distinct text is stored once, because many rows share few names.
pub(crate) struct TextBuilder {
    name: PlSmallStr,
    known: FxHashMap<Vec<u8>, IdxSize>,
    distinct: StringChunkedBuilder,
    rows: Vec<Option<IdxSize>>,
}

impl TextBuilder {
    fn new(name: PlSmallStr) -> Self {
        Self {
            distinct: StringChunkedBuilder::new(name.clone(), 0),
            known: FxHashMap::default(),
            rows: Vec::new(),
            name,
        }
    }

    /// Adds a text to several rows.
    pub(crate) fn push(&mut self, text: Option<&[u8]>, rows: usize) -> Result<(), Utf8Error> {
        let number = text.map(|text| self.number(text)).transpose()?;
        self.rows.extend(std::iter::repeat_n(number, rows));
        Ok(())
    }

    fn number(&mut self, text: &[u8]) -> Result<IdxSize, Utf8Error> {
        if let Some(number) = self.known.get(text) {
            return Ok(*number);
        }
        self.distinct.append_value(std::str::from_utf8(text)?);
        // polars has no more rows than that in a column.
        let number = IdxSize::try_from(self.known.len()).unwrap_or(IdxSize::MAX);
        self.known.insert(text.to_owned(), number);
        Ok(number)
    }

    fn finish(self) -> PolarsResult<Column> {
        let distinct = self.distinct.finish();
        if distinct.is_empty() {
            return Ok(Column::full_null(
                self.name,
                self.rows.len(),
                &DataType::String,
            ));
        }
        let numbers = IdxCa::from_iter_options(PlSmallStr::EMPTY, self.rows.into_iter());
        Ok(distinct.take(&numbers)?.into_column())
    }
}
