//! Defines the tables of a dataset: the meaning of their columns, and their values.

pub(crate) mod counters;
mod field;
pub(crate) mod findings;
pub(crate) mod gaps;
pub(crate) mod intervals;
pub(crate) mod kernels;
pub(crate) mod phase_kernels;
pub(crate) mod runs;
pub(crate) mod steps;

use metalens_analyzer::Analysis;

use crate::cells::{CellKind, MemoryTable};
use crate::error::Result;
pub use field::ColumnInfo;
use field::about;

/// A table of a dataset.
pub(crate) struct DatasetTable {
    pub(crate) name: &'static str,
    /// Meaning and order of the rows.
    meaning: &'static str,
    /// Returns the columns in the files.
    fields: fn() -> Vec<ColumnInfo>,
    /// Makes the table of a run, with the names of other processes or without.
    pub(crate) rows: fn(&Analysis, bool) -> Result<MemoryTable>,
}

/// Name of the table that lists complete runs.
pub(crate) const RUNS: &str = "runs";

/// The tables in the order of writing: `runs` last, because it lists complete runs.
pub(crate) static TABLES: [DatasetTable; 8] = [
    DatasetTable {
        name: "intervals",
        meaning: "One row per GPU interval that touches the window, of all processes, sorted by start. Only \
                  the part inside the window counts.",
        fields: || about(&intervals::fields()),
        rows: intervals::table,
    },
    DatasetTable {
        name: "gaps",
        meaning: "One row per gap of the analyzed process, sorted by start. The times of its ten causes sum \
                  to its length.",
        fields: || about(&gaps::fields()),
        rows: |analysis, _| gaps::table(analysis),
    },
    DatasetTable {
        name: "kernels",
        meaning: "One row per name, channel and source of the name; the most time first.",
        fields: || about(&kernels::fields()),
        rows: |analysis, _| kernels::table(&analysis.report),
    },
    DatasetTable {
        name: "findings",
        meaning: "One row per finding of the report, the most important first.",
        fields: || about(&findings::fields()),
        rows: |analysis, show_names| findings::table(&analysis.report, show_names),
    },
    DatasetTable {
        name: "counters",
        meaning: "One row per sample of a hardware counter in the whole recording, of all processes.",
        fields: || about(&counters::fields()),
        rows: |analysis, _| counters::table(analysis),
    },
    DatasetTable {
        name: "phase_kernels",
        meaning: "One row per kernel and phase (at most 100): the work that the analyzed process encoded \
                  during the os_signpost intervals of that name. Nested phases each have the work.",
        fields: || about(&phase_kernels::fields()),
        rows: |analysis, _| phase_kernels::table(&analysis.report),
    },
    DatasetTable {
        name: "steps",
        meaning: "One row per step of the main series with a known length that lies in the window. The GPU \
                  time and the ten causes sum to its length.",
        fields: || about(&steps::fields()),
        rows: |analysis, _| steps::table(analysis),
    },
    DatasetTable {
        name: RUNS,
        meaning: "One row per run: facts of the recording, and the figures of its report.",
        fields: || about(&runs::fields()),
        rows: |analysis, _| runs::table(&analysis.report),
    },
];

impl DatasetTable {
    /// Returns the columns: those from the folders' names, then those in the files.
    pub(crate) fn columns(&self) -> Vec<ColumnInfo> {
        let mut columns = PARTITION.to_vec();
        columns.extend((self.fields)());
        columns
    }
}

/// A description of a table for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Name of the table in files and queries.
    pub name: &'static str,
    /// Meaning and order of the rows.
    pub meaning: &'static str,
    /// Columns of the table, in order.
    pub columns: Vec<ColumnInfo>,
}

/// Returns the tables and their columns, `runs` first.
pub fn describe() -> Vec<TableInfo> {
    let about = |table: &DatasetTable| TableInfo {
        name: table.name,
        meaning: table.meaning,
        columns: table.columns(),
    };
    let mut tables: Vec<TableInfo> = TABLES.iter().map(about).collect();
    tables.rotate_right(1);
    tables
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
    partition(
        "device",
        CellKind::Text,
        "Model of the machine; `unknown` if the recording does not name it.",
    ),
    partition(
        "date",
        CellKind::Date,
        "Day on which the recording began, in the machine's time zone.",
    ),
    partition(
        "run",
        CellKind::Text,
        "Name of the run, made from the recording and the process.",
    ),
];
