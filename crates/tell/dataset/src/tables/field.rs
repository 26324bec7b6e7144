//! Defines the columns in the files of a dataset, and fills them from rows.

use metalens_analyzer::Figure;
use metalens_message::Unit;

use crate::cells::{CellKind, CellValue, ColumnCells, MemoryTable, TableColumn};
use crate::error::Result;

/// A description of a column for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name of the column in files and queries.
    pub name: &'static str,
    /// Type of the column's cells.
    pub kind: CellKind,
    /// Unit of the cells: `ns`, `GB/s`, `1` for a count or a ratio, or nothing.
    pub unit: &'static str,
    /// Meaning of a cell, and of null.
    pub meaning: &'static str,
    /// True if the value is in the folders' names and not in the files.
    pub is_partition: bool,
}

/// A column in the files, with the function that fills it from a row.
pub(crate) struct TableField<R> {
    about: ColumnInfo,
    source: Source<R>,
}

type Get<R> = for<'r> fn(&'r R) -> CellValue<'r>;

type GetFigure<R> = fn(&Figure, &R) -> Option<f64>;

/// The function that fills a column from a row.
enum Source<R> {
    Row(Get<R>),
    Figure(&'static Figure, GetFigure<R>),
}

/// Makes a column of a figure: times and counts are whole numbers.
pub(super) fn of_figure<R>(figure: &'static Figure, get: GetFigure<R>) -> TableField<R> {
    let (kind, unit) = match figure.unit {
        Unit::Ns => (CellKind::Integer, "ns"),
        Unit::Count => (CellKind::Integer, "1"),
        Unit::Bytes => (CellKind::Integer, "B"),
        Unit::Ratio => (CellKind::Number, "1"),
    };
    TableField {
        about: ColumnInfo {
            name: figure.column,
            kind,
            unit,
            // Looked up where it is shown: a report has no use for it.
            meaning: "",
            is_partition: false,
        },
        source: Source::Figure(figure, get),
    }
}

impl<R> TableField<R> {
    fn cell<'r>(&self, row: &'r R) -> CellValue<'r> {
        match self.source {
            Source::Row(get) => get(row),
            Source::Figure(figure, get) => match get(figure, row) {
                Some(value) if figure.unit != Unit::Ratio => CellValue::whole(value),
                value => value.into(),
            },
        }
    }
}

impl<R> TableField<R> {
    /// Makes a column; `get` returns the cell of a row.
    pub(super) fn new(
        name: &'static str,
        (kind, unit): (CellKind, &'static str),
        meaning: &'static str,
        get: Get<R>,
    ) -> Self {
        Self {
            about: ColumnInfo {
                name,
                kind,
                unit,
                meaning,
                is_partition: false,
            },
            source: Source::Row(get),
        }
    }
}

/// Types of columns, with the unit of their cells.
pub(super) mod of {
    use super::CellKind;

    pub(in crate::tables) const TEXT: (CellKind, &str) = (CellKind::Text, "");
    pub(in crate::tables) const FLAG: (CellKind, &str) = (CellKind::Flag, "");
    pub(in crate::tables) const ID: (CellKind, &str) = (CellKind::Id, "");
    pub(in crate::tables) const INTEGER: (CellKind, &str) = (CellKind::Integer, "");
    pub(in crate::tables) const NUMBER: (CellKind, &str) = (CellKind::Number, "");
    pub(in crate::tables) const NS: (CellKind, &str) = (CellKind::Integer, "ns");
    pub(in crate::tables) const COUNT: (CellKind, &str) = (CellKind::Integer, "1");
    pub(in crate::tables) const RATIO: (CellKind, &str) = (CellKind::Number, "1");
    pub(in crate::tables) const GB_PER_S: (CellKind, &str) = (CellKind::Number, "GB/s");
}

/// Makes columns, one in each line: name, type, meaning, and its cell of a row.
macro_rules! columns {
    ($row:ident: $($name:literal $of:ident $meaning:literal = $cell:expr;)*) => {
        vec![$($crate::tables::field::TableField::new(
            $name,
            $crate::tables::field::of::$of,
            $meaning,
            |$row| {
                let _ = $row;
                $cell.into()
            },
        )),*]
    };
}
pub(super) use columns;

/// Returns the descriptions of columns.
pub(super) fn about<R>(fields: &[TableField<R>]) -> Vec<ColumnInfo> {
    let about = |field: &TableField<R>| match field.source {
        Source::Row(_) => field.about,
        Source::Figure(figure, _) => ColumnInfo {
            meaning: figure.means(),
            ..field.about
        },
    };
    fields.iter().map(about).collect()
}

/// Fills a table from rows.
pub(super) fn fill<R>(
    fields: &[TableField<R>],
    rows: impl IntoIterator<Item = R>,
) -> Result<MemoryTable> {
    let empty = |field: &TableField<R>| TableColumn {
        name: field.about.name.to_owned(),
        cells: ColumnCells::new(field.about.kind),
    };
    let mut columns: Vec<TableColumn> = fields.iter().map(empty).collect();

    let mut count = 0;
    for row in rows {
        for (column, field) in columns.iter_mut().zip(fields) {
            column.cells.push(field.about.name, field.cell(&row))?;
        }
        count += 1;
    }

    Ok(MemoryTable {
        rows: count,
        columns,
    })
}
