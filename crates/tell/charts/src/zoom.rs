//! Chooses the stretch of the window to enlarge: the typical step.

use metalens_analyzer::Report;

/// A stretch is only enlarged if it is at most this fraction of the window: one in …
const LEAST_PART: u64 = 3;
/// One part in this many of the step is shown on each side of it.
const BESIDE: u64 = 12;

/// Typical step, with a little time on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypicalStep<'a> {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Number of the step, and what it is called.
    pub(crate) number: u64,
    pub(crate) name: &'a str,
}

/// Returns the stretch to enlarge; none if no steps are known, or if it is a large part of the window
/// anyway.
pub(crate) fn stretch(report: &Report) -> Option<TypicalStep<'_>> {
    let main = report.steps.first()?;
    let step = main.kinds.first()?.typical?;
    let (window, beside) = (&report.window, step.length_ns() / BESIDE);
    let is_part = step.length_ns().saturating_mul(LEAST_PART) <= window.span_ns;
    is_part.then(|| TypicalStep {
        start_ns: step.start_ns.saturating_sub(beside).max(window.start_ns),
        end_ns: (step.end_ns + beside).min(window.end_ns),
        number: step.number,
        name: &main.name,
    })
}
