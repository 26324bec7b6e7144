//! Measures the part of a window that a verdict is about: the steps of all series, if what runs once takes
//! much of the time. A verdict about all of it would be about a pause, or about a model that loads.
//!
//! ```text
//! window  ├─ prefill ──────┤├┤├┤├┤├┤├┤├┤ 1,000 tokens ├┤├┤├┤   loading the next
//! judged                    ├──────────────────────────────┤
//! ```

use metalens_message::Ns;
use metalens_trace::Names;

use super::gap_causes::{GapSplitter, IdleTotals};
use super::kernels::Kernels;
use super::shape::outliers_in;
use crate::basics::spans::{Span, length_ns, overlap_ns, touches, union};
use crate::basics::statistics::median;
use crate::report::JudgedPart;
use crate::subject::Subject;
use crate::subject::gaps::Occupancy;

/// One part in this many of the window must lie outside of the steps.
const PARTS: u64 = 10;
/// Largest number of steps that are pauses: more of them are how the program works.
const PAUSES: usize = 3;
/// Factor by which a pause is longer than the usual step.
const PAUSE_TIMES: u64 = 10;
/// One part in this many of the time that pauses have at least.
const PAUSE_PARTS: u64 = 5;
/// Smallest number of GPU intervals in the steps.
const INTERVALS: u64 = 20;

/// Returns the most steps between pauses: a few that are so much longer than the others that they would
/// decide a verdict about all.
fn largest_stretch(steps: &[Span]) -> &[Span] {
    let usual_ns = median(steps.iter().map(|step| step.length_ns())).unwrap_or(0);
    let is_pause = |step: &Span| step.length_ns() > PAUSE_TIMES * usual_ns;
    let pauses: Vec<Span> = steps
        .iter()
        .filter(|step| is_pause(step))
        .copied()
        .collect();
    let decide = pauses.len() <= PAUSES && length_ns(&pauses) * PAUSE_PARTS >= length_ns(steps);
    if pauses.is_empty() || !decide {
        return steps;
    }
    let stretches = steps.split(is_pause);
    stretches.max_by_key(|steps| steps.len()).unwrap_or(steps)
}

/// Returns the steps in the window; `None` if they are nearly all of it, or have less
/// than half of the work.
pub(crate) fn judged(
    subject: &Subject,
    kernels: &Kernels,
    occupancy: &Occupancy,
    names: &Names,
) -> Option<JudgedPart> {
    let window = subject.window();
    let steps = subject.series.iter().flat_map(|series| {
        let steps: Vec<Span> = series.tiles_in(window).map(|tile| tile.span).collect();
        largest_stretch(&steps).to_vec()
    });
    let mut steps: Vec<Span> = steps.collect();
    steps.sort_unstable();
    let spans = union(steps);
    let hull = Span::new(spans.first()?.start_ns, spans.last()?.end_ns);
    let (span_ns, busy_ns) = (length_ns(&spans), overlap_ns(&occupancy.busy, &spans));
    let begin_in = |part: &Span| {
        let begun_by =
            |ns: u64| subject.mine.partition_point(|each| each.span.start_ns < ns) as u64;
        begun_by(part.end_ns) - begun_by(part.start_ns)
    };
    let intervals = spans.iter().map(begin_in).sum();
    let is_most = span_ns * PARTS > window.length_ns() * (PARTS - 1);
    if is_most || intervals < INTERVALS || 2 * busy_ns < length_ns(&occupancy.busy) {
        return None;
    }

    let splitter = GapSplitter::new(subject);
    let mut totals = IdleTotals::default();
    let mut at = spans.iter().peekable();
    for gap in &occupancy.gaps {
        while at
            .next_if(|span| span.end_ns <= gap.span.start_ns)
            .is_some()
        {}
        // A step begins with GPU work, so that no gap lies across its edges.
        if at.peek().is_some_and(|span| touches(gap.span, **span)) {
            totals.add(&splitter.split(gap));
        }
    }
    Some(JudgedPart {
        start_ns: Ns(hull.start_ns),
        end_ns: Ns(hull.end_ns),
        span_ns: Ns(span_ns),
        intervals,
        busy_ns: Ns(busy_ns),
        idle: totals.finish(),
        outliers: outliers_in(hull, &subject.mine, kernels, names),
    })
}
