//! Gives kicks the oddities of real recordings: coalesced encoders, and kicks split by preemption.

use std::num::NonZeroU32;

use crate::plan::{EncoderIndex, Kick, NameIndex, Plan};
use crate::values::stream::{CoalescedName, Oddities};

/// Returns whether the item at `ordinal` (from 0) ends a group of `period` items. Without a period,
/// no item does.
pub(super) fn every(period: Option<NonZeroU32>, ordinal: usize) -> bool {
    period.is_some_and(|period| (ordinal + 1).is_multiple_of(period.get() as usize))
}

/// Splits a preempted kick into two with the same ids. The first has a third of the time.
///
/// ```text
/// planned   [---------)
/// shown     [--)    [------)
///              ^hole^
/// ```
pub(super) fn split(kick: Kick, hole_ns: u64) -> Vec<Kick> {
    let before_ns = (kick.duration_ns / 3).max(1);
    let after = Kick {
        start_ns: kick.start_ns + before_ns + hole_ns,
        duration_ns: kick.duration_ns - before_ns,
        ..kick.clone()
    };
    let before = Kick {
        duration_ns: before_ns,
        ..kick
    };
    vec![before, after]
}

/// Returns a number that no kick has so far; `table_order` turns it into an id.
pub(super) fn next_submission(kicks: &[Kick]) -> u32 {
    kicks.last().map_or(0, |kick| kick.submission + 1)
}

/// Returns the encoder part of a row's label.
pub(super) fn kick_label(
    plan: &mut Plan,
    odd: &Oddities,
    first: EncoderIndex,
    count: u8,
) -> NameIndex {
    let label = plan.encoder(first).label;
    if count < 2 {
        return label;
    }

    let joined = match odd.coalesced_name {
        // Instruments itself misspells the word.
        CoalescedName::Count => format!("Coelasced {count} Encoders"),
        CoalescedName::Labels => {
            let encoders = &plan.encoders[first.get()..first.get() + usize::from(count)];
            let labels: Vec<&str> = encoders
                .iter()
                .map(|encoder| plan.labels.text(encoder.label))
                .collect();
            labels.join(" & ")
        }
    };
    plan.labels.index_of(&joined)
}
