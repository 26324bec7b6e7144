//! Who used the GPU, and how much of it.

use metalens_trace::{Names, Process, ProcessId};
use rustc_hash::FxHashMap;

use crate::spans::Span;
use crate::timeline::Interval;

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
    let mut running: FxHashMap<ProcessId, Running> = FxHashMap::default();
    for interval in intervals
        .iter()
        .filter(|interval| touches(interval.span, window))
    {
        if let Some(id) = interval.process {
            running
                .entry(id)
                .or_default()
                .add(interval.span.clip(window));
        }
    }
    let mut used: Vec<ProcessUse> = running
        .into_iter()
        .filter_map(|(id, running)| {
            Some(ProcessUse {
                id,
                process: names.process(id)?,
                intervals: running.intervals,
                busy_ns: running.busy_ns,
            })
        })
        .collect();
    used.sort_by(|a, b| {
        let key = |one: &ProcessUse| (names.text(one.process.name).to_owned(), one.process.pid);
        b.busy_ns.cmp(&a.busy_ns).then_with(|| key(a).cmp(&key(b)))
    });
    used
}

/// Whether an interval belongs to a window: it has time in it, or has no
/// length and lies in it, edges included.
#[must_use]
pub(crate) fn touches(span: Span, window: Span) -> bool {
    let overlaps = span.start_ns < window.end_ns && span.end_ns > window.start_ns;
    overlaps
        || (span.is_empty() && window.start_ns <= span.start_ns && span.start_ns <= window.end_ns)
}

/// The length of a union of spans that come in order of their starts.
#[derive(Debug, Default)]
struct Running {
    intervals: u64,
    busy_ns: u64,
    busy_until: u64,
}

impl Running {
    fn add(&mut self, span: Span) {
        self.intervals += 1;
        let fresh_from = span.start_ns.max(self.busy_until);
        self.busy_ns += span.end_ns.saturating_sub(fresh_from);
        self.busy_until = self.busy_until.max(span.end_ns);
    }
}
