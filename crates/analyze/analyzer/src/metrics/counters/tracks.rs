//! Chooses the counters that have a track under the timeline.

use super::bandwidth::{READ, WRITE};
use super::kernels::LIMITER;
use super::{CounterSample, CounterSeries};
use crate::report::{Counter, CounterUnit, Counters};

/// Number of limiters with a track.
const LIMITERS: usize = 3;

/// Counter as a track under the timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterTrack<'a> {
    /// Short name of the counter: without `GPU` and `Limiter`.
    pub name: &'a str,
    /// Value at which the counter is at its peak.
    pub peak: f64,
    /// Samples of the counter in the whole recording, in order of time.
    pub samples: &'a [CounterSample],
}

/// Returns the limiters with the highest mean, and the memory bandwidth if the chip is known. The
/// mean is that while the process was busy, if it is known.
pub(crate) fn tracks<'a>(
    report: Option<&Counters>,
    series: &'a [CounterSeries],
) -> Vec<CounterTrack<'a>> {
    let Some(report) = report else {
        return Vec::new();
    };
    let of_series = |counter: &Counter, peak: f64| {
        let series = series.iter().find(|series| series.name == counter.name)?;
        let name = series.name.strip_suffix(LIMITER).unwrap_or(&series.name);
        Some(CounterTrack {
            name: name.strip_prefix("GPU ").unwrap_or(name),
            peak,
            samples: &series.samples,
        })
    };

    let counters = || report.counters.iter();
    let mean = |counter: &Counter| counter.busy.unwrap_or(counter.window).mean;
    let mut limiters: Vec<&Counter> = counters()
        .filter(|counter| {
            counter.name.ends_with(LIMITER) && counter.unit == Some(CounterUnit::Percent)
        })
        .collect();
    limiters.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let highest = limiters.into_iter().take(LIMITERS);
    let limiters = highest.filter_map(|counter| of_series(counter, 100.0));

    let chip = report.chip_gb_per_s.map(|chip| chip.max);
    let bandwidth = counters()
        .filter(|counter| [READ, WRITE].contains(&counter.name.as_str()))
        .filter_map(|counter| of_series(counter, chip?));
    limiters.chain(bandwidth).collect()
}
