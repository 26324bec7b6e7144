//! Tables of CPU samples of the program's threads.
//!
//! Four tables may have them. `time-profile` is the best: weights in time, and call stacks
//! with names. `cpu-profile` counts cycles. `counters-profile` weighs by a time or by events of any
//! kind, so that its samples are counted. `time-sample` is the source of the first, with neither
//! weights nor names.

use metalens_trace::{Integers, Problem, Table, Trace, Values};

use super::columns::{Either, OrNull, Processes, Stacks, Texts, Threads};
use super::reader::TableRequest;
use crate::report::WeightUnit;

pub(crate) const TIME_PROFILE: &str = "time-profile";
pub(crate) const CPU_PROFILE: &str = "cpu-profile";
const COUNTERS_PROFILE: &str = "counters-profile";
pub(crate) const TIME_SAMPLE: &str = "time-sample";

/// Columns of all four tables.
const SAMPLE_COLUMNS: [&str; 9] = [
    "time",
    "thread",
    "process",
    "thread-state",
    "weight",
    "cycle-weight",
    "cycles",
    "stack",
    "sample-type",
];

/// Names of the tables, the best first.
const TABLES: [&str; 4] = [TIME_PROFILE, CPU_PROFILE, COUNTERS_PROFILE, TIME_SAMPLE];

/// Best table of samples that has rows.
#[derive(Debug)]
pub(crate) struct CpuTable {
    /// Name of the table.
    pub schema: &'static str,
    /// Number of its rows.
    pub rows: usize,
    /// Samples; an error if the table has no times.
    pub samples: metalens_trace::Result<CpuSamples>,
}

/// Columns of CPU samples. In a missing column all rows are null.
#[derive(Debug)]
pub(crate) struct CpuSamples {
    pub times: Integers,
    pub threads: OrNull<Threads>,
    pub processes: OrNull<Processes>,
    /// State of the thread: `Running`, `Blocked`, …
    pub states: OrNull<Texts>,
    pub unit: WeightUnit,
    /// Weights of the samples; `None` if the table has no such column, so that each sample weighs
    /// 1. Columns of the type `any` are text.
    pub weights: Option<OrNull<Either<Integers, Texts>>>,
    pub stacks: OrNull<Stacks>,
    pub kinds: OrNull<Integers>,
}

impl CpuTable {
    /// Takes the best table out of a trace.
    pub(super) fn take(trace: &mut Trace) -> Option<Self> {
        let schema = best_table(trace)?;
        Some(Self::read(schema, trace.take_table(schema).ok()?))
    }

    /// Copies the best table, and leaves the trace as it is.
    pub(crate) fn copy(trace: &Trace) -> Option<Self> {
        let schema = best_table(trace)?;
        Some(Self::read(schema, trace.table(schema).ok()?.clone()))
    }

    fn read(schema: &'static str, mut table: Table) -> Self {
        Self {
            schema,
            rows: table.rows(),
            samples: CpuSamples::read(&mut table),
        }
    }
}

impl CpuSamples {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        let (unit, weights) = weights(table)?;
        Ok(Self {
            times: Integers::take(table, "time")?,
            threads: Values::take(table, "thread")?,
            processes: Values::take(table, "process")?,
            states: Values::take(table, "thread-state")?,
            unit,
            weights,
            stacks: Values::take(table, "stack")?,
            kinds: Values::take(table, "sample-type")?,
        })
    }
}

/// Unit of weights, and the column of weights if there is one.
type FoundWeights = (WeightUnit, Option<OrNull<Either<Integers, Texts>>>);

fn weights(table: &mut Table) -> metalens_trace::Result<FoundWeights> {
    let mut columns = table.schema.columns.iter();
    let weight =
        columns.find(|spec| spec.mnemonic == "weight" || spec.engineering_type == "cycle-weight");
    let weight = weight.filter(|_| table.schema.name != COUNTERS_PROFILE);
    let Some(weight) = weight else {
        return Ok((WeightUnit::Samples, None));
    };

    let unit = if weight.engineering_type == "cycle-weight" {
        WeightUnit::Cycles
    } else {
        WeightUnit::Ns
    };
    let mnemonic = weight.mnemonic.clone();
    Ok((unit, Some(Values::take(table, &mnemonic)?)))
}

/// Returns the name of the best table of samples that has rows.
fn best_table(trace: &Trace) -> Option<&'static str> {
    TABLES
        .into_iter()
        .find(|name| trace.find_table(name).is_some_and(|t| t.rows() > 0))
}

/// Returns the reason why an existing table of samples could not be read.
pub(crate) fn unreadable(trace: &Trace) -> Option<metalens_trace::Error> {
    let errors = TABLES.iter().filter_map(|name| trace.table(name).err());
    let mut there = errors.filter(|e| !matches!(e.problem(), Problem::NoSuchTable { .. }));
    there.next()
}

/// Tables of samples, as entries for a [`Selection`](metalens_trace::Selection).
pub(super) const SAMPLES: [TableRequest; 4] = [
    (TIME_PROFILE, &SAMPLE_COLUMNS),
    (CPU_PROFILE, &SAMPLE_COLUMNS),
    (COUNTERS_PROFILE, &SAMPLE_COLUMNS),
    (TIME_SAMPLE, &SAMPLE_COLUMNS),
];
