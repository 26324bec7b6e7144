//! What the target does over and over: training steps, tokens, frames.
//!
//! Two kinds of evidence count. Labels: a kernel that returns after a fixed
//! number of intervals marks each beginning. Gaps: long ones that come at
//! regular times, with several command buffers between two of them. That one
//! kernel runs a thousand times in a thousand buffers is no iteration: it would
//! be one by any measure.

use std::num::NonZeroU64;

use metalens_trace::Symbol;
use rustc_hash::FxHashMap;

use crate::basics::spans::{Span, time_in};
use crate::basics::statistics::{percentile, select};
use crate::report::{FoundBy, Iterations};
use crate::subject::gaps::{Gap, Occupancy, inner};
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::timeline::Interval;

/// Fewer beginnings are no iterations.
const BEGINNINGS: usize = 6;

/// How much of a sequence must be as it was one iteration before, percent.
const SAME_PCT: usize = 80;

/// How many of a marker's distances must be the usual one, percent.
const EVEN_PCT: usize = 90;

/// How many distances are tried, the longest first.
const TRIED: usize = 16;

/// Long gaps are at least so many times as long as the longest short one.
const BREAK: u64 = 5;

/// No label: it may be anything.
const UNKNOWN: u32 = u32::MAX;

/// Finds iterations, if there are any for certain.
pub(super) fn iterations(
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
) -> Option<Iterations> {
    let line = main_channel(mine, kernels);
    let by_labels = marked(&line, FoundBy::KernelSequence)
        .or_else(|| marked(&buffers(mine, &line), FoundBy::CommandBuffers));
    let marks = by_labels.or_else(|| by_gaps(mine, occupancy))?;
    measure(&marks, mine, kernels, occupancy)
}

/// Where iterations begin: places in the target's intervals.
struct Marks {
    found_by: FoundBy,
    kernel: Option<usize>,
    beginnings: Vec<usize>,
}

/// Kernels in order of time, and the place of each interval. There may be
/// millions, but never four billion.
type Line = Vec<(u32, u32)>;

/// The channel with the most intervals: those of one channel run in order.
fn main_channel(mine: &[Interval], kernels: &NamedIntervals) -> Line {
    let mut counts: FxHashMap<Option<Symbol>, usize> = FxHashMap::default();
    for run in mine.chunk_by(|a, b| a.channel == b.channel) {
        let channel = run.first().and_then(|one| one.channel);
        *counts.entry(channel).or_default() += run.len();
    }
    let most = counts
        .into_iter()
        .max_by_key(|&(name, count)| (count, name));
    let channel = most.and_then(|(name, _)| name);
    let numbers = kernels.numbers().zip(0..);
    let rows = numbers.zip(mine).filter(|(_, one)| one.channel == channel);
    let number = |kernel| {
        let labelled = kernels.is_labelled(kernel);
        u32::try_from(kernel).ok().filter(|_| labelled)
    };
    rows.map(|((kernel, at), _)| (number(kernel).unwrap_or(UNKNOWN), at))
        .collect()
}

/// Only the first interval of each command buffer.
fn buffers(mine: &[Interval], line: &Line) -> Line {
    let mut last: Option<NonZeroU64> = None;
    let first = line.iter().filter(|&&(_, at)| {
        let buffer = mine.get(at as usize).and_then(|one| one.command_buffer);
        let new = buffer.is_some() && buffer != last;
        last = buffer.or(last);
        new
    });
    first.copied().collect()
}

/// The kernel that returns after the longest fixed number of places.
fn marked(line: &Line, found_by: FoundBy) -> Option<Marks> {
    let places = places_of_kernels(line);
    let candidates = places.iter().enumerate().filter_map(|(kernel, places)| {
        let distance = usual_distance(places)?;
        let covered = places.len() * distance * 2 >= line.len();
        (distance >= 2 && covered).then_some((distance, std::cmp::Reverse(places.first()), kernel))
    });
    let mut candidates: Vec<_> = candidates.collect();
    // Of one distance the kernel that comes first; its place is its own.
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    candidates.dedup_by_key(|&mut (distance, ..)| distance);
    let mut candidates = candidates.into_iter().take(TRIED);
    let (_, _, kernel) = candidates.find(|&(distance, ..)| returns(line, distance))?;
    let beginnings = places.get(kernel)?.iter();
    Some(Marks {
        found_by,
        kernel: Some(kernel),
        beginnings: beginnings
            .filter_map(|&place| Some(line.get(place as usize)?.1 as usize))
            .collect(),
    })
}

