//! Runs of kernels that repeat back to back: what could be fused.
//!
//! ```text
//! work     a b c a b c a b c x a b c a b c
//! period 3 ├───┤├───┤├───┤   ├───┤├───┤      five repetitions of a b c
//! ```
//!
//! For each period p, wherever kernel i is kernel i + p, a run goes on. A run
//! counts when it is longer than chance would make one, were the same kernels
//! in random order. Runs of one pattern count together, wherever in its cycle
//! they begin.

use metalens_trace::Names;
use rustc_hash::FxHashMap;

use super::work::Work;
use crate::basics::statistics::ratio;
use crate::report::Sequence;
use crate::subject::gaps::Gap;
use crate::subject::timeline::Interval;

/// The longest pattern that is looked for. A longer one is an iteration, not
/// something to fuse.
const LONGEST: usize = 64;

/// How many a report lists.
const TOP: usize = 5;

/// A pattern must cover this share of the Compute work, percent.
const LEAST_PCT: usize = 1;

/// A pattern must run so often. What repeats with one member now and then
/// missing looks like a longer pattern that comes twice.
const REPETITIONS: u64 = 3;

/// A pattern that covers this share, percent, leaves nothing to longer ones.
const ENOUGH_PCT: usize = 98;

/// Work without a label: it may be anything, so it equals nothing.
const UNKNOWN: u32 = u32::MAX;

/// The patterns that cover most.
pub(super) fn sequences(
    mine: &[Interval],
    work: &Work<'_>,
    gaps: &[Gap],
    names: &Names,
) -> Vec<Sequence> {
    let line = Line::of(mine, work, gaps, names);
    let mut found = line.patterns();
    found.truncate(TOP);
    let sequences = found.into_iter().map(|found| Sequence {
        kernels: found
            .pattern
            .iter()
            .map(|&kernel| work.kernels.name(kernel as usize).to_owned())
            .collect(),
        repetitions: found.repetitions,
        intervals: found.members as u64,
        ratio: ratio(found.members as u64, line.kernels.len() as u64).unwrap_or(0.0),
        start_ns: line
            .place(found.first)
            .and_then(|at| mine.get(at))
            .map_or(0, |one| one.span.start_ns),
        total_ns: found.total_ns,
        idle_inside_ns: found.inside_ns,
        idle_between_ns: found.between_ns,
    });
    sequences.collect()
}

/// The work of the Compute channel in order of time.
#[derive(Default)]
struct Line<'a> {
    kernels: Vec<u32>,
    /// Which of the target's intervals each is.
    places: Vec<u32>,
    /// The lengths of all of the target's intervals.
    lengths: &'a [u64],
    /// How long the target was idle before each, since the window began.
    idle: Vec<u64>,
}

/// A pattern and where it repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    /// As it stood first.
    pattern: Vec<u32>,
    first: usize,
    repetitions: u64,
    members: usize,
    total_ns: u64,
    inside_ns: u64,
    between_ns: u64,
}

impl<'a> Line<'a> {
    fn of(mine: &[Interval], work: &'a Work<'_>, gaps: &[Gap], names: &Names) -> Self {
        let mut line = Self {
            lengths: &work.lengths,
            ..Self::default()
        };
        let Some(compute) = names.find_symbol("Compute") else {
            return line;
        };
        let mut gaps = gaps.iter().peekable();
        let mut idle = 0;
        for (at, (interval, kernel)) in mine.iter().zip(work.kernels.numbers()).enumerate() {
            if interval.channel != Some(compute) {
                continue;
            }
            let start = interval.span.start_ns;
            while let Some(gap) = gaps.next_if(|gap| gap.span.end_ns <= start) {
                idle += gap.span.length_ns();
            }
            let labelled = work.kernels.is_labelled(kernel);
            let number = u32::try_from(kernel).ok().filter(|_| labelled);
            line.kernels.push(number.unwrap_or(UNKNOWN));
            line.places.push(u32::try_from(at).unwrap_or(u32::MAX));
            line.idle.push(idle);
        }
        line
    }

    /// All patterns, the one that covers most first.
    fn patterns(&self) -> Vec<Found> {
        let mut by_cycle: FxHashMap<Vec<u32>, Found> = FxHashMap::default();
        let Some(by_chance) = longest_by_chance(&self.kernels) else {
            return Vec::new();
        };
        for period in 1..=LONGEST.min(self.kernels.len() / 2) {
            let most = self.runs_of(period, by_chance, &mut by_cycle);
            if most * 100 >= self.kernels.len() * ENOUGH_PCT {
                break;
            }
        }
        let enough = |found: &Found| {
            let share = found.members * 100 >= self.kernels.len() * LEAST_PCT;
            share && found.repetitions >= REPETITIONS
        };
        let found = by_cycle.into_values();
        let mut found: Vec<Found> = found.filter(enough).collect();
        found.sort_by(|a, b| {
            let key = |found: &Found| (std::cmp::Reverse(found.members), found.first);
            key(a).cmp(&key(b)).then(a.pattern.cmp(&b.pattern))
        });
        found
    }

