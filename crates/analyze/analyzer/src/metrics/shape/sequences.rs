//! Finds sequences of kernels that repeat back to back, and could be fused.
//!
//! ```text
//! work     a b c a b c a b c x a b c a b c
//! period 3 ├───┤├───┤├───┤   ├───┤├───┤      five repetitions of a b c
//! ```
//!
//! A run of period p continues as long as kernel i equals kernel i + p. A run counts if
//! it is longer than it would be by chance, with the same kernels in random order. Runs of one
//! pattern count together, wherever in its cycle they begin.

use metalens_trace::Names;
use rustc_hash::FxHashMap;

use super::interval_lengths::IntervalLengths;
use crate::basics::statistics::ratio;
use crate::report::Sequence;
use crate::subject::gaps::Gap;
use crate::subject::interval::Interval;

/// Longest pattern that is searched. A longer one is a step, not something to fuse.
const LONGEST: usize = 64;

/// Number of sequences that a report lists.
const TOP: usize = 5;

/// Smallest share of the Compute work that a pattern must cover, in percent.
const LEAST_PCT: usize = 1;

/// Smallest number of repetitions of a pattern. A repetition that sometimes lacks a member
/// looks like a longer pattern that comes twice.
const REPETITIONS: u64 = 3;

/// Share of the work, in percent, that leaves nothing to longer patterns.
const ENOUGH_PCT: usize = 98;

/// Kernel number of work without a label: it may be anything, so it equals nothing.
const UNKNOWN: u32 = u32::MAX;

/// Returns the patterns that cover the most work.
pub(super) fn sequences(
    mine: &[Interval],
    lengths: &IntervalLengths<'_>,
    gaps: &[Gap],
    names: &Names,
) -> Vec<Sequence> {
    let line = ComputeLine::new(mine, lengths, gaps, names);
    let mut patterns = line.patterns();
    patterns.truncate(TOP);

    let sequences = patterns.into_iter().map(|repeated| Sequence {
        kernels: repeated
            .pattern
            .iter()
            .map(|&kernel| lengths.kernels.name(kernel as usize).to_owned())
            .collect(),
        repetitions: repeated.repetitions,
        intervals: repeated.members as u64,
        ratio: ratio(repeated.members as u64, line.kernels.len() as u64).unwrap_or(0.0),
        start_ns: line
            .index_of(repeated.first)
            .and_then(|index| mine.get(index))
            .map_or(0, |interval| interval.span.start_ns),
        total_ns: repeated.total_ns,
        idle_inside_ns: repeated.inside_ns,
        idle_between_ns: repeated.between_ns,
    });
    sequences.collect()
}

/// Work on the Compute channel in order of time.
#[derive(Default)]
struct ComputeLine<'a> {
    /// Kernel of each member.
    kernels: Vec<u32>,
    /// Index of each member among the process's intervals.
    indices: Vec<u32>,
    /// Lengths of all intervals of the process, in nanoseconds.
    lengths: &'a [u64],
    /// Idle time from the window's start to each member, in nanoseconds.
    idle: Vec<u64>,
}

/// Pattern with its repetitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RepeatedPattern {
    /// Kernels as they were ordered first.
    pattern: Vec<u32>,
    first: usize,
    repetitions: u64,
    members: usize,
    total_ns: u64,
    inside_ns: u64,
    between_ns: u64,
}

impl<'a> ComputeLine<'a> {
    fn new(
        mine: &[Interval],
        lengths: &'a IntervalLengths<'_>,
        gaps: &[Gap],
        names: &Names,
    ) -> Self {
        let mut line = Self {
            lengths: &lengths.lengths,
            ..Self::default()
        };
        let Some(compute) = names.find_symbol("Compute") else {
            return line;
        };

        let mut gaps = gaps.iter().peekable();
        let mut idle = 0;
        for (index, (interval, kernel)) in mine.iter().zip(lengths.kernels.numbers()).enumerate() {
            if interval.channel != Some(compute) {
                continue;
            }
            let start = interval.span.start_ns;
            while let Some(gap) = gaps.next_if(|gap| gap.span.end_ns <= start) {
                idle += gap.span.length_ns();
            }
            let is_labeled = lengths.kernels.is_labeled(kernel);
            let number = u32::try_from(kernel).ok().filter(|_| is_labeled);
            line.kernels.push(number.unwrap_or(UNKNOWN));
            line.indices.push(u32::try_from(index).unwrap_or(u32::MAX));
            line.idle.push(idle);
        }
        line
    }

