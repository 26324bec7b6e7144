//! Summarizes a report in four sentences, which every page begins with.

use super::bound::is_undecided;
use super::distrust::distrust;
use super::evidence::{is_share, share_of};
use super::{rule, steps, warning};
use crate::report::{Bound, Finding, Report, Severity, Summary};
use metalens_message::{
    Factor, Message, Ns, Share, Value, count, counted, factor, message, percent, percent_to,
    process, ratio, rough_time, share,
};
use metalens_text::units::capital;

/// Returns the four sentences of a report's summary.
pub(crate) fn summary(report: &Report) -> Summary {
    Summary {
        warning: warning(&report.findings).map(|rule| {
            let [action, _] = rule.words(report);
            format!("{}; {action}", rule.title)
        }),
        steps: steps::steps(report),
        slow: steps::slow(report),
        busy: busy(report),
        idle: idle(report),
        cause: causes(report),
        advice: advice(report),
        next: next(report).map(str::to_owned),
    }
}

/// Returns what to record next, where something that is not recorded would tell more about the verdict.
fn next(report: &Report) -> Option<&'static str> {
    let parts = &report.judged().idle.parts;
    match report.verdict.bound? {
        _ if report.source.is_log() => None,
        Bound::CpuHost | Bound::CpuEncoding if report.cpu.is_none() => Some(
            "Record next: add --instrument 'Time Profiler', whose samples show what the CPU works on",
        ),
        Bound::Latency if parts.submission_ns > parts.completion_ns => Some(
            "Record next: keep the tables metal-command-buffer-to-accelerator-id and \
             metal-gpu-submission-to-command-buffer-id, which divide the submission latency",
        ),
        _ => None,
    }
}

fn busy(report: &Report) -> Message {
    /// Recordings at least this many times as long as the window have a share of their own.
    const TIMES: u64 = 2;
    let span_ns = report.window.span_ns;
    let recorded_ns = report.run.duration_ns.filter(|&ns| ns / TIMES >= span_ns);
    let from_to = recorded_ns.map(|_| " from first to last work");
    let of_recorded = recorded_ns.map(|recorded_ns| {
        message!(
            "; {} of the {} that were recorded",
            share_of(report.busy.busy_ns, recorded_ns),
            recorded_ns
        )
    });
    message!(
        "GPU {} busy{}: {} ran {}, {} of {}{}",
        report.busy.ratio.map_or_else(|| "?".into(), percent),
        from_to.map(Message::from),
        process(&report.process.name, true),
        counted(report.counts.intervals, "GPU interval"),
        report.busy.busy_ns,
        span_ns,
        of_recorded,
    )
}

fn idle(report: &Report) -> Message {
    /// Number of gaps that are few.
    const LONGEST: usize = 10;
    /// Share of the idle time that is much for a few gaps.
    const MUCH: f64 = 0.3;
    let gaps = &report.gaps;
    let inside = &report.shape.command_buffers;
    let between = gaps.count - inside.gaps_inside;
    let between_ns = gaps.total_ns - inside.gaps_inside_ns;
    let within =
        (inside.gaps_inside > 0).then(|| message!(", {} within them", inside.gaps_inside_ns));
    let longest = gaps.top.iter().take(LONGEST).map(|gap| gap.duration_ns);
    let longest_ns: Ns = longest.sum();
    // A few that hold much are another story than many that are alike.
    let few = between > 3 * LONGEST as u64 && is_share(longest_ns, gaps.total_ns, MUCH);
    let few = few.then(|| {
        let share = share_of(longest_ns, gaps.total_ns);
        message!("; the {} longest have {}", count(LONGEST as u64), share)
    });
    match gaps.count {
        0 => "No gaps".into(),
        _ => message!(
            "GPU idle for {}: {} in {} between command buffers{}{}",
            gaps.total_ns,
            between_ns,
            counted(between, "gap"),
            within,
            few,
        ),
    }
}

/// Returns the idle time by cause, the largest share first, without shares below half a percent.
fn causes(report: &Report) -> Option<Message> {
    let idle = &report.idle;
    let parts = idle.parts.largest_first().into_iter();
    let shares = parts.map(|(cause, ns)| (cause, share(ns, idle.total_ns).unwrap_or_default()));

    let mut causes = shares
        .filter(|&(_, share)| share >= Share(0.005))
        .map(|(cause, share)| message!("{} {}", percent_to(0, share), cause.label()))
        .peekable();
    causes.peek()?;
    Some(message!("Idle time: {}", Message::joined(causes, ", ")))
}

