//! A beginning that is unlike the rest: first dispatches that wait for
//! pipelines to be compiled and memory to be wired, a set-up before the work.
//!
//! Three signs count, and each only when it is clear: slow first intervals,
//! long first gaps, and a long quiet gap after a few intervals. What is called
//! a warm-up may be left out of the numbers, so that a doubtful one is none.
//!
//! ```text
//! slow intervals  ├────┤├────┤├───┤├─┤├─┤├─┤├─┤├─┤├─┤├─┤
//! long gaps       ├─┤      ├─┤     ├─┤├─┤├─┤├─┤├─┤├─┤├─┤
//! quiet gap       ├─┤├─┤             ├─┤├─┤├─┤├─┤├─┤├─┤
//! ```

use metalens_trace::Names;

use super::brief::brief;
use super::gaps::{Gap, inner, quiet_gap_ns};
use super::named_intervals::NamedIntervals;
use super::timeline::Interval;
use crate::basics::message::{Message, kernel as kernel_name, name, time, ungrouped};
use crate::basics::spans::Span;
use crate::basics::statistics::select;
use crate::message;
use crate::report::{WarmUp, WarmUpReason};

/// A slow interval takes so many times its kernel's median.
const SLOW_TIMES: u64 = 2;

/// A long gap is so many times the median gap…
const LONG_TIMES: u64 = 3;

/// …and no shorter than this: 3 µs instead of 1 µs is no warm-up.
const LONG_NS: u64 = 20_000;

/// A quiet gap that ends a warm-up is so many times as long as any after it.
const QUIET_TIMES: u64 = 4;

/// What comes before such a gap are at most so many percent of the intervals.
const BURST_PCT: usize = 10;

/// A warm-up is at most one part in so many of the window.
const PARTS: u64 = 3;

/// The rest may be slow now and then, percent.
const REST_PCT: usize = 5;

/// What a kernel or a gap is compared with is the median of so many at least.
const COMPARED: usize = 5;

/// Work without a label may be other work: only so few of it can be a warm-up.
const UNLABELED: usize = 8;

/// Were slow ones spread at random, so many first ones would come so rarely.
const BY_CHANCE: f64 = 0.005;

/// A warm-up that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// Where the steady rest begins.
    pub end_ns: u64,
    why: WarmUpReason,
    explanation: Message,
    intervals: usize,
}

impl Found {
    /// With both results. `mine` are the target's intervals in `whole`, which
    /// is the window before it was cut.
    pub(crate) fn report(&self, mine: &[Interval], whole: Span, skipped: bool) -> WarmUp {
        WarmUp {
            start_ns: whole.start_ns,
            end_ns: self.end_ns,
            why: self.why,
            explanation: self.explanation.text.clone(),
            explanation_values: self.explanation.values.clone(),
            intervals: self.intervals as u64,
            steady: brief(mine, Span::new(self.end_ns, whole.end_ns)),
            whole: brief(mine, whole),
            skipped,
        }
    }
}

/// Looks for the target's warm-up in a window. `mine` are its intervals that touch
/// the window, in order of their starts, `kernels` theirs by their labels alone,
/// `gaps` those of the window.
pub(crate) fn find<'a>(
    mine: impl Iterator<Item = &'a Interval> + Clone,
    kernels: &NamedIntervals,
    gaps: &[Gap],
    window: Span,
    names: &Names,
) -> Option<Found> {
    let work = Work {
        spans: mine.map(|one| one.span.clip(window)),
        kernels,
        window,
    };
    let gaps = inner(gaps);
    let found = [
        work.slow_intervals(names),
        work.long_gaps(gaps),
        work.quiet_gap(gaps),
    ];
    let short_enough = |found: &Found| found.end_ns <= work.latest_end_ns();
    let found = found.into_iter().flatten().filter(short_enough);
    found.max_by_key(|found| found.end_ns)
}

/// The target's work in the window.
struct Work<'a, Spans> {
    /// Gone through again and again, rather than kept: there may be millions.
    spans: Spans,
    kernels: &'a NamedIntervals,
    window: Span,
}