/// Of each kernel, by its number, the places in the line.
fn places_of_kernels(line: &Line) -> Vec<Vec<u32>> {
    let labelled = line.iter().filter(|&&(kernel, _)| kernel != UNKNOWN);
    let count = labelled.map(|&(kernel, _)| kernel + 1).max().unwrap_or(0);
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for (place, &(kernel, _)) in (0..).zip(line) {
        // Those without a label have no list.
        if let Some(places) = places.get_mut(kernel as usize) {
            places.push(place);
        }
    }
    places
}

/// From each of a kernel's places to the next, if that is nearly always as far.
fn usual_distance(places: &[u32]) -> Option<usize> {
    if places.len() < BEGINNINGS {
        return None;
    }
    let later = places.iter().skip(1);
    let distances = places.iter().zip(later).map(|(one, two)| two - one);
    let mut distances: Vec<u32> = distances.collect();
    let middle = distances.len() / 2;
    let usual = *distances.select_nth_unstable(middle).1;
    let even = distances.iter().filter(|&&one| one == usual).count();
    (even * 100 >= distances.len() * EVEN_PCT).then_some(usual as usize)
}

/// Whether what comes is nearly always what came a distance before.
fn returns(line: &Line, distance: usize) -> bool {
    let later = line.get(distance..).unwrap_or(&[]);
    let pairs = line.iter().zip(later);
    let same = pairs.filter(|((one, _), (two, _))| one == two).count();
    same * 100 >= later.len() * SAME_PCT
}

/// Long gaps at regular times, each pair with several command buffers between.
fn by_gaps(mine: &[Interval], occupancy: &Occupancy) -> Option<Marks> {
    let inner = inner(&occupancy.gaps);
    let mut lengths: Vec<u64> = inner.iter().map(|gap| gap.span.length_ns()).collect();
    lengths.sort_unstable();
    let long = long_from(&lengths)?;
    let beginnings = inner.iter().filter(|gap| gap.span.length_ns() >= long);
    let beginnings: Vec<usize> = beginnings.filter_map(Gap::after).collect();
    let several = most_have_several_buffers(mine, &beginnings);
    let mut periods = periods(mine, &beginnings);
    periods.sort_unstable();
    let [low, median, high] = [10, 50, 90].map(|p| percentile(&periods, p).unwrap_or(0));
    let regular = high - low <= median / 2;
    (several && regular).then_some(Marks {
        found_by: FoundBy::Gaps,
        kernel: None,
        beginnings,
    })
}

/// The shortest long gap: below it is the widest break in the upper half of the
/// sorted lengths.
fn long_from(sorted: &[u64]) -> Option<u64> {
    let upper = (sorted.len() / 2).saturating_sub(1);
    let pairs = sorted.iter().zip(sorted.iter().skip(1)).skip(upper);
    let pairs = pairs.take(sorted.len().saturating_sub(upper + BEGINNINGS));
    let breaks = pairs.filter(|(short, long)| **long >= short.saturating_mul(BREAK));
    // Wider is the one whose ratio is larger: cross-multiplied, it is exact.
    let wider = |a: &(&u64, &u64), b: &(&u64, &u64)| {
        let product = |one: &u64, two: &u64| u128::from(*one) * u128::from(*two);
        product(a.1, b.0).cmp(&product(b.1, a.0))
    };
    breaks.max_by(wider).map(|(_, long)| *long)
}

fn most_have_several_buffers(mine: &[Interval], beginnings: &[usize]) -> bool {
    let later = beginnings.iter().skip(1);
    let parts = beginnings.iter().zip(later);
    let (mut all, mut several) = (0, 0);
    for (&from, &until) in parts {
        let mut own = mine.get(from..until).unwrap_or(&[]).iter();
        let first = own.next().and_then(|one| one.command_buffer);
        let other = own.any(|one| one.command_buffer.is_some() && one.command_buffer != first);
        all += 1;
        several += usize::from(first.is_some() && other);
    }
    all > 0 && several * 100 >= all * EVEN_PCT
}

