//! Computes the values of the GPU's hardware counters.
//!
//! `metal-gpu-counter-intervals` has named samples with a duration. If it has no rows,
//! `gpu-counter-value` may have points in time, whose counters `gpu-counter-info` names.
//! Millions of rows are usual: each becomes a value and two weights, and nothing else of it is
//! kept.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::message::{Message, name, table as table_name};
use crate::basics::spans::Span;
use crate::message;
use crate::report::{Counter, CounterValues, Counters, NotRecorded};
use crate::tables::CounterTables;
use crate::tables::columns::{Texts, at};
use crate::tables::counters::{CounterInfo, CounterSamples};
use crate::tables::recording::Recording;

/// Returns the counters over the window and over the busy time of the process in it, or the
/// reason why there are none.
pub(crate) fn counters(
    tables: CounterTables,
    recording: &Recording,
    window: Span,
    busy: &[Span],
) -> Result<Counters, NotRecorded> {
    let why_none = match (&tables.intervals, &tables.values) {
        (Err(intervals), Err(values)) if intervals.rows.or(values.rows).is_none() => {
            intervals.why()
        }
        _ => why_empty(recording),
    };

    for given in [tables.intervals, tables.values] {
        match given {
            Ok(table) if table.starts.is_empty() => {}
            Ok(table) => {
                let names = &recording.names;
                let info = tables.info.ok().map(|info| InfoById::new(&info, names));
                let samples = Samples { table, names };
                let range = SampledTime::new(window, busy);
                return Ok(samples.summary(&range, &info.unwrap_or_default()));
            }
            Err(absent) if absent.rows.is_some_and(|rows| rows > 0) => {
                let why = message!(
                    "{} has rows whose values metalens cannot read with certainty: use xctrace export",
                    table_name(absent.schema)
                );
                return Err(NotRecorded::new("counters", why));
            }
            Err(_) => {}
        }
    }
    Err(NotRecorded::new("counters", why_none))
}

/// Returns the reason why the tables have no rows, from the recording's own settings.
fn why_empty(recording: &Recording) -> Message {
    const REMEDY: &str = "record with the Metal GPU Counters instrument, if the chip allows it";
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

/// SampledTime of time to take samples from: the window, and the busy time in it.
struct SampledTime<'a> {
    window: Span,
    busy: &'a [Span],
    /// Summed busy time before each stretch of `busy`.
    before: Vec<u64>,
}

impl<'a> SampledTime<'a> {
    fn new(window: Span, busy: &'a [Span]) -> Self {
        let before = busy.iter().scan(0, |sum, span| {
            let before = *sum;
            *sum += span.length_ns();
            Some(before)
        });
        Self {
            window,
            busy,
            before: before.collect(),
        }
    }

    /// Returns the busy time before a point in time.
    fn busy_before(&self, at: u64) -> u64 {
        let next = self.busy.partition_point(|span| span.start_ns < at);
        let last = next.checked_sub(1);
        let last = last.and_then(|last| Some((self.busy.get(last)?, self.before.get(last)?)));
        last.map_or(0, |(span, before)| {
            before + at.min(span.end_ns) - span.start_ns
        })
    }

    /// Returns the weight of a sample in the window and in the busy time; `None` if it lies outside
    /// of the window.
    fn weights(&self, sample: Span, has_duration: bool) -> Option<(u64, u64)> {
        if has_duration {
            let inside = sample.clip(self.window);
            let busy = self.busy_before(inside.end_ns) - self.busy_before(inside.start_ns);
            return (!inside.is_empty()).then(|| (inside.length_ns(), busy));
        }

        let at = sample.start_ns;
        let inside = self.window.start_ns <= at && at < self.window.end_ns;
        let busy = self.busy_before(at + 1) - self.busy_before(at);
        inside.then_some((1, busy))
    }
}

/// Key of a counter: its number if it has one, else its name.
type Key = (Option<u64>, Option<Symbol>);

/// Table of samples that has rows.
struct Samples<'a> {
    table: CounterSamples,
    names: &'a Names,
}

