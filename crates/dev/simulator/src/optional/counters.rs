//! Simulates GPU counters.
//!
//! In the truth, a sample counts for the time to the next sample. The last sample does not count,
//! because its end is unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::names;
use crate::plan::sweep::{Segment, Window};
use crate::plan::{Kick, Plan};
use crate::random::Random;
use crate::sheet::{ACCELERATOR_ID, table};
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

/// Largest number of counters: more than any GPU has.
pub(crate) const COUNTERS_MAX: usize = 64;

/// Largest value of a counter, since the table has 63 bits for its billionths.
const COUNTER_VALUE_MAX: u64 = 9_000_000_000;

/// Longest period of a counter, in nanoseconds, since the table has 32 bits for it.
const COUNTER_PERIOD_NS_MAX: u64 = 4_000_000_000;

/// Maximum of a counter without a limit: 2^63 billionths.
const NO_MAXIMUM: u64 = 9_223_372_036;

/// A GPU counter, sampled from the first kick to the last. A sample is the mean over the period
/// that follows it, as in real recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Counter {
    /// Name of the counter.
    pub name: String,
    /// Unit of the values; by default percent if none is above 100.
    pub unit: Option<CounterUnit>,
    /// Value while any kick runs.
    pub busy: u64,
    /// Values that replace `busy` while a kick with this label runs. If several kicks run, the
    /// highest value counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, u64>,
    /// Value while no kick runs.
    #[serde(default)]
    pub idle: u64,
    /// Time between two samples.
    #[serde(default = "Counter::default_period")]
    pub period: Nanos,
}

/// Unit of a counter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterUnit {
    /// Percent of the largest possible value.
    Percent,
    /// Gigabytes per second, of bandwidth.
    GigabytesPerSecond,
    /// Any other unit, such as a number of events.
    Count,
}

impl Counter {
    const fn default_period() -> Nanos {
        Nanos::new(1_000_000)
    }

    /// Returns the unit that the scenario gives, or the one that its values suggest.
    pub(crate) fn unit(&self) -> CounterUnit {
        self.unit.unwrap_or(if self.largest() <= 100 {
            CounterUnit::Percent
        } else {
            CounterUnit::Count
        })
    }

    /// Returns the largest of the values.
    pub(crate) fn largest(&self) -> u64 {
        let kernels = self.kernels.values().copied();
        kernels.chain([self.busy, self.idle]).max().unwrap_or(0)
    }
}

/// Checks the counters of a recording.
pub(crate) fn check(place: &Place, counter: &Counter) -> Result<(), Error> {
    place.name("name", &counter.name)?;
    if counter.largest() > COUNTER_VALUE_MAX {
        let problem = format!("can have the value {}", counter.largest());
        return place.refuse("", problem, format!("at most {COUNTER_VALUE_MAX}"));
    }
    if counter.period.get() > COUNTER_PERIOD_NS_MAX {
        return place.refuse("period", format!("is {}", counter.period), "at most 4s");
    }
    place.period("period", counter.period)
}

/// Returns a counter in percent.
pub(crate) fn random(random: &mut Random) -> Counter {
    Counter {
        name: "a & b".to_owned(),
        unit: None,
        kernels: BTreeMap::new(),
        busy: random.between(0, 100),
        idle: random.between(0, 3),
        period: Nanos::new(random.between(10_000, 200_000)),
    }
}

/// A sample of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CounterSample {
    at_ns: u64,
    /// Index of the counter, from 0.
    counter: usize,
    /// Number of the sample among those of its counter, from 0.
    number: u64,
    /// Mean over the period that follows, in billionths, rounded down.
    billionths: u64,
}

/// Returns the samples of all counters from the first kick to the last, ordered by time.
///
/// ```text
/// kicks        [---)   [-----)
/// samples   |         |         |      each is the mean over the time to the next sample
/// ```
fn samples(counters: &[Counter], plan: &Plan) -> Vec<CounterSample> {
    let Some(first_ns) = plan.kicks.first().map(|kick| kick.start_ns) else {
        return Vec::new();
    };
    let last_ns = plan.kicks.iter().map(Kick::end_ns).max();
    let last_ns = last_ns.unwrap_or(first_ns);
    let mut samples = Vec::new();

    for (index, counter) in counters.iter().enumerate() {
        let levels = counter_levels(counter, plan);
        let mut first_level = 0;
        let period_ns = counter.period.get().max(1);
        let step = usize::try_from(period_ns).unwrap_or(usize::MAX);
        for (number, at_ns) in (0..).zip((first_ns..last_ns).step_by(step)) {
            let until_ns = at_ns.saturating_add(period_ns);
            let is_over = |level: &(u64, u64, u64)| level.1 <= at_ns;
            while levels.get(first_level).is_some_and(is_over) {
                first_level += 1;
            }

            let area: u128 = levels[first_level..]
                .iter()
                .take_while(|level| level.0 < until_ns)
                .map(|&(from_ns, to_ns, value)| {
                    let ns = to_ns.min(until_ns) - from_ns.max(at_ns);
                    u128::from(ns) * u128::from(value)
                })
                .sum();
            // No level covers the time after the last kick, in which the GPU is idle.
            let after_ns = until_ns.saturating_sub(last_ns).min(period_ns);
            let area = area + u128::from(after_ns) * u128::from(counter.idle);
            let billionths = area * 1_000_000_000 / u128::from(period_ns);
            samples.push(CounterSample {
                at_ns,
                counter: index,
                number,
                billionths: u64::try_from(billionths).unwrap_or(u64::MAX),
            });
        }
    }
    samples.sort_by_key(|sample| sample.at_ns);
    samples
}

