//! Makes traces and tables by hand, for tests.

use std::num::NonZeroU64;

use metalens_testing::table_document;
use metalens_trace::{Input, LoadOptions, Names, ProcessId, Selection, Trace};

use crate::basics::moment::Moment;
use crate::basics::spans::Span;
use crate::metrics::busy_window::BusyWindow;
use crate::report::ChosenBy;
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::interval::Interval;
use crate::tables::{self, machine::MachineTables};

/// Columns of a table: mnemonic and engineering type.
pub(crate) type Columns<'a> = &'a [(&'a str, &'a str)];
/// Table with its schema, its columns, and its rows of cells as text.
pub(crate) type TableText<'a> = (&'a str, Columns<'a>, &'a [&'a [&'a str]]);

/// Process that [`with_busy_window`] analyzes: the first in the trace.
pub(crate) const ANALYZED: &str = "bench (1)";
/// Another process.
pub(crate) const OTHER: &str = "other (2)";

/// Returns a trace of these tables, read as exports are. An empty cell is null.
pub(crate) fn trace(tables: &[TableText<'_>]) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    for (position, (schema, columns, rows)) in tables.iter().enumerate() {
        let xml = table_document(position + 1, schema, columns, *rows);
        std::fs::write(folder.path().join(format!("{schema}.xml")), xml).unwrap();
    }
    // A folder without any table is not an input, so there is always one with the processes.
    let processes = table_document(99, "whom", &[("process", "process")], [[ANALYZED], [OTHER]]);
    std::fs::write(folder.path().join("a.xml"), processes).unwrap();

    let input = Input::open(folder.path()).unwrap();
    input
        .load(&Selection::everything(), LoadOptions::default())
        .unwrap()
}

/// Returns the machine's part of these tables, and the names in them.
pub(crate) fn machine_tables(tables: &[TableText<'_>]) -> (Names, MachineTables) {
    let (recording, tables) = tables::take(trace(tables)).unwrap();
    (recording.names, tables.surroundings.machine)
}

/// Returns the choice of one process.
pub(crate) fn chosen(process: ProcessId) -> ChosenProcesses {
    ChosenProcesses {
        chosen_by: ChosenBy::Launched,
        processes: vec![process],
        note: None,
    }
}

/// Runs a function with a window in which the process [`ANALYZED`] has this busy time, and is
/// idle otherwise.
pub(crate) fn with_busy_window<T>(
    window: (u64, u64),
    busy: &[(u64, u64)],
    run: impl FnOnce(BusyWindow<'_>) -> T,
) -> T {
    let names = &trace(&[]).names;
    let (first, _) = names.processes().next().unwrap();
    let window = Span::new(window.0, window.1);
    let busy: Vec<Span> = busy.iter().map(|&(from, to)| Span::new(from, to)).collect();

    let mut gaps = Vec::new();
    let mut from = window.start_ns;
    for span in &busy {
        gaps.push(Span::new(from, span.start_ns));
        from = span.end_ns;
    }
    gaps.push(Span::new(from, window.end_ns));
    gaps.retain(|gap| !gap.is_empty());

    run(BusyWindow {
        chosen: &chosen(first),
        window,
        busy: &busy,
        gaps: &gaps,
    })
}

/// Returns an interval of no process, on no channel, without ids.
pub(crate) fn interval(start: u64, end: u64) -> Interval {
    Interval {
        span: Span::new(start, end),
        committed: Moment::default(),
        process: None,
        channel: None,
        label: None,
        command_buffer: None,
        encoder: None,
    }
}

/// Returns an interval of no process, with ids.
pub(crate) fn interval_of(start: u64, end: u64, buffer: u64, encoder: u64) -> Interval {
    Interval {
        command_buffer: NonZeroU64::new(buffer),
        encoder: NonZeroU64::new(encoder),
        ..interval(start, end)
    }
}
