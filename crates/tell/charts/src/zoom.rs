//! Chooses the stretch of the window to enlarge: one with the main cause of idle time, in which the
//! GPU is as busy as in the whole window.

use metalens_analyzer::{Analysis, Cause};

/// Number of gaps of the main cause in a stretch.
const GAPS: usize = 6;
/// Percentage of the main cause's time that the longest gaps of it have together; shorter ones are
/// not worth enlarging.
const MOST: u128 = 80;
/// A stretch is only enlarged if it is at most this fraction of the window: one in …
const LEAST_PART: u64 = 3;

/// A stretch of the window that begins and ends with work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MainCauseStretch {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) gaps: usize,
    pub(crate) cause: Cause,
}

/// A gap, and its part with the main cause.
#[derive(Debug, Clone, Copy)]
struct Gap {
    start_ns: u64,
    end_ns: u64,
    main_ns: u64,
}

/// Returns the stretch to enlarge: among all runs of six consecutive gaps that matter for the main
/// cause, with the work around them, the one in which the shares of the main cause and of busy time
/// are closest to those of the window. The first of several equal ones wins. Returns none if there
/// are too few such gaps, or if the stretch would show a large part of the window anyway.
pub(crate) fn stretch(analysis: &Analysis) -> Option<MainCauseStretch> {
    let report = &analysis.report;
    let &(cause, _) = report.idle.parts.largest_first().first()?;
    let gap = |gap: metalens_analyzer::ExplainedGap<'_>| Gap {
        start_ns: gap.start_ns,
        end_ns: gap.start_ns + gap.duration_ns,
        main_ns: gap.parts.get(cause),
    };
    let gaps: Vec<Gap> = analysis.gaps().map(gap).collect();
    let window = (report.window.start_ns, report.window.end_ns);
    let (start_ns, end_ns, gaps) = best(&gaps, window)?;
    Some(MainCauseStretch {
        start_ns,
        end_ns,
        gaps,
        cause,
    })
}

/// Returns the start and the end of the best stretch, and the number of gaps in it.
fn best(gaps: &[Gap], (start_ns, end_ns): (u64, u64)) -> Option<(u64, u64, usize)> {
    let least = least_that_matters(gaps)?;
    let numbered = gaps.iter().enumerate();
    let matter: Vec<usize> = numbered
        .filter(|(_, gap)| gap.main_ns >= least)
        .map(|(at, _)| at)
        .collect();

    // Sums up to each gap, so that a run costs no loop.
    let sums = |part: fn(&Gap) -> u64| {
        let mut sum = 0;
        let sums = gaps.iter().map(|gap| {
            sum += part(gap);
            sum
        });
        [0].into_iter().chain(sums).collect::<Vec<u64>>()
    };
    let (idle, main) = (
        sums(|gap| gap.end_ns - gap.start_ns),
        sums(|gap| gap.main_ns),
    );
    let inside = |sums: &[u64], first: usize, last: usize| {
        let until = sums.get(last + 1).copied().unwrap_or(0);
        until - sums.get(first).copied().unwrap_or(0)
    };
    let run = |ends: &[usize]| {
        let (&first, &last) = (ends.first()?, ends.last()?);
        let from = first.checked_sub(1).and_then(|at| gaps.get(at));
        let from = from.map_or(start_ns, |gap| gap.end_ns);
        let to = gaps.get(last + 1).map_or(end_ns, |gap| gap.start_ns);
        (to - from <= (end_ns - start_ns) / LEAST_PART).then_some((first, last, from, to))
    };

    let last = gaps.len().checked_sub(1)?;
    let whole = [&idle, &main].map(|sums| permille(inside(sums, 0, last), end_ns - start_ns));
    let runs = matter.windows(GAPS).filter_map(run);
    let best = runs.min_by_key(|&(first, last, from, to)| {
        let shares = [&idle, &main].map(|sums| permille(inside(sums, first, last), to - from));
        let off = shares
            .into_iter()
            .zip(whole)
            .map(|(is, was)| is.abs_diff(was));
        off.max()
    });
    best.map(|(first, last, from, to)| (from, to, last + 1 - first))
}

/// Returns the shortest part with the main cause that matters: those that are as long have most of
/// its time together.
fn least_that_matters(gaps: &[Gap]) -> Option<u64> {
    let mut parts: Vec<u64> = gaps.iter().map(|gap| gap.main_ns).collect();
    parts.sort_unstable_by(|one, other| other.cmp(one));
    let total: u128 = parts.iter().map(|&ns| u128::from(ns)).sum();
    let mut sum = 0;
    let mut enough = parts.into_iter().filter(|&ns| ns > 0);
    enough.find(|&ns| {
        sum += u128::from(ns);
        sum * 100 >= total * MOST
    })
}

fn permille(part: u64, whole: u64) -> u128 {
    u128::from(part) * 1_000 / u128::from(whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns gaps that alternate with work, beginning with work: work, gap, part of the main
    /// cause.
    fn gaps(pattern: impl Iterator<Item = (u64, u64, u64)>) -> (Vec<Gap>, u64) {
        let (mut at, mut gaps) = (0, Vec::new());
        for (work, gap, main_ns) in pattern {
            gaps.push(Gap {
                start_ns: at + work,
                end_ns: at + work + gap,
                main_ns,
            });
            at += work + gap;
        }
        (gaps, at + 10)
    }

    #[test]
    fn a_stretch_like_the_window_is_chosen() {
        // A slow beginning, then typical work with one long pause.
        let odd = |at: u64| if at < 20 || at == 70 { 5_000 } else { 4_000 };
        let (gaps, end) = gaps((0..200).map(|at| (2_000, odd(at), odd(at))));
        let (from, to, count) = best(&gaps, (0, end)).unwrap();
        assert_eq!(count, GAPS);
        let idle = |from: u64, to: u64| {
            let inside = gaps
                .iter()
                .filter(|gap| from <= gap.start_ns && gap.end_ns <= to);
            permille(inside.map(|gap| gap.end_ns - gap.start_ns).sum(), to - from)
        };
        let (shown, whole) = (idle(from, to), idle(0, end));
        assert!(shown.abs_diff(whole) <= 10, "{shown}, {whole}");
    }

    /// Short gaps are many; the main cause is in a few long ones, of which the stretch shows six.
    #[test]
    fn the_main_cause_is_shown() {
        let long = |at: u64| at % 20 == 10;
        let pattern = (0..800).map(|at| {
            if long(at) {
                (100, 3_000, 2_900)
            } else {
                (100, 2, 0)
            }
        });
        let (gaps, end) = gaps(pattern);
        let (from, to, count) = best(&gaps, (0, end)).unwrap();
        assert_eq!(count, 5 * 20 + 1);
        let shown = gaps
            .iter()
            .filter(|gap| from <= gap.start_ns && gap.end_ns <= to);
        assert_eq!(shown.map(|gap| gap.main_ns).sum::<u64>(), 6 * 2_900);
    }

    #[test]
    fn few_gaps_are_not_enlarged() {
        for few in [0, 1, 5, 6, 12] {
            let (gaps, end) = gaps((0..few).map(|_| (10, 10, 10)));
            assert_eq!(best(&gaps, (0, end)), None, "{few}");
        }
        let (gaps, end) = gaps((0..60).map(|_| (10, 10, 10)));
        assert!(best(&gaps, (0, end)).is_some());
    }
}
