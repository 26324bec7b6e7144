//! Chooses the stretch of the window to enlarge, the typical step, and frames it in the overview.

use metalens_analyzer::Report;

use crate::canvas::{Area, Canvas};
use crate::coverage::Grid;

/// A stretch is only enlarged if it is at most this fraction of the window: one in …
const LEAST_PART: u64 = 3;
/// One part in this many of the step is shown on each side of it.
const BESIDE: u64 = 12;
/// Smallest inner width of a frame; a narrower one would be invisible.
const MIN_WIDTH: f32 = 3.0;

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
        start_ns: step.start_ns.saturating_sub(beside).max(window.start_ns).0,
        end_ns: (step.end_ns + beside).min(window.end_ns).0,
        number: step.number,
        name: main.noun(),
    })
}

impl TypicalStep<'_> {
    /// Draws a frame around the stretch in the lanes of the overview.
    pub(crate) fn frame(&self, canvas: &Canvas, window: &Grid, lanes: Area) {
        let x = |time: u64| window.x(time, lanes).round();
        let (mut left, mut right) = (x(self.start_ns), x(self.end_ns));
        if right - left < MIN_WIDTH {
            left = (left - 1.0).clamp(lanes.left, lanes.right() - MIN_WIDTH);
            right = left + MIN_WIDTH;
        }

        let (top, bottom) = (lanes.top - 3.0, lanes.bottom());
        let side = Area {
            left: left - 1.0,
            top,
            width: 1.0,
            height: bottom - top,
        };
        let above = Area {
            width: right - left + 2.0,
            height: 2.0,
            ..side
        };
        for part in [
            side,
            Area {
                left: right,
                ..side
            },
            above,
        ] {
            canvas.rectangle(part, canvas.palette.mark);
        }
    }
}
