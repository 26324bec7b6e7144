//! Computes the activity of the GPU driver and of the shader compiler for the process.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_message::{Ns, share};
use metalens_trace::{Names, Symbol};

use crate::basics::spans::{RunningUnion, Span, length_ns, overlap_ns, touches, union};
use crate::metrics::busy_window::BusyWindow;
use crate::report::{CompileTimes, Driver, DriverEvents, GapDriverEvent, ShaderCompiles, TopGap};
use crate::subject::interval::Interval;
use crate::tables::columns::at;
use crate::tables::machine::{DriverWork, OtherDriverWork, OwnedSpans};

/// Returns whether the table has lost its end: the driver works on each command buffer after its commit.
pub(super) fn ends_early(
    table: &DriverWork,
    mine: &[Interval],
    busy_window: BusyWindow<'_>,
) -> bool {
    let rows = busy_window.rows(&table.processes, &table.spans);
    let last_row = rows.map(|(_, span)| i128::from(span.start_ns)).max();
    let last_commit = mine.iter().filter_map(Interval::committed_ns).max();
    last_row < last_commit.map(i128::from)
}

/// Returns the driver's intervals for the process.
pub(super) fn driver(table: &DriverWork, names: &Names, busy_window: BusyWindow<'_>) -> Driver {
    let rows = busy_window.rows(&table.processes, &table.spans);
    let (types, spans) = by_type(rows, &table.types, names, busy_window);
    let busy = union(spans);
    let in_gaps_ns = overlap_ns(&busy, busy_window.gaps);
    Driver {
        types,
        busy_ns: Ns(length_ns(&busy)),
        in_gaps_ns: Ns(in_gaps_ns),
        in_gaps_share: share(in_gaps_ns, length_ns(busy_window.gaps)),
    }
}

/// Returns the driver's other events for the process.
pub(super) fn events(
    table: &OtherDriverWork,
    names: &Names,
    busy_window: BusyWindow<'_>,
) -> Vec<DriverEvents> {
    let rows = busy_window.rows(&table.processes, &table.spans);
    by_type(rows, &table.types, names, busy_window).0
}

/// Names the longest of these events in each gap.
pub(crate) fn name_events(
    gaps: &mut [TopGap],
    table: &OtherDriverWork,
    names: &Names,
    busy_window: BusyWindow<'_>,
) {
    for gap in gaps {
        let whole = Span::new(gap.start_ns.0, (gap.start_ns + gap.duration_ns).0);
        let rows = busy_window
            .rows(&table.processes, &table.spans)
            .map(|(row, span)| (span.clip(whole), row));
        let mut inside: Vec<(Span, usize)> = rows.filter(|(span, _)| !span.is_empty()).collect();
        inside.sort_unstable();
        let longest = inside.iter().max_by_key(|(span, _)| span.length_ns());
        gap.driver_event = longest.and_then(|&(span, row)| {
            Some(GapDriverEvent {
                name: event_name(table, row, names)?,
                longest_ns: Ns(span.length_ns()),
                total_ns: Ns(RunningUnion::busy_ns(inside.iter().map(|&(span, _)| span))),
            })
        });
    }
}

/// Returns the name of an event: its label up to the first parenthesis, such as `Wire 368.00 MiB System
/// Memory`, or else its type. In parentheses are its outcome and its thread.
fn event_name(table: &OtherDriverWork, row: usize, names: &Names) -> Option<String> {
    let label = at(&table.labels, row)
        .and_then(|id| names.label(id))
        .and_then(|label| names.text(label.text).split('(').next());
    let words: Vec<&str> = label.unwrap_or_default().split_whitespace().collect();
    if words.is_empty() {
        return at(&table.types, row).map(|kind| names.text(kind).to_owned());
    }
    Some(words.join(" "))
}

