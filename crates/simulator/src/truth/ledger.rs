//! Splits gaps by cause, by asking of every instant what the GPU was waiting for.
//!
//! ```text
//! GPU    …A)                                                   [B…
//!          a                                                   b
//! host   ----------)completion    [encode … commit)
//!          completion |   host    |    encoding   | submission
//! ```
//!
//! A is the row that closes the busy stretch before the gap (of the rows ending there the last in
//! the table), B the one that opens the next (of those starting there the first). If B's command
//! buffer was committed by `a`, the whole gap is queued. A host that does not wait for A before it
//! encodes B loses nothing to completion. Another process that holds the GPU in queued or
//! submission time is contention.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::sweep::{Gap, Segment};
use crate::plan::{Encoder, Kick, Plan};

/// The idle time by cause. The seven components add up to `total_ns`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// All gaps.
    pub total_ns: u64,
    /// The host had yet to learn of A's completion.
    pub completion_ns: u64,
    /// The host knew, and did not encode.
    pub host_ns: u64,
    /// The host encoded B.
    pub encoding_ns: u64,
    /// B was encoded and under way to the GPU.
    pub submission_ns: u64,
    /// B had been encoded before A ended, and did not start.
    pub queued_ns: u64,
    /// Launch or queued time during which another process held the GPU.
    pub contention_ns: u64,
    /// A's completion or B's encoding is not in the recording.
    pub unknown_ns: u64,
    /// Joinable pairs in which B's encoding started at or after A's completion.
    pub serialized: u64,
    /// Pairs with both A's completion and B's encoding.
    pub joinable: u64,
    /// Gaps; each lies between one pair of A and B.
    pub pairs: u64,
}

/// What is known of the rows around a gap.
struct Pair<'a> {
    gap_start_ns: u64,
    /// When A completed.
    completed_ns: u64,
    /// The encoding of B.
    encoding: &'a Encoder,
    /// When B's command buffer was committed.
    committed_ns: u64,
}

/// Adds up the causes of all gaps; `known` says of which encodings the recording tells.
pub(super) fn ledger(
    plan: &Plan,
    own: &[&Kick],
    (segments, gaps): (&[Segment], &[Gap]),
    known: fn(&Encoder) -> bool,
) -> Ledger {
    let neighbours = Neighbours::of(own, gaps);
    let mut ledger = Ledger::default();
    for gap in gaps {
        let pair = neighbours
            .pair(plan, gap)
            .filter(|pair| known(pair.encoding));
        ledger.pairs += 1;
        ledger.joinable += u64::from(pair.is_some());
        ledger.serialized += u64::from(pair.as_ref().is_some_and(Pair::is_serialized));
        for segment in &segments[gap.segments.clone()] {
            match &pair {
                Some(pair) => ledger.add_segment(pair, segment),
                None => ledger.unknown_ns += segment.to_ns - segment.from_ns,
            }
        }
        ledger.total_ns += gap.length_ns();
    }
    ledger
}

impl Ledger {
    /// Cuts a segment where the cause changes, and books each piece.
    fn add_segment(&mut self, pair: &Pair<'_>, segment: &Segment) {
        let inside = |at_ns: &u64| (segment.from_ns..segment.to_ns).contains(at_ns);
        let mut cuts: Vec<u64> = [pair.completed_ns, pair.encoding.start_ns, pair.committed_ns]
            .into_iter()
            .filter(inside)
            .chain([segment.from_ns, segment.to_ns])
            .collect();
        cuts.sort_unstable();
        for piece in cuts.windows(2) {
            *self.account(pair, piece[0], segment.foreign > 0) += piece[1] - piece[0];
        }
    }

    /// The component an instant of a gap belongs to.
    fn account(&mut self, pair: &Pair<'_>, at_ns: u64, foreign: bool) -> &mut u64 {
        let queued = pair.committed_ns <= pair.gap_start_ns;
        if pair.is_serialized() && at_ns < pair.completed_ns {
            &mut self.completion_ns
        } else if at_ns < pair.encoding.start_ns {
            &mut self.host_ns
        } else if at_ns < pair.committed_ns {
            &mut self.encoding_ns
        } else if foreign {
            &mut self.contention_ns
        } else if queued {
            &mut self.queued_ns
        } else {
            &mut self.submission_ns
        }
    }
}

impl Pair<'_> {
    fn is_serialized(&self) -> bool {
        self.encoding.start_ns >= self.completed_ns
    }
}

/// The rows that end where a gap starts, and start where one ends.
struct Neighbours<'a> {
    closing: FxHashMap<u64, Option<&'a Kick>>,
    opening: FxHashMap<u64, Option<&'a Kick>>,
}

impl<'a> Neighbours<'a> {
    /// Looks through the target's rows in the table's order.
    fn of(own: &[&'a Kick], gaps: &[Gap]) -> Self {
        let mut closing: FxHashMap<_, _> = gaps.iter().map(|gap| (gap.from_ns, None)).collect();
        let mut opening: FxHashMap<_, _> = gaps.iter().map(|gap| (gap.to_ns, None)).collect();
        for kick in own {
            if let Some(last) = closing.get_mut(&kick.end_ns()) {
                *last = Some(*kick);
            }
            if let Some(first) = opening.get_mut(&kick.start_ns) {
                first.get_or_insert(*kick);
            }
        }
        Self { closing, opening }
    }

    /// The pair around a gap, when the recording kept A's completion.
    fn pair<'p>(&self, plan: &'p Plan, gap: &Gap) -> Option<Pair<'p>> {
        let closing = self.closing.get(&gap.from_ns).copied().flatten()?;
        let opening = self.opening.get(&gap.to_ns).copied().flatten()?;
        let buffer = plan.buffer(closing.buffer);
        let encoding = plan.encoder(opening.encoder);
        let committed_ns = plan.buffer(opening.buffer).committed_ns;
        buffer.completion_recorded.then_some(Pair {
            gap_start_ns: gap.from_ns,
            completed_ns: buffer.completed_ns,
            encoding,
            committed_ns: committed_ns.max(encoding.end_ns()),
        })
    }
}
