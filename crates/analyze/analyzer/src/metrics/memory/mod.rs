//! Computes which Metal memory the process allocated, for whom, and for how long.

pub(crate) mod callers;
pub(crate) mod lives;
mod phases;
mod steps;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use metalens_message::{Bytes, Ns};
use metalens_text::number::Float;
use metalens_trace::{Names, ProcessId, StackId};
use rustc_hash::FxHashMap;

use self::callers::{Caller, caller};
use self::lives::{Life, Lives};
use self::steps::Steps;
use crate::basics::spans::Span;
use crate::basics::statistics::summarize;
use crate::report::{
    CountedBytes, Lifetimes, Memory, MemoryGroup, MemoryProcess, NotRecorded, Turnover,
};
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::signposts::Signposts;
use crate::tables::allocations::AllocationTables;
use crate::tables::allocations::{Allocations, RESOURCES, RESOURCES_BEFORE};
use crate::tables::reader::AbsentTable;

/// Largest number of callers, labels or processes in a report.
const LISTED: usize = 20;

/// Input of the figures.
pub(crate) struct MemoryInput<'a> {
    pub chosen: &'a ChosenProcesses,
    pub names: &'a Names,
    pub window: Span,
    /// Starts of the steps in the window.
    pub starts: Vec<u64>,
    pub signposts: &'a Signposts,
}

/// Returns the memory of the process, or why it is unknown.
pub(crate) fn memory(
    tables: AllocationTables,
    input: &MemoryInput<'_>,
) -> Result<Memory, NotRecorded> {
    let (table, schema) = first_table(tables)?;
    let lives = Lives::read(&table, input.names);
    drop(table);
    Ok(figures(&lives, schema, input))
}

/// Returns the table of allocations with its name, or why there is none.
pub(crate) fn first_table(
    tables: AllocationTables,
) -> Result<(Allocations, &'static str), NotRecorded> {
    match (tables.resources, tables.before) {
        (Ok(table), _) => Ok((table, RESOURCES.schema)),
        (Err(_), Ok(table)) => Ok((table, RESOURCES_BEFORE.schema)),
        (Err(absent), Err(before)) => {
            // Of the older one if only that has rows, or is in the recording.
            let has = |absent: &AbsentTable| (absent.rows.is_some(), !absent.is_unrecorded);
            let gone = if has(&before) > has(&absent) {
                before
            } else {
                absent
            };
            Err(NotRecorded::new("memory", gone.why))
        }
    }
}

fn figures(lives: &Lives, schema: &str, input: &MemoryInput<'_>) -> Memory {
    let mine: Vec<Life> = lives
        .made
        .iter()
        .copied()
        .filter(|life| input.chosen.contains(life.process))
        .collect();
    let not_made = lives.unborn.iter();
    let unborn = not_made.filter(|life| input.chosen.contains(life.process));
    let (window, names) = (input.window, input.names);
    let in_window = turnover(&mine, window);
    let (peak_bytes, peak_at_ns) = peak(&mine);
    let steps = Steps::new(&input.starts);
    // Many allocations have the same stack.
    let mut of_stack: FxHashMap<Option<StackId>, Caller> = FxHashMap::default();
    let (callers, callers_count) = groups(&mine, steps.as_ref(), names, |life| {
        *of_stack
            .entry(life.stack)
            .or_insert_with(|| caller(life.stack, names).unwrap_or_default())
    });
    let (labels, labels_count) = groups(&mine, steps.as_ref(), names, |life| {
        let label = life.label.filter(|&label| !is_unnamed(names.text(label)));
        (label, None)
    });

    let (phases, outside_phases) = phases::phases(&mine, input.signposts, input.chosen, names);

    Memory {
        table: schema.to_owned(),
        whole: turnover(&mine, Span::new(0, u64::MAX)),
        before_window: turnover(&mine, Span::new(0, window.start_ns)),
        in_window,
        after_window: turnover(&mine, Span::new(window.end_ns, u64::MAX)),
        allocations_per_s: per_s(in_window.allocations, window),
        bytes_per_s: per_s(in_window.bytes.0, window),
        freed_from_before: counted(unborn.map(|life| life.bytes)),
        live: live(&mine),
        peak_bytes: Bytes(peak_bytes),
        peak_at_ns: peak_at_ns.map(Ns),
        lifetimes: lifetimes(&mine),
        steps: steps.map(|steps| steps.figures(&mine)),
        phases,
        outside_phases,
        callers,
        callers_count,
        labels,
        labels_count,
        processes: processes(&lives.made, input),
        without_stack: mine.iter().filter(|life| life.stack.is_none()).count() as u64,
        unread: lives.unread,
    }
}

/// Returns whether Metal made up a label from the id of the resource.
fn is_unnamed(label: &str) -> bool {
    label.is_empty() || label.starts_with("Resource 0x")
}

/// Returns what was allocated and freed in a stretch of time.
fn turnover(lives: &[Life], span: Span) -> Turnover {
    turnover_when(lives, |at_ns| (span.start_ns..span.end_ns).contains(&at_ns))
}

