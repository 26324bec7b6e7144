//! The GPU's hardware counters, where the recording has any.
//!
//! `metal-gpu-counter-intervals` has named samples with a duration. Where it
//! has no rows, `gpu-counter-value` may have points in time, whose counters
//! `gpu-counter-info` names. Millions of rows are usual: each becomes a value
//! and two weights, and nothing else of it is kept.

use metalens_trace::{Column, Integers, Names, Symbol, Table, Trace};
use rustc_hash::FxHashMap;

use crate::facts::gpu_setting;
use crate::report::{Counter, CounterValues, Counters, Unavailable};
use crate::rows::{take, text, why_absent};
use crate::spans::Span;

/// Samples with a duration.
const INTERVALS: &str = "metal-gpu-counter-intervals";
/// Samples of one moment.
const VALUES: &str = "gpu-counter-value";
/// What the latter's counters are.
const INFO: &str = "gpu-counter-info";

/// The tables and columns that are read here.
pub(crate) const TABLES: &[(&str, &[&str])] = &[
    (
        INTERVALS,
        &[
            "start",
            "duration",
            "counter-id",
            "name",
            "value",
            "percent-value",
            "is-percentage",
        ],
    ),
    (VALUES, &["timestamp", "counter-id", "value"]),
    (INFO, &["counter-id", "name", "max-value", "description"]),
];

/// The counters over the window and over the target's busy time in it; why
/// not, if there are none.
pub(crate) fn counters(
    trace: &mut Trace,
    window: Span,
    busy: &[Span],
) -> Result<Counters, Unavailable> {
    let (intervals, values, info) = (
        take(trace, INTERVALS),
        take(trace, VALUES),
        take(trace, INFO),
    );
    let over = Over::new(window, busy);
    for (table, timed) in [(&intervals, true), (&values, false)] {
        let Some(table) = table.as_ref().filter(|table| table.rows() > 0) else {
            continue;
        };
        let known = info.as_ref().map(|info| Known::of(info, &trace.names));
        let found = Samples::of(table, &trace.names, timed)
            .map(|samples| samples.summary(&over, known.unwrap_or_default()));
        return found.ok_or_else(|| {
            unavailable(format!(
                "{} has rows whose values are stored in a form that was never compared with an \
                 export: xctrace export gives them",
                table.schema.name
            ))
        });
    }
    let there = intervals.is_some() || values.is_some();
    Err(unavailable(why_none(trace, there)))
}

fn unavailable(why: String) -> Unavailable {
    Unavailable {
        what: "counters".to_owned(),
        why,
    }
}

