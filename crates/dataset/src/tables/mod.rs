//! The tables of a dataset: the meaning of their columns, and what fills them.

pub(crate) mod findings;
pub(crate) mod gaps;
pub(crate) mod intervals;
pub(crate) mod kernels;
pub(crate) mod runs;

use crate::cells::{Cells, Column, Kind, Table, Value};
use crate::error::Result;

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Runs,
    Intervals,
    Gaps,
    Kernels,
    Findings,
}

impl Which {
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
            Self::Runs => "One row per run: what was recorded, and every figure of its report.",
            Self::Intervals => {
                "One row per GPU interval that touches the window, by start: the target's and, \
                 marked by `role`, everyone else's. An interval that reaches out of the window \
                 counts with the part inside."
            }
            Self::Gaps => {
                "One row per gap, by start: a maximal stretch of the window without an interval of \
                 the target. The seven parts of a gap sum to its length."
            }
            Self::Kernels => {
                "One row per kernel, that is, per name, channel and what named it; the most time \
                 first."
            }
            Self::Findings => "One row per finding of the report, the most important first.",
        }
    }

    fn own_columns(self) -> Vec<About> {
        match self {
            Self::Runs => about(&runs::fields()),
            Self::Intervals => about(&intervals::fields()),
            Self::Gaps => about(&gaps::fields()),
            Self::Kernels => about(&kernels::fields()),
            Self::Findings => about(&findings::fields()),
        }
    }

    /// Its columns: those that the folders' names tell, then those in the files.
    pub(crate) fn columns(self) -> Vec<About> {
        let mut columns = PARTITION.to_vec();
        columns.extend(self.own_columns());
        columns
    }
}

/// A column as it is described to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What its cells are.
    pub kind: Kind,
    /// What they are in: `ns`, `1` for a count or a ratio, or nothing.
    pub unit: &'static str,
    /// What they mean.
    pub meaning: &'static str,
    /// Whether it is told by the folders' names, not in the files.
    pub is_partition: bool,
}

/// A table as it is described to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutTable {
    /// Its name.
    pub name: &'static str,
    /// What its rows are.
    pub meaning: &'static str,
    /// Its columns, in order.
    pub columns: Vec<About>,
}

/// The tables and their columns.
#[must_use]
pub fn describe() -> Vec<AboutTable> {
    let table = |which: Which| AboutTable {
        name: which.name(),
        meaning: which.meaning(),
        columns: which.columns(),
    };
    Which::ALL.map(table).to_vec()
}

const fn partition(name: &'static str, kind: Kind, meaning: &'static str) -> About {
    About {
        name,
        kind,
        unit: "",
        meaning,
        is_partition: true,
    }
}

/// What the folders' names tell.
pub(crate) const PARTITION: [About; 3] = [
    partition("device", Kind::Text, "The recorded machine's model."),
    partition(
        "date",
        Kind::Date,
        "The day on which the recording began, by the recorded machine's own clock and time zone.",
    ),
    partition(
        "run",
        Kind::Text,
        "The run's name, made from what was recorded and of which process: the same trace has the \
         same name wherever it lies.",
    ),
];

/// A column in the files, and how it is filled from a row.
pub(crate) struct Field<R> {
    about: About,
    get: Get<R>,
}

type Get<R> = for<'r> fn(&'r R) -> Value<'r>;

pub(crate) fn field<R>(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    meaning: &'static str,
    get: Get<R>,
) -> Field<R> {
    Field {
        about: About {
            name,
            kind,
            unit,
            meaning,
            is_partition: false,
        },
        get,
    }
}

/// A time or a length of time.
pub(crate) fn ns<R>(name: &'static str, meaning: &'static str, get: Get<R>) -> Field<R> {
    field(name, Kind::Integer, "ns", meaning, get)
}

/// How many.
pub(crate) fn count<R>(name: &'static str, meaning: &'static str, get: Get<R>) -> Field<R> {
    field(name, Kind::Integer, "1", meaning, get)
}

/// A share, or a factor.
pub(crate) fn ratio<R>(name: &'static str, meaning: &'static str, get: Get<R>) -> Field<R> {
    field(name, Kind::Number, "1", meaning, get)
}

/// Text.
pub(crate) fn text<R>(name: &'static str, meaning: &'static str, get: Get<R>) -> Field<R> {
    field(name, Kind::Text, "", meaning, get)
}

fn about<R>(fields: &[Field<R>]) -> Vec<About> {
    fields.iter().map(|field| field.about).collect()
}

/// A table of rows.
pub(crate) fn fill<R>(fields: &[Field<R>], rows: impl IntoIterator<Item = R>) -> Result<Table> {
    let empty = |field: &Field<R>| Column {
        name: field.about.name.to_owned(),
        cells: Cells::new(field.about.kind),
    };
    let mut columns: Vec<Column> = fields.iter().map(empty).collect();
    let mut count = 0;
    for row in rows {
        for (column, field) in columns.iter_mut().zip(fields) {
            column.cells.push(field.about.name, (field.get)(&row))?;
        }
        count += 1;
    }
    Ok(Table {
        rows: count,
        columns,
    })
}
