//! Makes collapsed stacks of samples, the format that flame-graph tools read.
//!
//! One line per distinct stack: `process;thread;outermost;…;innermost 1000000`. The number is
//! the summed weight in the table's own unit, nanoseconds for `time-profile`. Nothing is
//! rounded, since the tools only add the numbers up.
//!
//! Ids of processes and threads are different in each run, so that they are left out, and threads
//! with one name become one. So are the hashes at the end of Rust's names, which are different in
//! each build.

use metalens_trace::{Names, StackId, ThreadId};

use super::samples::Sample;
use super::tally::{is_address, tally_by};
use crate::report::WeightUnit;

/// Collapsed stacks, sorted, each one once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollapsedStacks {
    /// Unit of the numbers.
    pub unit: WeightUnit,
    /// Frames from the outermost, joined by semicolons, with their weight.
    pub lines: Vec<(String, u64)>,
}

impl std::fmt::Display for CollapsedStacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lines = self.lines.iter();
        lines.try_for_each(|(stack, weight)| writeln!(f, "{stack} {weight}"))
    }
}

/// Collapses these samples; stacks without weight are left out.
pub(crate) fn collapse(unit: WeightUnit, mine: &[Sample], names: &Names) -> CollapsedStacks {
    let tallies = tally_by(mine, |sample| (sample.process, sample.thread, sample.stack));
    let mut lines: Vec<(String, u64)> = tallies
        .into_iter()
        .map(|((process, thread, stack), tally)| {
            let process = process.and_then(|id| names.process(id));
            let process_name = process.map_or("[unknown process]".to_owned(), |process| {
                clean(names.text(process.name))
            });
            let line = format!(
                "{process_name};{}{}",
                thread_name(thread, names),
                frames(stack, names)
            );
            (line, tally.weight)
        })
        .collect();

    lines.sort_unstable();
    lines.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    lines.retain(|(_, weight)| *weight > 0);

    CollapsedStacks { unit, lines }
}

/// Returns the name of a thread without its id, and without its process, which the line already has:
/// `Main Thread` of `Main Thread 0x1f (bench, pid: 12)`.
fn thread_name(thread: Option<ThreadId>, names: &Names) -> String {
    let Some(thread) = thread.and_then(|id| names.thread(id)) else {
        return "[unknown thread]".to_owned();
    };

    let display = names.text(thread.display);
    let id_start = display.rfind(" (").filter(|space| {
        let tail = display.get(*space..).unwrap_or("");
        tail.ends_with(')') && tail.contains(", pid: ")
    });
    let end = id_start.unwrap_or(display.len());
    let with_id = display.get(..end).unwrap_or(display);
    let owner = thread.process.and_then(|id| names.process(id));
    let process = owner.map_or("", |process| names.text(process.name));
    match without_id(with_id) {
        // Instruments shows a thread without a name by that of its process.
        "" => "[unnamed thread]".to_owned(),
        name if name == process => "[unnamed thread]".to_owned(),
        name => clean(name),
    }
}

/// Returns the name of a thread without the id at its end.
pub(super) fn without_id(name: &str) -> &str {
    let (before, last) = name.rsplit_once(' ').unwrap_or(("", name));
    if is_address(last) {
        before.trim_end()
    } else {
        name
    }
}

/// Returns the frames as `;outermost;…;innermost`. A function without a symbol is named by its
/// binary.
fn frames(stack: Option<StackId>, names: &Names) -> String {
    let mut frames: Vec<String> = Vec::new();
    for frame in stack.into_iter().flat_map(|stack| names.stack(stack)) {
        let name = names.text(frame.name);
        frames.push(match (is_address(name), frame.binary) {
            (false, _) => clean(without_hash(name)),
            (true, Some(binary)) => format!("[{}]", clean(names.text(binary))),
            (true, None) => "[unknown]".to_owned(),
        });
    }

    if frames.is_empty() {
        frames.push("[no stack]".to_owned());
    }
    frames
        .iter()
        .rev()
        .map(|frame| format!(";{frame}"))
        .collect()
}

/// Returns a name of Rust without the hash at its end, `::h` and 16 digits.
pub(super) fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((before, hash)) if is_hash(hash) => before,
        _ => name,
    }
}

fn is_hash(hash: &str) -> bool {
    hash.len() == 16
        && hash
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Replaces characters that the format uses: a semicolon by a colon, as other tools do, and a
/// line break by a space.
fn clean(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}
