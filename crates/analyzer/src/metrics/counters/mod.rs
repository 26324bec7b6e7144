//! The GPU's hardware counters, where the recording has any.
//!
//! `metal-gpu-counter-intervals` has named samples with a duration. Where it
//! has no rows, `gpu-counter-value` may have points in time, whose counters
//! `gpu-counter-info` names. Millions of rows are usual: each becomes a value
//! and two weights, and nothing else of it is kept.

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

/// The counters over the window and over the target's busy time in it; why
/// not, if there are none.
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
                let known = tables.info.ok().map(|info| Known::of(&info, names));
                let samples = Samples { table, names };
                return Ok(samples.summary(&Over::new(window, busy), &known.unwrap_or_default()));
            }
            Err(absent) if absent.rows.is_some_and(|rows| rows > 0) => {
                let why = message!(
                    "{} has rows whose values are stored in a form that was never compared with an \
                     export: xctrace export gives them",
                    table_name(absent.schema)
                );
                return Err(NotRecorded::new("counters", why));
            }
            Err(_) => {}
        }
    }
    Err(NotRecorded::new("counters", why_none))
}

/// Why the tables have no rows, as the recording's own settings tell it.
fn why_empty(recording: &Recording) -> Message {
    const REMEDY: &str = "record with the Metal GPU Counters instrument, where the chip allows it";
    match recording.gpu_setting("Counter Set") {
        Some(set) if set == "(null)" => message!(
            "the recording's Counter Set was (null), so that none was counted: {}",
            REMEDY
        ),
        Some(set) => message!(
            "the recording's Counter Set was {}, and the tables of counters have no rows: the chip \
             may not offer that set",
            name(&set)
        ),
        None => message!("the tables of counters have no rows: {}", REMEDY),
    }
}

/// Time to take samples from.
struct Over<'a> {
    window: Span,
    busy: &'a [Span],
    /// The busy time before each stretch.
    before: Vec<u64>,
}

impl<'a> Over<'a> {
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

    /// The busy time before a moment.
    fn busy_before(&self, at: u64) -> u64 {
        let next = self.busy.partition_point(|span| span.start_ns < at);
        let last = next.checked_sub(1);
        let last = last.and_then(|last| Some((self.busy.get(last)?, self.before.get(last)?)));
        last.map_or(0, |(span, before)| {
            before + at.min(span.end_ns) - span.start_ns
        })
    }

    /// How much a sample weighs in the window and in the busy time; none if it
    /// lies outside of the window.
    fn weights(&self, sample: Span, timed: bool) -> Option<(u64, u64)> {
        if timed {
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

/// A counter among others: its number where there is one, else its name.
type Key = (Option<u64>, Option<Symbol>);

/// A table of samples that has rows.
struct Samples<'a> {
    table: CounterSamples,
    names: &'a Names,
}

impl Samples<'_> {
    fn is_percent(&self, row: usize) -> Option<bool> {
        Some(self.table.are_percents.get(row)? == 1)
    }

    /// A percentage where the row says that it is one, else the plain value.
    fn value(&self, row: usize) -> Option<f64> {
        let value = || self.table.values.get(row, self.names);
        if self.is_percent(row) == Some(true) {
            self.table.percents.get(row, self.names).or_else(value)
        } else {
            value()
        }
    }

    fn summary(&self, over: &Over<'_>, known: &Known) -> Counters {
        let table = &self.table;
        let mut found: FxHashMap<Key, Found> = FxHashMap::default();
        let (mut samples, mut without_value) = (0, 0);
        for row in 0..table.starts.len() {
            let Some(start) = table.starts.get(row) else {
                continue;
            };
            let span = Span::new(start, start + table.durations.get(row).unwrap_or(0));
            let Some((in_window, in_busy)) = over.weights(span, table.timed) else {
                continue;
            };
            samples += 1;
            let Some(value) = self.value(row) else {
                without_value += 1;
                continue;
            };
            let (id, name) = (table.ids.get(row), at(&table.counters, row));
            let counter = found.entry((id, name)).or_default();
            counter.is_percent = self.is_percent(row).or(counter.is_percent);
            counter.samples.push(Sample {
                value,
                in_window,
                in_busy,
            });
        }
        let mut counters: Vec<Counter> = found
            .into_iter()
            .filter_map(|(key, found)| self.counter(key, found, known))
            .collect();
        counters.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Counters {
            table: table.schema.clone(),
            samples,
            without_value,
            counters,
        }
    }

    fn counter(&self, (id, name): Key, found: Found, known: &Known) -> Option<Counter> {
        let info = id.and_then(|id| known.by_id.get(&id));
        let name = name.map(|name| self.names.text(name).to_owned());
        let name = name.or_else(|| info.and_then(|info| info.name.clone()));
        let mut samples = found.samples;
        samples.sort_by(|a, b| a.value.total_cmp(&b.value));
        let busy = |one: &Sample| one.in_busy;
        Some(Counter {
            name: name.unwrap_or_else(|| match id {
                Some(id) => format!("(counter {id})"),
                None => "(a counter without a name)".to_owned(),
            }),
            id,
            is_percentage: found.is_percent,
            max_value: info.and_then(|info| info.max_value),
            description: info.and_then(|info| info.description.clone()),
            window: values(&samples, |one| one.in_window, self.table.timed)?,
            busy: values(&samples, busy, self.table.timed),
        })
    }
}

#[derive(Default)]
struct Found {
    samples: Vec<Sample>,
    is_percent: Option<bool>,
}

#[derive(Clone, Copy)]
struct Sample {
    value: f64,
    /// How much it weighs in the window, and in the busy time: ns, or 1.
    in_window: u64,
    in_busy: u64,
}

/// Sums up the samples that have weight. They are sorted by value.
#[expect(
    clippy::cast_precision_loss,
    reason = "weights are exact up to 2^53 ns, 104 days; a mean is rounded anyway"
)]
fn values(
    sorted: &[Sample],
    weight: impl Fn(&Sample) -> u64,
    timed: bool,
) -> Option<CounterValues> {
    let weighty = || sorted.iter().filter(|one| weight(one) > 0);
    let (min, max) = (weighty().next()?.value, weighty().next_back()?.value);
    let total: u128 = weighty().map(|one| u128::from(weight(one))).sum();
    let sum: f64 = weighty().map(|one| one.value * weight(one) as f64).sum();
    let below = |percent: u128| {
        let mut seen: u128 = 0;
        let reaches = |one: &&Sample| {
            seen += u128::from(weight(one));
            seen * 100 >= total * percent
        };
        weighty().find(reaches).map_or(max, |one| one.value)
    };
    Some(CounterValues {
        samples: weighty().count() as u64,
        covered_ns: u64::try_from(total).ok().filter(|_| timed),
        min,
        // Rounding may carry the mean of equal values beyond them.
        mean: (sum / total as f64).clamp(min, max),
        median: below(50),
        p95: below(95),
        max,
    })
}

/// What the table of counters says of each.
#[derive(Default)]
struct Known {
    by_id: FxHashMap<u64, Info>,
}

struct Info {
    name: Option<String>,
    max_value: Option<f64>,
    description: Option<String>,
}

impl Known {
    fn of(table: &CounterInfo, names: &Names) -> Self {
        let said = |column: &Texts, row: usize| {
            let text = names.text(at(column, row)?);
            (!text.is_empty()).then(|| text.to_owned())
        };
        let mut by_id = FxHashMap::default();
        for (row, id) in table.ids.iter().enumerate() {
            let info = || Info {
                name: said(&table.names, row),
                max_value: table.max_values.get(row, names),
                description: said(&table.descriptions, row),
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
