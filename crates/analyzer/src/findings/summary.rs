//! Summarizes a report in four sentences, which every page begins with.

use super::{rule, warning};
use crate::basics::message::{Message, counted, factor, percent, process, shown_share, time};
use crate::basics::statistics::ratio;
use crate::basics::units::capital;
use crate::message;
use crate::report::{Finding, Report, Summary};

/// Returns the four sentences of a report's summary.
#[must_use]
pub(crate) fn summary(report: &Report) -> Summary {
    let (busy, busy_values) = busy(report).into_parts();
    let (idle, idle_values) = idle(report).into_parts();
    let (cause, cause_values) = causes(report).map(Message::into_parts).unzip();
    let (advice, advice_values) = advice(report).into_parts();
    Summary {
        warning: warning(&report.findings).map(|rule| format!("{}; {}", rule.title, rule.action)),
        busy,
        busy_values,
        idle,
        idle_values,
        cause,
        cause_values: cause_values.unwrap_or_default(),
        advice,
        advice_values,
    }
}

fn busy(report: &Report) -> Message {
    message!(
        "GPU {} busy: {} ran {}, {} of {}",
        report.busy.ratio.map_or_else(|| "?".into(), percent),
        process(&report.process.name, true),
        counted(report.counts.intervals, "GPU interval"),
        time(report.busy.busy_ns),
        time(report.window.span_ns),
    )
}

fn idle(report: &Report) -> Message {
    let gaps = &report.gaps;
    match (gaps.median_ns, gaps.max_ns) {
        (Some(median), Some(max)) => message!(
            "GPU idle for {} in {}: median {}, longest {}",
            time(gaps.total_ns),
            counted(gaps.count, "gap"),
            time(median),
            time(max),
        ),
        _ => "No gaps".into(),
    }
}

/// Returns the idle time by cause, the largest share first, without shares below half a percent.
fn causes(report: &Report) -> Option<Message> {
    let idle = &report.idle;
    let parts = idle.parts.largest_first().into_iter();
    let shares = parts.map(|(cause, ns)| (cause, ratio(ns, idle.total_ns).unwrap_or(0.0)));

    let mut causes = shares
        .filter(|&(_, share)| share >= 0.005)
        .map(|(cause, share)| {
            let percent = shown_share(format!("{:.0} %", share * 100.0), share);
            message!("{} {}", percent, cause.label())
        })
        .peekable();
    causes.peek()?;
    Some(message!("Idle time: {}", Message::joined(causes, ", ")))
}

/// Returns what is left to gain where no rule found a cause.
fn nothing_found(report: &Report) -> Message {
    /// Share of the window below which idle time is not worth a word.
    const LITTLE: f64 = 0.02;
    let (idle_ns, span_ns) = (report.idle.total_ns, report.window.span_ns);
    let share = ratio(idle_ns, span_ns).filter(|&share| share >= LITTLE);
    match share.zip(ratio(span_ns, span_ns - idle_ns.min(span_ns))) {
        Some((share, speedup)) => message!(
            "No large bottleneck; {} idle time remains (at most {}× faster without it)",
            percent(share),
            factor(speedup)
        ),
        None if report.findings.is_empty() => "No finding".into(),
        None => "No other finding".into(),
    }
}

/// Returns the advice with the largest gain; without a gain, the first finding and its first step.
/// Omits the part that the warning already says.
fn advice(report: &Report) -> Message {
    let findings = &report.findings;
    let gain = |finding: &&Finding| finding.gain.map_or(0, |gain| gain.at_most_ns);
    let best = findings.iter().rev().max_by_key(gain);
    if let Some((best, gain)) = best.and_then(|best| Some((best, best.gain?))) {
        return message!(
            "Biggest win: {}; up to {}× faster (saves at most {})",
            rule(&best.id).map_or("", |rule| rule.action),
            factor(gain.speedup),
            time(gain.at_most_ns),
        );
    }

    let told = usize::from(warning(findings).is_some());
    let next = findings.get(told).and_then(|next| rule(&next.id));
    next.map_or_else(
        || nothing_found(report),
        |rule| Message::new(&capital(&format!("{}; {}", rule.title, rule.action)), &[]),
    )
}
