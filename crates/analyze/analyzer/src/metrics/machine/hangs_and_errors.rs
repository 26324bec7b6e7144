//! Computes hangs, failed command buffers, and the activity of the display.

use std::collections::BTreeMap;

use metalens_message::Ns;
use metalens_trace::Names;

use crate::basics::spans::{RunningUnion, Span, touches};
use crate::metrics::busy_window::BusyWindow;
use crate::report::{CommandBufferErrors, Display, ErrorCode, Hangs};
use crate::subject::interval::Interval;
use crate::tables::columns::{Either, at};
use crate::tables::machine::{BufferErrors, Compositors, OwnedSpans, Surfaces, Vsyncs};

/// Returns the hangs of the process in the window.
pub(super) fn hangs(table: &OwnedSpans, busy_window: BusyWindow<'_>) -> Hangs {
    let rows = busy_window.rows(&table.processes, &table.spans);
    let mut spans: Vec<Span> = rows.map(|(_, span)| span).collect();
    spans.retain(|&span| touches(span, busy_window.window));
    spans.sort_unstable();

    let clipped = spans.iter().map(|span| span.clip(busy_window.window));
    Hangs {
        count: spans.len() as u64,
        total_ns: Ns(RunningUnion::busy_ns(clipped)),
        max_ns: spans.iter().map(|span| span.length_ns()).max().map(Ns),
    }
}

/// Returns the command buffers that failed; those of the process are recognized by their ids.
pub(super) fn errors(table: &BufferErrors, mine: &[Interval]) -> CommandBufferErrors {
    let rows = table.buffer_ids.len();
    let mut buffers: Vec<u64> = Vec::new();
    if rows > 0 {
        buffers.extend(
            mine.iter()
                .filter_map(|interval| interval.command_buffer)
                .map(u64::from),
        );
        buffers.sort_unstable();
    }

    let mut by_code: BTreeMap<Option<u64>, ErrorCode> = BTreeMap::new();
    let mut errors = CommandBufferErrors {
        count: rows as u64,
        of_process: 0,
        codes: Vec::new(),
    };
    for row in 0..rows {
        let code = table.codes.get(row);
        let id = table.buffer_ids.get(row);
        let is_mine = id.is_some_and(|id| buffers.binary_search(&id).is_ok());
        let entry = by_code.entry(code).or_insert(ErrorCode {
            code,
            count: 0,
            of_process: 0,
        });
        entry.count += 1;
        entry.of_process += u64::from(is_mine);
        errors.of_process += u64::from(is_mine);
    }

    errors.codes = by_code.into_values().collect();
    errors
}

/// Returns the activity of the display in the window.
pub(super) fn display(
    compositor: Option<Compositors>,
    vsyncs: Option<Vsyncs>,
    surfaces: Option<Surfaces>,
    names: &Names,
    window: Span,
) -> Display {
    let vsyncs = vsyncs.map(|table| {
        let refreshes = table.times.iter().flatten();
        // Several displays, and several names of one, refresh at the same time.
        let mut times: Vec<u64> = refreshes
            .filter(|&time_ns| window.start_ns <= time_ns && time_ns < window.end_ns)
            .collect();
        times.sort_unstable();
        times.dedup();
        times.len() as u64
    });

    let surfaces = surfaces.map(|table| {
        let shown = table
            .spans
            .started()
            .filter(|&(_, span)| touches(span, window));
        shown.count() as u64
    });

    Display {
        compositor: compositor.and_then(|table| match table.names {
            Either::Left(texts) => Some(names.text(at(&texts, 0)?).to_owned()),
            Either::Right(numbers) => numbers.get(0).map(|number| number.to_string()),
        }),
        vsyncs,
        surfaces,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::machine::{BUFFER_ERRORS, HANGS, VSYNCS};
    use crate::testing::{ANALYZED, Columns, OTHER, interval_of, machine_tables, with_busy_window};

    #[test]
    fn hangs_of_the_process_in_the_window() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("hang-type", "hang-type"),
            ("process", "process"),
        ];
        let rows: &[&[&str]] = &[
            // A hang and a microhang in it, at the same time: 10 to 15, and 11 to 19.
            &["11", "8", "Hang", ANALYZED],
            &["5", "10", "Microhang", ANALYZED],
            &["12", "3", "Hang", OTHER],
            &["40", "3", "Hang", ANALYZED],
        ];
        let (_, tables) = machine_tables(&[(HANGS.schema, columns, rows)]);
        let table = tables.hangs.unwrap();
        let found = with_busy_window((10, 30), &[], |busy_window| hangs(&table, busy_window));
        let expected = Hangs {
            count: 2,
            total_ns: Ns(9),
            max_ns: Some(Ns(10)),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn errors_are_counted_by_code() {
        let columns: Columns = &[
            ("cmdbuffer-id", "metal-command-buffer-id"),
            ("error-code", "uint32"),
        ];
        let rows: &[&[&str]] = &[&["7", "2"], &["8", "9"], &["70", "2"]];
        let (_, tables) = machine_tables(&[(BUFFER_ERRORS.schema, columns, rows)]);
        let mine = [interval_of(0, 1, 7, 1), interval_of(1, 2, 8, 2)];
        let found = errors(&tables.buffer_errors.unwrap(), &mine);
        let code = |code, count, of_process| ErrorCode {
            code: Some(code),
            count,
            of_process,
        };
        assert_eq!((found.count, found.of_process), (3, 2));
        assert_eq!(found.codes, [code(2, 2, 1), code(9, 1, 1)]);
        assert!(machine_tables(&[]).1.buffer_errors.is_err());
    }

    #[test]
    fn refreshes_are_counted_once() {
        let (names, tables) = machine_tables(&[(
            VSYNCS.schema,
            &[("timestamp", "start-time")],
            &[&["9"], &["10"], &["10"], &["20"], &["30"]],
        )]);
        let expected = Display {
            compositor: None,
            vsyncs: Some(2),
            surfaces: None,
        };
        let found = display(
            tables.compositor.ok(),
            tables.vsyncs.ok(),
            tables.surfaces.ok(),
            &names,
            Span::new(10, 30),
        );
        assert_eq!(found, expected);
    }
}
