//! Computes the values of a counter over the window and over the busy time in it.

use super::CounterSample;
use crate::basics::spans::Span;
use crate::report::CounterValues;
use metalens_message::Ns;
use metalens_text::number::Float;

/// Time to take samples from: the window, and the busy time in it.
pub(super) struct SampledTime<'a> {
    window: Span,
    busy: &'a [Span],
    /// Summed busy time before each stretch of `busy`.
    before: Vec<u64>,
}

impl<'a> SampledTime<'a> {
    pub(super) fn new(window: Span, busy: &'a [Span]) -> Self {
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
    fn busy_before(&self, time_ns: u64) -> u64 {
        let next = self.busy.partition_point(|span| span.start_ns < time_ns);
        let last = next
            .checked_sub(1)
            .and_then(|last| Some((self.busy.get(last)?, self.before.get(last)?)));
        last.map_or(0, |(span, before)| {
            before + time_ns.min(span.end_ns) - span.start_ns
        })
    }

    /// Returns whether a row reaches into the window. Without an end it does if it starts there.
    pub(super) fn reaches(&self, sample: &CounterSample) -> bool {
        match sample.end_ns {
            Some(end_ns) => self.weights(Span::new(sample.start_ns, end_ns)).is_some(),
            None => (self.window.start_ns..self.window.end_ns).contains(&sample.start_ns),
        }
    }

    /// Returns the time of a sample in the window and in the busy time; `None` if it lies outside
    /// of the window.
    pub(super) fn weights(&self, sample: Span) -> Option<(u64, u64)> {
        let inside = sample.clip(self.window);
        let busy = self.busy_before(inside.end_ns) - self.busy_before(inside.start_ns);
        (!inside.is_empty()).then(|| (inside.length_ns(), busy))
    }
}

/// Value with its weights.
#[derive(Clone, Copy)]
pub(super) struct Weighted {
    pub(super) value: f64,
    /// Time in the window, in nanoseconds.
    pub(super) in_window: u64,
    /// Time in the busy time, in nanoseconds.
    pub(super) in_busy: u64,
}

/// Computes the values over the samples that have weight. They are sorted by value.
pub(super) fn values(
    sorted: &[Weighted],
    weight: impl Fn(&Weighted) -> u64,
) -> Option<CounterValues> {
    let weighted = || sorted.iter().filter(|sample| weight(sample) > 0);
    let (min, max) = (weighted().next()?.value, weighted().next_back()?.value);
    let total: u128 = weighted().map(|sample| u128::from(weight(sample))).sum();
    let sum: f64 = weighted()
        .map(|sample| sample.value * weight(sample).float())
        .sum();
    let percentile = |percent: u128| {
        let mut passed: u128 = 0;
        weighted()
            .find(|sample| {
                passed += u128::from(weight(sample));
                passed * 100 >= total * percent
            })
            .map_or(max, |sample| sample.value)
    };

    Some(CounterValues {
        samples: weighted().count() as u64,
        covered_ns: u64::try_from(total).ok().map(Ns),
        min,
        // Rounding may carry the mean of equal values beyond them.
        mean: (sum / total.float()).clamp(min, max),
        median: percentile(50),
        p95: percentile(95),
        max,
    })
}