/// Returns what is left to gain where no rule found a cause.
fn nothing_found(report: &Report) -> Message {
    /// Share of the window below which idle time is not worth a word.
    const LITTLE: Share = Share(0.02);
    let judged = report.judged();
    let (idle_ns, span_ns) = (judged.idle.total_ns, judged.span_ns);
    // The verdict and a finding say that the cause of the idle time is not recorded.
    if report.is_paced() {
        let is_late = steps::slow(report).is_some();
        return if is_late {
            "No finding beside the late ones: the program keeps its pace"
        } else {
            "No finding: the program keeps its pace"
        }
        .into();
    }
    if steps::serves(report) {
        return "No finding: the program works when a request comes".into();
    }
    let share = share(idle_ns, span_ns)
        .filter(|&share| share >= LITTLE)
        .filter(|_| !is_undecided(report) && distrust(report).is_none());
    match share.zip(ratio(span_ns, span_ns - idle_ns.min(span_ns))) {
        Some((share, speedup)) => message!(
            "{}; {} idle time remains (at most {}× faster without it)",
            if is_mostly_busy(report) {
                "No large bottleneck"
            } else if report.findings.is_empty() {
                "No rule found what to change"
            } else {
                "No finding predicts a saving"
            },
            share,
            Factor(speedup)
        ),
        None if report.findings.is_empty() => "No finding".into(),
        None => "No other finding".into(),
    }
}

/// Returns whether little of the window is idle.
fn is_mostly_busy(report: &Report) -> bool {
    /// Share of the window below which idle time is little.
    const MUCH: f64 = 0.1;
    let judged = report.judged();
    !is_share(judged.idle.total_ns, judged.span_ns, MUCH)
}

/// Returns the clause that the cause of much of the idle time is unknown.
fn unknown(report: &Report) -> Message {
    message!(
        "the cause of {} of the idle time is not recorded",
        share_of(report.idle.parts.unknown_ns, report.idle.total_ns)
    )
}

/// Returns the advice with the largest gain; without a gain, the first finding and its first step.
/// Omits the part that the warning already says. Where idle time of unknown cause could hide a larger
/// gain, says so.
fn advice(report: &Report) -> Message {
    let findings = &report.findings;
    let is_undecided = is_undecided(report);
    let unknown = |hides: bool| hides.then(|| message!("; {}", unknown(report)));
    let gain = |finding: &&Finding| finding.gain.map_or(Ns(0), |gain| gain.saves_ns);
    let best = findings.iter().rev().max_by_key(gain);
    if let Some((best, gain)) = best.and_then(|best| Some((best, best.gain?))) {
        let hides_more = is_undecided && report.idle.parts.unknown_ns > gain.saves_ns;
        let left = steps::with_change(report, &gain).unwrap_or_else(|| {
            let (words, by) = (gain.certainty.words(), factor(gain.speedup));
            message!(
                "{} {}× faster (saves {})",
                words,
                by,
                rough_time(gain.saves_ns)
            )
        });
        return message!(
            "{}: {}; {}{}",
            if hides_more {
                "Biggest known win"
            } else {
                "Biggest win"
            },
            Message::words(&best.action),
            left,
            unknown(hides_more),
        );
    }

    let told = usize::from(warning(findings).is_some());
    // Beside much idle time, a finding of low severity is not what to do first.
    let next = findings
        .get(told)
        .filter(|next| next.severity != Severity::Low || is_mostly_busy(report))
        .and_then(|next| Some((next, rule(&next.id)?)));
    next.map_or_else(
        || nothing_found(report),
        |(next, rule)| {
            let text = capital(&format!("{}; {}", rule.title, next.action));
            // A caveat is about the numbers and claims no gain.
            let hides_more = is_undecided && next.severity != Severity::Caveat;
            message!(
                "{}{}{}",
                Message::words(text),
                which_kernel(next),
                unknown(hides_more)
            )
        },
    )
}

/// Returns the first place of a finding in parentheses, if it names a kernel.
fn which_kernel(finding: &Finding) -> Option<Message> {
    let place = finding.look_at.first()?;
    let is_kernel = place
        .values
        .first()
        .is_some_and(|value| value.at == 0 && value.value == Value::Kernel);
    is_kernel.then(|| message!(" ({})", place))
}
