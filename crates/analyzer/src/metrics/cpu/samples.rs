//! CPU samples, whichever table they come from, in the order of time.

use metalens_trace::{Names, ProcessId, Run, StackId, Symbol, ThreadId};

use crate::error::{Error, Result};
use crate::report::WeightUnit;
use crate::tables::columns::{Either, at};
use crate::tables::cpu::{CPU_PROFILE, CpuSamples, CpuTable, TIME_PROFILE, TIME_SAMPLE};

/// The kind of `time-sample` that lists the threads at the recording's start:
/// nobody's timer fired, and `time-profile` leaves it out too.
const STACKSHOT: u64 = 3;

/// One look at one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// When.
    pub time_ns: u64,
    /// At whom.
    pub thread: Option<ThreadId>,
    /// Whose thread that is.
    pub process: Option<ProcessId>,
    /// What it was doing: `Running`, `Blocked`, …
    pub state: Option<Symbol>,
    /// How much the sample stands for; none where the row has no number.
    pub weight: Option<u64>,
    /// What it was in, innermost first.
    pub stack: Option<StackId>,
}

impl Sample {
    /// What it adds to a sum of weights.
    #[must_use]
    pub(crate) fn weighs(&self) -> u64 {
        self.weight.unwrap_or(0)
    }
}

/// All samples of a trace, in the order of time.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Where they come from.
    pub table: &'static str,
    /// What their weights count.
    pub unit: WeightUnit,
    /// Whether waiting threads were sampled; none if that is not known.
    pub waiting_recorded: Option<bool>,
    /// The samples.
    pub rows: Vec<Sample>,
}

impl Samples {
    /// Reads the table, whose memory ends here; none if no row of it is a sample.
    pub(crate) fn of(table: CpuTable, run: &Run, names: &Names) -> Result<Option<Self>> {
        let name = table.schema;
        let columns = table.samples?;
        let unit = columns.unit;
        let samples = read(&columns, names);
        if samples.is_empty() {
            return Ok(None);
        }
        let weights = samples.iter().map(|one| u128::from(one.weighs()));
        if u64::try_from(weights.sum::<u128>()).is_err() {
            return Err(Error::ImpossibleTimes {
                table: name.to_owned(),
                why: "the weights of its samples add up to more than 64 bits can hold".to_owned(),
            });
        }
        Ok(Some(Self {
            table: name,
            unit,
            waiting_recorded: waiting_recorded(name, run, &samples, names),
            rows: samples,
        }))
    }

    /// The commonest weight; of several as common, the smallest.
    #[must_use]
    pub(crate) fn period(&self) -> Option<u64> {
        if self.unit == WeightUnit::Samples {
            return None;
        }
        let mut weights: Vec<u64> = self.rows.iter().filter_map(|one| one.weight).collect();
        weights.sort_unstable();
        let runs = weights.chunk_by(|a, b| a == b);
        let longest = runs.rev().max_by_key(|run| run.len())?;
        longest.first().copied()
    }
}

/// Whether a thread was found running.
#[must_use]
pub(crate) fn is_running(state: Option<Symbol>, names: &Names) -> bool {
    state.is_some_and(|state| names.text(state) == "Running")
}

fn read(columns: &CpuSamples, names: &Names) -> Vec<Sample> {
    let rows = 0..columns.times.len();
    let mut samples: Vec<Sample> = rows.filter_map(|row| sample(columns, row, names)).collect();
    if !samples.is_sorted_by_key(|one| one.time_ns) {
        samples.sort_by_key(|one| one.time_ns);
    }
    samples
}

/// The sample of a row; none for one that says no time or is no sample.
fn sample(columns: &CpuSamples, row: usize, names: &Names) -> Option<Sample> {
    if columns.kinds.get(row) == Some(STACKSHOT) {
        return None;
    }
    let thread = at(&columns.threads, row);
    let own = || names.thread(thread?)?.process;
    Some(Sample {
        time_ns: columns.times.get(row)?,
        thread,
        process: at(&columns.processes, row).or_else(own),
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

/// What the table of contents says of it, else whether there is a waiting one.
fn waiting_recorded(table: &str, run: &Run, samples: &[Sample], names: &Names) -> Option<bool> {
    let waits = |one: &Sample| one.state.is_some() && !is_running(one.state, names);
    if samples.iter().any(waits) {
        return Some(true);
    }
    if table == CPU_PROFILE {
        // Taken when a counter of cycles overflows: a thread that waits has none.
        return Some(false);
    }
    let said = |schema: &str, attribute: &str| {
        let listed = run.tables.iter().filter(|one| one.schema == schema);
        let mut attributes = listed.flat_map(|one| &one.attributes);
        let found = attributes.find(|(name, _)| name == attribute)?;
        Some(!matches!(found.1.as_str(), "0" | "NO"))
    };
    said(TIME_PROFILE, "record-waiting-threads").or_else(|| said(TIME_SAMPLE, "all-thread-states"))
}
