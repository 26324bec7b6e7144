//! Where a recording shows otherwise than it was: coalesced, pre-empted and unnamed kicks.

use std::num::NonZeroU32;

use super::{EncoderIndex, Kick, NameIndex, Plan};
use crate::scenario::stream::{CoalescedName, Oddities};

/// Whether the thing at `ordinal` (from 0) is an `n`-th one: the n-th, the 2n-th, …
pub(super) fn every(n: Option<NonZeroU32>, ordinal: usize) -> bool {
    n.is_some_and(|n| (ordinal + 1).is_multiple_of(n.get() as usize))
}

/// A pre-empted kick: the same ids twice, a third of the time before the hole.
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

/// A number no kick so far has; `table_order` turns it into an id.
pub(super) fn next_submission(kicks: &[Kick]) -> u32 {
    kicks.last().map_or(0, |kick| kick.submission + 1)
}

/// The encoder part of a row's label.
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
        // The misspelling is Instruments' own.
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
