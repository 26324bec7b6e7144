//! Computes the values of the GPU's hardware counters.
//!
//! `metal-gpu-counter-intervals` has named samples with a duration. If it has no rows, or rows
//! whose percentages cannot be read, `gpu-counter-value` may have points in time, whose counters
//! `gpu-counter-info` names.

mod alone;
mod bandwidth;
mod kernels;
mod series;
mod tracks;
mod values;

pub use self::series::{CounterSample, CounterSeries};
pub use self::tracks::CounterTrack;
pub(crate) use self::tracks::tracks;

use metalens_message::{Message, Ns, message, name, table as table_name, ungrouped};

use self::bandwidth::{Bandwidth, READ, WRITE};
use self::series::{InfoById, ReadCounter, Samples};
use self::values::{SampledTime, Weighted, values};
use crate::basics::spans::Span;
use crate::report::{Counter, Counters, Kernel, NotRecorded};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::tables::counters::CounterTables;
use crate::tables::recording::Recording;

/// Counters, and the GPU work that they are compared with.
pub(crate) struct CounterInput<'a> {
    pub recording: &'a Recording,
    pub window: Span,
    /// Union of the GPU intervals of the process.
    pub busy: &'a [Span],
    /// GPU intervals of the process.
    pub mine: &'a [Interval],
    /// Union of the GPU intervals of other processes.
    pub others: &'a [Span],
    /// Kernels of the intervals, and those of the report.
    pub kernels: (&'a NamedIntervals, &'a [Kernel]),
}

/// Only counter of a recording without a counter set; its values are always 0.
const PLACEHOLDER: &str = "RT Unit Active";
const REMEDY: &str = "record with the Metal GPU Counters instrument, if the chip allows it";

/// Returns the counters over the window and over the busy time of the process in it, or the reason
/// why there are none; and their samples in the whole recording.
pub(crate) fn counters(
    tables: CounterTables,
    input: &CounterInput<'_>,
) -> (Result<Counters, NotRecorded>, Vec<CounterSeries>) {
    let none = |why: Message| (Err(NotRecorded::new("counters", why)), Vec::new());
    let recording = input.recording;
    let why_none = match (&tables.intervals, &tables.values) {
        (Err(intervals), Err(values)) if intervals.rows.or(values.rows).is_none() => {
            intervals.why.clone()
        }
        _ => why_empty(recording),
    };

    // The percentages of intervals cannot be read from bundles, but the points in time have them too.
    let has_values = matches!(&tables.values, Ok(table) if !table.starts.is_empty());
    let given = match tables.intervals {
        Ok(table) if has_values && table.lacks_percentages(&recording.names) => {
            [None, Some(tables.values)]
        }
        intervals => [Some(intervals), Some(tables.values)],
    };
    for given in given.into_iter().flatten() {
        match given {
            Ok(table) if table.starts.is_empty() => {}
            Ok(table) => {
                let names = &recording.names;
                let info = tables.info.ok().map(|info| InfoById::new(&info, names));
                return report(&Samples { table, names }, &info.unwrap_or_default(), input);
            }
            Err(absent) if absent.rows.is_some_and(|rows| rows > 0) => {
                let why = message!(
                    "{} has rows whose values metalens cannot decode reliably: use xctrace export",
                    table_name(absent.schema)
                );
                return none(why);
            }
            Err(_) => {}
        }
    }
    none(why_none)
}

/// Returns the reason why the tables have no rows, from the recording's own settings.
fn why_empty(recording: &Recording) -> Message {
    match recording.gpu_setting("Counter Set") {
        Some(set) if set == "(null)" => message!(
            "the recording's Counter Set was (null), so no counter was recorded: {}",
            REMEDY
        ),
        Some(set) => message!(
            "the recording's Counter Set was {}, but the counter tables have no rows: the chip may \
             not offer that set",
            name(&set)
        ),
        None => message!("the counter tables have no rows: {}", REMEDY),
    }
}