/// Returns what was allocated and freed at times with a property.
fn turnover_when(lives: &[Life], has: impl Fn(u64) -> bool) -> Turnover {
    let mut sum = Turnover::default();
    for life in lives {
        if has(life.born_ns) {
            sum.allocations += 1;
            sum.inside_others += u64::from(life.is_inside);
            sum.bytes = sum.bytes.saturating_add(Bytes(life.bytes));
        }
        if life.freed_ns.is_some_and(&has) {
            sum.freed += 1;
            sum.freed_bytes = sum.freed_bytes.saturating_add(Bytes(life.bytes));
        }
    }
    sum
}

fn counted(bytes: impl Iterator<Item = u64>) -> CountedBytes {
    bytes.fold(CountedBytes::default(), |sum, bytes| CountedBytes {
        count: sum.count + 1,
        bytes: sum.bytes.saturating_add(Bytes(bytes)),
    })
}

fn live(lives: &[Life]) -> CountedBytes {
    let live = lives.iter().filter(|life| life.freed_ns.is_none());
    counted(live.map(|life| life.bytes))
}

fn per_s(amount: u64, window: Span) -> Option<f64> {
    let seconds = window.length_ns().float() / 1e9;
    (seconds > 0.0).then(|| amount.float() / seconds)
}

/// Returns the largest number of live bytes, and when they were first reached. What is freed at a
/// moment makes room for what is allocated then.
fn peak(lives: &[Life]) -> (u64, Option<u64>) {
    let births = lives.iter().map(|life| (life.born_ns, true, life.bytes));
    let ends = lives
        .iter()
        .filter_map(|life| Some((life.freed_ns?, false, life.bytes)));
    let mut events: Vec<(u64, bool, u64)> = births.chain(ends).collect();
    events.sort_unstable();

    let (mut now, mut peak, mut at_ns) = (0_i128, 0_i128, None);
    for (time_ns, is_birth, bytes) in events {
        now += i128::from(bytes) * if is_birth { 1 } else { -1 };
        if is_birth && (now > peak || at_ns.is_none()) {
            (peak, at_ns) = (now, Some(time_ns));
        }
    }
    (u64::try_from(peak).unwrap_or(u64::MAX), at_ns)
}

fn lifetimes(lives: &[Life]) -> Option<Lifetimes> {
    let length = |life: &Life| Some(life.freed_ns?.saturating_sub(life.born_ns));
    let mut lengths: Vec<u64> = lives.iter().filter_map(length).collect();
    let statistics = summarize(&mut lengths)?;
    Some(Lifetimes {
        count: statistics.count,
        median_ns: Ns(statistics.median),
        p95_ns: Ns(statistics.p95),
        max_ns: Ns(statistics.max),
    })
}

/// Returns the groups with the most bytes, then the most allocations, and the number of all.
fn groups(
    lives: &[Life],
    steps: Option<&Steps>,
    names: &Names,
    mut key: impl FnMut(&Life) -> Caller,
) -> (Vec<MemoryGroup>, u64) {
    let mut by_key: FxHashMap<Caller, Vec<Life>> = FxHashMap::default();
    for life in lives {
        by_key.entry(key(life)).or_default().push(*life);
    }

    let count = by_key.len() as u64;
    let text = |symbol| names.text(symbol).to_owned();
    let mut groups: Vec<MemoryGroup> = by_key
        .into_iter()
        .map(|((name, binary), lives)| MemoryGroup {
            name: name.map(text),
            binary: binary.map(text),
            allocations: lives.len() as u64,
            bytes: counted(lives.iter().map(|life| life.bytes)).bytes,
            live: live(&lives),
            steps: steps.and_then(|steps| steps.of_group(&lives)),
        })
        .collect();
    groups.sort_by_cached_key(|group| {
        let largest = Reverse((group.bytes, group.allocations));
        (largest, group.name.clone(), group.binary.clone())
    });
    groups.truncate(LISTED);
    (groups, count)
}

/// Returns all processes with allocations.
fn processes(lives: &[Life], input: &MemoryInput<'_>) -> Vec<MemoryProcess> {
    let mut by_process: FxHashMap<Option<ProcessId>, Vec<Life>> = FxHashMap::default();
    for life in lives {
        by_process.entry(life.process).or_default().push(*life);
    }

    let mut processes: Vec<MemoryProcess> = by_process
        .into_iter()
        .map(|(id, lives)| {
            let process = id.and_then(|id| input.names.process(id));
            MemoryProcess {
                name: process.map(|process| input.names.text(process.name).to_owned()),
                pid: process.and_then(|process| process.pid),
                is_analyzed: input.chosen.contains(id),
                allocations: lives.len() as u64,
                bytes: counted(lives.iter().map(|life| life.bytes)).bytes,
                peak_bytes: Bytes(peak(&lives).0),
                live: live(&lives),
            }
        })
        .collect();
    processes.sort_by_cached_key(|process| {
        let most = Reverse(process.bytes);
        (most, process.name.clone(), process.pid)
    });
    processes.truncate(LISTED);
    processes
}