    /// Returns all patterns, the one that covers the most first.
    fn patterns(&self) -> Vec<RepeatedPattern> {
        let mut by_cycle: FxHashMap<Vec<u32>, RepeatedPattern> = FxHashMap::default();
        let Some(by_chance) = longest_by_chance(&self.kernels) else {
            return Vec::new();
        };
        for period in 1..=LONGEST.min(self.kernels.len() / 2) {
            let most = self.add_runs(period, by_chance, &mut by_cycle);
            if most * 100 >= self.kernels.len() * ENOUGH_PCT {
                break;
            }
        }

        let mut patterns: Vec<RepeatedPattern> = by_cycle
            .into_values()
            .filter(|pattern| {
                let is_large = pattern.members * 100 >= self.kernels.len() * LEAST_PCT;
                is_large && pattern.repetitions >= REPETITIONS
            })
            .collect();
        patterns.sort_by_cached_key(|repeated| {
            let members = std::cmp::Reverse(repeated.members);
            (members, repeated.first, repeated.pattern.clone())
        });
        patterns
    }

    /// Adds the runs of a period, and returns the number of members of its widest pattern.
    fn add_runs(
        &self,
        period: usize,
        by_chance: usize,
        by_cycle: &mut FxHashMap<Vec<u32>, RepeatedPattern>,
    ) -> usize {
        // A run has at least two repetitions; of a single kernel three in a row.
        let least = by_chance.max(period).max(2);
        let later = self.kernels.get(period..).unwrap_or(&[]);
        let mut pairs = self.kernels.iter().zip(later).enumerate();

        let (mut start, mut most) = (0, 0);
        loop {
            let end = pairs.find(|(_, (this, later))| this != later || **this == UNKNOWN);
            let stop = end.map_or(later.len(), |(index, _)| index);
            if stop >= start + least {
                let run = start..stop + period;
                most = most.max(self.add_run(run.start, run.len(), period, by_cycle));
                // The next run must not count these members again.
                start = stop + period;
            } else {
                start = start.max(stop + 1);
            }
            if end.is_none() {
                return most;
            }
        }
    }

    fn add_run(
        &self,
        start: usize,
        length: usize,
        period: usize,
        by_cycle: &mut FxHashMap<Vec<u32>, RepeatedPattern>,
    ) -> usize {
        let pattern = self.kernels.get(start..start + period).unwrap_or(&[]);
        if repeats_itself(pattern) {
            return 0;
        }

        let repeated = by_cycle
            .entry(least_rotation(pattern))
            .or_insert_with(|| RepeatedPattern {
                pattern: pattern.to_vec(),
                first: start,
                ..RepeatedPattern::default()
            });

        let repetitions = length / period;
        let members = repetitions * period;
        repeated.repetitions += repetitions as u64;
        repeated.members += members;
        for member in start..start + members {
            let length = self
                .index_of(member)
                .and_then(|index| self.lengths.get(index));
            repeated.total_ns += length.copied().unwrap_or(0);
        }
        for first in (start..start + members).step_by(period) {
            repeated.inside_ns += self.idle_between(first, first + period - 1);
            if first > start {
                repeated.between_ns += self.idle_between(first - 1, first);
            }
        }
        repeated.members
    }

    /// Returns the index of a member among the process's intervals.
    fn index_of(&self, member: usize) -> Option<usize> {
        self.indices.get(member).map(|&index| index as usize)
    }

    /// Returns the idle time from one member to another.
    fn idle_between(&self, first: usize, second: usize) -> u64 {
        let idle = |member: usize| self.idle.get(member).copied().unwrap_or(0);
        idle(second).saturating_sub(idle(first))
    }
}

