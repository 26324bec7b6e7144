//! Compares GPU intervals that are computed from raw events with the table that Instruments
//! derived from them.

use metalens_trace::{Names, Trace};

use crate::error::Result;
use crate::subject::interval::Interval;
use crate::subject::raw_intervals::{CHANNELS, raw_intervals};
use crate::subject::timeline::Timeline;
use crate::tables;

/// Numbers of GPU intervals by how raw events and the derived table agree about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawComparison {
    /// Intervals in the derived table, on channels whose raw code is known.
    pub derived: u64,
    /// Intervals in the derived table on other channels, which raw events do not tell of.
    pub other_channels: u64,
    /// Intervals in the raw events, without those after the end.
    pub raw: u64,
    /// Intervals in the raw events that start after the end of the recording, which the derived table
    /// leaves out. If the length of the recording is unknown, its last derived interval is its end.
    pub after_end: u64,
    /// Intervals that both have, with the same start, end and channel.
    pub same: u64,
    /// Intervals of `same` whose command buffer the derived table names.
    pub named: u64,
    /// Intervals of `named` that also have the same command buffer, encoder and process id.
    pub same_names: u64,
    /// Intervals of `same_names` that also have the same commit.
    pub same_commits: u64,
    /// Start of the first interval that only one of the two has, in nanoseconds.
    pub first_difference_ns: Option<u64>,
}

impl RawComparison {
    /// Returns whether both have the same intervals.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.same == self.derived && self.same == self.raw && self.same_names == self.named
    }
}

/// Compares the two, on a trace that was read with
/// [`selection_with_raw_events`](crate::selection_with_raw_events); `None` unless both are there.
pub fn compare_raw(trace: Trace) -> Result<Option<RawComparison>> {
    let (mut recording, tables) = tables::take(trace)?;
    let names = &mut recording.names;
    let Ok(derived) = Timeline::derived(tables.gpu, names) else {
        return Ok(None);
    };
    let Some(raw) = raw_intervals(tables.raw, names) else {
        return Ok(None);
    };
    let last = derived
        .intervals
        .iter()
        .map(|interval| interval.span.end_ns)
        .max();
    let end_ns = recording.run.duration_ns.or(last);
    let (raw, after_end): (Vec<Interval>, Vec<Interval>) = raw
        .into_iter()
        .partition(|interval| end_ns.is_none_or(|end_ns| interval.span.start_ns < end_ns));
    Ok(Some(RawComparison {
        after_end: after_end.len() as u64,
        ..compared(derived.intervals, raw, names)
    }))
}

fn compared(mut derived: Vec<Interval>, mut raw: Vec<Interval>, names: &Names) -> RawComparison {
    let key = |interval: &Interval| {
        let channel = interval.channel.map(|channel| names.text(channel));
        let ids = (interval.command_buffer, interval.encoder);
        (interval.span, channel, ids)
    };
    let rows = derived.len();
    derived.retain(|interval| key(interval).1.is_some_and(|name| CHANNELS.contains(&name)));
    derived.sort_by_key(key);
    raw.sort_by_key(key);

    let mut comparison = RawComparison {
        derived: derived.len() as u64,
        other_channels: (rows - derived.len()) as u64,
        raw: raw.len() as u64,
        ..RawComparison::default()
    };
    let (mut derived, mut raw) = (derived.iter().peekable(), raw.iter().peekable());
    while let (Some(this), Some(that)) = (derived.peek(), raw.peek()) {
        let (left, right) = ((this.span, this.channel), (that.span, that.channel));
        if left == right {
            comparison.add(this, that, names);
            derived.next();
            raw.next();
        } else {
            let first = this.span.start_ns.min(that.span.start_ns);
            comparison.first_difference_ns.get_or_insert(first);
            if (this.span, key(this).1) < (that.span, key(that).1) {
                derived.next();
            } else {
                raw.next();
            }
        }
    }

    if let Some(rest) = derived.next().or(raw.next()) {
        comparison
            .first_difference_ns
            .get_or_insert(rest.span.start_ns);
    }
    comparison
}

impl RawComparison {
    fn add(&mut self, derived: &Interval, raw: &Interval, names: &Names) {
        let pid = |interval: &Interval| names.process(interval.process?)?.pid;
        self.same += 1;
        if derived.command_buffer.is_none() {
            return;
        }
        self.named += 1;
        let ids = |interval: &Interval| (interval.command_buffer, interval.encoder);
        if ids(derived) == ids(raw) && pid(derived) == pid(raw) {
            self.same_names += 1;
            self.same_commits += u64::from(derived.committed == raw.committed);
        }
    }
}
