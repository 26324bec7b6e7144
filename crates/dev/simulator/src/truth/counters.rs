//! Computes the means of counters in the window, while the process was busy, and in its kernels.
//!
//! A sample counts for the time to the next sample. The last sample does not count, because its end
//! is unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sweep::Segment;
use super::{Window, kernels};
use crate::plan::machine::counter_samples;
use crate::plan::{Kick, Plan};

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
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded anyway")]
pub(super) fn counters(
    plan: &Plan,
    own: &[&Kick],
    segments: &[Segment],
    window: Window,
) -> Vec<CounterTotal> {
    let samples = counter_samples(plan);
    let totals = plan.counters.iter().enumerate().map(|(index, counter)| {
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
        let (name, named_by) = kernels::name(plan, kick);
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