/// Returns the value of a counter over time, from the first kick to the last: starts, ends, values.
fn counter_levels(counter: &Counter, plan: &Plan) -> Vec<(u64, u64, u64)> {
    let mut edges: Vec<(u64, bool, u64)> = Vec::new();
    for kick in &plan.kicks {
        let label = plan.labels.text(kick.label);
        let value = counter.kernels.get(label).copied().unwrap_or(counter.busy);
        edges.push((kick.start_ns, true, value));
        edges.push((kick.end_ns(), false, value));
    }
    edges.sort_unstable();

    let mut running: BTreeMap<u64, u32> = BTreeMap::new();
    let mut levels = Vec::new();
    for (index, &(at_ns, starts, value)) in edges.iter().enumerate() {
        let count = running.entry(value).or_default();
        if starts {
            *count += 1;
        } else {
            *count = count.saturating_sub(1);
        }
        running.retain(|_, count| *count > 0);

        let until_ns = edges.get(index + 1).map_or(at_ns, |next| next.0);
        if until_ns > at_ns {
            let value = running.keys().next_back().copied();
            levels.push((at_ns, until_ns, value.unwrap_or(counter.idle)));
        }
    }
    levels
}

table! {
    COUNTER_INFO: "gpu-counter-info", "Which GPU counters were recorded.";
    |_, optional| for (id, counter) in (0_u64..).zip(&optional.counters) => {
        let (kind, max, description) = match counter.unit() {
            CounterUnit::Percent => ("Percentage", 100, "a synthetic counter"),
            CounterUnit::GigabytesPerSecond => {
                ("Value", NO_MAXIMUM, "a synthetic counter, in gigabytes per second")
            }
            CounterUnit::Count => ("Value", NO_MAXIMUM, "a synthetic counter"),
        };
        "timestamp" "Timestamp" EventTime;
        "counter-id" "Counter ID" Uint32 = id;
        "name" "Name" CounterName = &counter.name;
        "max-value" "Max Value" Uint64 = max;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
        "description" "Description" String = description;
        "group-index" "Group Index" Uint32;
        "type" "Type" String = kind;
        "ring-buffer-count" "Ring Buffer Count" Uint32 = 1_u64;
        "require-weighted-accumulation" "Require Weighted Accumulation" Boolean;
        "sample-interval" "Sample Interval" Uint32 = counter.period.get();
    }
}

table! {
    COUNTER_INTERVALS: "metal-gpu-counter-intervals", "What the GPU counters read, as intervals.";
    |plan, optional| for (sample, end_ns) in ended(&optional.counters, plan) => {
        let counter = &optional.counters[sample.counter];
        let is_percent = counter.unit() == CounterUnit::Percent;
        "start" "Start" StartTime = sample.at_ns;
        "duration" "Duration" Duration = end_ns - sample.at_ns;
        "counter-id" "Counter ID" Uint32 = sample.counter as u64;
        "name" "Counter Name" CounterName = &counter.name;
        "label" "Label" FormattedLabel;
        "value" "Value" FixedDecimal = (!is_percent).then_some(sample.billionths);
        "percent-value" "Percent Value" Percent = is_percent.then_some(sample.billionths);
        "color" "Color" Uint32;
        "gpu" "GPU" DeviceName;
        "group-index" "Group Index" Uint32;
        "is-percentage" "Is Percentage" Boolean = is_percent;
        "ring-buffer-index" "Ring Buffer Index" Uint32;
    }
}

/// Returns the samples with the times of the next ones. The last sample of a counter is missing, since
/// its end is unknown.
fn ended(counters: &[Counter], plan: &Plan) -> Vec<(CounterSample, u64)> {
    let mut next_ns: Vec<Option<u64>> = vec![None; counters.len()];
    let ended = samples(counters, plan).into_iter().rev();
    let ended = ended.filter_map(|sample| {
        let end_ns = next_ns[sample.counter].replace(sample.at_ns)?;
        Some((sample, end_ns))
    });
    let mut ended: Vec<_> = ended.collect();
    ended.reverse();
    ended
}

