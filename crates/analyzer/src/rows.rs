//! Reading small tables that may be absent, or lack a column.

use std::hash::Hash;

use metalens_trace::{Column, Names, Problem, ProcessId, Symbol, Table, Trace};
use rustc_hash::FxHashSet;

use crate::spans::Span;
use crate::target::Target;

/// A table out of the trace, if it is there.
pub(crate) fn take(trace: &mut Trace, schema: &str) -> Option<Table> {
    trace.find_table(schema)?;
    trace.take_table(schema).ok()
}

/// The rows that have a start, with their place. A row without a duration has
/// no length.
pub(crate) fn spans(table: &Table) -> Option<impl Iterator<Item = (usize, Span)>> {
    let starts = table.integers("start").ok()?;
    let durations = table.integers("duration").ok()?;
    Some((0..table.rows()).filter_map(move |row| {
        let start = starts.get(row)?;
        let end = start + durations.get(row).unwrap_or(0);
        Some((row, Span::new(start, end)))
    }))
}

/// The same, of the target's rows only.
pub(crate) fn spans_of<'t>(
    table: &'t Table,
    target: &'t Target,
) -> Option<impl Iterator<Item = (usize, Span)> + 't> {
    let processes = table.processes("process").ok()?;
    let is_mine = move |row: usize| target.is(process_at(processes, row));
    Some(spans(table)?.filter(move |&(row, _)| is_mine(row)))
}

/// Each once, sorted: a few among very many.
pub(crate) fn distinct<T: Copy + Ord + Hash>(all: impl Iterator<Item = T>) -> Vec<T> {
    let (mut known, mut last) = (FxHashSet::default(), None);
    for one in all {
        if last.replace(one) != Some(one) {
            known.insert(one);
        }
    }
    let mut known: Vec<T> = known.into_iter().collect();
    known.sort_unstable();
    known
}

/// Whether a row is the target's; rows of a table that names no process are.
pub(crate) fn ours<'a>(table: &'a Table, target: &'a Target) -> impl Fn(usize) -> bool + 'a {
    let processes = table.processes("process").ok();
    move |row| processes.is_none_or(|all| target.is(all.get(row).copied().flatten()))
}

/// The process of a row.
pub(crate) fn process_at(processes: &[Option<ProcessId>], row: usize) -> Option<ProcessId> {
    processes.get(row).copied().flatten()
}

/// A value of a column as text, whether it was kept as text or as a number.
pub(crate) fn text(table: &Table, names: &Names, mnemonic: &str, row: usize) -> Option<String> {
    let found = table.columns().find(|(spec, _)| spec.mnemonic == mnemonic);
    match found?.1 {
        Column::Texts(texts) => Some(names.text((*texts.get(row)?)?).to_owned()),
        Column::Integers(numbers) => numbers.get(row).map(|number| number.to_string()),
        _ => None,
    }
}

/// The texts of a column, if it has any.
pub(crate) fn texts<'t>(table: &'t Table, mnemonic: &str) -> Option<&'t [Option<Symbol>]> {
    table.texts(mnemonic).ok()
}

/// Why a table told nothing, and what would make it tell.
pub(crate) fn why_absent(trace: &Trace, schema: &str) -> String {
    let error = trace.table(schema).err();
    let in_input = match error.as_ref().map(metalens_trace::Error::problem) {
        Some(Problem::UnreadableTable { why, .. }) => {
            return format!(
                "{schema} could not be read ({why}): another export of it by xctrace may tell"
            );
        }
        Some(Problem::NoSuchTable { present, .. }) => present.iter().any(|one| one == schema),
        _ => true,
    };
    let recorded = trace.run.tables.iter().any(|table| table.schema == schema);
    if in_input {
        format!(
            "{schema} lacks a column that it needs, or has it in a form that was never compared \
             with an export: an export of it by xctrace may tell"
        )
    } else if recorded {
        format!(
            "the recording has a table {schema}, which is not in the input: export it too, or \
             give the .trace bundle itself"
        )
    } else if trace.run.tables.is_empty() {
        format!(
            "{schema} is not in the input, which has no table of contents to say whether it was \
             recorded: export it too, or give the .trace bundle itself"
        )
    } else {
        format!("the recording has no table {schema}: Metal System Trace records it")
    }
}
