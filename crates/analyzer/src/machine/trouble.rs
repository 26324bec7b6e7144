//! What went wrong, and what showed things on the display.

use std::collections::BTreeMap;

use metalens_trace::Trace;

use super::Against;
use crate::processes::touches;
use crate::report::{CommandBufferErrors, Display, ErrorCode, Hangs};
use crate::rows::{process_at, spans, spans_of, take, text};
use crate::spans::Span;
use crate::timeline::Interval;

/// When a program did not respond.
pub(super) const HANGS: &str = "potential-hangs";
/// Calls that risk it.
pub(super) const RISKS: &str = "hang-risks";
/// Command buffers that failed.
pub(super) const ERRORS: &str = "metal-command-buffer-error";
/// Who puts the screen together.
pub(super) const COMPOSITOR: &str = "metal-known-compositor-process";
/// The display's refreshes.
pub(super) const VSYNCS: &str = "display-vsyncs-interval";
/// What was on the display.
pub(super) const SURFACES: &str = "displayed-surfaces-interval";

/// The target's hangs in the window.
pub(super) fn hangs(trace: &mut Trace, against: Against<'_>) -> Option<Hangs> {
    let risks = risks(trace, against);
    let table = take(trace, HANGS)?;
    let mut hangs = Hangs {
        count: 0,
        total_ns: 0,
        max_ns: None,
        risks,
    };
    for (_, span) in spans_of(&table, against.target)? {
        if touches(span, against.window) {
            hangs.count += 1;
            hangs.total_ns += span.clip(against.window).length_ns();
            hangs.max_ns = hangs.max_ns.max(Some(span.length_ns()));
        }
    }
    Some(hangs)
}

fn risks(trace: &mut Trace, against: Against<'_>) -> Option<u64> {
    let table = take(trace, RISKS)?;
    let times = table.integers("time").ok()?;
    let processes = table.processes("process").ok()?;
    let is_risk = |&row: &usize| {
        let inside = times
            .get(row)
            .is_some_and(|at| touches(Span::new(at, at), against.window));
        inside && against.target.is(process_at(processes, row))
    };
    Some((0..table.rows()).filter(is_risk).count() as u64)
}

/// The command buffers that failed; the target's are known by their ids.
pub(super) fn errors(trace: &mut Trace, mine: &[Interval]) -> Option<CommandBufferErrors> {
    let table = take(trace, ERRORS)?;
    let ids = table.integers("cmdbuffer-id").ok()?;
    let codes = table.integers("error-code").ok();
    let mut buffers: Vec<u64> = Vec::new();
    if table.rows() > 0 {
        buffers.extend(
            mine.iter()
                .filter_map(|one| one.command_buffer)
                .map(u64::from),
        );
        buffers.sort_unstable();
    }
    let mut by_code: BTreeMap<Option<u64>, ErrorCode> = BTreeMap::new();
    let mut errors = CommandBufferErrors {
        count: table.rows() as u64,
        of_target: 0,
        codes: Vec::new(),
    };
    for row in 0..table.rows() {
        let code = codes.and_then(|codes| codes.get(row));
        let id = ids.get(row);
        let is_mine = id.is_some_and(|id| buffers.binary_search(&id).is_ok());
        let found = by_code.entry(code).or_insert(ErrorCode {
            code,
            count: 0,
            of_target: 0,
        });
        found.count += 1;
        found.of_target += u64::from(is_mine);
        errors.of_target += u64::from(is_mine);
    }
    errors.codes = by_code.into_values().collect();
    Some(errors)
}

/// What showed things on the display, in the window.
pub(super) fn display(trace: &mut Trace, window: Span) -> Display {
    let compositor = take(trace, COMPOSITOR);
    let vsyncs = take(trace, VSYNCS);
    let surfaces = take(trace, SURFACES);
    let vsyncs = vsyncs.as_ref().and_then(|table| {
        let times = table.integers("timestamp").ok()?.iter().flatten();
        // Several displays, and several names of one, share a moment.
        let mut times: Vec<u64> = times
            .filter(|&at| window.start_ns <= at && at < window.end_ns)
            .collect();
        times.sort_unstable();
        times.dedup();
        Some(times.len() as u64)
    });
    let surfaces = surfaces.as_ref().and_then(|table| {
        let shown = spans(table)?.filter(|&(_, span)| touches(span, window));
        Some(shown.count() as u64)
    });
    Display {
        compositor: compositor.and_then(|table| text(&table, &trace.names, "compositor-name", 0)),
        vsyncs,
        surfaces,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Columns, OTHER, TARGET, against, interval, trace};
    use super::*;

    #[test]
    fn hangs_of_the_target_in_the_window() {
        let columns: Columns = &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("hang-type", "hang-type"),
            ("process", "process"),
        ];
        let rows: &[&[&str]] = &[
            &["5", "10", "Microhang", TARGET],
            &["12", "3", "Hang", OTHER],
            &["40", "3", "Hang", TARGET],
        ];
        let risks: Columns = &[("time", "event-time"), ("process", "process")];
        let risky: &[&[&str]] = &[&["15", TARGET], &["15", OTHER], &["31", TARGET]];
        let mut trace = trace(&[(HANGS, columns, rows), (RISKS, risks, risky)]);
        let found = against((10, 30), &[], |against| hangs(&mut trace, against));
        let expected = Hangs {
            count: 1,
            total_ns: 5,
            max_ns: Some(10),
            risks: Some(1),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn errors_by_code() {
        let columns: Columns = &[
            ("cmdbuffer-id", "metal-command-buffer-id"),
            ("error-code", "uint32"),
        ];
        let rows: &[&[&str]] = &[&["7", "2"], &["8", "9"], &["70", "2"]];
        let mut trace = trace(&[(ERRORS, columns, rows)]);
        let mine = [interval(0, 1, 7, 1), interval(1, 2, 8, 2)];
        let found = errors(&mut trace, &mine).unwrap();
        let code = |code, count, of_target| ErrorCode {
            code: Some(code),
            count,
            of_target,
        };
        assert_eq!((found.count, found.of_target), (3, 2));
        assert_eq!(found.codes, [code(2, 2, 1), code(9, 1, 1)]);
        assert_eq!(errors(&mut trace, &mine), None);
    }

    #[test]
    fn refreshes_are_counted_once() {
        let mut trace = trace(&[(
            VSYNCS,
            &[("timestamp", "start-time")],
            &[&["9"], &["10"], &["10"], &["20"], &["30"]],
        )]);
        let expected = Display {
            compositor: None,
            vsyncs: Some(2),
            surfaces: None,
        };
        assert_eq!(display(&mut trace, Span::new(10, 30)), expected);
    }
}
