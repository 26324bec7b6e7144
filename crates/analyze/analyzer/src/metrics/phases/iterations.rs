//! Finds the work that the process repeats: training steps, tokens, frames.
//!
//! Two kinds of evidence count. Labels: a kernel that returns after a fixed number of intervals
//! marks the start of each iteration. Gaps: long ones that come at regular times, with several
//! command buffers between two of them. A kernel that runs a thousand times in a thousand
//! buffers is not an iteration: any work would be one by that measure.

use std::num::NonZeroU64;

use metalens_trace::Symbol;
use rustc_hash::FxHashMap;

use crate::basics::spans::{Span, time_in};
use crate::basics::statistics::{median, percentile};
use crate::report::{FoundBy, Iterations};
use crate::subject::gaps::{Gap, Occupancy, inner};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Smallest number of starts that count as iterations.
const STARTS: usize = 6;

/// Share of a sequence that must equal the sequence one iteration before, in percent.
const SAME_PCT: usize = 80;

/// Share of a marker's distances that must equal the usual one, in percent.
const EVEN_PCT: usize = 90;

/// Number of distances that are tried, the longest first.
const TRIED: usize = 16;

/// Factor by which long gaps exceed the longest short one.
const BREAK: u64 = 5;

/// Kernel number of work without a label: it may be anything.
const UNKNOWN: u32 = u32::MAX;

/// Returns the iterations; `None` if none are certain.
pub(super) fn iterations(
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
) -> (Option<Iterations>, Vec<u64>) {
    let Some(marks) = marks(mine, kernels, &occupancy.gaps) else {
        return (None, Vec::new());
    };
    let first = marks.starts.iter().filter_map(|&start| mine.get(start));
    let starts_ns = first.map(|interval| interval.span.start_ns).collect();
    (measure(&marks, mine, kernels, occupancy), starts_ns)
}

fn marks(mine: &[Interval], kernels: &NamedIntervals, gaps: &[Gap]) -> Option<IterationStarts> {
    let line = main_channel(mine, kernels);
    let by_labels = marked(&line, FoundBy::KernelSequence)
        .or_else(|| marked(&first_of_buffers(mine, &line), FoundBy::CommandBuffers));
    by_labels.or_else(|| by_gaps(mine, gaps))
}

/// Starts of iterations, as indices of the process's intervals.
struct IterationStarts {
    found_by: FoundBy,
    kernel: Option<usize>,
    starts: Vec<usize>,
}

/// Kernels in order of time, each with the index of its interval. There may be millions, but
/// never four billion.
type KernelSequence = Vec<(u32, u32)>;

/// Returns the channel with the most intervals: those of one channel run in order.
fn main_channel(mine: &[Interval], kernels: &NamedIntervals) -> KernelSequence {
    let mut counts: FxHashMap<Option<Symbol>, usize> = FxHashMap::default();
    for run in mine.chunk_by(|a, b| a.channel == b.channel) {
        let channel = run.first().and_then(|interval| interval.channel);
        *counts.entry(channel).or_default() += run.len();
    }

    let most = counts
        .into_iter()
        .max_by_key(|&(name, count)| (count, name));
    let channel = most.and_then(|(name, _)| name);

    let numbers = kernels.numbers().zip(0..);
    let rows = numbers
        .zip(mine)
        .filter(|(_, interval)| interval.channel == channel);
    let number = |kernel| {
        let is_labeled = kernels.is_labeled(kernel);
        u32::try_from(kernel).ok().filter(|_| is_labeled)
    };
    rows.map(|((kernel, index), _)| (number(kernel).unwrap_or(UNKNOWN), index))
        .collect()
}

/// Returns only the first interval of each command buffer.
fn first_of_buffers(mine: &[Interval], line: &KernelSequence) -> KernelSequence {
    let mut last: Option<NonZeroU64> = None;
    let first = line.iter().filter(|&&(_, index)| {
        let interval = mine.get(index as usize);
        let buffer = interval.and_then(|interval| interval.command_buffer);
        let is_new = buffer.is_some() && buffer != last;
        last = buffer.or(last);
        is_new
    });
    first.copied().collect()
}

/// Returns the kernel that comes back after the longest fixed number of places.
fn marked(line: &KernelSequence, found_by: FoundBy) -> Option<IterationStarts> {
    let places = places_of_kernels(line);

    let mut candidates: Vec<_> = places
        .iter()
        .enumerate()
        .filter_map(|(kernel, places)| {
            let distance = usual_distance(places)?;
            let is_everywhere = places.len() * distance * 2 >= line.len();
            (distance >= 2 && is_everywhere).then_some((
                distance,
                std::cmp::Reverse(places.first()),
                kernel,
            ))
        })
        .collect();
    // Of several kernels with one distance the one that comes first counts; its place is unique.
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    candidates.dedup_by_key(|&mut (distance, ..)| distance);

    let mut most_distant = candidates.into_iter().take(TRIED);
    let (_, _, kernel) = most_distant.find(|&(distance, ..)| returns(line, distance))?;

    let starts = places.get(kernel)?.iter();
    Some(IterationStarts {
        found_by,
        kernel: Some(kernel),
        starts: starts
            .filter_map(|&place| Some(line.get(place as usize)?.1 as usize))
            .collect(),
    })
}

