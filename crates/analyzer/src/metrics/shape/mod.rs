//! Where the target's GPU time is: how long its work takes, what overlaps,
//! what repeats, what stands out.

mod channels;
mod command_buffers;
mod outliers;
mod sequences;
mod work;

use metalens_trace::Names;

use self::work::Work;
use super::histogram::histogram;
use super::kernels::Kernels;
use super::ledger::Book;
use crate::basics::spans::{Running, Span, length_ns, time_in};
use crate::basics::statistics::ratio;
use crate::report::{Chunk, Durations, Shape, Short, ShortKernel};
use crate::subject::Subject;
use crate::subject::gaps::Occupancy;
use crate::subject::timeline::Interval;

/// Shorter intervals are short. What it costs to launch one is of this order:
/// an encoder in a buffer that is already running takes the GPU some µs to
/// begin, a buffer of its own ten times that.
const SHORT_NS: u64 = 10_000;

/// How many short kernels a report lists.
const SHORT_KERNELS: usize = 5;

/// Into how many equal parts the window is cut.
const CHUNKS: u64 = 60;

/// Says where the target's GPU time is.
pub(crate) fn shape(
    subject: &Subject,
    kernels: &Kernels,
    occupancy: &Occupancy,
    names: &Names,
) -> Shape {
    let (mine, foreign) = (&subject.mine, &subject.others.busy);
    let window = subject.window();
    let work = Work::of(mine, kernels, window);
    Shape {
        durations: Durations {
            count: mine.len() as u64,
            total_ns: work.lengths.iter().sum(),
            histogram: histogram(&work.lengths),
        },
        short: short(&work, mine, window, length_ns(&occupancy.busy), names),
        overlap: channels::overlap(mine, window, names),
        utilization: utilization(window, &occupancy.busy, foreign),
        command_buffers: command_buffers::command_buffers(
            &subject.buffers,
            &occupancy.gaps,
            &Book::of(subject),
        ),
        sequences: sequences::sequences(mine, &work, &occupancy.gaps, names),
        outliers: outliers::outliers(mine, &work, names),
    }
}

fn short(work: &Work<'_>, mine: &[Interval], window: Span, busy_ns: u64, names: &Names) -> Short {
    let short = work.lengths.iter().filter(|&&length| length < SHORT_NS);
    let (count, total_ns) = short.fold((0, 0), |(n, sum), &length| (n + 1, sum + length));
    let clipped = mine.iter().map(|one| one.span.clip(window));
    let covered_ns = Running::busy_ns(clipped.filter(|span| span.length_ns() < SHORT_NS));
    Short {
        limit_ns: SHORT_NS,
        count,
        total_ns,
        count_ratio: ratio(count, mine.len() as u64),
        busy_ratio: ratio(covered_ns, busy_ns),
        kernels: short_kernels(work, names),
    }
}

fn short_kernels(work: &Work<'_>, names: &Names) -> Vec<ShortKernel> {
    let usual = work.usual.iter().enumerate();
    let short = usual.filter(|(_, usual)| usual.count > 0 && usual.median < SHORT_NS);
    let short = short.map(|(kernel, usual)| ShortKernel {
        name: work.kernels.name(kernel).to_owned(),
        channel: work.channel(kernel, names),
        instances: usual.count,
        total_ns: usual.total,
        median_ns: usual.median,
    });
    let mut short: Vec<ShortKernel> = short.collect();
    short.sort_by(|a, b| {
        let key = |one: &ShortKernel| std::cmp::Reverse((one.instances, one.total_ns));
        let name = |one: &ShortKernel| (one.name.clone(), one.channel.clone());
        key(a).cmp(&key(b)).then_with(|| name(a).cmp(&name(b)))
    });
    short.truncate(SHORT_KERNELS);
    short
}

/// Cuts the window into at most [`CHUNKS`] parts whose lengths differ by 1 ns
/// at most, so that they tile it exactly.
fn utilization(window: Span, busy: &[Span], foreign: &[Span]) -> Vec<Chunk> {
    let length = window.length_ns();
    let count = CHUNKS.min(length);
    let edge = |at: u64| {
        let part = u128::from(length) * u128::from(at) / u128::from(count.max(1));
        window.start_ns + u64::try_from(part).unwrap_or(length)
    };
    let chunks = (0..count).map(|at| {
        let part = Span::new(edge(at), edge(at + 1));
        Chunk {
            start_ns: part.start_ns,
            busy_ns: time_in(part, busy),
            others_ns: time_in(part, foreign),
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
            prop_assert_eq!(chunks.iter().map(|one| one.busy_ns).sum::<u64>(), length_ns(&busy));
            // Foreign work all the time: each chunk's is its own length.
            let mut at = window.start_ns;
            for chunk in &chunks {
                prop_assert_eq!(chunk.start_ns, at);
                prop_assert!((length / 60..=length / 60 + 1).contains(&chunk.others_ns));
                prop_assert!(chunk.busy_ns <= chunk.others_ns);
                at += chunk.others_ns;
            }
            prop_assert_eq!(at, window.end_ns);
        }
    }
}
