//! Summarizes the GPU use of the process during one part of the window.

use std::borrow::Cow;

use super::gaps::sweep;
use super::interval::Interval;
use crate::basics::spans::{Span, touches};
use crate::basics::statistics::{median, ratio};
use crate::report::WindowSummary;

/// Summarizes a part, from its start to its end. `mine` are the GPU intervals of the process,
/// sorted by start.
#[must_use]
pub(crate) fn window_summary(mine: &[Interval], part: Span) -> WindowSummary {
    // Intervals that start after the part cannot touch it.
    let until = mine.partition_point(|interval| interval.span.start_ns <= part.end_ns);
    let inside = mine.get(..until).unwrap_or(mine);
    // Nearly always all of them touch the part; then none is copied, as there may be millions.
    let inside = if inside.iter().all(|interval| touches(interval.span, part)) {
        Cow::Borrowed(inside)
    } else {
        let touching = inside
            .iter()
            .filter(|interval| touches(interval.span, part));
        Cow::Owned(touching.copied().collect::<Vec<Interval>>())
    };

    let (mut busy_ns, mut gaps) = (0, Vec::new());
    let spans = inside.iter().map(|interval| interval.span);
    sweep(spans, part, |busy, gap| {
        busy_ns += busy.map_or(0, Span::length_ns);
        gaps.extend(gap.map(|gap| gap.span.length_ns()));
    });
    let lengths = inside
        .iter()
        .map(|interval| interval.span.clip(part).length_ns());

    WindowSummary {
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        intervals: inside.len() as u64,
        busy_ns,
        ratio: ratio(busy_ns, part.length_ns()),
        gaps: gaps.len() as u64,
        median_gap_ns: median(gaps),
        median_interval_ns: median(lengths),
    }
}
