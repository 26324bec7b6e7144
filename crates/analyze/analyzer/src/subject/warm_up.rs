//! Detects a warm-up: a beginning that differs from the rest, because first dispatches wait for
//! pipelines to be compiled and memory to be wired, or because a set-up comes before the work.
//!
//! Three signs count, and each only when it is clear: slow first intervals, long first gaps,
//! and a long quiet gap after a few intervals. A warm-up may be left out of the numbers, so a
//! doubtful one does not count.
//!
//! ```text
//! slow intervals  ├────┤├────┤├───┤├─┤├─┤├─┤├─┤├─┤├─┤├─┤
//! long gaps       ├─┤      ├─┤     ├─┤├─┤├─┤├─┤├─┤├─┤├─┤
//! quiet gap       ├─┤├─┤             ├─┤├─┤├─┤├─┤├─┤├─┤
//! ```

use metalens_trace::Names;

use super::gaps::{Gap, inner, quiet_gap_ns};
use super::interval::Interval;
use super::named_intervals::NamedIntervals;
use super::window_summary::window_summary;
use crate::basics::message::{Message, kernel as kernel_name, name, time, ungrouped};
use crate::basics::spans::Span;
use crate::basics::statistics::median;
use crate::message;
use crate::report::{WarmUp, WarmUpReason};

/// Factor by which a slow interval exceeds the median of its kernel.
const SLOW_TIMES: u64 = 2;

/// Factor by which a long gap exceeds the median gap.
const LONG_TIMES: u64 = 3;

/// Minimum length of a long gap: 3 µs instead of 1 µs is not a warm-up.
const LONG_NS: u64 = 20_000;

/// Factor by which a quiet gap at the end of a warm-up exceeds any later gap.
const QUIET_TIMES: u64 = 4;

/// Largest share of the intervals that may come before such a gap, in percent.
const BURST_PCT: usize = 10;

/// One part in this many of the intervals may be a warm-up, however long it lasts: what most of the
/// work is like is usual.
const PARTS: usize = 3;

/// Largest share of slow intervals or gaps after a warm-up, in percent.
const REST_PCT: usize = 5;

/// Smallest number of durations whose median counts as usual.
const COMPARED: usize = 5;

/// Largest number of slow intervals in a warm-up if one has no label: without labels they may
/// be other work.
const UNLABELED: usize = 8;

/// Largest probability that this many first ones are slow by chance.
const BY_CHANCE: f64 = 0.005;

/// Warm-up with the sign by which it was detected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DetectedWarmUp {
    /// Start of the steady rest, in nanoseconds since the recording began.
    pub end_ns: u64,
    why: WarmUpReason,
    explanation: Message,
    intervals: usize,
}

impl DetectedWarmUp {
    /// Returns the warm-up for the report, with both results. `mine` are the intervals of the
    /// process in `whole`, which is the window before it was cut.
    pub(crate) fn report(&self, mine: &[Interval], whole: Span, skipped: bool) -> WarmUp {
        WarmUp {
            start_ns: whole.start_ns,
            end_ns: self.end_ns,
            why: self.why,
            explanation: self.explanation.clone(),
            intervals: self.intervals as u64,
            steady: window_summary(mine, Span::new(self.end_ns, whole.end_ns)),
            whole: window_summary(mine, whole),
            skipped,
        }
    }
}

/// Looks for a warm-up in a window. `mine` are the intervals of the process that touch the
/// window, in order of their starts; `kernels` are the same by label alone; `gaps` are those of
/// the window.
pub(crate) fn find<'a>(
    mine: impl Iterator<Item = &'a Interval> + Clone,
    kernels: &NamedIntervals,
    gaps: &[Gap],
    window: Span,
    names: &Names,
) -> Option<DetectedWarmUp> {
    let work = ProcessWork {
        spans: mine.map(|interval| interval.span.clip(window)),
        kernels,
        window,
    };

    let gaps = inner(gaps);
    let warm_ups = [
        work.slow_intervals(names),
        work.long_gaps(gaps),
        work.quiet_gap(gaps),
    ];
    let most = work.count() / PARTS;
    warm_ups
        .into_iter()
        .flatten()
        .filter(|warm_up| warm_up.intervals <= most)
        .max_by_key(|warm_up| warm_up.end_ns)
}

/// Work of the process in the window.
struct ProcessWork<'a, Spans> {
    /// Iterated several times rather than stored: there may be millions.
    spans: Spans,
    kernels: &'a NamedIntervals,
    window: Span,
}