    /// Adds the runs of a period; says how much its widest pattern covers.
    fn runs_of(
        &self,
        period: usize,
        by_chance: usize,
        by_cycle: &mut FxHashMap<Vec<u32>, Found>,
    ) -> usize {
        // Two repetitions; of a single kernel three in a row.
        let least = by_chance.max(period).max(2);
        let later = self.kernels.get(period..).unwrap_or(&[]);
        let mut pairs = self.kernels.iter().zip(later).enumerate();
        let (mut start, mut most) = (0, 0);
        loop {
            let end = pairs.find(|(_, (one, two))| one != two || **one == UNKNOWN);
            let stop = end.map_or(later.len(), |(at, _)| at);
            if stop >= start + least {
                let run = start..stop + period;
                most = most.max(self.add_run(run.start, run.len(), period, by_cycle));
                // The next run may not count these members again.
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
        by_cycle: &mut FxHashMap<Vec<u32>, Found>,
    ) -> usize {
        let pattern = self.kernels.get(start..start + period).unwrap_or(&[]);
        if repeats_itself(pattern) {
            return 0;
        }
        let found = by_cycle
            .entry(least_rotation(pattern))
            .or_insert_with(|| Found {
                pattern: pattern.to_vec(),
                first: start,
                ..Found::default()
            });
        let repetitions = length / period;
        let members = repetitions * period;
        found.repetitions += repetitions as u64;
        found.members += members;
        for place in start..start + members {
            let length = self.place(place).and_then(|at| self.lengths.get(at));
            found.total_ns += length.copied().unwrap_or(0);
        }
        for first in (start..start + members).step_by(period) {
            found.inside_ns += self.idle_between(first, first + period - 1);
            if first > start {
                found.between_ns += self.idle_between(first - 1, first);
            }
        }
        found.members
    }

    /// Which of the target's intervals a member is.
    fn place(&self, member: usize) -> Option<usize> {
        self.places.get(member).map(|&at| at as usize)
    }

    /// The idle time from one member to another.
    fn idle_between(&self, one: usize, two: usize) -> u64 {
        let at = |at: usize| self.idle.get(at).copied().unwrap_or(0);
        at(two).saturating_sub(at(one))
    }
}

/// How many kernels in a row may well equal those a period before them, were
/// the same kernels in random order: the length that less than one recording
/// in a hundred would reach. None if nothing has a label.
fn longest_by_chance(kernels: &[u32]) -> Option<usize> {
    let labelled = kernels.iter().filter(|&&kernel| kernel != UNKNOWN);
    let mut counts = vec![0_u64; *labelled.max()? as usize + 1];
    for &kernel in kernels {
        // What has no label has no place.
        if let Some(count) = counts.get_mut(kernel as usize) {
            *count += 1;
        }
    }
    let squares: u128 = counts.iter().map(|&n| u128::from(n).pow(2)).sum();
    let all = kernels.len() as u128;
    if squares >= all * all {
        // One kernel and nothing else: that it repeats is not chance.
        return Some(0);
    }
    Some(chance_length(squares, all))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a threshold; it is positive, and `as` saturates"
)]
fn chance_length(squares: u128, all: u128) -> usize {
    let equal = squares as f64 / (all * all) as f64;
    ((100.0 * all as f64).ln() / -equal.ln()).ceil() as usize
}

/// Whether a pattern is a shorter one several times.
fn repeats_itself(pattern: &[u32]) -> bool {
    let length = pattern.len();
    let mut divisors = (1..length).filter(|shorter| length.is_multiple_of(*shorter));
    divisors.any(|shorter| {
        let later = pattern.iter().skip(shorter);
        pattern.iter().zip(later).all(|(one, two)| one == two)
    })
}

/// The same for every rotation of a pattern.
fn least_rotation(pattern: &[u32]) -> Vec<u32> {
    let rotation = |at: usize| pattern.iter().cycle().skip(at).take(pattern.len());
    let least = (0..pattern.len()).min_by(|&a, &b| rotation(a).cmp(rotation(b)));
    rotation(least.unwrap_or(0)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels as letters, `?` for one without a label; each takes 2 ns, and
    /// 1 ns of idle time is before each.
    fn patterns(work: &str) -> Vec<Found> {
        let kernel = |byte: u8| match byte {
            b'?' => UNKNOWN,
            letter => u32::from(letter),
        };
        let line = Line {
            kernels: work.bytes().map(kernel).collect(),
            places: work.bytes().zip(0..).map(|(_, at)| at).collect(),
            lengths: &vec![2; work.len()],
            idle: work.bytes().zip(1..).map(|(_, idle)| idle).collect(),
        };
        line.patterns()
    }

    /// `expected`: pattern, repetitions.
    fn check(work: &str, expected: &[(&str, u64)]) {
        let found = patterns(work);
        let letters = |found: &Found| -> String {
            let letters = found.pattern.iter().map(|&k| u8::try_from(k).unwrap());
            letters.map(char::from).collect()
        };
        for one in &found {
            let (members, period) = (one.members as u64, one.pattern.len() as u64);
            assert_eq!(members, one.repetitions * period);
            assert_eq!(one.total_ns, members * 2);
            assert_eq!(one.inside_ns, one.repetitions * (period - 1));
            assert!(one.between_ns < one.repetitions);
        }
        let found: Vec<_> = found.iter().map(|f| (letters(f), f.repetitions)).collect();
        let expected: Vec<_> = expected.iter().map(|&(p, n)| (p.to_owned(), n)).collect();
        assert_eq!(found, expected, "{work}");
    }

    #[test]
    fn what_repeats() {
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
    fn what_does_not() {
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
