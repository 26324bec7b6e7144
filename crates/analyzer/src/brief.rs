//! The target's use of the GPU during one part of the window, in a line.

use std::borrow::Cow;

use crate::gaps::occupancy;
use crate::processes::touches;
use crate::report::Brief;
use crate::spans::{Span, length_ns};
use crate::statistics::{ratio, select};
use crate::timeline::Interval;

/// Sums up what the target did from the start to the end of a part. The
/// intervals are the target's, sorted by start.
#[must_use]
pub(crate) fn brief(mine: &[Interval], part: Span) -> Brief {
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
    let occupancy = occupancy(&inside, part);
    let busy_ns = length_ns(&occupancy.busy);
    let gaps = occupancy.gaps.iter().map(|gap| gap.span.length_ns());
    let lengths = inside.iter().map(|one| one.span.clip(part).length_ns());
    Brief {
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        intervals: inside.len() as u64,
        busy_ns,
        ratio: ratio(busy_ns, part.length_ns()),
        gaps: occupancy.gaps.len() as u64,
        median_gap_ns: median(gaps),
        median_interval_ns: median(lengths),
    }
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    select(&mut values, 50)
}