/// Returns the rows of the process by type, and their spans in the window in order of time.
fn by_type(
    rows: impl Iterator<Item = (usize, Span)>,
    kinds: &[Option<Symbol>],
    names: &Names,
    busy_window: BusyWindow<'_>,
) -> (Vec<DriverEvents>, Vec<Span>) {
    let mut spans = Vec::new();
    // Few types are distinct, and symbols are fast to compare.
    let mut types = BTreeMap::new();
    for (row, span) in rows {
        if !touches(span, busy_window.window) {
            continue;
        }
        let span = span.clip(busy_window.window);
        spans.push(span);
        let symbol = at(kinds, row);
        let events = types.entry(symbol).or_insert_with(|| DriverEvents {
            event_type: symbol.map(|symbol| names.text(symbol).to_owned()),
            count: 0,
            total_ns: Ns(0),
            max_ns: Ns(0),
        });
        events.count += 1;
        events.total_ns += Ns(span.length_ns());
        events.max_ns = events.max_ns.max(Ns(span.length_ns()));
    }
    if !spans.is_sorted() {
        spans.sort_unstable();
    }

    let mut types: Vec<DriverEvents> = types.into_values().collect();
    types.sort_by_cached_key(|events| (Reverse(events.total_ns), events.event_type.clone()));
    (types, spans)
}

/// Returns the shaders compiled for the process, before the window and in it.
pub(super) fn compiles(table: &OwnedSpans, busy_window: BusyWindow<'_>) -> ShaderCompiles {
    let window = busy_window.window;
    let rows = busy_window.rows(&table.processes, &table.spans);
    let mut spans: Vec<Span> = rows.map(|(_, span)| span).collect();
    spans.retain(|span| span.start_ns < window.end_ns);
    spans.sort_unstable();

    let first_inside = spans.partition_point(|span| span.start_ns < window.start_ns);
    let (before, inside) = spans.split_at(first_inside);
    let clipped = spans.iter().map(|span| span.clip(window));
    ShaderCompiles {
        before: compile_times(before),
        inside: compile_times(inside),
        in_gaps_ns: Ns(overlap_ns(&union(clipped), busy_window.gaps)),
    }
}

