//! Defines the tables of a dataset: the meaning of their columns, and their values.

pub(crate) mod findings;
pub(crate) mod gaps;
pub(crate) mod intervals;
pub(crate) mod kernels;
pub(crate) mod runs;

use crate::cells::{CellKind, CellValue, ColumnCells, MemoryTable, TableColumn};
use crate::error::Result;

/// A table of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatasetTable {
    Runs,
    Intervals,
    Gaps,
    Kernels,
    Findings,
}

impl DatasetTable {
    pub(crate) const ALL: [Self; 5] = [
        Self::Runs,
        Self::Intervals,
        Self::Gaps,
        Self::Kernels,
        Self::Findings,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Intervals => "intervals",
            Self::Gaps => "gaps",
            Self::Kernels => "kernels",
            Self::Findings => "findings",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Runs => "One row per run: facts of the recording, and the figures of its report.",
            Self::Intervals => {
                "One row per GPU interval that touches the window, sorted by start: those of the \
                 analyzed process and, marked by `role`, those of other processes. An interval that \
                 reaches beyond the window counts with its part inside."
            }
            Self::Gaps => {
                "One row per gap, sorted by start: a maximal stretch of the window without an \
                 interval of the analyzed process. The seven parts of a gap sum to its length."
            }
            Self::Kernels => {
                "One row per kernel, that is, per name, channel and source of the name; the most \
                 time first."
            }
            Self::Findings => "One row per finding of the report, the most important first.",
        }
    }

    fn own_columns(self) -> Vec<ColumnInfo> {
        match self {
            Self::Runs => about(&runs::fields()),
            Self::Intervals => about(&intervals::fields()),
            Self::Gaps => about(&gaps::fields()),
            Self::Kernels => about(&kernels::fields()),
            Self::Findings => about(&findings::fields()),
        }
    }

    /// Returns the columns: those from the folders' names, then those in the files.
    pub(crate) fn columns(self) -> Vec<ColumnInfo> {
        let mut columns = PARTITION.to_vec();
        columns.extend(self.own_columns());
        columns
    }
}

/// Description of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the cells.
    pub kind: CellKind,
    /// Unit of the cells: `ns`, `1` for a count or a ratio, or nothing.
    pub unit: &'static str,
    /// Meaning of the cells.
    pub meaning: &'static str,
    /// True if the value is in the folders' names and not in the files.
    pub is_partition: bool,
}

/// Description of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Name of the table.
    pub name: &'static str,
    /// Meaning of a row.
    pub meaning: &'static str,
    /// Columns of the table, in order.
    pub columns: Vec<ColumnInfo>,
}

/// Returns the tables and their columns.
#[must_use]
pub fn describe() -> Vec<TableInfo> {
    let table = |which: DatasetTable| TableInfo {
        name: which.name(),
        meaning: which.meaning(),
        columns: which.columns(),
    };
    DatasetTable::ALL.map(table).to_vec()
}

const fn partition(name: &'static str, kind: CellKind, meaning: &'static str) -> ColumnInfo {
    ColumnInfo {
        name,
        kind,
        unit: "",
        meaning,
        is_partition: true,
    }
}

/// Columns from the folders' names.
pub(crate) const PARTITION: [ColumnInfo; 3] = [
    partition("device", CellKind::Text, "Model of the recorded machine."),
    partition(
        "date",
        CellKind::Date,
        "Day on which the recording began, by the clock and time zone of the recorded machine.",
    ),
    partition(
        "run",
        CellKind::Text,
        "Name of the run, made from the recording and the process: the same trace has the same name \
         everywhere.",
    ),
];

/// A column in the files, with the function that fills it from a row.
pub(crate) struct TableField<R> {
    about: ColumnInfo,
    get: GetCell<R>,
}

type GetCell<R> = for<'r> fn(&'r R) -> CellValue<'r>;

pub(crate) fn field<R>(
    name: &'static str,
    kind: CellKind,
    unit: &'static str,
    meaning: &'static str,
    get: GetCell<R>,
) -> TableField<R> {
    TableField {
        about: ColumnInfo {
            name,
            kind,
            unit,
            meaning,
            is_partition: false,
        },
        get,
    }
}

/// Makes a column of times or durations.
pub(crate) fn ns<R>(name: &'static str, meaning: &'static str, get: GetCell<R>) -> TableField<R> {
    field(name, CellKind::Integer, "ns", meaning, get)
}

/// Makes a column of counts.
pub(crate) fn count<R>(
    name: &'static str,
    meaning: &'static str,
    get: GetCell<R>,
) -> TableField<R> {
    field(name, CellKind::Integer, "1", meaning, get)
}

/// Makes a column of shares or factors.
pub(crate) fn ratio<R>(
    name: &'static str,
    meaning: &'static str,
    get: GetCell<R>,
) -> TableField<R> {
    field(name, CellKind::Number, "1", meaning, get)
}

/// Makes a column of text.
pub(crate) fn text<R>(name: &'static str, meaning: &'static str, get: GetCell<R>) -> TableField<R> {
    field(name, CellKind::Text, "", meaning, get)
}

fn about<R>(fields: &[TableField<R>]) -> Vec<ColumnInfo> {
    fields.iter().map(|field| field.about).collect()
}

/// Fills a table from rows.
pub(crate) fn fill<R>(
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
            column.cells.push(field.about.name, (field.get)(&row))?;
        }
        count += 1;
    }

    Ok(MemoryTable {
        rows: count,
        columns,
    })
}
