//! Computes the times at which the process and others used the GPU, by a sweep over starts (+1) and
//! ends (-1).
//!
//! ```text
//! target   [------)        [---)
//! foreign     [-------)
//! segments [t )[tf)[f )[ - )[t )
//! gaps            [--------)         inside the process's window
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::model::{Kick, ProcessIndex};

/// First start to last end of the process's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Start of the first row.
    pub start_ns: u64,
    /// End of the last row.
    pub end_ns: u64,
    /// Duration of the window, in nanoseconds.
    pub span_ns: u64,
}

/// The process that a run is about, with its rows in the sweep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetRows<'p> {
    /// The process; `None` if no process used the GPU of a whole-machine run.
    pub(crate) process: Option<ProcessIndex>,
    pub(crate) rows: &'p [&'p Kick],
    pub(crate) window: Option<Window>,
    /// Periods of the whole recording.
    pub(crate) segments: &'p [Segment],
    pub(crate) gaps: &'p [Gap],
}

/// The owner of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Target,
    Foreign,
}

/// A period in which no row starts or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// Number of running rows of the process.
    pub(crate) target: u32,
    /// Number of other running rows.
    pub(crate) foreign: u32,
}

/// A maximal part of the window without a row of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// Indices of the segments that it consists of.
    pub(crate) segments: Range<usize>,
}

impl Gap {
    pub(crate) const fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// Cuts the time from the first start to the last end at each start and end of a row.
pub(crate) fn segments(rows: impl Iterator<Item = (u64, u64, Side)>) -> Vec<Segment> {
    let mut edges: Vec<(u64, i32, Side)> = rows
        .flat_map(|(start_ns, end_ns, side)| [(start_ns, 1, side), (end_ns, -1, side)])
        .collect();
    edges.sort_unstable_by_key(|(at_ns, _, _)| *at_ns);

    let mut segments = Vec::with_capacity(edges.len());
    let (mut target, mut foreign) = (0_i32, 0_i32);
    for (index, (at_ns, step, side)) in edges.iter().enumerate() {
        match side {
            Side::Target => target += step,
            Side::Foreign => foreign += step,
        }

        let next = edges.get(index + 1);
        let to_ns = next.map_or(*at_ns, |(next_ns, _, _)| *next_ns);
        if to_ns > *at_ns {
            segments.push(Segment {
                from_ns: *at_ns,
                to_ns,
                target: target.unsigned_abs(),
                foreign: foreign.unsigned_abs(),
            });
        }
    }
    segments
}

/// Returns the parts of the window without a row of the process, with adjacent segments joined.
pub(crate) fn gaps(segments: &[Segment], window: Window) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        if segment.target > 0 || !inside(segment, window) {
            continue;
        }
        match gaps.last_mut() {
            Some(gap) if gap.to_ns == segment.from_ns => {
                gap.to_ns = segment.to_ns;
                gap.segments.end = index + 1;
            }
            _ => gaps.push(Gap {
                from_ns: segment.from_ns,
                to_ns: segment.to_ns,
                segments: index..index + 1,
            }),
        }
    }
    gaps
}

/// Returns the time inside the window in segments that match.
pub(crate) fn time_ns(
    segments: &[Segment],
    window: Window,
    matches: impl Fn(&Segment) -> bool,
) -> u64 {
    let counted = segments
        .iter()
        .filter(|segment| inside(segment, window) && matches(segment));
    counted.map(|segment| segment.to_ns - segment.from_ns).sum()
}

/// Returns the time with at least one of these rows.
pub(crate) fn covered_ns(kicks: &[&Kick]) -> u64 {
    let rows = kicks
        .iter()
        .map(|kick| (kick.start_ns, kick.end_ns(), Side::Target));
    let covered = segments(rows)
        .into_iter()
        .filter(|segment| segment.target > 0);
    covered.map(|segment| segment.to_ns - segment.from_ns).sum()
}

/// Returns whether a segment is in the window. No segment crosses an end of the window, since a
/// row starts or ends there.
const fn inside(segment: &Segment, window: Window) -> bool {
    segment.from_ns >= window.start_ns && segment.to_ns <= window.end_ns
}