impl<Spans: Iterator<Item = Span> + Clone> Work<'_, Spans> {
    fn latest_end_ns(&self) -> u64 {
        self.window.start_ns + self.window.length_ns() / PARTS
    }

    /// Each interval's span and the number of its kernel.
    fn rows(&self) -> impl Iterator<Item = (Span, usize)> {
        self.spans.clone().zip(self.kernels.numbers())
    }

    fn count(&self) -> usize {
        self.kernels.numbers().len()
    }

    fn slow_intervals(&self, names: &Names) -> Option<Found> {
        let medians = self.later_medians();
        // How long it took, what is usual, and whose that is; of a slow one.
        let slow = |(span, kernel): (Span, usize)| {
            let usual = medians.get(kernel).copied()??;
            let length = span.length_ns();
            let is_slow = usual > 0 && length >= usual.saturating_mul(SLOW_TIMES);
            is_slow.then_some((length, usual, kernel))
        };
        let flags: Vec<bool> = self.rows().map(|row| slow(row).is_some()).collect();
        let prefix = slow_prefix(&flags)?;
        let mut first = self.kernels.numbers().take(prefix.length);
        let unlabeled = first.any(|kernel| !self.kernels.is_labelled(kernel));
        if unlabeled && prefix.length > UNLABELED {
            return None;
        }
        // The most telling of them, as a sentence needs one.
        let slowest = self.rows().take(prefix.length).filter_map(slow).enumerate();
        let slowest = slowest.max_by_key(|&(at, (length, usual, _))| {
            let times = u128::from(length) * 1_000 / u128::from(usual);
            (times, std::cmp::Reverse(at))
        });
        let (_, (length, usual, kernel)) = slowest?;
        let explanation = message!(
            "{} took at least {} times as long as usual ({} {} instead of {}); {}",
            prefix.first_ones("interval"),
            ungrouped(SLOW_TIMES),
            self.describe(kernel, names),
            time(length),
            time(usual),
            prefix.later_ones(),
        );
        self.found(prefix.length, WarmUpReason::SlowIntervals, explanation)
    }

    fn describe(&self, kernel: usize, names: &Names) -> Message {
        let called = kernel_name(self.kernels.name(kernel));
        match self.kernels.channel(kernel) {
            Some(channel) if self.kernels.is_labelled(kernel) => {
                message!("{} on {}", called, name(names.text(channel)))
            }
            _ => called,
        }
    }

    /// Of each kernel its median in the later half of the intervals, where
    /// there are enough to tell.
    fn later_medians(&self) -> Vec<Option<u64>> {
        let mut later: Vec<Vec<u64>> = vec![Vec::new(); self.kernels.count()];
        for (span, kernel) in self.rows().skip(self.count() / 2) {
            if let Some(lengths) = later.get_mut(kernel) {
                lengths.push(span.length_ns());
            }
        }
        later.iter_mut().map(|lengths| median(lengths)).collect()
    }

    fn long_gaps(&self, gaps: &[Gap]) -> Option<Found> {
        let later = gaps.get(gaps.len() / 2..)?.iter();
        let mut later: Vec<u64> = later.map(|gap| gap.span.length_ns()).collect();
        let usual = median(&mut later)?;
        let limit = LONG_NS.max(usual.saturating_mul(LONG_TIMES));
        let flags = gaps.iter().map(|gap| gap.span.length_ns() >= limit);
        let flags: Vec<bool> = flags.collect();
        let prefix = slow_prefix(&flags)?;
        let last = gaps.get(prefix.length.checked_sub(1)?)?;
        let longest = gaps.iter().take(prefix.length);
        let longest = longest.map(|gap| gap.span.length_ns()).max()?;
        let explanation = message!(
            "{} lasted {} or longer, up to {}, where {} is usual; {}",
            prefix.first_ones("gap"),
            time(limit),
            time(longest),
            time(usual),
            prefix.later_ones(),
        );
        self.found(last.after()?, WarmUpReason::LongGaps, explanation)
    }

    fn quiet_gap(&self, gaps: &[Gap]) -> Option<Found> {
        let quiet_ns = quiet_gap_ns(gaps.iter().map(|gap| gap.span.length_ns()));
        let latest = self.latest_end_ns();
        let early = gaps.iter().enumerate();
        let early = early.take_while(|(_, gap)| gap.span.end_ns <= latest);
        let (at, gap) = early.max_by_key(|(at, gap)| (gap.span.length_ns(), *at))?;
        let (length, before) = (gap.span.length_ns(), gap.after()?);
        let later = gaps.iter().skip(at + 1).map(|gap| gap.span.length_ns());
        let longest_later = later.max().unwrap_or(0);
        let is_burst = before * 100 <= self.count() * BURST_PCT;
        let is_quiet = length >= quiet_ns && length >= longest_later.saturating_mul(QUIET_TIMES);
        let explanation = message!(
            "{} of {} intervals came within {}; then the target had nothing on the GPU for {}, \
             and later never for longer than {}",
            ungrouped(before as u64),
            ungrouped(self.count() as u64),
            time(gap.span.start_ns - self.window.start_ns),
            time(length),
            time(longest_later),
        );
        let found = self.found(before, WarmUpReason::QuietGap, explanation);
        found.filter(|_| is_burst && is_quiet)
    }

    /// The rest begins with an interval.
    fn found(&self, intervals: usize, why: WarmUpReason, explanation: Message) -> Option<Found> {
        Some(Found {
            end_ns: self.spans.clone().nth(intervals)?.start_ns,
            why,
            explanation,
            intervals,
        })
    }
}

