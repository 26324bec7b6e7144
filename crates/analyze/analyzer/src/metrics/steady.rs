//! Finds the steady part of a window: what is left without a warm-up and without a pause or a part
//! that has little in common with the rest. A verdict about all of it would be about the pause.
//!
//! ```text
//! window  ├┤init     loading a model     ├┤├┤├┤├┤├┤├┤ 1,000 iterations ├┤├┤├┤
//! steady                                 ├──────────────────────────────────┤
//! ```

use metalens_trace::Names;

use super::gap_causes::{GapSplitter, IdleTotals};
use super::kernels::Kernels;
use super::shape::outliers_in;
use crate::basics::spans::{Span, length_ns, overlap_ns, touches};
use crate::report::{ExcludedPart, IdleTime, PartKind, Phases, Steady};
use crate::subject::Subject;
use crate::subject::gaps::{Gap, Occupancy, inner};

/// Share of the window from which on a pause dominates, as one part in this many.
const PARTS: u64 = 5;
/// A warm-up dominates if it has one part in this many of the window.
const WARM_UP_PARTS: u64 = 10;
/// Largest number of pauses: more of them are how the program works.
const PAUSES: usize = 3;
/// Smallest number of GPU intervals in a steady part.
const INTERVALS: usize = 20;

/// Returns the steady part of the window; `None` if nothing is to be left out.
pub(crate) fn steady(
    subject: &Subject,
    kernels: &Kernels,
    occupancy: &Occupancy,
    phases: &Phases,
    names: &Names,
) -> Option<Steady> {
    let window = subject.window();
    let mut excluded = Vec::new();
    let mut part = window;

    let warm_up = phases.warm_up.as_ref().filter(|warm_up| !warm_up.skipped);
    if let Some(warm_up) = warm_up {
        let until = Span::new(window.start_ns, warm_up.end_ns.max(window.start_ns));
        if until.length_ns() * WARM_UP_PARTS >= window.length_ns() {
            part = Span::new(until.end_ns.min(window.end_ns), window.end_ns);
            excluded.push(excluded_part(PartKind::WarmUp, until));
        }
    }

    let pauses = pauses(&occupancy.gaps, phases.segments.quiet_gap_ns, part);
    if !pauses.is_empty() {
        let kept = largest_between(&pauses, part, subject);
        let other = [
            Span::new(part.start_ns, kept.start_ns),
            Span::new(kept.end_ns, part.end_ns),
        ];
        for other in other.into_iter().filter(|other| !other.is_empty()) {
            let pause = pauses
                .iter()
                .copied()
                .filter(|pause| touches(*pause, other));
            let longest = pause.max_by_key(|pause| pause.length_ns()).unwrap_or(other);
            excluded.push(ExcludedPart {
                kind: PartKind::Pause,
                start_ns: other.start_ns,
                end_ns: other.end_ns,
                longest_gap_ns: longest.length_ns(),
            });
        }
        part = kept;
    }

    let intervals = count_in(subject, part);
    if excluded.is_empty() || intervals < INTERVALS {
        return None;
    }
    Some(Steady {
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        intervals: intervals as u64,
        busy_ns: overlap_ns(&occupancy.busy, &[part]),
        idle: idle_in(part, subject, occupancy),
        outliers: outliers_in(part, &subject.mine, kernels, names),
        excluded,
    })
}

fn excluded_part(kind: PartKind, span: Span) -> ExcludedPart {
    ExcludedPart {
        kind,
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        longest_gap_ns: 0,
    }
}

/// Returns the few quiet gaps that dominate a part together; none if they do not.
fn pauses(gaps: &[Gap], quiet_gap_ns: u64, part: Span) -> Vec<Span> {
    let quiet: Vec<Span> = inner(gaps)
        .iter()
        .map(|gap| gap.span)
        .filter(|gap| gap.length_ns() >= quiet_gap_ns && touches(*gap, part))
        .collect();
    let total_ns = length_ns(&quiet);
    let dominate = quiet.len() <= PAUSES && total_ns * PARTS >= part.length_ns();
    if dominate { quiet } else { Vec::new() }
}

/// Returns the stretch between pauses with the most GPU intervals.
fn largest_between(pauses: &[Span], part: Span, subject: &Subject) -> Span {
    let starts = pauses.iter().map(|pause| pause.end_ns);
    let starts = std::iter::once(part.start_ns).chain(starts);
    let pause_starts = pauses.iter().map(|pause| pause.start_ns);
    let ends = pause_starts.chain(std::iter::once(part.end_ns));
    let stretches = starts
        .zip(ends)
        .filter(|(start_ns, end_ns)| start_ns < end_ns)
        .map(|(start_ns, end_ns)| Span::new(start_ns, end_ns));
    let most = stretches.max_by_key(|stretch| (count_in(subject, *stretch), stretch.length_ns()));
    most.unwrap_or(part)
}

fn count_in(subject: &Subject, part: Span) -> usize {
    let mine = &subject.mine;
    let first = mine.partition_point(|interval| interval.span.start_ns < part.start_ns);
    let after = mine.partition_point(|interval| interval.span.start_ns < part.end_ns);
    after - first
}

fn idle_in(part: Span, subject: &Subject, occupancy: &Occupancy) -> IdleTime {
    let splitter = GapSplitter::new(subject);
    let mut totals = IdleTotals::default();
    let gaps = occupancy.gaps.iter();
    // The part begins and ends with GPU work, so that no gap lies across its edges.
    for gap in gaps.filter(|gap| touches(gap.span, part) && gap.span.clip(part) == gap.span) {
        totals.add(&splitter.split(gap));
    }
    totals.finish()
}
