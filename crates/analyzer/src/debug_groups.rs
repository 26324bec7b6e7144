//! Names that the program gives its work by `pushDebugGroup` on a command buffer.
//!
//! A recording has them as stretches of the encoding thread's time, so that a
//! group names the encoders whose encoding begins inside it; of nested groups
//! the innermost. Groups that are pushed on an encoder are not recorded.

use metalens_trace::{Names, Symbol, Table, ThreadId, Trace};

use crate::commands::Commands;
use crate::error::Result;
use crate::rows::{ours, take};
use crate::spans::Span;
use crate::target::Target;
use crate::timeline::{Interval, spans_of};

/// The table of debug groups and completion handlers.
pub(crate) const APPLICATION_EVENTS: &str = "metal-application-event-interval";
/// What it calls the former.
const DEBUG_GROUPS: &str = "Debug Groups";

/// One debug group.
#[derive(Debug, Clone, Copy)]
struct Group {
    span: Span,
    thread: Option<ThreadId>,
    name: Symbol,
}

/// Whether a trace has any; only then encoders need their threads.
pub(crate) fn has_any(trace: &Trace) -> bool {
    let table = trace.find_table(APPLICATION_EVENTS);
    table.is_some_and(|table| table.rows() > 0)
}

/// The debug group of each interval; empty if nothing was grouped.
pub(crate) fn groups_of(
    trace: &mut Trace,
    mine: &[Interval],
    commands: &Commands,
    target: &Target,
) -> Result<Vec<Option<Symbol>>> {
    let Some(table) = take(trace, APPLICATION_EVENTS) else {
        return Ok(Vec::new());
    };
    let groups = groups(&table, target, &mut trace.names)?;
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

/// The target's groups, sorted by start.
fn groups(table: &Table, target: &Target, names: &mut Names) -> Result<Vec<Group>> {
    let Some(wanted) = names.find_symbol(DEBUG_GROUPS) else {
        return Ok(Vec::new());
    };
    let (kinds, labels) = (table.texts("event-type")?, table.labels("event-label")?);
    let ours = ours(table, target);
    let threads = table.threads("thread").ok();
    let mut groups = Vec::new();
    for (row, span) in spans_of(table)?.enumerate() {
        let span = span?;
        if !ours(row) || kinds.get(row).copied().flatten() != Some(wanted) {
            continue;
        }
        let label = labels.get(row).copied().flatten();
        let Some(label) = label.and_then(|label| names.label(label)) else {
            continue;
        };
        let text = words(names.text(label.text)).to_owned();
        if !text.is_empty() {
            groups.push(Group {
                span,
                thread: threads.and_then(|all| all.get(row).copied().flatten()),
                name: names.symbol(&text),
            });
        }
    }
    groups.sort_by_key(|group| (group.span.start_ns, std::cmp::Reverse(group.span.end_ns)));
    Ok(groups)
}

/// The words before ` ( Main Thread 0x1f (bench, pid: 12) )`.
fn words(label: &str) -> &str {
    let cut = label.rfind(" ( ").filter(|&at| {
        let rest = label.get(at..).unwrap_or("");
        rest.ends_with(')') && rest.contains("pid: ")
    });
    label
        .get(..cut.unwrap_or(label.len()))
        .unwrap_or(label)
        .trim()
}

/// The last group to begin before a moment that ends after it. Groups nest a
/// few deep, so that few are looked at.
fn innermost(groups: &[Group], at_ns: u64, thread: Option<ThreadId>) -> Option<Symbol> {
    const DEPTH: usize = 64;
    let before = groups.partition_point(|group| group.span.start_ns <= at_ns);
    let candidates = groups.get(..before)?.iter().rev().take(DEPTH);
    let mut candidates = candidates.filter(|group| group.span.end_ns > at_ns);
    let here =
        |group: &&Group| group.thread.is_none() || thread.is_none() || group.thread == thread;
    candidates.find(here).map(|group| group.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_label() {
        let cases = [
            ("decode layer 3", "decode layer 3"),
            ("decode  ( Main Thread 0x1f (bench, pid: 12) )", "decode"),
            ("f ( x )", "f ( x )"),
            ("", ""),
        ];
        for (label, expected) in cases {
            assert_eq!(words(label), expected);
        }
    }

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
        let group = |from, to, name| Group {
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