fn median(lengths: &mut [u64]) -> Option<u64> {
    select(lengths, 50).filter(|_| lengths.len() >= COMPARED)
}

/// A beginning that is mostly slow, before a rest that hardly ever is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Prefix {
    length: usize,
    slow: usize,
    rest: usize,
    slow_rest: usize,
}

impl Prefix {
    /// `the first 4 intervals`, `5 of the first 6 gaps`.
    fn first_ones(self, what: &'static str) -> Message {
        let number = |count: usize| ungrouped(count as u64);
        match (self.slow, self.length) {
            (1, 1) => message!("the first {}", what),
            (slow, length) if slow == length => {
                message!("the first {} {}s", number(length), what)
            }
            (slow, length) => {
                message!("{} of the first {} {}s", number(slow), number(length), what)
            }
        }
    }

    fn later_ones(self) -> Message {
        let slow = match self.slow_rest {
            0 => "none".into(),
            slow => ungrouped(slow as u64),
        };
        message!("{} of the {} after did", slow, ungrouped(self.rest as u64))
    }
}

/// The longest beginning with the largest surplus of slow ones over others, if such a
/// one would hardly come by chance.
fn slow_prefix(flags: &[bool]) -> Option<Prefix> {
    let (mut surplus, mut best, mut length) = (0_i64, 0, 0);
    for (at, &slow) in flags.iter().enumerate() {
        surplus += if slow { 1 } else { -1 };
        if slow && surplus > 0 && surplus >= best {
            (best, length) = (surplus, at + 1);
        }
    }
    let count = |flags: &[bool]| flags.iter().filter(|&&slow| slow).count();
    let (first, rest) = flags.split_at_checked(length)?;
    let prefix = Prefix {
        length,
        slow: count(first),
        rest: rest.len(),
        slow_rest: count(rest),
    };
    let mostly = prefix.slow * 4 >= prefix.length * 3;
    let hardly = prefix.slow_rest * 100 <= prefix.rest * REST_PCT;
    let clear = length > 0 && mostly && hardly && is_no_chance(prefix);
    clear.then_some(prefix)
}

/// Takes the rest's share of slow ones as the chance of each to be slow; one
/// more than were seen, since none seen is not never.
#[expect(clippy::cast_precision_loss, reason = "a threshold, not a figure")]
fn is_no_chance(prefix: Prefix) -> bool {
    let chance = (prefix.slow_rest + 1) as f64 / prefix.rest.max(1) as f64;
    let times = i32::try_from(prefix.slow).unwrap_or(i32::MAX);
    chance < 1.0 && chance.powi(times) <= BY_CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow ones as `S`. `expected`: length of the beginning.
    fn check(flags: &str, rest: usize, expected: Option<usize>) {
        let slow = flags.bytes().map(|byte| byte == b'S');
        let flags: Vec<bool> = slow.chain(std::iter::repeat_n(false, rest)).collect();
        let found = slow_prefix(&flags);
        assert_eq!(found.map(|prefix| prefix.length), expected, "{flags:?}");
    }

    #[test]
    fn only_a_clear_beginning() {
        check("SSSS", 996, Some(4));
        check("S", 250, Some(1));
        check("S", 100, None);
        check("SS.S", 500, Some(4));
        check(".SSSS", 500, Some(5));
        check("S..S..S", 500, None);
        check("", 500, None);
        // The whole is slow: then slow is what is usual.
        check(&"S".repeat(100), 0, None);
        // Every tenth is slow anyway.
        check(&"S.........".repeat(50), 0, None);
    }
}
