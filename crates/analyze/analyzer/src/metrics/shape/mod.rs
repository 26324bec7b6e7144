//! Computes the distribution of the GPU time: durations, overlap and outliers.

mod channels;
mod command_buffers;
mod interval_lengths;
mod outliers;

use metalens_message::{Ns, share};
use metalens_trace::Names;

use self::interval_lengths::IntervalLengths;
use super::gap_causes::GapSplitter;
use super::histogram::histogram;
use super::kernels::Kernels;
use crate::basics::spans::{RunningUnion, Span, length_ns, time_in};
use crate::report::{Durations, Outliers, Shape, ShortIntervals, ShortKernel, UtilizationChunk};
use crate::subject::Subject;
use crate::subject::gaps::Occupancy;
use crate::subject::interval::Interval;

/// Duration below which an interval is short. Its submission costs about as much: an encoder in
/// a buffer that is already running takes the GPU some µs to begin, a buffer of its own ten
/// times that.
const SHORT_NS: u64 = 10_000;

/// Number of short kernels that a report lists.
const SHORT_KERNELS: usize = 5;

/// Number of equal parts into which the window is cut.
const CHUNKS: u64 = 60;

/// Returns the distribution of the process's GPU time.
pub(crate) fn shape(
    subject: &Subject,
    kernels: &Kernels,
    occupancy: &Occupancy,
    names: &Names,
) -> Shape {
    let (mine, others) = (&subject.mine, &subject.others.busy);
    let window = subject.window();
    let lengths = IntervalLengths::new(mine, kernels, window);

    Shape {
        durations: Durations {
            count: mine.len() as u64,
            total_ns: Ns(lengths.lengths.iter().sum()),
            histogram: histogram(&lengths.lengths),
        },
        short: short(&lengths, mine, window, length_ns(&occupancy.busy), names),
        overlap: channels::overlap(mine, window, names),
        utilization: utilization(window, &occupancy.busy, others),
        command_buffers: command_buffers::command_buffers(
            &subject.buffers,
            &occupancy.gaps,
            &GapSplitter::new(subject),
        ),
        outliers: outliers::outliers(mine, &lengths, names),
    }
}

/// Returns the intervals in a part of the window that are far longer than others of the same name.
pub(crate) fn outliers_in(
    part: Span,
    mine: &[Interval],
    kernels: &Kernels,
    names: &Names,
) -> Outliers {
    outliers::outliers(mine, &IntervalLengths::new(mine, kernels, part), names)
}

fn short(
    lengths: &IntervalLengths<'_>,
    mine: &[Interval],
    window: Span,
    busy_ns: u64,
    names: &Names,
) -> ShortIntervals {
    let short = lengths.lengths.iter().filter(|&&length| length < SHORT_NS);
    let (count, total_ns) = short.fold((0, 0), |(n, sum), &length| (n + 1, sum + length));
    let clipped = mine.iter().map(|interval| interval.span.clip(window));
    let covered_ns = RunningUnion::busy_ns(clipped.filter(|span| span.length_ns() < SHORT_NS));

    ShortIntervals {
        limit_ns: Ns(SHORT_NS),
        count,
        total_ns: Ns(total_ns),
        count_ratio: share(count, mine.len() as u64),
        busy_ratio: share(covered_ns, busy_ns),
        kernels: short_kernels(lengths, names),
    }
}

fn short_kernels(lengths: &IntervalLengths<'_>, names: &Names) -> Vec<ShortKernel> {
    let kernels = lengths.by_kernel.iter().enumerate();

    let mut short: Vec<ShortKernel> = kernels
        .filter(|(_, usual)| usual.count > 0 && usual.median < SHORT_NS)
        .map(|(kernel, usual)| ShortKernel {
            name: lengths.kernels.name(kernel).to_owned(),
            channel: lengths.channel(kernel, names),
            instances: usual.count,
            total_ns: Ns(usual.total),
            median_ns: Ns(usual.median),
        })
        .collect();
    short.sort_by_cached_key(|kernel| {
        let most = std::cmp::Reverse((kernel.instances, kernel.total_ns));
        (most, kernel.name.clone(), kernel.channel.clone())
    });
    short.truncate(SHORT_KERNELS);
    short
}

/// Cuts the window into at most [`CHUNKS`] parts whose lengths differ by 1 ns at most, so that
/// they tile it exactly.
fn utilization(window: Span, busy: &[Span], others: &[Span]) -> Vec<UtilizationChunk> {
    let count = CHUNKS.min(window.length_ns());
    let chunks = (0..count).map(|index| {
        let part = Span::new(window.edge(index, count), window.edge(index + 1, count));
        UtilizationChunk {
            start_ns: Ns(part.start_ns),
            busy_ns: Ns(time_in(part, busy)),
            others_ns: Ns(time_in(part, others)),
        }
    });
    chunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::spans::union;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_tile_the_window(
            mut spans in prop::collection::vec((0_u64..900, 1_u64..90), 0..20),
            from in 0_u64..300, length in 0_u64..700,
        ) {
            spans.sort_unstable();
            let window = Span::new(from, from + length);
            let busy = union(spans.iter().map(|&(s, n)| Span::new(s, s + n).clip(window)));
            let chunks = utilization(window, &busy, &[window]);
            prop_assert_eq!(chunks.len() as u64, length.min(60));
            prop_assert_eq!(chunks.iter().map(|chunk| chunk.busy_ns).sum::<Ns>(), Ns(length_ns(&busy)));
            // Others are busy all the time: each chunk's value is its own length.
            let mut at = Ns(window.start_ns);
            for chunk in &chunks {
                prop_assert_eq!(chunk.start_ns, at);
                prop_assert!((length / 60..=length / 60 + 1).contains(&chunk.others_ns.0));
                prop_assert!(chunk.busy_ns <= chunk.others_ns);
                at += chunk.others_ns;
            }
            prop_assert_eq!(at, Ns(window.end_ns));
        }
    }
}
