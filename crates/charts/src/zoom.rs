//! Chooses the stretch of the window to enlarge: the one that is most like the others.

use metalens_analyzer::Analysis;

/// Number of gaps in a stretch.
const GAPS: usize = 12;
/// A stretch is only enlarged if it is at most this fraction of the window: one in …
const LEAST_PART: u64 = 3;

/// A stretch of the window that begins and ends with work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypicalStretch {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) gaps: usize,
}

/// Returns the typical stretch: among all runs of twelve consecutive gaps, with the work around
/// them, the one whose idle time and busy time are both closest to the medians of all those runs.
/// The first of several equal ones wins. Returns none if there are too few gaps, or if the stretch
/// would show a large part of the window anyway.
pub(crate) fn stretch(analysis: &Analysis) -> Option<TypicalStretch> {
    let gaps: Vec<(u64, u64)> = analysis.gap_times().collect();
    let window = &analysis.report.window;
    typical(&gaps, (window.start_ns, window.end_ns))
}

fn typical(gaps: &[(u64, u64)], (start_ns, end_ns): (u64, u64)) -> Option<TypicalStretch> {
    let length = |gap: &(u64, u64)| gap.1 - gap.0;
    let runs = gaps.windows(GAPS);
    let idle: Vec<u64> = runs.map(|run| run.iter().map(length).sum()).collect();

    let limits = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| gaps.get(at));
        let after = gaps.get(at + GAPS);
        (
            before.map_or(start_ns, |gap| gap.1),
            after.map_or(end_ns, |gap| gap.0),
        )
    };
    let busy = |at: usize, idle: u64| {
        let (from, to) = limits(at);
        (to - from) - idle
    };

    let busies: Vec<u64> = idle
        .iter()
        .enumerate()
        .map(|(at, &idle)| busy(at, idle))
        .collect();
    let (typical_idle, typical_busy) = (median(idle.clone())?, median(busies.clone())?);
    let deviation = |is: u64, typical: u64| {
        let by = is.abs_diff(typical).saturating_mul(1_000);
        by / typical.max(1)
    };

    let runs = idle.iter().zip(&busies).enumerate();
    let (best, _) = runs.min_by_key(|&(_, (&idle, &busy))| {
        deviation(idle, typical_idle).max(deviation(busy, typical_busy))
    })?;
    let (from, to) = limits(best);
    (to - from <= (end_ns - start_ns) / LEAST_PART).then_some(TypicalStretch {
        start_ns: from,
        end_ns: to,
        gaps: GAPS,
    })
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    let middle = values.len().div_ceil(2).checked_sub(1)?;
    Some(*values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns gaps that alternate with work, beginning with work.
    fn gaps(pattern: impl Iterator<Item = (u64, u64)>) -> (Vec<(u64, u64)>, u64) {
        let (mut at, mut gaps) = (0, Vec::new());
        for (work, gap) in pattern {
            gaps.push((at + work, at + work + gap));
            at += work + gap;
        }
        (gaps, at + 10)
    }

    #[test]
    fn the_typical_stretch_is_chosen() {
        // A slow beginning, then typical work with one long pause.
        let odd = |at: u64| if at < 20 || at == 70 { 5_000 } else { 180 };
        let (gaps, end) = gaps((0..200).map(|at| (10, odd(at))));
        let stretch = typical(&gaps, (0, end)).unwrap();
        assert_eq!(stretch.start_ns, gaps[19].1);
        assert_eq!(stretch.end_ns, gaps[32].0);
    }

    #[test]
    fn few_gaps_are_not_enlarged() {
        for few in [0, 1, 11, 12, 30] {
            let (gaps, end) = gaps((0..few).map(|_| (10, 10)));
            assert_eq!(typical(&gaps, (0, end)), None, "{few}");
        }
        let (gaps, end) = gaps((0..60).map(|_| (10, 10)));
        assert!(typical(&gaps, (0, end)).is_some());
    }
}
