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

use crate::cells::CellKind;
pub use field::ColumnInfo;
use field::about;

/// A table of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatasetTable {
    Runs,
    Intervals,
    Gaps,
    Kernels,
    Findings,
    Counters,
    PhaseKernels,
    Steps,
}

impl DatasetTable {
    pub(crate) const ALL: [Self; 8] = [
        Self::Runs,
        Self::Intervals,
        Self::Gaps,
        Self::Kernels,
        Self::Findings,
        Self::Counters,
        Self::PhaseKernels,
        Self::Steps,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Intervals => "intervals",
            Self::Gaps => "gaps",
            Self::Kernels => "kernels",
            Self::Findings => "findings",
            Self::Counters => "counters",
            Self::PhaseKernels => "phase_kernels",
            Self::Steps => "steps",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Runs => "One row per run: facts of the recording, and the figures of its report.",
            Self::Intervals => {
                "One row per GPU interval that touches the window, of all processes, \
                 sorted by start. Only the part inside the window counts."
            }
            Self::Gaps => {
                "One row per gap of the analyzed process, sorted by start. The times of \
                 its ten causes sum to its length."
            }
            Self::Kernels => {
                "One row per name, channel and source of the name; the most time first."
            }
            Self::Findings => "One row per finding of the report, the most important first.",
            Self::Counters => {
                "One row per sample of a hardware counter in the whole recording, of all \
                 processes."
            }
            Self::PhaseKernels => {
                "One row per kernel and phase (at most 100): the work that the analyzed \
                 process encoded during the os_signpost intervals of that name. Nested phases each \
                 have the work."
            }
            Self::Steps => {
                "One row per step of the main series with a known length that lies in the window. The \
                 GPU time and the ten causes sum to its length."
            }
        }
    }

    fn own_columns(self) -> Vec<ColumnInfo> {
        match self {
            Self::Runs => about(&runs::fields()),
            Self::Intervals => about(&intervals::fields()),
            Self::Gaps => about(&gaps::fields()),
            Self::Kernels => about(&kernels::fields()),
            Self::Findings => about(&findings::fields()),
            Self::Counters => about(&counters::fields()),
            Self::PhaseKernels => about(&phase_kernels::fields()),
            Self::Steps => about(&steps::fields()),
        }
    }

    /// Returns the columns: those from the folders' names, then those in the files.
    pub(crate) fn columns(self) -> Vec<ColumnInfo> {
        let mut columns = PARTITION.to_vec();
        columns.extend(self.own_columns());
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

/// Returns the tables and their columns.
pub fn describe() -> Vec<TableInfo> {
    DatasetTable::ALL
        .map(|which| TableInfo {
            name: which.name(),
            meaning: which.meaning(),
            columns: which.columns(),
        })
        .to_vec()
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
