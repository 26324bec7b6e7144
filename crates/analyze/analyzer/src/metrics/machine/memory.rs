//! Computes GPU memory: what the process had allocated, and what was wired.

use metalens_message::{Bytes, Ns};
use metalens_trace::ProcessId;
use rustc_hash::FxHashMap;

use crate::basics::spans::Span;
use crate::metrics::busy_window::BusyWindow;
use crate::report::{AllocatedMemory, MemoryPoint, SteadyMemory, WiredMemory};
use crate::tables::columns::at;
use crate::tables::machine::{AllocatedSizes, WiredSizes};

/// Number of slices into which a window is cut.
const SLICES: u64 = 60;

/// Returns the memory that the process had allocated.
pub(super) fn allocated(table: &AllocatedSizes, busy_window: BusyWindow<'_>) -> AllocatedMemory {
    let rows: Vec<_> = (0..table.starts.len())
        .filter_map(|row| {
            let process = at(&table.processes, row)
                .filter(|&process| busy_window.chosen.contains(Some(process)))?;
            Some((table.starts.get(row)?, process, table.sizes.get(row)?))
        })
        .collect();
    summary(&levels(rows), busy_window.window)
}

/// Level of memory as (start, bytes); it lasts until the next one.
type Level = (u64, u64);

/// Returns the summed size of all analyzed processes after each change. Of several changes at
/// the same time the last in the table counts.
fn levels(mut rows: Vec<(u64, ProcessId, u64)>) -> Vec<Level> {
    rows.sort_by_key(|&(start, ..)| start);
    let mut sizes: FxHashMap<ProcessId, u64> = FxHashMap::default();
    let mut total: u64 = 0;
    let mut levels: Vec<Level> = Vec::new();
    for (start, process, size) in rows {
        let before = sizes.insert(process, size).unwrap_or(0);
        total = total.saturating_sub(before).saturating_add(size);
        match levels.last_mut() {
            Some(last) if last.0 == start => last.1 = total,
            _ => levels.push((start, total)),
        }
    }
    levels
}

fn summary(levels: &[Level], window: Span) -> AllocatedMemory {
    let inside = within(levels, window);
    let mut peak: Option<Level> = None;
    for &level in &inside {
        if peak.is_none_or(|peak| level.1 > peak.1) {
            peak = Some(level);
        }
    }

    let starts_inside =
        |&&(from_ns, _): &&Level| window.start_ns <= from_ns && from_ns < window.end_ns;
    let first = inside.first();
    AllocatedMemory {
        changes: levels.iter().filter(starts_inside).count() as u64,
        first_at_ns: first.map(|level| Ns(level.0)),
        first_bytes: first.map(|level| Bytes(level.1)),
        last_bytes: inside.last().map(|level| Bytes(level.1)),
        peak_bytes: peak.map(|level| Bytes(level.1)),
        peak_at_ns: peak.map(|level| Ns(level.0)),
        steady: steady(&inside, window),
        points: without_repetitions(points(&inside, window)),
    }
}

/// Removes points with the same size as the one before.
fn without_repetitions(mut points: Vec<MemoryPoint>) -> Vec<MemoryPoint> {
    points.dedup_by_key(|point| point.bytes);
    points
}

/// Returns the levels in the window; the first starts with the window if it is known then.
fn within(levels: &[Level], window: Span) -> Vec<Level> {
    let first_after = levels.partition_point(|level| level.0 <= window.start_ns);
    let before = first_after
        .checked_sub(1)
        .and_then(|index| levels.get(index));
    let at_start = before.map(|level| (window.start_ns, level.1));
    let after = levels.iter().skip(first_after).copied();
    let later = after.take_while(|level| level.0 < window.end_ns);
    at_start.into_iter().chain(later).collect()
}

/// Returns the largest size in each slice of the window. A slice before the first level has
/// none.
fn points(levels: &[Level], window: Span) -> Vec<MemoryPoint> {
    let mut points: Vec<MemoryPoint> = Vec::new();
    let slices = SLICES.min(window.length_ns());
    let mut next = levels.iter().peekable();
    let mut current: Option<u64> = None;

    for slice in 0..slices {
        let (from, to) = (window.edge(slice, slices), window.edge(slice + 1, slices));
        let mut most = current;
        while let Some(&&(from_ns, bytes)) = next.peek().filter(|level| level.0 < to) {
            // A level that ended before the slice's first nanosecond is not in it.
            most = if from_ns <= from {
                Some(bytes)
            } else {
                most.max(Some(bytes))
            };
            current = Some(bytes);
            next.next();
        }
        points.extend(most.map(|bytes| MemoryPoint {
            at_ns: Ns(from),
            bytes: Bytes(bytes),
        }));
    }
    points
}