/// Returns the number and the time of compilations, which come in order of their starts.
fn compile_times(sorted: &[Span]) -> CompileTimes {
    CompileTimes {
        count: sorted.len() as u64,
        total_ns: Ns(RunningUnion::busy_ns(sorted.iter().copied())),
        max_ns: sorted.iter().map(|span| span.length_ns()).max().map(Ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Cause, GapParts};
    use crate::tables::machine::{DRIVER_EVENTS, DRIVER_INTERVALS, SHADER_COMPILES};
    use crate::testing::{ANALYZED, Columns, OTHER, machine_tables, with_busy_window};
    use metalens_message::Share;

    const COLUMNS: Columns = &[
        ("start", "start-time"),
        ("duration", "duration"),
        ("event-type", "metal-object-label"),
        ("process", "process"),
    ];

    /// Checks that rows of other processes do not count.
    ///
    /// ```text
    /// window        10├───────────────────┤30
    /// busy             ├──────┤16  22├────┤30
    /// buffer      8├───────┤14
    /// encoder         10├─┤12
    /// buffer                   18├──┤21
    /// another's             15├───────┤24
    /// ```
    #[test]
    fn only_rows_of_the_process_count() {
        let rows: &[&[&str]] = &[
            &["8", "6", "Command Buffer", ANALYZED],
            &["10", "2", "Command Encoder", ANALYZED],
            &["15", "9", "Command Buffer", OTHER],
            &["18", "3", "Command Buffer", ANALYZED],
            &["30", "3", "Command Buffer", ANALYZED],
        ];
        let (names, tables) = machine_tables(&[
            (DRIVER_INTERVALS.schema, COLUMNS, rows),
            (DRIVER_EVENTS.schema, COLUMNS, rows),
        ]);
        with_busy_window((10, 30), &[(10, 16), (22, 30)], |busy_window| {
            let found = driver(&tables.driver_intervals.unwrap(), &names, busy_window);
            let types: Vec<_> = found
                .types
                .iter()
                .map(|events| {
                    (
                        events.event_type.as_deref(),
                        events.count,
                        events.total_ns,
                        events.max_ns,
                    )
                })
                .collect();
            let expected = [
                (Some("Command Buffer"), 2, Ns(7), Ns(4)),
                (Some("Command Encoder"), 1, Ns(2), Ns(2)),
            ];
            assert_eq!(types, expected);
            assert_eq!((found.busy_ns, found.in_gaps_ns), (Ns(7), Ns(3)));
            assert_eq!(found.in_gaps_share, Some(Share(0.5)));
            let events = events(&tables.driver_events.unwrap(), &names, busy_window);
            assert_eq!(events, found.types);
            assert!(tables.shader_compiles.is_err());
        });
    }

    /// Checks that the longest event in a gap is named, cut at the gap.
    ///
    /// ```text
    /// window        10├───────────────────┤30
    /// gaps                 16├──┤22    28├─┤30
    /// wire                15├─┤18
    /// wire                   17├────────┤25
    /// another's       12├───────┤20
    /// ```
    #[test]
    fn the_longest_event_in_a_gap_is_named() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("event-type", "gpu-driver-name"),
            ("process", "process"),
            ("event-label", "formatted-label"),
        ];
        let label = "Wire  2.00 MiB   System Memory  ( Success ) ( main 0x1 (bench, pid: 1) )";
        let rows: &[&[&str]] = &[
            &["17", "8", "Wire Memory", ANALYZED, label],
            &["15", "3", "Wire Memory", ANALYZED, "Wire"],
            &["12", "8", "Wire Memory", OTHER, "Wire"],
        ];
        let (names, tables) = machine_tables(&[(DRIVER_EVENTS.schema, columns, rows)]);
        let gap = |start_ns, duration_ns| TopGap {
            start_ns: Ns(start_ns),
            duration_ns: Ns(duration_ns),
            before: None,
            after: None,
            cause: Cause::Driver,
            parts: GapParts::default(),
            driver_event: None,
        };
        let mut gaps = [gap(16, 6), gap(28, 2)];
        with_busy_window((10, 30), &[(10, 16), (22, 28)], |busy_window| {
            let table = tables.driver_events.unwrap();
            name_events(&mut gaps, &table, &names, busy_window);
        });
        let named = GapDriverEvent {
            name: "Wire 2.00 MiB System Memory".to_owned(),
            longest_ns: Ns(5),
            total_ns: Ns(6),
        };
        assert_eq!(gaps.map(|gap| gap.driver_event), [Some(named), None]);
    }

    /// Checks compilations before the window, inside, and across its start. Those at the same time
    /// count once.
    ///
    /// ```text
    /// window        10├───────────────────┤30
    /// busy          10├──────┤16  22├─────┤30
    /// compile     5├────────────┤18
    /// compile    2├────┤8          25├┤27     30├──┤
    /// compile                       26├──┤29
    /// ```
    #[test]
    fn compilations_before_and_inside_the_window_are_counted() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("process", "process"),
        ];
        let rows: &[&[&str]] = &[
            &["5", "13", ANALYZED],
            &["20", "1", OTHER],
            &["26", "3", ANALYZED],
            &["25", "2", ANALYZED],
            &["2", "6", ANALYZED],
            &["30", "3", ANALYZED],
        ];
        let (_, tables) = machine_tables(&[(SHADER_COMPILES.schema, columns, rows)]);
        let table = tables.shader_compiles.unwrap();
        let found = with_busy_window((10, 30), &[(10, 16), (22, 30)], |busy_window| {
            compiles(&table, busy_window)
        });
        let times = |count, total_ns, max_ns| CompileTimes {
            count,
            total_ns,
            max_ns,
        };
        let expected = ShaderCompiles {
            before: times(2, Ns(16), Some(Ns(13))),
            inside: times(2, Ns(4), Some(Ns(3))),
            in_gaps_ns: Ns(2),
        };
        assert_eq!(found, expected);
    }
}
