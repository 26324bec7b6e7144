//! Collects the lanes under the timeline: phases of the process, work of other engines, states and
//! counters of the GPU.
//!
//! A page has the longest pieces of a lane one by one, a few thousand at most. If there are more,
//! it also has all of them together in buckets, and says so.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use metalens_analyzer::{Analysis, CounterTrack, StateInterval};
use serde::Serialize;

use super::super::names::NameTable;
use super::buckets::add;
use super::packed::Packed;

/// Largest number of pieces of a lane that a page has one by one.
const MOST_PIECES: usize = 2_000;
/// Largest number of rows for pieces that overlap or nest.
const MOST_ROWS: usize = 3;
/// Number of shades of states and counters.
const SHADES: usize = 4;
/// Number of shades of phases and engines, as in pictures.
const PHASE_SHADES: usize = 3;
/// Number of buckets of a lane with more pieces than fit.
const BUCKETS: u64 = 2_048;
/// A lane of phases or states, as the page's script reads it.
#[derive(Debug, Serialize)]
pub(super) struct StateLane {
    label: String,
    kind: &'static str,
    rows: usize,
    /// Number of pieces that are here one by one, and of all.
    count: usize,
    of: usize,
    /// For each piece: start after the start of the last one, length, row, name, and shade, plus 4
    /// if it was induced.
    pieces: String,
    /// Covered nanoseconds by shade and bucket, if not all pieces are here.
    covered: Option<Covered>,
}

#[derive(Debug, Serialize)]
struct Covered {
    width_ns: u64,
    count: usize,
    shades: Vec<(usize, String)>,
}

/// A phase or state with its time, relative to the start of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StatePiece<'a> {
    start_ns: u64,
    end_ns: u64,
    what: &'a str,
    is_induced: bool,
}

/// Returns the lanes that the recording has pieces for.
pub(super) fn lanes<'a>(
    analysis: &'a Analysis,
    steps: &'a [StateInterval],
    names: &mut NameTable<'a>,
) -> Vec<StateLane> {
    let window = &analysis.report.window;
    let piece = |held: &'a StateInterval| StatePiece {
        start_ns: held.start_ns - window.start_ns.0,
        end_ns: held.end_ns - window.start_ns.0,
        what: &held.what,
        is_induced: held.is_induced,
    };
    let mut phases: Vec<StatePiece<'_>> = analysis.named_phases().iter().map(piece).collect();
    phases.sort_by_key(|piece| (piece.start_ns, Reverse(piece.end_ns)));
    let steps = steps.iter().map(piece).collect();
    let states = join_neighbors(analysis.performance().iter().map(piece));
    let mut lane = |label, kind, all: Vec<StatePiece<'a>>| {
        (!all.is_empty()).then(|| pack(label, kind, &all, window.span_ns.0, names))
    };
    let lanes = [
        ("steps", "phase", steps),
        ("phases of the program", "phase", phases),
        ("GPU performance state", "state", states),
    ];
    let lanes = lanes
        .into_iter()
        .filter_map(|(label, kind, all)| lane(label, kind, all));
    let mut lanes: Vec<StateLane> = lanes.collect();
    for track in analysis.counter_tracks() {
        let values = join_neighbors(counter(&track, (window.start_ns.0, window.end_ns.0)));
        if !values.is_empty() {
            lanes.push(pack(
                track.name,
                "counter",
                &values,
                window.span_ns.0,
                names,
            ));
        }
    }
    lanes
}

/// Parts of a counter's range up to its peak, the lowest first.
const PARTS: [&str; SHADES] = ["0 to 25 %", "25 to 50 %", "50 to 75 %", "75 % or more"];

/// Returns the samples of a counter inside the window, each as the part of the range that its value is in.
fn counter<'a>(
    track: &CounterTrack<'a>,
    (from_ns, to_ns): (u64, u64),
) -> impl Iterator<Item = StatePiece<'static>> + use<'a> {
    let (samples, peak) = (track.samples, track.peak);
    samples.iter().filter_map(move |sample| {
        let start_ns = sample.start_ns.max(from_ns);
        let end_ns = sample.end_ns?.min(to_ns);
        let edges = [0.25, 0.5, 0.75].into_iter();
        let part = edges.filter(|edge| sample.value / peak >= *edge).count();
        (start_ns < end_ns).then_some(StatePiece {
            start_ns: start_ns - from_ns,
            end_ns: end_ns - from_ns,
            what: PARTS.get(part)?,
            is_induced: false,
        })
    })
}

