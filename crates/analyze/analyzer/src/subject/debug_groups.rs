//! Names GPU intervals after the debug groups that the program pushed on its command buffers.
//!
//! A recording has debug groups as stretches of the encoding thread's time. A group names the
//! encoders whose encoding begins inside it; of nested groups the innermost counts. Groups that
//! are pushed on an encoder are not recorded.

use metalens_trace::{Names, Symbol, ThreadId};

use super::chosen_processes::ChosenProcesses;
use super::commands::Commands;
use super::interval::Interval;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::tables::columns::at;
use crate::tables::names::ApplicationEvents;
use crate::tables::reader::{TableResult, if_any};

/// Kind of the table's rows that are debug groups.
const DEBUG_GROUPS: &str = "Debug Groups";

/// Debug group with its time and thread.
#[derive(Debug, Clone, Copy)]
struct DebugGroup {
    span: Span,
    thread: Option<ThreadId>,
    name: Symbol,
}

/// Returns whether there may be debug groups; only then encoders need their threads.
pub(crate) fn has_any(table: &TableResult<ApplicationEvents>) -> bool {
    table.as_ref().is_ok_and(|table| table.spans.rows() > 0)
}

/// Returns the debug group of each interval, as a symbol of `made`; empty if nothing was
/// grouped.
pub(crate) fn groups_of(
    table: TableResult<ApplicationEvents>,
    mine: &[Interval],
    commands: &Commands,
    chosen: &ChosenProcesses,
    names: &Names,
    made: &mut Names,
) -> Result<Vec<Option<Symbol>>> {
    // If the recording never contains that word, no column of the table has to be read.
    let Some(wanted) = names.find_symbol(DEBUG_GROUPS) else {
        return Ok(Vec::new());
    };
    let Some(table) = if_any(table)? else {
        return Ok(Vec::new());
    };
    let groups = groups(&table, wanted, chosen, names, made)?;
    if groups.is_empty() {
        return Ok(Vec::new());
    }

    let named = mine.iter().map(|interval| {
        let began = commands.encoding(interval)?.span.start_ns;
        let thread = interval.encoder.and_then(|id| commands.thread(id));
        innermost(&groups, began, thread)
    });
    Ok(named.collect())
}

/// Returns the groups of the chosen processes, sorted by start.
fn groups(
    table: &ApplicationEvents,
    wanted: Symbol,
    chosen: &ChosenProcesses,
    names: &Names,
    made: &mut Names,
) -> Result<Vec<DebugGroup>> {
    let mut groups = Vec::new();
    for (row, span) in table.spans.all().enumerate() {
        let span = span?;
        let is_own = chosen.owns_row(table.processes.as_ref(), row);
        if !is_own || at(&table.kinds, row) != Some(wanted) {
            continue;
        }
        let Some(label) = at(&table.labels, row).and_then(|label| names.label(label)) else {
            continue;
        };

        let text = without_thread(names.text(label.text));
        if !text.is_empty() {
            groups.push(DebugGroup {
                span,
                thread: at(&table.threads, row),
                name: made.symbol(text),
            });
        }
    }
    groups.sort_by_key(|group| (group.span.start_ns, std::cmp::Reverse(group.span.end_ns)));
    Ok(groups)
}

/// Removes the thread from a label: ` ( Main Thread 0x1f (bench, pid: 12) )`.
fn without_thread(label: &str) -> &str {
    let cut = label.rfind(" ( ").filter(|&space| {
        let rest = label.get(space..).unwrap_or("");
        rest.ends_with(')') && rest.contains("pid: ")
    });
    label
        .get(..cut.unwrap_or(label.len()))
        .unwrap_or(label)
        .trim()
}

/// Returns the last group to begin before a point in time that ends after it. Groups nest a few
/// levels deep, so that few are examined.
fn innermost(groups: &[DebugGroup], at_ns: u64, thread: Option<ThreadId>) -> Option<Symbol> {
    const DEPTH: usize = 64;
    let before = groups.partition_point(|group| group.span.start_ns <= at_ns);
    let nearest = groups.get(..before)?.iter().rev().take(DEPTH);
    let mut candidates = nearest.filter(|group| group.span.end_ns > at_ns);
    candidates
        .find(|group| group.thread.is_none() || thread.is_none() || group.thread == thread)
        .map(|group| group.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_removed_from_labels() {
        let cases = [
            ("decode layer 3", "decode layer 3"),
            ("decode  ( Main Thread 0x1f (bench, pid: 12) )", "decode"),
            ("f ( x )", "f ( x )"),
            ("", ""),
        ];
        for (label, expected) in cases {
            assert_eq!(without_thread(label), expected);
        }
    }

    /// Looks up the innermost group at several times.
    ///
    /// ```text
    ///      0    5    10   15   20
    /// a    ├──────────────┤
    /// b         ├────┤
    /// at   a    b    a    -
    /// ```
    #[test]
    fn the_innermost_group() {
        let mut names = Names::new();
        let (a, b) = (names.symbol("a"), names.symbol("b"));
        let group = |from, to, name| DebugGroup {
            span: Span::new(from, to),
            thread: None,
            name,
        };
        let groups = [group(0, 15, a), group(5, 10, b)];
        let found = [0, 4, 5, 9, 10, 14, 15].map(|at| innermost(&groups, at, None));
        assert_eq!(
            found,
            [Some(a), Some(a), Some(b), Some(b), Some(a), Some(a), None]
        );
    }
}