table! {
    COUNTER_VALUE: "gpu-counter-value", "What the GPU counters read.";
    |plan, optional| for sample in samples(&optional.counters, plan) => {
        "timestamp" "Timestamp" EventTime = sample.at_ns;
        "counter-id" "Counter ID" Uint32 = sample.counter as u64;
        "value" "Value" FixedDecimal = sample.billionths;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
        "sample-index" "Sample ID" Uint32 = sample.number;
        "ring-buffer-index" "Ring Buffer Index" Uint32;
    }
}

/// Values of one counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterTotal {
    /// Name of the counter.
    pub name: String,
    /// Number of samples in the window.
    pub samples: u64,
    /// Time of the window that they cover, in nanoseconds.
    pub covered_ns: u64,
    /// Mean over the covered time; `null` if that is zero.
    pub mean: Option<f64>,
    /// Mean over the part of that time with a row of the process.
    pub busy_mean: Option<f64>,
    /// Largest value of a sample in the window.
    pub max: Option<f64>,
    /// Means over the samples in which one kernel ran throughout and nothing else, by its name and
    /// channel.
    pub kernels: Vec<KernelMean>,
}

/// Values of one counter in one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelMean {
    /// Name of the kernel.
    pub name: String,
    /// Channel of the kernel.
    pub channel: String,
    /// Number of samples.
    pub samples: u64,
    /// Mean of their values.
    pub mean: f64,
}

/// Counts the values of each counter. `own` are the rows of the process.
pub(crate) fn truth(
    counters: &[Counter],
    plan: &Plan,
    own: &[&Kick],
    segments: &[Segment],
    window: Window,
) -> Vec<CounterTotal> {
    let samples = samples(counters, plan);
    let totals = counters.iter().enumerate().map(|(index, counter)| {
        let of_counter = samples.iter().filter(|sample| sample.counter == index);
        let of_counter: Vec<_> = of_counter.collect();
        let mut total = CounterTotal {
            name: counter.name.clone(),
            samples: 0,
            covered_ns: 0,
            mean: None,
            busy_mean: None,
            max: None,
            kernels: Vec::new(),
        };
        let (mut area, mut busy_area, mut busy_ns) = (0.0, 0.0, 0);
        let mut by_kernel: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();

        for pair in of_counter.windows(2) {
            let (from_ns, to_ns) = (pair[0].at_ns, pair[1].at_ns);
            let value = pair[0].billionths as f64 / 1e9;
            let (start_ns, end_ns) = (from_ns.max(window.start_ns), to_ns.min(window.end_ns));
            if start_ns >= end_ns {
                continue;
            }

            let own_segments = segments.iter().filter(|segment| segment.target > 0);
            let inside = own_segments.map(|segment| {
                let from_ns = segment.from_ns.clamp(start_ns, end_ns);
                segment.to_ns.clamp(start_ns, end_ns) - from_ns
            });
            let busy: u64 = inside.sum();
            let covered_ns = end_ns - start_ns;

            total.samples += 1;
            total.covered_ns += covered_ns;
            total.max = Some(total.max.map_or(value, |max: f64| max.max(value)));
            area += value * covered_ns as f64;
            busy_area += value * busy as f64;
            busy_ns += busy;

            if let Some(kernel) = only_kernel(plan, own, from_ns, to_ns) {
                by_kernel.entry(kernel).or_default().push(value);
            }
        }

        total.mean = (total.covered_ns > 0).then(|| area / total.covered_ns as f64);
        total.busy_mean = (busy_ns > 0).then(|| busy_area / busy_ns as f64);
        let means = by_kernel
            .into_iter()
            .map(|((name, channel), values)| KernelMean {
                name,
                channel,
                samples: values.len() as u64,
                mean: values.iter().sum::<f64>() / values.len() as f64,
            });
        total.kernels = means.collect();
        total
    });
    totals.collect()
}

/// Returns the kernel of the process that ran throughout a stretch, if nothing else ran in it.
fn only_kernel(plan: &Plan, own: &[&Kick], from_ns: u64, to_ns: u64) -> Option<(String, String)> {
    let overlaps =
        |kick: &&Kick| kick.duration_ns > 0 && kick.start_ns < to_ns && kick.end_ns() > from_ns;
    let running: Vec<&Kick> = plan.kicks.iter().filter(overlaps).collect();
    let is_own = |kick: &&Kick| own.iter().any(|own_kick| std::ptr::eq(*own_kick, *kick));
    if !running.iter().all(is_own) {
        return None;
    }
    let key = |kick: &&Kick| {
        let (name, named_by) = names::name(plan, kick);
        let channel = plan.channels.text(kick.channel).to_owned();
        (name, named_by, channel)
    };
    let first = key(running.first()?);
    if running.iter().any(|kick| key(kick) != first) {
        return None;
    }

    // The rows are sorted by their starts.
    let mut reached_ns = from_ns;
    for kick in running {
        if kick.start_ns > reached_ns {
            return None;
        }
        reached_ns = reached_ns.max(kick.end_ns());
    }
    let (name, _, channel) = first;
    (reached_ns >= to_ns).then_some((name, channel))
}