/// Returns the growth in the last three quarters of the window.
fn steady(levels: &[Level], window: Span) -> Option<SteadyMemory> {
    let from_ns = window.edge(1, 4);
    let part = Span::new(from_ns, window.end_ns);
    let levels = within(levels, part);
    let (first, last) = (levels.first()?, levels.last()?);

    let (mut rises, mut falls) = (0, 0);
    for pair in levels.windows(2) {
        if let [(_, before), (_, after)] = pair {
            rises += u64::from(after > before);
            falls += u64::from(after < before);
        }
    }

    Some(SteadyMemory {
        from_ns: Ns(from_ns),
        growth_bytes: difference(last.1, first.1),
        rises,
        falls,
    })
}

fn difference(after: u64, before: u64) -> i64 {
    let difference = i128::from(after) - i128::from(before);
    i64::try_from(difference).unwrap_or(if after > before { i64::MAX } else { i64::MIN })
}

/// Returns the wired memory of the whole machine.
pub(super) fn wired(table: &WiredSizes, window: Span) -> WiredMemory {
    let row = |(row, span): (usize, Span)| {
        let span = span.clip(window);
        let bytes = table.sizes.get(row).filter(|_| !span.is_empty())?;
        Some((span.start_ns, bytes))
    };
    let rows: Vec<Level> = table.spans.started().filter_map(row).collect();

    let peak = rows
        .iter()
        .max_by_key(|&&(from_ns, bytes)| (bytes, std::cmp::Reverse(from_ns)));
    WiredMemory {
        peak_bytes: peak.map(|peak| Bytes(peak.1)),
        peak_at_ns: peak.map(|peak| Ns(peak.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::machine::{ALLOCATED, WIRED};
    use crate::testing::{ANALYZED, Columns, OTHER, machine_tables, with_busy_window};

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("process", "process"),
        ("current-allocated-size", "size-in-bytes"),
    ];

    fn allocated_of(rows: &[&[&str]], window: (u64, u64)) -> AllocatedMemory {
        let (_, tables) = machine_tables(&[(ALLOCATED.schema, COLUMNS, rows)]);
        let table = tables.allocated.unwrap();
        with_busy_window(window, &[], |busy_window| allocated(&table, busy_window))
    }

    /// Checks levels in a window that starts and ends inside of one.
    ///
    /// ```text
    ///             0    10   20   30   40   50
    /// level       ├ 4 ──┤ 9 ──┤ 6 ───────┤ 7
    /// window         5├─────────────┤35
    /// ```
    #[test]
    fn levels_last_until_the_next() {
        let found = allocated_of(
            &[
                &["0", ANALYZED, "4"],
                &["10", ANALYZED, "9"],
                &["12", OTHER, "99"],
                &["20", ANALYZED, "6"],
                &["40", ANALYZED, "7"],
            ],
            (5, 35),
        );
        assert_eq!(
            (found.first_at_ns, found.first_bytes),
            (Some(Ns(5)), Some(Bytes(4)))
        );
        assert_eq!(
            (found.peak_at_ns, found.peak_bytes),
            (Some(Ns(10)), Some(Bytes(9)))
        );
        assert_eq!((found.last_bytes, found.changes), (Some(Bytes(6)), 2));
        let steady = found.steady.unwrap();
        assert_eq!((steady.from_ns, steady.growth_bytes), (Ns(12), -3));
        assert_eq!((steady.rises, steady.falls), (0, 1));
        let points: Vec<Bytes> = found.points.iter().map(|point| point.bytes).collect();
        assert_eq!(points, [4, 9, 6].map(Bytes));
        let begin: Vec<Ns> = found.points.iter().map(|point| point.at_ns).collect();
        assert_eq!(begin, [5, 10, 20].map(Ns));
    }

    #[test]
    fn memory_is_unknown_before_the_first_row() {
        let found = allocated_of(&[&["20", ANALYZED, "6"]], (10, 30));
        assert_eq!((found.first_at_ns, found.changes), (Some(Ns(20)), 1));
        let point = MemoryPoint {
            at_ns: Ns(20),
            bytes: Bytes(6),
        };
        assert_eq!(found.points, [point]);
        let nothing = allocated_of(&[&["20", OTHER, "6"]], (10, 30));
        assert_eq!((nothing.peak_bytes, nothing.steady), (None, None));
    }

    #[test]
    fn wired_memory_has_a_peak() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("bytes", "size-in-bytes"),
        ];
        let rows: &[&[&str]] = &[&["0", "10", "900"], &["10", "10", "5"], &["20", "10", "7"]];
        let (_, tables) = machine_tables(&[(WIRED.schema, columns, rows)]);
        let expected = WiredMemory {
            peak_bytes: Some(Bytes(7)),
            peak_at_ns: Some(Ns(20)),
        };
        let found = wired(&tables.wired.unwrap(), Span::new(10, 40));
        assert_eq!(found, expected);
    }
}
