//! Measures the part of a window that a verdict is about: the steps of the main series, if what runs once
//! takes much of the time. A verdict about all of it would be about a pause, or about a model that loads.
//!
//! ```text
//! window  ├─ prefill ──────┤├┤├┤├┤├┤├┤├┤ 1,000 tokens ├┤├┤├┤   loading the next
//! judged                    ├──────────────────────────────┤
//! ```

use metalens_trace::Names;

use super::gap_causes::{GapSplitter, IdleTotals};
use super::kernels::Kernels;
use super::shape::outliers_in;
use crate::basics::spans::{Span, length_ns, overlap_ns, touches, union};
use crate::report::JudgedPart;
use crate::subject::Subject;
use crate::subject::gaps::Occupancy;

/// One part in this many of the window must lie outside of the steps.
const PARTS: u64 = 10;
/// Smallest number of GPU intervals in the steps.
const INTERVALS: u64 = 20;

/// Returns the steps of the main series in the window; `None` if they are nearly all of it, or have less
/// than half of the work.
pub(crate) fn judged(
    subject: &Subject,
    kernels: &Kernels,
    occupancy: &Occupancy,
    names: &Names,
) -> Option<JudgedPart> {
    let window = subject.window();
    let spans = union(subject.series.first()?.spans_in(window));
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
        start_ns: hull.start_ns,
        end_ns: hull.end_ns,
        span_ns,
        intervals,
        busy_ns,
        idle: totals.finish(),
        outliers: outliers_in(hull, &subject.mine, kernels, names),
    })
}