/// Returns the places of each kernel in the line, by its number.
fn places_of_kernels(line: &KernelSequence) -> Vec<Vec<u32>> {
    let labeled = line.iter().filter(|&&(kernel, _)| kernel != UNKNOWN);
    let count = labeled.map(|&(kernel, _)| kernel + 1).max().unwrap_or(0);
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for (place, &(kernel, _)) in (0..).zip(line) {
        // Kernels without a label have no list.
        if let Some(places) = places.get_mut(kernel as usize) {
            places.push(place);
        }
    }
    places
}

/// Returns the distance from each of a kernel's places to the next, if it is nearly always the
/// same.
fn usual_distance(places: &[u32]) -> Option<usize> {
    if places.len() < STARTS {
        return None;
    }

    let later = places.iter().skip(1);
    let mut distances: Vec<u32> = places
        .iter()
        .zip(later)
        .map(|(this, next)| next - this)
        .collect();
    let middle = distances.len() / 2;
    let usual = *distances.select_nth_unstable(middle).1;
    let even = distances
        .iter()
        .filter(|&&distance| distance == usual)
        .count();
    (even * 100 >= distances.len() * EVEN_PCT).then_some(usual as usize)
}

/// Returns whether nearly every kernel equals the one a distance before.
fn returns(line: &KernelSequence, distance: usize) -> bool {
    let later = line.get(distance..).unwrap_or(&[]);
    let pairs = line.iter().zip(later);
    let same = pairs.filter(|((this, _), (next, _))| this == next).count();
    same * 100 >= later.len() * SAME_PCT
}

/// Returns long gaps at regular times, with several command buffers between most pairs.
fn by_gaps(mine: &[Interval], gaps: &[Gap]) -> Option<IterationStarts> {
    let inner = inner(gaps);
    let mut lengths: Vec<u64> = inner.iter().map(|gap| gap.span.length_ns()).collect();
    lengths.sort_unstable();
    let long = long_from(&lengths)?;

    let long_gaps = inner.iter().filter(|gap| gap.span.length_ns() >= long);
    let starts: Vec<usize> = long_gaps.filter_map(Gap::after).collect();
    let have_several_buffers = most_have_several_buffers(mine, &starts);

    let mut periods = periods(mine, &starts);
    periods.sort_unstable();
    let [low, median, high] = [10, 50, 90].map(|p| percentile(&periods, p).unwrap_or(0));
    let are_regular = high - low <= median / 2;
    (have_several_buffers && are_regular).then_some(IterationStarts {
        found_by: FoundBy::Gaps,
        kernel: None,
        starts,
    })
}

/// Returns the shortest long gap: the one above the widest break in the upper half of the
/// sorted lengths.
fn long_from(sorted: &[u64]) -> Option<u64> {
    let upper = (sorted.len() / 2).saturating_sub(1);
    let upper_half = sorted.iter().zip(sorted.iter().skip(1)).skip(upper);
    let pairs = upper_half.take(sorted.len().saturating_sub(upper + STARTS));
    let breaks = pairs.filter(|(short, long)| **long >= short.saturating_mul(BREAK));

    // The wider break has the larger ratio; cross-multiplied, the comparison is exact.
    breaks
        .max_by(|a, b| {
            let product = |a: &u64, b: &u64| u128::from(*a) * u128::from(*b);
            product(a.1, b.0).cmp(&product(b.1, a.0))
        })
        .map(|(_, long)| *long)
}

fn most_have_several_buffers(mine: &[Interval], starts: &[usize]) -> bool {
    let iterations = starts.iter().zip(starts.iter().skip(1));
    let (mut count, mut several) = (0, 0);
    for (&from, &until) in iterations {
        let mut buffers = mine
            .get(from..until)
            .unwrap_or(&[])
            .iter()
            .map(|interval| interval.command_buffer);
        let first = buffers.next().flatten();
        let has_other = buffers.any(|buffer| buffer.is_some() && buffer != first);
        count += 1;
        several += usize::from(first.is_some() && has_other);
    }
    count > 0 && several * 100 >= count * EVEN_PCT
}

