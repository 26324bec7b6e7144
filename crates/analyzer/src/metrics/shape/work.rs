//! The target's intervals by their kernels.

use metalens_trace::Names;

use crate::basics::spans::Span;
use crate::basics::statistics::Summary;
use crate::metrics::kernels::Kernels;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::timeline::Interval;

/// The target's intervals by their kernels.
pub(super) struct Work<'a> {
    pub kernels: &'a NamedIntervals,
    /// Of each interval, its length inside the window.
    pub lengths: Vec<u64>,
    /// Of each kernel, what is usual.
    pub usual: &'a [Summary],
}

impl<'a> Work<'a> {
    pub(super) fn of(mine: &[Interval], kernels: &'a Kernels, window: Span) -> Self {
        let lengths = mine.iter().map(|one| one.span.clip(window).length_ns());
        Self {
            kernels: &kernels.named,
            usual: &kernels.durations,
            lengths: lengths.collect(),
        }
    }

    /// Each interval's place, kernel, length, and what is usual for its kernel.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, usize, u64, &Summary)> {
        let numbers = self.kernels.numbers().enumerate();
        let rows = numbers.zip(&self.lengths);
        rows.filter_map(|((at, kernel), &length)| {
            Some((at, kernel, length, self.usual.get(kernel)?))
        })
    }

    /// Returns the channel of a kernel.
    pub(super) fn channel(&self, kernel: usize, names: &Names) -> Option<String> {
        let channel = self.kernels.channel(kernel)?;
        Some(names.text(channel).to_owned())
    }
}