fn report(
    samples: &Samples<'_>,
    info: &InfoById,
    input: &CounterInput<'_>,
) -> (Result<Counters, NotRecorded>, Vec<CounterSeries>) {
    /// Maximum number of counters: each is looked at for each kernel. Real recordings have 150.
    const MAX: usize = 1_000;
    let (counters, without_value) = samples.counters(info);
    if counters.len() > MAX {
        let why = message!(
            "the counter tables have more than {} counters",
            ungrouped(MAX as u64)
        );
        return (Err(NotRecorded::new("counters", why)), Vec::new());
    }
    if is_placeholder(&counters) {
        let why = message!(
            "the only counter with rows is {}, and all its values are 0, as in recordings without \
             a counter set, so no counter was recorded: {}",
            name(PLACEHOLDER),
            REMEDY
        );
        return (Err(NotRecorded::new("counters", why)), Vec::new());
    }

    let time = SampledTime::new(input.window, input.busy);
    let sampled = counters.iter().flat_map(|counter| &counter.series.samples);
    let reaching = || sampled.clone().filter(|sample| time.reaches(sample));
    let unset = without_value.iter().filter(|sample| time.reaches(sample));
    let without_value = unset.count() as u64;

    let step_ns = counters.iter().filter_map(|counter| counter.step_ns).max();
    let bandwidth = Bandwidth::of_chip(input.recording.facts.device.gpu.as_deref());
    let listed: Vec<Counter> = counters
        .iter()
        .filter_map(|counter| summary(counter, &time))
        .collect();
    if listed.is_empty() {
        let why = "counters were recorded, but none of their samples lies in the window";
        let series = counters.into_iter().map(|counter| counter.series);
        return (Err(NotRecorded::new("counters", why)), series.collect());
    }
    let while_busy = |wanted: &str| {
        let counter = listed.iter().find(|counter| counter.name == wanted)?;
        Some(counter.busy?.mean)
    };

    let report = Counters {
        table: samples.table.schema.clone(),
        samples: reaching().count() as u64 + without_value,
        without_value,
        without_end: reaching().filter(|sample| sample.end_ns.is_none()).count() as u64,
        step_ns: step_ns.map(Ns),
        bandwidth: bandwidth.of(while_busy(READ), while_busy(WRITE)),
        chip_gb_per_s: bandwidth.chip,
        kernels: kernels::kernels(&counters, input, step_ns, &bandwidth),
        counters: listed,
    };
    let series = counters.into_iter().map(|counter| counter.series);
    (Ok(report), series.collect())
}

/// Returns whether the counters are only what a recording without a counter set has.
fn is_placeholder(counters: &[ReadCounter]) -> bool {
    !counters.is_empty()
        && counters.iter().all(|counter| {
            let mut samples = counter.series.samples.iter();
            counter.series.name == PLACEHOLDER && samples.all(|sample| sample.value == 0.0)
        })
}

/// Returns the values of a counter; `None` if no sample of it lies in the window.
fn summary(counter: &ReadCounter, time: &SampledTime<'_>) -> Option<Counter> {
    let samples = counter.series.samples.iter();
    let mut weighted: Vec<Weighted> = samples
        .filter_map(|sample| {
            let span = Span::new(sample.start_ns, sample.end_ns?);
            let (in_window, in_busy) = time.weights(span)?;
            Some(Weighted {
                value: sample.value,
                in_window,
                in_busy,
            })
        })
        .collect();
    weighted.sort_by(|a, b| a.value.total_cmp(&b.value));

    Some(Counter {
        name: counter.series.name.clone(),
        id: counter.id,
        is_percentage: counter.is_percentage,
        unit: counter.series.unit,
        description: counter.description.clone(),
        window: values(&weighted, |sample| sample.in_window)?,
        busy: values(&weighted, |sample| sample.in_busy),
    })
}

#[cfg(test)]
mod tests;