impl<Spans: Iterator<Item = Span> + Clone> ProcessWork<'_, Spans> {
    /// Returns each interval's span and the number of its kernel.
    fn rows(&self) -> impl Iterator<Item = (Span, usize)> {
        self.spans.clone().zip(self.kernels.numbers())
    }

    fn count(&self) -> usize {
        self.kernels.numbers().len()
    }

    fn slow_intervals(&self, names: &Names) -> Option<DetectedWarmUp> {
        let medians = self.later_medians();
        let slow = |(span, kernel): (Span, usize)| {
            let usual = medians.get(kernel).copied()??;
            let length = span.length_ns();
            let is_slow = usual > 0 && length >= usual.saturating_mul(SLOW_TIMES);
            is_slow.then_some((length, usual, kernel))
        };

        let flags: Vec<bool> = self.rows().map(|row| slow(row).is_some()).collect();
        let prefix = slow_prefix(&flags)?;

        let mut first = self.kernels.numbers().take(prefix.length);
        let has_unlabeled = first.any(|kernel| !self.kernels.is_labeled(kernel));
        if has_unlabeled && prefix.length > UNLABELED {
            return None;
        }

        // The explanation names the interval that exceeds its median the most.
        let slowest = self.rows().take(prefix.length).filter_map(slow).enumerate();
        let slowest = slowest.max_by_key(|&(index, (length, usual, _))| {
            let times = u128::from(length) * 1_000 / u128::from(usual);
            (times, std::cmp::Reverse(index))
        });
        let (_, (length, usual, kernel)) = slowest?;

        let explanation = message!(
            "{} took at least {} times as long as usual ({}: {} instead of {}); {}",
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
            Some(channel) if self.kernels.is_labeled(kernel) => {
                message!("{} on {}", called, name(names.text(channel)))
            }
            _ => called,
        }
    }

    /// Returns each kernel's median duration in the later half of the intervals, or none if there
    /// are too few.
    fn later_medians(&self) -> Vec<Option<u64>> {
        let mut later: Vec<Vec<u64>> = vec![Vec::new(); self.kernels.count()];

        for (span, kernel) in self.rows().skip(self.count() / 2) {
            if let Some(lengths) = later.get_mut(kernel) {
                lengths.push(span.length_ns());
            }
        }

        later.into_iter().map(usual).collect()
    }

    fn long_gaps(&self, gaps: &[Gap]) -> Option<DetectedWarmUp> {
        let later = gaps.get(gaps.len() / 2..)?.iter();
        let usual = usual(later.map(|gap| gap.span.length_ns()).collect())?;

        let limit = LONG_NS.max(usual.saturating_mul(LONG_TIMES));
        let flags: Vec<bool> = gaps
            .iter()
            .map(|gap| gap.span.length_ns() >= limit)
            .collect();
        let prefix = slow_prefix(&flags)?;

        let last = gaps.get(prefix.length.checked_sub(1)?)?;
        let slow = gaps.iter().take(prefix.length);
        let longest = slow.map(|gap| gap.span.length_ns()).max()?;

        let explanation = message!(
            "{} lasted {} or longer, up to {}, instead of {} as usual; {}",
            prefix.first_ones("gap"),
            time(limit),
            time(longest),
            time(usual),
            prefix.later_ones(),
        );
        self.found(last.after()?, WarmUpReason::LongGaps, explanation)
    }

    fn quiet_gap(&self, gaps: &[Gap]) -> Option<DetectedWarmUp> {
        let quiet_ns = quiet_gap_ns(gaps.iter().map(|gap| gap.span.length_ns()));
        let most = self.count() * BURST_PCT / 100;
        let numbered = gaps.iter().enumerate();
        let early =
            numbered.take_while(|(_, gap)| gap.after().is_some_and(|before| before <= most));
        let (index, gap) = early.max_by_key(|(index, gap)| (gap.span.length_ns(), *index))?;

        let (length, before) = (gap.span.length_ns(), gap.after()?);
        let later = gaps.iter().skip(index + 1).map(|gap| gap.span.length_ns());
        let longest_later = later.max().unwrap_or(0);
        let is_quiet = length >= quiet_ns && length >= longest_later.saturating_mul(QUIET_TIMES);

        let explanation = message!(
            "{} of {} intervals ran within {}; then the process left the GPU idle for {}, and \
             later never for longer than {}",
            ungrouped(before as u64),
            ungrouped(self.count() as u64),
            time(gap.span.start_ns - self.window.start_ns),
            time(length),
            time(longest_later),
        );
        self.found(before, WarmUpReason::QuietGap, explanation)
            .filter(|_| is_quiet)
    }

    /// Makes the result of a sign: the steady rest starts with the interval after the warm-up.
    fn found(
        &self,
        intervals: usize,
        why: WarmUpReason,
        explanation: Message,
    ) -> Option<DetectedWarmUp> {
        Some(DetectedWarmUp {
            end_ns: self.spans.clone().nth(intervals)?.start_ns,
            why,
            explanation,
            intervals,
        })
    }
}