/// Why no counter has a value, as the recording's own settings tell it.
fn why_none(trace: &Trace, has_table: bool) -> String {
    const REMEDY: &str = "record with the Metal GPU Counters instrument, where the chip allows it";
    if !has_table {
        return why_absent(trace, INTERVALS);
    }
    match gpu_setting(trace, "Counter Set") {
        Some(set) if set == "(null)" => {
            format!("the recording's Counter Set was (null), so that none was counted: {REMEDY}")
        }
        Some(set) => format!(
            "the recording's Counter Set was {set}, and the tables of counters have no rows: the \
             chip may not offer that set"
        ),
        None => format!("the tables of counters have no rows: {REMEDY}"),
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

/// The columns of a table of samples.
struct Samples<'a> {
    table: &'a Table,
    names: &'a Names,
    timed: bool,
    starts: &'a Integers,
    durations: Option<&'a Integers>,
    ids: Option<&'a Integers>,
    counters: Option<&'a [Option<Symbol>]>,
    values: Option<Numbers<'a>>,
    percents: Option<Numbers<'a>>,
    are_percents: Option<&'a Integers>,
}

/// Values are decimal text in exports; whole numbers, should a version say so.
enum Numbers<'a> {
    Text(&'a [Option<Symbol>]),
    Whole(&'a Integers),
}

impl<'a> Numbers<'a> {
    /// A column of numbers; none of raw numbers whose meaning is unknown.
    fn of(table: &'a Table, mnemonic: &str) -> Option<Self> {
        let mut columns = table.columns();
        let (spec, column) = columns.find(|(spec, _)| spec.mnemonic == mnemonic)?;
        match column {
            Column::Texts(texts) => Some(Self::Text(texts)),
            Column::Integers(numbers) if !spec.engineering_type.starts_with("XR") => {
                Some(Self::Whole(numbers))
            }
            _ => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a counter's value needs no more than 53 bits"
    )]
    fn get(&self, row: usize, names: &Names) -> Option<f64> {
        let value = match self {
            Self::Whole(numbers) => numbers.get(row)? as f64,
            Self::Text(texts) => names.text((*texts.get(row)?)?).trim().parse().ok()?,
        };
        value.is_finite().then_some(value)
    }
}

impl<'a> Samples<'a> {
    /// `None` if the values, or the counters' names and numbers, are not known.
    fn of(table: &'a Table, names: &'a Names, timed: bool) -> Option<Self> {
        let ids = table.integers("counter-id").ok();
        let counters = table.texts("name").ok();
        let values = Numbers::of(table, "value");
        let percents = Numbers::of(table, "percent-value");
        let known = (values.is_some() || percents.is_some()) && (!timed || counters.is_some());
        let starts = if timed { "start" } else { "timestamp" };
        known.then_some(Self {
            table,
            names,
            timed,
            starts: table.integers(starts).ok()?,
            durations: table.integers("duration").ok(),
            ids,
            counters,
            values,
            percents,
            are_percents: table.integers("is-percentage").ok(),
        })
    }

    fn is_percent(&self, row: usize) -> Option<bool> {
        Some(self.are_percents?.get(row)? == 1)
    }

    /// A percentage where the row says that it is one, else the plain value.
    fn value(&self, row: usize) -> Option<f64> {
        let get = |numbers: &Option<Numbers<'_>>| numbers.as_ref()?.get(row, self.names);
        match self.is_percent(row) {
            Some(true) => get(&self.percents).or_else(|| get(&self.values)),
            _ => get(&self.values),
        }
    }

    fn summary(&self, over: &Over<'_>, known: Known) -> Counters {
        let mut found: FxHashMap<Key, Found> = FxHashMap::default();
        let (mut samples, mut without_value) = (0, 0);
        for row in 0..self.table.rows() {
            let Some(start) = self.starts.get(row) else {
                continue;
            };
            let duration = self.durations.and_then(|durations| durations.get(row));
            let span = Span::new(start, start + duration.unwrap_or(0));
            let Some((in_window, in_busy)) = over.weights(span, self.timed) else {
                continue;
            };
            samples += 1;
            let Some(value) = self.value(row) else {
                without_value += 1;
                continue;
            };
            let id = self.ids.and_then(|ids| ids.get(row));
            let name = self.counters.and_then(|names| *names.get(row)?);
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
            .filter_map(|(key, found)| self.counter(key, found, &known))
            .collect();
        counters.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        Counters {
            table: self.table.schema.name.clone(),
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
            window: values(&samples, |one| one.in_window, self.timed)?,
            busy: values(&samples, busy, self.timed),
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
    fn of(table: &Table, names: &Names) -> Self {
        let mut by_id = FxHashMap::default();
        let max_values = Numbers::of(table, "max-value");
        // A text that was kept as a number is one whose meaning is unknown.
        let said = |mnemonic: &str, row: usize| {
            table.texts(mnemonic).ok()?;
            text(table, names, mnemonic, row).filter(|text| !text.is_empty())
        };
        if let Ok(ids) = table.integers("counter-id") {
            for (row, id) in ids.iter().enumerate() {
                let info = || Info {
                    name: said("name", row),
                    max_value: max_values.as_ref().and_then(|max| max.get(row, names)),
                    description: said("description", row),
                };
                if let Some(id) = id {
                    by_id.entry(id).or_insert_with(info);
                }
            }
        }
        Self { by_id }
    }
}

#[cfg(test)]
mod tests;
