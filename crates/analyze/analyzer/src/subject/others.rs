//! Collects the GPU use of other processes: all that is known of them once their intervals are
//! dropped.

use metalens_trace::ProcessId;

use super::interval::Interval;
use crate::basics::spans::{Span, extend, touches};

/// GPU use of other processes, and counts over all.
#[derive(Default)]
pub(crate) struct OtherGpuUse {
    /// True if the input has the work of one process alone.
    pub are_unrecorded: bool,
    /// Number of intervals of all processes in the whole recording.
    pub all_intervals: u64,
    /// Number of intervals that name no process.
    pub unattributed: u64,
    /// Number of those in the window.
    pub unattributed_inside: u64,
    /// Union of the intervals of other processes inside the window.
    pub busy: Vec<Span>,
    /// The same union for each of them.
    pub users: UseByProcess,
    /// Time from the first start to the last end of the intervals of all processes.
    pub rows: Option<Span>,
}

impl OtherGpuUse {
    /// Counts an interval of any process. Intervals come in order of their starts.
    pub(super) fn count(&mut self, interval: &Interval) {
        self.all_intervals += 1;
        self.unattributed += u64::from(interval.process.is_none());
        let rows = self.rows.get_or_insert(interval.span);
        rows.end_ns = rows.end_ns.max(interval.span.end_ns);
    }

    /// Adds the part of another process's interval in the window.
    pub(super) fn add(&mut self, interval: &Interval, window: Span) {
        let inside = interval.span.clip(window);
        let is_inside = touches(interval.span, window);
        self.unattributed_inside += u64::from(interval.process.is_none() && is_inside);
        extend(&mut self.busy, inside);
        self.users.add(interval.process, inside);
    }
}

/// Unions of the intervals of each other process, inside the window.
#[derive(Debug, Default)]
pub(crate) struct UseByProcess {
    /// Unions by process; `None` stands for rows that name no process.
    users: Vec<(Option<ProcessId>, Vec<Span>)>,
}

impl UseByProcess {
    /// Returns the processes that used the GPU, each with the union of its intervals.
    pub(crate) fn users(&self) -> impl Iterator<Item = (Option<ProcessId>, &[Span])> {
        let users = self.users.iter().filter(|(_, spans)| !spans.is_empty());
        users.map(|(process, spans)| (*process, spans.as_slice()))
    }

    /// Adds the part of another process's interval in the window; intervals come in order of their
    /// starts.
    pub(crate) fn add(&mut self, process: Option<ProcessId>, inside: Span) {
        // Processes are numbered from 0; index 0 here is for rows that name none.
        let index = process.map_or(0, |process| process.index() + 1);
        if self.users.len() <= index {
            self.users.resize_with(index + 1, || (None, Vec::new()));
        }
        if let Some((user, spans)) = self.users.get_mut(index) {
            *user = process;
            extend(spans, inside);
        }
    }
}
