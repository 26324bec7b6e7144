//! Everyone else on the GPU: all that is known of them once their intervals are dropped.

use metalens_trace::ProcessId;

use super::timeline::Interval;
use crate::basics::spans::{Span, extend};

/// What is known of everyone's intervals when only the target's are left.
#[derive(Default)]
pub(crate) struct Others {
    /// Everyone's, in the whole recording.
    pub all_intervals: u64,
    /// Those that name no process.
    pub unattributed: u64,
    /// When others were on the GPU inside the window.
    pub busy: Vec<Span>,
    /// The same by process.
    pub users: ForeignUse,
    /// From the first start to the last end of everyone's.
    pub rows: Option<Span>,
}

impl Others {
    /// Counts anyone's interval, in order of their starts.
    pub(super) fn count(&mut self, one: &Interval) {
        self.all_intervals += 1;
        self.unattributed += u64::from(one.process.is_none());
        let rows = self.rows.get_or_insert(one.span);
        rows.end_ns = rows.end_ns.max(one.span.end_ns);
    }

    /// Takes in what an interval of somebody else has in the window.
    pub(super) fn add(&mut self, one: &Interval, window: Span) {
        let inside = one.span.clip(window);
        extend(&mut self.busy, inside);
        self.users.add(one.process, inside);
    }
}

/// When each other process was on the GPU, inside the window: all that is
/// known of them once their intervals are dropped.
#[derive(Debug, Default)]
pub(crate) struct ForeignUse {
    /// By process; `None` is the rows that name nobody.
    users: Vec<(Option<ProcessId>, Vec<Span>)>,
}

impl ForeignUse {
    /// Returns who was on the GPU, and when.
    pub(crate) fn users(&self) -> impl Iterator<Item = (Option<ProcessId>, &[Span])> {
        let users = self.users.iter().filter(|(_, spans)| !spans.is_empty());
        users.map(|(process, spans)| (*process, spans.as_slice()))
    }

    /// Takes in what an interval of somebody else has in the window; they come in
    /// order of their starts.
    pub(crate) fn add(&mut self, process: Option<ProcessId>, inside: Span) {
        // Processes are numbered from 0; nobody comes first.
        let at = process.map_or(0, |process| process.index() + 1);
        if self.users.len() <= at {
            self.users.resize_with(at + 1, || (None, Vec::new()));
        }
        if let Some((user, spans)) = self.users.get_mut(at) {
            *user = process;
            extend(spans, inside);
        }
    }
}
