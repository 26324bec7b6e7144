//! Joins allocations and deallocations to lives of resources.
//!
//! A row is one event. The row of a deallocation has the time that the resource lived. A resource
//! that lived before the recording has a deallocation only: it was not made in the recording. One
//! without a deallocation is live at the end of the recording, also if its process has ended.

use metalens_trace::{Names, ProcessId, StackId, Symbol, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tables::allocations::Allocations;
use crate::tables::columns::at;

/// Value of `parent-resource-id` without a parent.
const NO_PARENT: u64 = u64::MAX;

/// Method of the frame that makes a buffer inside another one. Its row has the size of the other.
const INSIDE_ANOTHER: &str = "initWithPrimaryBuffer:";

/// Resource that was made in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub process: Option<ProcessId>,
    pub thread: Option<ThreadId>,
    pub born_ns: u64,
    /// Time of its deallocation; `None` if it is live at the end of the recording.
    pub freed_ns: Option<u64>,
    /// Memory of its own in bytes: 0 if it lies inside another resource.
    pub bytes: u64,
    /// True if it lies inside another resource.
    pub is_inside: bool,
    pub label: Option<Symbol>,
    pub stack: Option<StackId>,
}

/// Deallocation of a resource whose allocation was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unborn {
    pub process: Option<ProcessId>,
    pub bytes: u64,
}

/// Lives of all resources.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    /// Resources that were made in the recording, in order of their times.
    pub made: Vec<Life>,
    /// Resources that lived before the recording, and were freed in it.
    pub unborn: Vec<Unborn>,
    /// Number of rows without a time or an id, or with another event.
    pub unread: u64,
}

impl Lives {
    /// Reads the table.
    pub(crate) fn read(table: &Allocations, names: &Names) -> Self {
        let mut rows: Vec<usize> = (0..table.times.len()).collect();
        rows.sort_by_key(|&row| table.times.get(row));

        let inside = made_inside(table, names);
        let mut lives = Self::default();
        // Ids are used again after a deallocation.
        let mut live: FxHashMap<(Option<ProcessId>, u64), usize> = FxHashMap::default();
        for row in rows {
            let event = at(&table.events, row).map(|event| names.text(event));
            let (Some(time_ns), Some(id)) = (table.times.get(row), table.ids.get(row)) else {
                lives.unread += 1;
                continue;
            };

            let process = at(&table.processes, row);
            let bytes = table.sizes.get(row).unwrap_or(0);
            match event {
                Some("Allocation") => {
                    let parent = table.parents.get(row).filter(|&id| id != NO_PARENT);
                    let in_parent = parent.is_some_and(|id| live.contains_key(&(process, id)));
                    let stack = at(&table.stacks, row);
                    let is_inside = in_parent || stack.is_some_and(|stack| inside.contains(&stack));
                    let before = live.insert((process, id), lives.made.len());
                    // An id that is used again is free: its deallocation is missing.
                    lives.end(before, time_ns);
                    lives.made.push(Life {
                        process,
                        thread: at(&table.threads, row),
                        born_ns: time_ns,
                        freed_ns: None,
                        bytes: if is_inside { 0 } else { bytes },
                        is_inside,
                        label: at(&table.labels, row),
                        stack,
                    });
                }
                Some("Deallocation") => match live.remove(&(process, id)) {
                    Some(life) => lives.end(Some(life), time_ns),
                    None => lives.unborn.push(Unborn { process, bytes }),
                },
                _ => lives.unread += 1,
            }
        }
        lives
    }

    fn end(&mut self, life: Option<usize>, freed_ns: u64) {
        if let Some(life) = life.and_then(|life| self.made.get_mut(life)) {
            life.freed_ns = Some(freed_ns);
        }
    }
}

/// Returns the stacks that make a buffer inside another one.
fn made_inside(table: &Allocations, names: &Names) -> FxHashSet<StackId> {
    let stacks: FxHashSet<StackId> = table.stacks.iter().flatten().copied().collect();
    let is_inside = |&stack: &StackId| {
        let mut frames = names.stack(stack);
        frames.any(|frame| names.text(frame.name).contains(INSIDE_ANOTHER))
    };
    stacks.into_iter().filter(is_inside).collect()
}