/// From each beginning to the next.
fn periods(mine: &[Interval], beginnings: &[usize]) -> Vec<u64> {
    let starts = beginnings.iter().filter_map(|&at| mine.get(at));
    let starts: Vec<u64> = starts.map(|one| one.span.start_ns).collect();
    let later = starts.iter().skip(1);
    starts
        .iter()
        .zip(later)
        .map(|(one, two)| two - one)
        .collect()
}

fn measure(
    marks: &Marks,
    mine: &[Interval],
    kernels: &NamedIntervals,
    occupancy: &Occupancy,
) -> Option<Iterations> {
    let periods = periods(mine, &marks.beginnings);
    let mut sorted = periods.clone();
    sorted.sort_unstable();
    let start_ns = mine.get(*marks.beginnings.first()?)?.span.start_ns;
    let mut start = start_ns;
    let busy = periods.iter().map(|period| {
        let part = Span::new(start, start + period);
        start = part.end_ns;
        time_in(part, &occupancy.busy)
    });
    let median_busy_ns = median(busy)?;
    let later = marks.beginnings.iter().skip(1);
    let counts = marks.beginnings.iter().zip(later);
    Some(Iterations {
        found_by: marks.found_by,
        marker: marks.kernel.map(|kernel| kernels.name(kernel).to_owned()),
        count: marks.beginnings.len() as u64,
        start_ns,
        median_intervals: median(counts.map(|(one, two)| (two - one) as u64))?,
        median_period_ns: percentile(&sorted, 50)?,
        min_period_ns: *sorted.first()?,
        max_period_ns: *sorted.last()?,
        spread_ns: percentile(&sorted, 95)? - percentile(&sorted, 5)?,
        median_busy_ns,
        drift_pct: drift_pct(&periods),
    })
}

/// The last third's median against the first third's.
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

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    select(&mut values, 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels as letters, `?` for one without a label. `expected`: the
    /// marker and how often it comes.
    fn check(work: &str, expected: Option<(char, usize)>) {
        let kernel = |byte: u8| match byte {
            b'?' => UNKNOWN,
            letter => u32::from(letter),
        };
        let line: Line = work.bytes().map(kernel).zip(0..).collect();
        let found = marked(&line, FoundBy::KernelSequence).map(|marks| {
            let marker = u8::try_from(marks.kernel.unwrap()).unwrap();
            for &at in &marks.beginnings {
                assert_eq!(work.as_bytes()[at], marker);
            }
            (char::from(marker), marks.beginnings.len())
        });
        assert_eq!(found, expected, "{work}");
    }

    #[test]
    fn by_a_kernel_that_returns() {
        check(&"abcd".repeat(10), Some(('a', 10)));
        // The rarest: tokens, not the layers in them.
        let token = "e".to_owned() + &"qkvo".repeat(10) + "h";
        check(&token.repeat(8), Some(('e', 8)));
        // Something else first, and in between once.
        let disturbed = "xyz".to_owned() + &"abcd".repeat(20) + "s" + &"abcd".repeat(20);
        check(&disturbed, Some(('a', 40)));
        check(&"a??".repeat(10), Some(('a', 10)));
    }

    #[test]
    fn not_what_would_be_one_by_any_measure() {
        check(&"a".repeat(100), None);
        check(&"?".repeat(100), None);
        check(&"abcd".repeat(5), None);
        check(
            "31415926535897932384626433832795028841971693993751058209749445923078164",
            None,
        );
        // A marker that comes evenly among what never comes again.
        let shuffled = "aqwertaasdfgazxcvbayuiopahjklmanbgtryaplmkoa";
        check(shuffled, None);
    }

    #[test]
    fn where_gaps_break() {
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
    fn drift_is_of_thirds() {
        assert_eq!(drift_pct(&[10, 10, 10, 7, 7, 7, 11, 11, 11]), Some(10.0));
        assert_eq!(drift_pct(&[10; 8]), None);
    }
}
