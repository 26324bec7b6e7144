//! The target's use of the GPU during one part of the window, in a line.

use std::borrow::Cow;

use super::gaps::sweep;
use super::timeline::Interval;
use crate::basics::spans::{Span, touches};
use crate::basics::statistics::{ratio, select};
use crate::report::WindowSummary;

/// Sums up what the target did from the start to the end of a part. The
/// intervals are the target's, sorted by start.
#[must_use]
pub(crate) fn brief(mine: &[Interval], part: Span) -> WindowSummary {
    // None that starts later can touch it.
    let until = mine.partition_point(|one| one.span.start_ns <= part.end_ns);
    let inside = mine.get(..until).unwrap_or(mine);
    // Nearly always all of a part is asked for: there may be millions.
    let inside = match inside.iter().all(|one| touches(one.span, part)) {
        true => Cow::Borrowed(inside),
        false => {
            let own = inside.iter().filter(|one| touches(one.span, part));
            Cow::Owned(own.copied().collect::<Vec<Interval>>())
        }
    };
    let (mut busy_ns, mut gaps) = (0, Vec::new());
    let spans = inside.iter().map(|one| one.span);
    sweep(spans, part, |busy, gap| {
        busy_ns += busy.map_or(0, Span::length_ns);
        gaps.extend(gap.map(|gap| gap.span.length_ns()));
    });
    let lengths = inside.iter().map(|one| one.span.clip(part).length_ns());
    let mut lengths: Vec<u64> = lengths.collect();
    WindowSummary {
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        intervals: inside.len() as u64,
        busy_ns,
        ratio: ratio(busy_ns, part.length_ns()),
        gaps: gaps.len() as u64,
        median_gap_ns: select(&mut gaps, 50),
        median_interval_ns: select(&mut lengths, 50),
    }
}
