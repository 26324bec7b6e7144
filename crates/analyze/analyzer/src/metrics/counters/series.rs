//! Reads the samples of each counter from a table, in order of time.
//!
//! A row of `gpu-counter-value` has no duration. In the one real recording with such rows, of an
//! M2, values follow the GPU's work in the time *after* their timestamp: a row stands for the time
//! until the next row of its counter. Rows come in bursts. What the last row of a burst stands for
//! is unknown, so it is not used.
//!
//! ```text
//! rows      x   x   x   x                 x   x   x
//! samples   ├───┼───┼───┤?                ├───┼───┤?
//! ```

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::statistics::median;
use crate::report::CounterUnit;
use crate::tables::columns::{Texts, at};
use crate::tables::counters::{CounterInfo, CounterSamples};

/// Samples of one hardware counter.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterSeries {
    /// Name of the counter.
    pub name: String,
    /// Unit of the values; `None` if the recording does not tell.
    pub unit: Option<CounterUnit>,
    /// Samples in order of time.
    pub samples: Vec<CounterSample>,
}

/// Sample of a hardware counter: the mean over the time that it covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterSample {
    /// Start of the covered time, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the covered time; `None` if unknown.
    pub end_ns: Option<u64>,
    /// Value of the sample.
    pub value: f64,
}

/// Counter with its samples and what the recording says about it.
pub(super) struct ReadCounter {
    pub(super) series: CounterSeries,
    pub(super) id: Option<u64>,
    pub(super) is_percentage: Option<bool>,
    pub(super) description: Option<String>,
    /// Typical time that a sample covers.
    pub(super) step_ns: Option<u64>,
}

/// Key of a counter: its number if it has one, else its name.
type Key = (Option<u64>, Option<Symbol>);

/// Table of samples that has rows.
pub(super) struct Samples<'a> {
    pub(super) table: CounterSamples,
    pub(super) names: &'a Names,
}

/// Samples of one counter, while they are collected.
#[derive(Default)]
struct CounterRows {
    samples: Vec<CounterSample>,
    is_percent: Option<bool>,
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

    /// Returns the counters, sorted by name, and the rows without a value.
    pub(super) fn counters(&self, info: &InfoById) -> (Vec<ReadCounter>, Vec<CounterSample>) {
        let table = &self.table;
        let mut by_key: FxHashMap<Key, CounterRows> = FxHashMap::default();
        let mut without_value = Vec::new();
        for row in 0..table.starts.len() {
            let Some(start_ns) = table.starts.get(row) else {
                continue;
            };
            let end_ns = table
                .timed
                .then(|| start_ns + table.durations.get(row).unwrap_or(0));
            let value = self.value(row);
            let sample = CounterSample {
                start_ns,
                end_ns,
                value: value.unwrap_or_default(),
            };
            if value.is_none() {
                without_value.push(sample);
                continue;
            }
            let key = (table.ids.get(row), at(&table.counters, row));
            let counter = by_key.entry(key).or_default();
            counter.is_percent = self.is_percent(row).or(counter.is_percent);
            counter.samples.push(sample);
        }

        let mut counters: Vec<ReadCounter> = by_key
            .into_iter()
            .map(|(key, rows)| self.counter(key, rows, info))
            .collect();
        counters.sort_by(|a, b| (&a.series.name, a.id).cmp(&(&b.series.name, b.id)));
        (counters, without_value)
    }

    fn counter(&self, (id, name): Key, rows: CounterRows, info: &InfoById) -> ReadCounter {
        let info = id.and_then(|id| info.by_id.get(&id));
        let name = name
            .map(|name| self.names.text(name).to_owned())
            .or_else(|| info.and_then(|info| info.name.clone()))
            .unwrap_or_else(|| match id {
                Some(id) => format!("(counter {id})"),
                None => "(unnamed counter)".to_owned(),
            });

        let mut samples = rows.samples;
        samples.sort_by_key(|sample| sample.start_ns);
        let step_ns = step_ns(&samples);
        if !self.table.timed {
            give_ends(&mut samples, step_ns.unwrap_or(0));
        }

        let is_percentage = rows
            .is_percent
            .or_else(|| Some(info?.kind.as_deref()? == "Percentage"));
        let description = info.and_then(|info| info.description.clone());
        let is_bandwidth = description
            .as_deref()
            .is_some_and(|text| text.contains("gigabytes per second"));
        let unit = match is_percentage {
            Some(true) => Some(CounterUnit::Percent),
            _ if is_bandwidth => Some(CounterUnit::GigabytesPerSecond),
            _ => None,
        };
        ReadCounter {
            series: CounterSeries {
                name,
                unit,
                samples,
            },
            id,
            is_percentage,
            description,
            step_ns,
        }
    }
}

/// Returns the median time that samples cover, or between the starts of those without an end.
fn step_ns(sorted: &[CounterSample]) -> Option<u64> {
    let next = sorted.iter().skip(1).map(Some).chain([None]);
    let lengths = sorted.iter().zip(next).filter_map(|(sample, next)| {
        let end_ns = sample.end_ns.or(next.map(|next| next.start_ns))?;
        Some(end_ns.saturating_sub(sample.start_ns))
    });
    median(lengths.filter(|&length| length > 0))
}

/// Ends each sample where the next one starts, unless that is later than one and a half steps.
fn give_ends(sorted: &mut [CounterSample], step_ns: u64) {
    let starts: Vec<u64> = sorted.iter().skip(1).map(|next| next.start_ns).collect();
    for (sample, next_ns) in sorted.iter_mut().zip(starts) {
        let is_next = next_ns - sample.start_ns <= step_ns.saturating_add(step_ns / 2);
        sample.end_ns = is_next.then_some(next_ns);
    }
}

/// Names, limits and descriptions of counters, by number.
#[derive(Default)]
pub(super) struct InfoById {
    by_id: FxHashMap<u64, Info>,
}

struct Info {
    name: Option<String>,
    description: Option<String>,
    /// `Percentage` or `Value`.
    kind: Option<String>,
}

impl InfoById {
    pub(super) fn new(table: &CounterInfo, names: &Names) -> Self {
        let text = |column: &Texts, row: usize| {
            let text = names.text(at(column, row)?);
            (!text.is_empty()).then(|| text.to_owned())
        };

        let mut by_id = FxHashMap::default();
        for (row, id) in table.ids.iter().enumerate() {
            if let Some(id) = id {
                by_id.entry(id).or_insert_with(|| Info {
                    name: text(&table.names, row),
                    description: text(&table.descriptions, row),
                    kind: text(&table.kinds, row),
                });
            }
        }
        Self { by_id }
    }
}