/// Joins neighbors with the same state.
fn join_neighbors<'a>(all: impl Iterator<Item = StatePiece<'a>>) -> Vec<StatePiece<'a>> {
    let mut joined: Vec<StatePiece<'a>> = Vec::new();
    for piece in all {
        match joined.last_mut() {
            Some(last)
                if last.end_ns == piece.start_ns
                    && (last.what, last.is_induced) == (piece.what, piece.is_induced) =>
            {
                last.end_ns = piece.end_ns;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// Packs pieces, which are in order of time, into a lane.
fn pack<'a>(
    label: &str,
    kind: &'static str,
    all: &[StatePiece<'a>],
    span_ns: u64,
    names: &mut NameTable<'a>,
) -> StateLane {
    let placed = assign_rows(&longest(all));
    let shades = Shades::of(kind, all);
    let mut packed = Packed::default();
    let mut at = 0;
    for &(row, piece) in &placed {
        packed.put(piece.start_ns - at);
        packed.put(piece.end_ns - piece.start_ns);
        packed.put(row as u64);
        packed.put(names.number(piece.what));
        packed.put((shades.shade(piece.what) + SHADES * usize::from(piece.is_induced)) as u64);
        at = piece.start_ns;
    }
    let rows = placed.iter().map(|(row, _)| row + 1).max();
    StateLane {
        label: label.to_owned(),
        kind,
        rows: rows.unwrap_or(1),
        count: placed.len(),
        of: all.len(),
        pieces: packed.into_text(),
        covered: (placed.len() < all.len()).then(|| covered(all, &shades, span_ns)),
    }
}

/// Returns the longest pieces, in order of time.
fn longest<'a>(all: &[StatePiece<'a>]) -> Vec<StatePiece<'a>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    let length = |at: usize| all.get(at).map_or(0, |piece| piece.end_ns - piece.start_ns);
    order.sort_by_key(|&at| (Reverse(length(at)), at));
    order.truncate(MOST_PIECES);
    order.sort_unstable();
    let chosen = order.into_iter().filter_map(|at| all.get(at).copied());
    chosen.collect()
}

/// Assigns each piece to a row: the last row of the same name if that is free, else the first free
/// row. Pieces that find no row are left out.
fn assign_rows<'a>(all: &[StatePiece<'a>]) -> Vec<(usize, StatePiece<'a>)> {
    let mut until = [0; MOST_ROWS];
    let mut last = HashMap::new();
    let place = |piece: &StatePiece<'a>| {
        let is_free = |row: &usize| until.get(*row).is_some_and(|&end| end <= piece.start_ns);
        let before = last.get(piece.what).copied().filter(is_free);
        let row = before.or_else(|| (0..MOST_ROWS).find(is_free))?;
        *until.get_mut(row)? = piece.end_ns;
        last.insert(piece.what, row);
        Some((row, *piece))
    };
    all.iter().filter_map(place).collect()
}