/// Returns the usual length; none if there are too few to compare with.
fn usual(lengths: Vec<u64>) -> Option<u64> {
    let is_enough = lengths.len() >= COMPARED;
    median(lengths).filter(|_| is_enough)
}

/// Beginning of mostly slow intervals or gaps, before a rest with hardly any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Prefix {
    /// Number of intervals or gaps in the beginning.
    length: usize,
    /// Number of slow ones in the beginning.
    slow: usize,
    /// Number of intervals or gaps after it.
    rest: usize,
    /// Number of slow ones after it.
    slow_rest: usize,
}

impl Prefix {
    /// Returns the subject of a sentence: `the first 4 intervals`, `5 of the first 6 gaps`.
    fn first_ones(self, noun: &'static str) -> Message {
        let number = |count: usize| ungrouped(count as u64);
        match (self.slow, self.length) {
            (1, 1) => message!("the first {}", noun),
            (slow, length) if slow == length => {
                message!("the first {} {}s", number(length), noun)
            }
            (slow, length) => {
                message!("{} of the first {} {}s", number(slow), number(length), noun)
            }
        }
    }

    fn later_ones(self) -> Message {
        let slow = match self.slow_rest {
            0 => "none".into(),
            slow => ungrouped(slow as u64),
        };
        message!(
            "{} of the {} later ones did",
            slow,
            ungrouped(self.rest as u64)
        )
    }
}

/// Returns the longest beginning with the largest surplus of slow ones over others, if that is
/// unlikely to be chance.
fn slow_prefix(flags: &[bool]) -> Option<Prefix> {
    let (mut surplus, mut best, mut length) = (0_i64, 0, 0);
    for (index, &slow) in flags.iter().enumerate() {
        surplus += if slow { 1 } else { -1 };
        if slow && surplus > 0 && surplus >= best {
            (best, length) = (surplus, index + 1);
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

    let is_mostly_slow = prefix.slow * 4 >= prefix.length * 3;
    let is_rest_fast = prefix.slow_rest * 100 <= prefix.rest * REST_PCT;
    let is_clear = length > 0 && is_mostly_slow && is_rest_fast && is_not_chance(prefix);
    is_clear.then_some(prefix)
}

/// Returns whether so many slow ones at the start are unlikely to be chance. The chance of each
/// to be slow is the share of slow ones in the rest plus one: none in the rest does not mean
/// never.
#[expect(clippy::cast_precision_loss, reason = "a threshold, not a figure")]
fn is_not_chance(prefix: Prefix) -> bool {
    let chance = (prefix.slow_rest + 1) as f64 / prefix.rest.max(1) as f64;
    let times = i32::try_from(prefix.slow).unwrap_or(i32::MAX);
    chance < 1.0 && chance.powi(times) <= BY_CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks flags, `S` for slow ones, followed by a rest that is not slow. `expected` is the
    /// length of the beginning.
    fn check(flags: &str, rest: usize, expected: Option<usize>) {
        let slow = flags.bytes().map(|byte| byte == b'S');
        let flags: Vec<bool> = slow.chain(std::iter::repeat_n(false, rest)).collect();

        let found = slow_prefix(&flags);
        assert_eq!(found.map(|prefix| prefix.length), expected, "{flags:?}");
    }

    #[test]
    fn only_a_clear_beginning_counts() {
        check("SSSS", 996, Some(4));
        check("S", 250, Some(1));
        check("S", 100, None);
        check("SS.S", 500, Some(4));
        check(".SSSS", 500, Some(5));
        check("S..S..S", 500, None);
        check("", 500, None);
        // Everything is slow: then slow is usual.
        check(&"S".repeat(100), 0, None);
        // Every tenth interval is slow anyway.
        check(&"S.........".repeat(50), 0, None);
    }
}
