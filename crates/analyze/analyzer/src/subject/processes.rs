//! Computes the GPU use of each process.

use metalens_trace::{Names, Process, ProcessId};

use super::interval::Interval;
use crate::basics::spans::{RunningUnion, Span, touches};

/// GPU use of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessUse {
    /// Id of the process in the trace.
    pub id: ProcessId,
    /// Name and pid of the process.
    pub process: Process,
    /// Number of its GPU intervals.
    pub intervals: u64,
    /// Length of the union of its intervals, in nanoseconds.
    pub busy_ns: u64,
}

/// Returns all processes that used the GPU within a window, the busiest first; then by name and
/// pid.
pub(crate) fn usage(intervals: &[Interval], window: Span, names: &Names) -> Vec<ProcessUse> {
    let mut usage = UsageCollector::default();
    for interval in intervals {
        usage.add(interval, window);
    }
    usage.finish(names)
}

/// Collects the GPU use of each process from intervals that come in order of their starts.
#[derive(Debug, Default)]
pub(crate) struct UsageCollector {
    // Processes are numbered from 0: a list is faster than a map, for each of a million intervals.
    running: Vec<RunningUnion>,
}

impl UsageCollector {
    /// Adds the part of an interval in the window.
    pub(crate) fn add(&mut self, interval: &Interval, window: Span) {
        let Some(id) = interval.process.filter(|_| touches(interval.span, window)) else {
            return;
        };
        if self.running.len() <= id.index() {
            self.running
                .resize_with(id.index() + 1, RunningUnion::default);
        }
        if let Some(running) = self.running.get_mut(id.index()) {
            running.add(interval.span.clip(window));
        }
    }

    /// Returns all processes with intervals, in the order of [`usage`].
    pub(crate) fn finish(self, names: &Names) -> Vec<ProcessUse> {
        let mut used: Vec<ProcessUse> = names
            .processes()
            .zip(self.running)
            .filter(|(_, running)| running.intervals > 0)
            .map(|((id, process), running)| ProcessUse {
                id,
                process,
                intervals: running.intervals,
                busy_ns: running.busy_ns,
            })
            .collect();
        used.sort_by_key(|usage| {
            let name = names.text(usage.process.name);
            (std::cmp::Reverse(usage.busy_ns), name, usage.process.pid)
        });
        used
    }
}
