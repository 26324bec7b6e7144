//! Who used the GPU, and how much of it.

use super::timeline::Interval;
use crate::basics::spans::{Running, Span, touches};

use metalens_trace::{Names, Process, ProcessId};

/// One process's use of the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessUse {
    /// Its number in the trace.
    pub id: ProcessId,
    /// Its name and pid.
    pub process: Process,
    /// Its intervals.
    pub intervals: u64,
    /// The length of their union.
    pub busy_ns: u64,
}

/// Everyone who used the GPU within a window, the busiest first; then by name and pid.
#[must_use]
pub(crate) fn usage(intervals: &[Interval], window: Span, names: &Names) -> Vec<ProcessUse> {
    let mut usage = Usage::default();
    for interval in intervals {
        usage.add(interval, window);
    }
    usage.finish(names)
}

/// The same of intervals that come one by one, in order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    // Processes are numbered from 0: a list is quicker than a map, per interval.
    running: Vec<Running>,
}

impl Usage {
    /// Counts what an interval has in the window.
    pub(crate) fn add(&mut self, interval: &Interval, window: Span) {
        let Some(id) = interval.process.filter(|_| touches(interval.span, window)) else {
            return;
        };
        if self.running.len() <= id.index() {
            self.running.resize_with(id.index() + 1, Running::default);
        }
        if let Some(running) = self.running.get_mut(id.index()) {
            running.add(interval.span.clip(window));
        }
    }

    /// All that were counted, in order.
    #[must_use]
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
        used.sort_by(|a, b| {
            let key = |one: &ProcessUse| (names.text(one.process.name).to_owned(), one.process.pid);
            b.busy_ns.cmp(&a.busy_ns).then_with(|| key(a).cmp(&key(b)))
        });
        used
    }
}