impl Samples<'_> {
    fn is_percent(&self, row: usize) -> Option<bool> {
        Some(self.table.are_percents.get(row)? == 1)
    }

    /// Returns the percentage if the row is marked as one, else the plain value.
    fn value(&self, row: usize) -> Option<f64> {
        let value = || self.table.values.get(row, self.names);
        if self.is_percent(row) == Some(true) {
            self.table.percents.get(row, self.names).or_else(value)
        } else {
            value()
        }
    }

    fn summary(&self, range: &SampledTime<'_>, info: &InfoById) -> Counters {
        let table = &self.table;
        let mut by_key: FxHashMap<Key, CounterRows> = FxHashMap::default();
        let (mut samples, mut without_value) = (0, 0);
        for row in 0..table.starts.len() {
            let Some(start) = table.starts.get(row) else {
                continue;
            };
            let span = Span::new(start, start + table.durations.get(row).unwrap_or(0));
            let Some((in_window, in_busy)) = range.weights(span, table.timed) else {
                continue;
            };

            samples += 1;
            let Some(value) = self.value(row) else {
                without_value += 1;
                continue;
            };
            let (id, name) = (table.ids.get(row), at(&table.counters, row));
            let counter = by_key.entry((id, name)).or_default();
            counter.is_percent = self.is_percent(row).or(counter.is_percent);
            counter.samples.push(Sample {
                value,
                in_window,
                in_busy,
            });
        }

        let mut counters: Vec<Counter> = by_key
            .into_iter()
            .filter_map(|(key, rows)| self.counter(key, rows, info))
            .collect();
        counters.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Counters {
            table: table.schema.clone(),
            samples,
            without_value,
            counters,
        }
    }

    fn counter(&self, (id, name): Key, rows: CounterRows, info: &InfoById) -> Option<Counter> {
        let info = id.and_then(|id| info.by_id.get(&id));
        let name = name.map(|name| self.names.text(name).to_owned());
        let name = name.or_else(|| info.and_then(|info| info.name.clone()));

        let mut samples = rows.samples;
        samples.sort_by(|a, b| a.value.total_cmp(&b.value));
        Some(Counter {
            name: name.unwrap_or_else(|| match id {
                Some(id) => format!("(counter {id})"),
                None => "(unnamed counter)".to_owned(),
            }),
            id,
            is_percentage: rows.is_percent,
            max_value: info.and_then(|info| info.max_value),
            description: info.and_then(|info| info.description.clone()),
            window: values(&samples, |sample| sample.in_window, self.table.timed)?,
            busy: values(&samples, |sample| sample.in_busy, self.table.timed),
        })
    }
}

/// Samples of one counter.
#[derive(Default)]
struct CounterRows {
    samples: Vec<Sample>,
    is_percent: Option<bool>,
}

#[derive(Clone, Copy)]
struct Sample {
    value: f64,
    /// Weight in the window: nanoseconds, or 1 if samples have no duration.
    in_window: u64,
    /// Weight in the busy time, in the same unit.
    in_busy: u64,
}

/// Computes the values over the samples that have weight. They are sorted by value.
#[expect(
    clippy::cast_precision_loss,
    reason = "weights are exact up to 2^53 ns, 104 days; a mean is rounded anyway"
)]
fn values(
    sorted: &[Sample],
    weight: impl Fn(&Sample) -> u64,
    has_duration: bool,
) -> Option<CounterValues> {
    let weighted = || sorted.iter().filter(|sample| weight(sample) > 0);
    let (min, max) = (weighted().next()?.value, weighted().next_back()?.value);
    let total: u128 = weighted().map(|sample| u128::from(weight(sample))).sum();
    let sum: f64 = weighted()
        .map(|sample| sample.value * weight(sample) as f64)
        .sum();
    let percentile = |percent: u128| {
        let mut passed: u128 = 0;
        let reaches = |sample: &&Sample| {
            passed += u128::from(weight(sample));
            passed * 100 >= total * percent
        };
        weighted().find(reaches).map_or(max, |sample| sample.value)
    };

    Some(CounterValues {
        samples: weighted().count() as u64,
        covered_ns: u64::try_from(total).ok().filter(|_| has_duration),
        min,
        // Rounding may carry the mean of equal values beyond them.
        mean: (sum / total as f64).clamp(min, max),
        median: percentile(50),
        p95: percentile(95),
        max,
    })
}

/// Names, limits and descriptions of counters, by number.
#[derive(Default)]
struct InfoById {
    by_id: FxHashMap<u64, Info>,
}

struct Info {
    name: Option<String>,
    max_value: Option<f64>,
    description: Option<String>,
}

impl InfoById {
    fn new(table: &CounterInfo, names: &Names) -> Self {
        let text = |column: &Texts, row: usize| {
            let text = names.text(at(column, row)?);
            (!text.is_empty()).then(|| text.to_owned())
        };

        let mut by_id = FxHashMap::default();
        for (row, id) in table.ids.iter().enumerate() {
            let info = || Info {
                name: text(&table.names, row),
                max_value: table.max_values.get(row, names),
                description: text(&table.descriptions, row),
            };
            if let Some(id) = id {
                by_id.entry(id).or_insert_with(info);
            }
        }
        Self { by_id }
    }
}

#[cfg(test)]
mod tests;