/// Returns the time from each start to the next.
fn periods(mine: &[Interval], starts: &[usize]) -> Vec<u64> {
    let times: Vec<u64> = starts
        .iter()
        .filter_map(|&index| mine.get(index))
        .map(|interval| interval.span.start_ns)
        .collect();
    let later = times.iter().skip(1);
    times
        .iter()
        .zip(later)
        .map(|(this, next)| next - this)
        .collect()
}

/// Measures periods, busy times and sizes of the iterations.
fn measure(
    marks: &IterationStarts,
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
) -> Option<Iterations> {
    let periods = periods(mine, &marks.starts);
    let mut sorted = periods.clone();
    sorted.sort_unstable();

    let start_ns = mine.get(*marks.starts.first()?)?.span.start_ns;
    let mut start = start_ns;
    let busy = periods.iter().map(|period| {
        let part = Span::new(start, start + period);
        start = part.end_ns;
        time_in(part, &occupancy.busy)
    });
    let median_busy_ns = median(busy)?;

    let later = marks.starts.iter().skip(1);
    let counts = marks.starts.iter().zip(later);
    Some(Iterations {
        found_by: marks.found_by,
        marker: marks.kernel.map(|kernel| kernels.name(kernel).to_owned()),
        count: marks.starts.len() as u64,
        start_ns,
        median_intervals: median(counts.map(|(this, next)| (next - this) as u64))?,
        median_period_ns: percentile(&sorted, 50)?,
        min_period_ns: *sorted.first()?,
        max_period_ns: *sorted.last()?,
        spread_ns: percentile(&sorted, 95)? - percentile(&sorted, 5)?,
        median_busy_ns,
        drift_pct: drift_pct(&periods),
    })
}

/// Returns the change of the last third's median from the first third's, in percent.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53 ns, 104 days; beyond that off by less than 1e-15 of it"
)]
fn drift_pct(periods: &[u64]) -> Option<f64> {
    let third = periods.len() / 3;
    if third < 3 {
        return None;
    }

    let first = median(periods.iter().take(third).copied())?;
    let last = median(periods.iter().skip(periods.len() - third).copied())?;
    (first > 0).then(|| (last as f64 - first as f64) / first as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the marker of kernels given as letters, `?` for one without a label, and the number
    /// of its starts.
    fn check(work: &str, expected: Option<(char, usize)>) {
        let kernel = |byte: u8| match byte {
            b'?' => UNKNOWN,
            letter => u32::from(letter),
        };
        let line: KernelSequence = work.bytes().map(kernel).zip(0..).collect();
        let found = marked(&line, FoundBy::KernelSequence).map(|marks| {
            let marker = u8::try_from(marks.kernel.unwrap()).unwrap();
            for &start in &marks.starts {
                assert_eq!(work.as_bytes()[start], marker);
            }
            (char::from(marker), marks.starts.len())
        });
        assert_eq!(found, expected, "{work}");
    }

    #[test]
    fn kernels_that_return_mark_iterations() {
        check(&"abcd".repeat(10), Some(('a', 10)));
        // The rarest kernel counts: tokens, not the layers in them.
        let token = "e".to_owned() + &"qkvo".repeat(10) + "h";
        check(&token.repeat(8), Some(('e', 8)));
        // Other kernels come first, and once in between.
        let disturbed = "xyz".to_owned() + &"abcd".repeat(20) + "s" + &"abcd".repeat(20);
        check(&disturbed, Some(('a', 40)));
        check(&"a??".repeat(10), Some(('a', 10)));
    }

    #[test]
    fn unclear_repetitions_do_not_count() {
        check(&"a".repeat(100), None);
        check(&"?".repeat(100), None);
        check(&"abcd".repeat(5), None);
        check(
            "31415926535897932384626433832795028841971693993751058209749445923078164",
            None,
        );
        // A marker that comes evenly between kernels that never return.
        let shuffled = "aqwertaasdfgazxcvbayuiopahjklmanbgtryaplmkoa";
        check(shuffled, None);
    }

    #[test]
    fn the_widest_break_separates_long_gaps() {
        let short = [1, 2, 3, 2, 1, 2, 3, 2, 1, 2];
        let sorted = |long: &[u64]| {
            let mut all = [&short, long].concat();
            all.sort_unstable();
            long_from(&all)
        };
        assert_eq!(sorted(&[90, 91, 92, 93, 94, 95, 96]), Some(90));
        assert_eq!(sorted(&[90, 91, 92]), None, "too few are long");
        assert_eq!(sorted(&[9, 10, 11, 12, 13, 14, 15]), None, "no clear break");
    }

    #[test]
    fn drift_compares_thirds() {
        assert_eq!(drift_pct(&[10, 10, 10, 7, 7, 7, 11, 11, 11]), Some(10.0));
        assert_eq!(drift_pct(&[10; 8]), None);
    }
}
