//! Reads CPU samples from any of the tables that have them, in order of time.

use metalens_trace::{Names, ProcessId, Run, StackId, Symbol, ThreadId};

use crate::error::{Error, Result};
use crate::report::WeightUnit;
use crate::tables::columns::{Either, at};
use crate::tables::cpu::{CPU_PROFILE, CpuSamples, CpuTable, TIME_PROFILE, TIME_SAMPLE};

/// Kind of the rows of `time-sample` that list the threads at the start of the recording: no
/// timer fired, and `time-profile` leaves them out too.
const STACKSHOT: u64 = 3;

/// CPU sample: one look at one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time of the sample, in nanoseconds since the recording began.
    pub time_ns: u64,
    /// Thread of the sample.
    pub thread: Option<ThreadId>,
    /// Process of the thread.
    pub process: Option<ProcessId>,
    /// State of the thread: `Running`, `Blocked`, …
    pub state: Option<Symbol>,
    /// Weight of the sample; `None` if the row has no number.
    pub weight: Option<u64>,
    /// Call stack of the thread, innermost first.
    pub stack: Option<StackId>,
}

impl Sample {
    /// Returns the part of the sample in a sum of weights.
    pub(crate) fn weight_or_zero(&self) -> u64 {
        self.weight.unwrap_or(0)
    }
}

/// CPU samples of a trace, in order of time.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Name of the table that they come from.
    pub table: &'static str,
    /// Unit of their weights.
    pub unit: WeightUnit,
    /// True if waiting threads were sampled; `None` if unknown.
    pub waiting_recorded: Option<bool>,
    /// Samples in order of time.
    pub rows: Vec<Sample>,
}

impl Samples {
    /// Reads the table and frees its memory; `None` if none of its rows is a sample.
    pub(crate) fn read(table: CpuTable, run: &Run, names: &Names) -> Result<Option<Self>> {
        let name = table.schema;
        let columns = table.samples?;
        let unit = columns.unit;
        let samples = read_rows(&columns, names);
        if samples.is_empty() {
            return Ok(None);
        }

        let weights = samples
            .iter()
            .map(|sample| u128::from(sample.weight_or_zero()));
        if u64::try_from(weights.sum::<u128>()).is_err() {
            return Err(Error::ImpossibleTimes {
                table: name.to_owned(),
                why: "the sum of the weights of its samples exceeds 64 bits".to_owned(),
            });
        }

        Ok(Some(Self {
            table: name,
            unit,
            waiting_recorded: waiting_recorded(name, run, &samples, names),
            rows: samples,
        }))
    }

    /// Returns the most common weight; of several as common, the smallest.
    pub(crate) fn period(&self) -> Option<u64> {
        if self.unit == WeightUnit::Samples {
            return None;
        }

        let mut weights: Vec<u64> = self
            .rows
            .iter()
            .filter_map(|sample| sample.weight)
            .collect();
        weights.sort_unstable();
        let runs = weights.chunk_by(|a, b| a == b);
        let longest = runs.rev().max_by_key(|run| run.len())?;
        longest.first().copied()
    }
}

/// Returns whether a thread was running.
pub(crate) fn is_running(state: Option<Symbol>, names: &Names) -> bool {
    state.is_some_and(|state| names.text(state) == "Running")
}

fn read_rows(columns: &CpuSamples, names: &Names) -> Vec<Sample> {
    let rows = 0..columns.times.len();
    let mut samples: Vec<Sample> = rows.filter_map(|row| sample(columns, row, names)).collect();
    if !samples.is_sorted_by_key(|sample| sample.time_ns) {
        samples.sort_by_key(|sample| sample.time_ns);
    }
    samples
}

/// Returns the sample of a row; `None` if the row has no time, or is not a sample.
fn sample(columns: &CpuSamples, row: usize, names: &Names) -> Option<Sample> {
    if columns.kinds.get(row) == Some(STACKSHOT) {
        return None;
    }

    let thread = at(&columns.threads, row);
    Some(Sample {
        time_ns: columns.times.get(row)?,
        thread,
        process: at(&columns.processes, row).or_else(|| names.thread(thread?)?.process),
        state: at(&columns.states, row),
        weight: weight(columns, row, names),
        stack: at(&columns.stacks, row),
    })
}

fn weight(columns: &CpuSamples, row: usize, names: &Names) -> Option<u64> {
    match columns.weights.as_deref() {
        Some(Either::Left(numbers)) => numbers.get(row),
        Some(Either::Right(texts)) => names.text(at(texts, row)?).parse().ok(),
        None => Some(1),
    }
}

/// Returns whether waiting threads were sampled, from the samples or else from the table of
/// contents.
fn waiting_recorded(table: &str, run: &Run, samples: &[Sample], names: &Names) -> Option<bool> {
    let is_waiting = |sample: &Sample| sample.state.is_some() && !is_running(sample.state, names);
    if samples.iter().any(is_waiting) {
        return Some(true);
    }
    if table == CPU_PROFILE {
        // These samples are taken when a counter of cycles overflows; a waiting thread uses none.
        return Some(false);
    }

    let setting = |schema: &str, attribute: &str| {
        let listed = run.tables.iter().filter(|table| table.schema == schema);
        let mut attributes = listed.flat_map(|table| &table.attributes);
        let (_, value) = attributes.find(|(name, _)| name == attribute)?;
        Some(!matches!(value.as_str(), "0" | "NO"))
    };
    setting(TIME_PROFILE, "record-waiting-threads")
        .or_else(|| setting(TIME_SAMPLE, "all-thread-states"))
}
