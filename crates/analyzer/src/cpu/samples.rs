//! CPU samples, whichever table they come from.
//!
//! Three tables may have them. `time-profile` is the best: weights in time, and
//! call stacks with names. `cpu-profile` counts cycles. `time-sample` is what
//! the first is made of, with neither weights nor names.

use metalens_trace::{
    Column, Integers, Names, Problem, ProcessId, Run, StackId, Symbol, Table, ThreadId, Trace,
};

use crate::error::{Error, Result};
use crate::report::WeightUnit;

pub(crate) const TIME_PROFILE: &str = "time-profile";
pub(crate) const CPU_PROFILE: &str = "cpu-profile";
pub(crate) const TIME_SAMPLE: &str = "time-sample";

/// Their columns, as far as any of them has them.
pub(crate) const SAMPLE_COLUMNS: [&str; 9] = [
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
/// The best first.
const TABLES: [&str; 3] = [TIME_PROFILE, CPU_PROFILE, TIME_SAMPLE];

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
    /// Reads the best table that has rows.
    pub(crate) fn of(trace: &Trace) -> Result<Option<Self>> {
        let Some(name) = best_table(trace) else {
            return Ok(None);
        };
        let rows = read(trace.table(name)?, &trace.names)?;
        if rows.samples.is_empty() {
            return Ok(None);
        }
        let weights = rows.samples.iter().map(|one| u128::from(one.weighs()));
        if u64::try_from(weights.sum::<u128>()).is_err() {
            return Err(Error::ImpossibleTimes {
                table: name.to_owned(),
                why: "the weights of its samples add up to more than 64 bits can hold".to_owned(),
            });
        }
        let waiting_recorded = waiting_recorded(name, &trace.run, &rows.samples, &trace.names);
        Ok(Some(Self {
            table: name,
            unit: rows.unit,
            waiting_recorded,
            rows: rows.samples,
        }))
    }

    /// Reads the best table, and frees the memory of all of them.
    pub(crate) fn take(trace: &mut Trace) -> Result<Option<Self>> {
        let samples = Self::of(trace)?;
        for name in TABLES {
            while trace.find_table(name).is_some() {
                trace.take_table(name)?;
            }
        }
        Ok(samples)
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

/// The name of the best table of samples that has rows, and its rows.
#[must_use]
pub(crate) fn best_table(trace: &Trace) -> Option<&'static str> {
    let has_rows = |name: &&str| trace.find_table(name).is_some_and(|t| t.rows() > 0);
    TABLES.into_iter().find(has_rows)
}

/// Why a table of samples that is there could not be read.
pub(crate) fn unreadable(trace: &Trace) -> Option<Error> {
    let errors = TABLES.iter().filter_map(|name| trace.table(name).err());
    let mut there = errors.filter(|e| !matches!(e.problem(), Problem::NoSuchTable { .. }));
    there.next().map(Error::Trace)
}

/// Whether a thread was found running.
#[must_use]
pub(crate) fn is_running(state: Option<Symbol>, names: &Names) -> bool {
    state.is_some_and(|state| names.text(state) == "Running")
}

struct Rows {
    unit: WeightUnit,
    samples: Vec<Sample>,
}

fn read(table: &Table, names: &Names) -> Result<Rows> {
    let columns = Columns::of(table, names)?;
    let samples = (0..table.rows()).filter_map(|row| columns.sample(row));
    let mut samples: Vec<Sample> = samples.collect();
    if !samples.is_sorted_by_key(|one| one.time_ns) {
        samples.sort_by_key(|one| one.time_ns);
    }
    Ok(Rows {
        unit: columns.unit,
        samples,
    })
}

struct Columns<'a> {
    names: &'a Names,
    unit: WeightUnit,
    times: &'a Integers,
    threads: Option<&'a [Option<ThreadId>]>,
    processes: Option<&'a [Option<ProcessId>]>,
    states: Option<&'a [Option<Symbol>]>,
    weights: Option<&'a Column>,
    stacks: Option<&'a [Option<StackId>]>,
    kinds: Option<&'a Integers>,
}

impl<'a> Columns<'a> {
    fn of(table: &'a Table, names: &'a Names) -> Result<Self> {
        let weight = table
            .columns()
            .find(|(spec, _)| spec.mnemonic == "weight" || spec.engineering_type == "cycle-weight");
        let unit = match weight {
            Some((spec, _)) if spec.engineering_type == "cycle-weight" => WeightUnit::Cycles,
            Some(_) => WeightUnit::Ns,
            None => WeightUnit::Samples,
        };
        let column = |mnemonic| {
            let mut columns = table.columns();
            columns.find_map(|(spec, column)| (spec.mnemonic == mnemonic).then_some(column))
        };
        Ok(Self {
            names,
            unit,
            times: table.integers("time")?,
            threads: match column("thread") {
                Some(Column::Threads(threads)) => Some(threads),
                _ => None,
            },
            processes: table.processes("process").ok(),
            states: table.texts("thread-state").ok(),
            weights: weight.map(|(_, column)| column),
            stacks: match column("stack") {
                Some(Column::Stacks(stacks)) => Some(stacks),
                _ => None,
            },
            kinds: table.integers("sample-type").ok(),
        })
    }

    /// The sample of a row; none for one that says no time or is no sample.
    fn sample(&self, row: usize) -> Option<Sample> {
        if self.kinds.and_then(|kinds| kinds.get(row)) == Some(STACKSHOT) {
            return None;
        }
        let thread = at(self.threads, row);
        let own = || self.names.thread(thread?)?.process;
        Some(Sample {
            time_ns: self.times.get(row)?,
            thread,
            process: at(self.processes, row).or_else(own),
            state: at(self.states, row),
            weight: self.weight(row),
            stack: at(self.stacks, row),
        })
    }

    /// Cycles are a type that the reader keeps as text.
    fn weight(&self, row: usize) -> Option<u64> {
        match self.weights {
            Some(Column::Integers(weights)) => weights.get(row),
            Some(Column::Texts(texts)) => {
                let text = (*texts.get(row)?)?;
                self.names.text(text).parse().ok()
            }
            Some(_) => None,
            None => Some(1),
        }
    }
}

fn at<T: Copy>(column: Option<&[Option<T>]>, row: usize) -> Option<T> {
    column?.get(row).copied().flatten()
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
