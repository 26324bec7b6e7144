//! Lengths of the process's GPU intervals, with the statistics of their kernels.

use metalens_trace::Names;

use crate::basics::spans::Span;
use crate::basics::statistics::Statistics;
use crate::metrics::kernels::Kernels;
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Lengths of the GPU intervals, with the statistics of their kernels.
pub(super) struct IntervalLengths<'a> {
    pub kernels: &'a NamedIntervals,
    /// Length of each interval inside the window, in nanoseconds.
    pub lengths: Vec<u64>,
    /// Statistics of each kernel.
    pub by_kernel: &'a [Statistics],
}

impl<'a> IntervalLengths<'a> {
    /// Measures the intervals inside a window.
    pub(super) fn new(mine: &[Interval], kernels: &'a Kernels, window: Span) -> Self {
        let lengths = mine
            .iter()
            .map(|interval| interval.span.clip(window).length_ns());
        Self {
            kernels: &kernels.named,
            by_kernel: &kernels.durations,
            lengths: lengths.collect(),
        }
    }

    /// Returns the index, kernel and length of each interval, with the statistics of the kernel.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, usize, u64, &Statistics)> {
        let rows = self.kernels.numbers().enumerate().zip(&self.lengths);
        rows.filter_map(|((index, kernel), &length)| {
            Some((index, kernel, length, self.by_kernel.get(kernel)?))
        })
    }

    /// Returns the channel of a kernel.
    pub(super) fn channel(&self, kernel: usize, names: &Names) -> Option<String> {
        let channel = self.kernels.channel(kernel)?;
        Some(names.text(channel).to_owned())
    }
}