/// Returns the length of a run that is reached by chance in less than one recording in a
/// hundred, with the same kernels in random order. A run's members each equal the one a period
/// before. `None` if nothing has a label.
fn longest_by_chance(kernels: &[u32]) -> Option<usize> {
    let labeled = kernels.iter().filter(|&&kernel| kernel != UNKNOWN);
    let mut counts = vec![0_u64; *labeled.max()? as usize + 1];
    for &kernel in kernels {
        // Unlabeled work has a number beyond the list.
        if let Some(count) = counts.get_mut(kernel as usize) {
            *count += 1;
        }
    }

    let squares: u128 = counts.iter().map(|&n| u128::from(n).pow(2)).sum();
    let members = kernels.len() as u128;
    if squares >= members * members {
        // If there is only one kernel, its repetition is not chance.
        return Some(0);
    }
    Some(chance_length(squares, members))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a threshold; it is positive, and `as` saturates"
)]
fn chance_length(squares: u128, members: u128) -> usize {
    let equal = squares as f64 / (members * members) as f64;
    ((100.0 * members as f64).ln() / -equal.ln()).ceil() as usize
}

/// Returns whether a pattern consists of a shorter one several times.
fn repeats_itself(pattern: &[u32]) -> bool {
    let length = pattern.len();
    let mut divisors = (1..length).filter(|shorter| length.is_multiple_of(*shorter));
    divisors.any(|shorter| {
        let later = pattern.iter().skip(shorter);
        pattern.iter().zip(later).all(|(this, later)| this == later)
    })
}

/// Returns the smallest rotation of a pattern, which is the same for all its rotations.
fn least_rotation(pattern: &[u32]) -> Vec<u32> {
    let rotation = |first: usize| pattern.iter().cycle().skip(first).take(pattern.len());
    let least = (0..pattern.len()).min_by(|&a, &b| rotation(a).cmp(rotation(b)));
    rotation(least.unwrap_or(0)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the patterns of kernels given as letters, `?` for one without a label. Each takes 2
    /// ns, and 1 ns of idle time is before each.
    fn patterns(work: &str) -> Vec<RepeatedPattern> {
        let kernel = |byte: u8| match byte {
            b'?' => UNKNOWN,
            letter => u32::from(letter),
        };
        let line = ComputeLine {
            kernels: work.bytes().map(kernel).collect(),
            indices: work.bytes().zip(0..).map(|(_, index)| index).collect(),
            lengths: &vec![2; work.len()],
            idle: work.bytes().zip(1..).map(|(_, idle)| idle).collect(),
        };
        line.patterns()
    }

    /// Checks the patterns and the number of their repetitions.
    fn check(work: &str, expected: &[(&str, u64)]) {
        let found = patterns(work);
        let letters = |found: &RepeatedPattern| -> String {
            let letters = found.pattern.iter().map(|&k| u8::try_from(k).unwrap());
            letters.map(char::from).collect()
        };
        for pattern in &found {
            let (members, period) = (pattern.members as u64, pattern.pattern.len() as u64);
            assert_eq!(members, pattern.repetitions * period);
            assert_eq!(pattern.total_ns, members * 2);
            assert_eq!(pattern.inside_ns, pattern.repetitions * (period - 1));
            assert!(pattern.between_ns < pattern.repetitions);
        }

        let found: Vec<_> = found.iter().map(|f| (letters(f), f.repetitions)).collect();
        let expected: Vec<_> = expected.iter().map(|&(p, n)| (p.to_owned(), n)).collect();
        assert_eq!(found, expected, "{work}");
    }

    #[test]
    fn repeated_patterns_are_found() {
        check(&"abcd".repeat(10), &[("abcd", 10)]);
        check(
            &("xy".to_owned() + &"abcd".repeat(10) + "abz"),
            &[("abcd", 10)],
        );
        // A token: ten layers between two other kernels. The token itself
        // repeats too, and covers more.
        let token = "e".to_owned() + &"qkvo".repeat(10) + "h";
        check(&token.repeat(8), &[(token.as_str(), 8), ("qkvo", 80)]);
        check(&"a".repeat(30), &[("a", 30)]);
        let mixed = "a".repeat(40) + &"bc".repeat(40);
        check(&mixed, &[("bc", 40), ("a", 40)]);
    }

    #[test]
    fn other_work_has_no_patterns() {
        check("", &[]);
        check("abcdefghijklm", &[]);
        check("aab", &[]);
        check(&"?".repeat(50), &[]);
        check(&"?a".repeat(50), &[]);
        // The digits of π: whatever repeats in them is chance.
        check(
            "31415926535897932384626433832795028841971693993751058209749445923078164",
            &[],
        );
    }
}
