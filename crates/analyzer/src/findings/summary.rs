//! A report in four sentences: what reviewers read first, wherever it is shown.

use crate::basics::statistics::ratio;
use crate::basics::units::{count, counted, percent, time};
use crate::report::{Cause, Finding, GapParts, Report, Summary};

/// The sentences.
#[must_use]
pub(crate) fn summary(report: &Report) -> Summary {
    Summary {
        busy: busy(report),
        idle: idle(report),
        fault: fault(report),
        advice: advice(&report.findings),
    }
}

fn busy(report: &Report) -> String {
    let share = report.busy.ratio.map_or_else(|| "?".to_owned(), percent);
    format!(
        "{} kept the GPU busy {share} of the time: {} ran for {} of {}",
        report.target.name,
        counted(report.counts.intervals, "GPU interval"),
        time(report.busy.busy_ns),
        time(report.window.span_ns),
    )
}

fn idle(report: &Report) -> String {
    let gaps = &report.gaps;
    match (gaps.median_ns, gaps.max_ns) {
        (Some(median), Some(max)) => format!(
            "It left it idle for {} in {}, median {}, longest {}",
            time(gaps.total_ns),
            counted(gaps.count, "gap"),
            time(median),
            time(max),
        ),
        _ => "It left no gap at all".to_owned(),
    }
}

/// Who is to blame, the largest part first; what is less than a percent is
/// summed up.
fn fault(report: &Report) -> Option<String> {
    let ledger = &report.ledger;
    let mut parts = ledger.parts.by_cause();
    parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let share = |ns: u64| ratio(ns, ledger.total_ns).unwrap_or(0.0);
    let said = parts.iter().filter(|&&(_, ns)| share(ns) >= 0.005);
    let said: Vec<String> = said
        .map(|&(cause, ns)| format!("{:.0} % {}", share(ns) * 100.0, words(cause)))
        .collect();
    let (first, rest) = said.split_first()?;
    let rest = rest.iter().map(|part| format!(", for {part}"));
    Some(format!(
        "For {}{}",
        first.replacen(" %", " % of the idle time", 1),
        rest.collect::<String>()
    ))
}

/// A cause in words that need no explanation.
#[must_use]
pub(crate) fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Completion => "the program did not know yet that the GPU was done",
        Cause::Host => "the program was doing something else",
        Cause::Encode => "the program encoded the next work",
        Cause::Launch => "the next work was on its way to the GPU",
        Cause::Queued => "the GPU had the next work but did not start it",
        Cause::Foreign => "another process held the GPU",
        Cause::Unexplained => "the recording does not say what was waited for",
    }
}

fn advice(findings: &[Finding]) -> String {
    let gain = |finding: &&Finding| finding.gain.map_or(0, |gain| gain.at_most_ns);
    let best = findings.iter().rev().max_by_key(gain);
    let Some(first) = findings.first() else {
        return "Nothing was found that would make it faster".to_owned();
    };
    match best.and_then(|best| Some((best, best.gain?))) {
        Some((best, gain)) => format!(
            "Most to gain: {}, at most {} ({:.1} times as fast)",
            lower_first(&best.title),
            time(gain.at_most_ns),
            gain.speedup,
        ),
        None if findings.len() == 1 => format!("One thing to know: {}", lower_first(&first.title)),
        None => format!(
            "{} things to know, the first: {}",
            count(findings.len() as u64),
            lower_first(&first.title)
        ),
    }
}

/// `The program waits` → `the program waits`; `GPU` stays.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

impl GapParts {
    /// Each part with its cause in words, the largest first; those of nothing left out.
    #[must_use]
    pub fn in_words(&self) -> Vec<(Cause, u64, &'static str)> {
        let mut parts: Vec<(Cause, u64, &'static str)> = self
            .by_cause()
            .into_iter()
            .filter(|&(_, ns)| ns > 0)
            .map(|(cause, ns)| (cause, ns, words(cause)))
            .collect();
        parts.sort_by_key(|&(_, ns, _)| std::cmp::Reverse(ns));
        parts
    }
}
