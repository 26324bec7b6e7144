//! A report in four sentences: what reviewers read first, wherever it is shown.

use std::iter::once;

use super::clause;
use crate::basics::message::{
    Message, count, counted, factor, percent, process, shown_share, time,
};
use crate::basics::statistics::ratio;
use crate::message;
use crate::report::{Cause, Finding, GapParts, Report, Summary};

/// The sentences.
#[must_use]
pub(crate) fn summary(report: &Report) -> Summary {
    let (busy, busy_values) = busy(report).into_parts();
    let (idle, idle_values) = idle(report).into_parts();
    let (fault, fault_values) = fault(report).map(Message::into_parts).unzip();
    let (advice, advice_values) = advice(&report.findings).into_parts();
    Summary {
        busy,
        busy_values,
        idle,
        idle_values,
        fault,
        fault_values: fault_values.unwrap_or_default(),
        advice,
        advice_values,
    }
}

fn busy(report: &Report) -> Message {
    message!(
        "{} kept the GPU busy {} of the time: {} ran for {} of {}",
        process(&report.target.name, true),
        report.busy.ratio.map_or_else(|| "?".into(), percent),
        counted(report.counts.intervals, "GPU interval"),
        time(report.busy.busy_ns),
        time(report.window.span_ns),
    )
}

fn idle(report: &Report) -> Message {
    let gaps = &report.gaps;
    match (gaps.median_ns, gaps.max_ns) {
        (Some(median), Some(max)) => message!(
            "It left it idle for {} in {}, median {}, longest {}",
            time(gaps.total_ns),
            counted(gaps.count, "gap"),
            time(median),
            time(max),
        ),
        _ => "It left no gap at all".into(),
    }
}

/// Who is to blame, the largest part first; what is less than a percent is
/// summed up.
fn fault(report: &Report) -> Option<Message> {
    let ledger = &report.ledger;
    let mut parts = ledger.parts.by_cause();
    parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let share = |ns: u64| ratio(ns, ledger.total_ns).unwrap_or(0.0);
    let said = parts.iter().filter(|&&(_, ns)| share(ns) >= 0.005);
    let mut said = said.map(|&(cause, ns)| {
        let share = share(ns);
        let percent = shown_share(format!("{:.0} %", share * 100.0), share);
        (percent, cause.in_words())
    });
    let (share, cause) = said.next()?;
    let first = message!("For {} of the idle time {}", share, cause);
    let rest = said.map(|(share, cause)| message!("for {} {}", share, cause));
    Some(Message::joined(once(first).chain(rest), ", "))
}

impl Cause {
    /// The cause in words that need no explanation.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Completion => "the program did not know yet that the GPU was done",
            Self::Host => "the program was doing something else",
            Self::Encode => "the program encoded the next work",
            Self::Launch => "the next work was on its way to the GPU",
            Self::Queued => "the GPU had the next work but did not start it",
            Self::Foreign => "another process held the GPU",
            Self::Unexplained => "the recording does not say what was waited for",
        }
    }
}

fn advice(findings: &[Finding]) -> Message {
    let gain = |finding: &&Finding| finding.gain.map_or(0, |gain| gain.at_most_ns);
    let best = findings.iter().rev().max_by_key(gain);
    let Some(first) = findings.first() else {
        return "Nothing was found that would make it faster".into();
    };
    match best.and_then(|best| Some((best, best.gain?))) {
        Some((best, gain)) => message!(
            "Most to gain: {}, at most {} ({} times as fast)",
            clause(&best.id),
            time(gain.at_most_ns),
            factor(gain.speedup),
        ),
        None if findings.len() == 1 => message!("One thing to know: {}", clause(&first.id)),
        None => message!(
            "{} things to know, the first: {}",
            count(findings.len() as u64),
            clause(&first.id)
        ),
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
            .map(|(cause, ns)| (cause, ns, cause.in_words()))
            .collect();
        parts.sort_by_key(|&(_, ns, _)| std::cmp::Reverse(ns));
        parts
    }
}