/// Returns the covered time of each bucket, by shade.
fn covered(all: &[StatePiece<'_>], shades: &Shades<'_>, span_ns: u64) -> Covered {
    let width_ns = span_ns.div_ceil(BUCKETS).max(1);
    let count = usize::try_from(span_ns.div_ceil(width_ns)).unwrap_or(0);
    let packed = |(shade, row): (usize, Vec<u64>)| {
        let mut packed = Packed::default();
        row.into_iter().for_each(|ns| packed.put(ns));
        (shade, packed.into_text())
    };
    let rows = covered_by_shade(all, shades, (width_ns, count));
    Covered {
        width_ns,
        count,
        shades: rows.into_iter().map(packed).collect(),
    }
}

/// Adds up the covered time of each bucket. What overlaps counts once.
fn covered_by_shade(
    all: &[StatePiece<'_>],
    shades: &Shades<'_>,
    (width_ns, count): (u64, usize),
) -> BTreeMap<usize, Vec<u64>> {
    let mut rows: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let mut until = 0;
    for piece in all {
        let row = rows.entry(shades.shade(piece.what));
        let row = row.or_insert_with(|| vec![0; count]);
        add(row, width_ns, piece.start_ns.max(until), piece.end_ns);
        until = piece.end_ns.max(until);
    }
    rows
}

/// Assigns shades to names: states by their speed, others by their order.
struct Shades<'a> {
    names: Vec<&'a str>,
    count: usize,
}

impl<'a> Shades<'a> {
    fn of(kind: &str, all: &[StatePiece<'a>]) -> Self {
        let (mut names, count) = match kind {
            "state" => (vec!["Minimum", "Medium", "Maximum"], SHADES),
            "counter" => (PARTS.to_vec(), SHADES),
            _ => (Vec::new(), PHASE_SHADES),
        };
        for piece in all {
            if names.len() < 10 * count && !names.contains(&piece.what) {
                names.push(piece.what);
            }
        }
        Self { names, count }
    }

    fn shade(&self, name: &str) -> usize {
        let place = self.names.iter().position(|&known| known == name);
        place.unwrap_or(0) % self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(start_ns: u64, end_ns: u64) -> StatePiece<'static> {
        StatePiece {
            start_ns,
            end_ns,
            what: "step",
            is_induced: false,
        }
    }

    /// ```text
    /// 0    5    10   15   20
    /// [------------------)   0
    /// [----)[--)   [-----)   1, 1, 1
    ///   [-)                  2
    ///   [-)                  none
    /// ```
    #[test]
    fn overlapping_pieces_have_rows_of_their_own() {
        let all = [
            piece(0, 20),
            piece(0, 5),
            piece(2, 4),
            piece(2, 4),
            named("other", 5, 9),
            named("other", 14, 20),
        ];
        check(&all, &[0, 1, 2, 1, 1]);
    }

    /// ```text
    /// 0    5    10   15   20
    /// [------------------)     0: epoch
    /// [----)  [-----)  [----)  1: step, although row 0 is free in the end
    /// ```
    #[test]
    fn a_name_stays_in_its_row() {
        let all = [
            named("epoch", 0, 20),
            named("step", 0, 5),
            named("step", 9, 15),
            named("step", 20, 24),
        ];
        check(&all, &[0, 1, 1, 1]);
    }

    fn named(what: &'static str, start_ns: u64, end_ns: u64) -> StatePiece<'static> {
        StatePiece {
            what,
            ..piece(start_ns, end_ns)
        }
    }

    fn check(all: &[StatePiece<'_>], expected: &[usize]) {
        let rows: Vec<usize> = assign_rows(all).iter().map(|(row, _)| *row).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_longest_are_kept_and_all_are_covered() {
        let short = (0..3_000).map(|at| piece(10 * at, 10 * at + 3));
        let long = (0..1_500).map(|at| piece(30_000 + 10 * at, 30_000 + 10 * at + 6));
        let all: Vec<StatePiece<'_>> = short.chain(long).collect();
        let lane = pack("x", "phase", &all, 45_000, &mut NameTable::default());
        assert_eq!((lane.count, lane.of, lane.rows), (MOST_PIECES, 4_500, 1));
        let kept = longest(&all);
        assert_eq!(
            kept.iter()
                .filter(|piece| piece.end_ns - piece.start_ns == 6)
                .count(),
            1_500
        );
        assert!(kept.is_sorted_by_key(|piece| piece.start_ns));
        assert!(lane.covered.is_some());
        assert!(
            pack("x", "phase", &kept, 45_000, &mut NameTable::default())
                .covered
                .is_none()
        );
    }

    /// ```text
    /// 0         10        20
    /// [---------)    [----)    below 25 %
    ///      [---------)         75 % or more, of which the first half counts for the other
    /// ```
    #[test]
    fn covered_time_is_by_shade_and_counts_once() {
        let all = [
            named(PARTS[0], 0, 10),
            named(PARTS[3], 5, 15),
            named(PARTS[0], 15, 20),
        ];
        let shades = Shades::of("counter", &all);
        let found = covered_by_shade(&all, &shades, (10, 2));
        assert_eq!(found, BTreeMap::from([(0, vec![10, 5]), (3, vec![0, 5])]));
    }

    #[test]
    fn neighbors_with_one_state_are_joined() {
        let induced = |from, to| StatePiece {
            is_induced: true,
            ..piece(from, to)
        };
        let all = [
            piece(0, 5),
            piece(5, 9),
            induced(9, 12),
            piece(13, 15),
            piece(15, 16),
        ];
        let expected = [piece(0, 9), induced(9, 12), piece(13, 16)];
        assert_eq!(join_neighbors(all.into_iter()), expected);
    }
}
