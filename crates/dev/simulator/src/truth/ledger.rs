//! Computes the idle time by cause: each instant of a gap has one cause.
//!
//! ```text
//! GPU    …A)                                                   [B…
//!          a                                                   b
//! host   ----------)completion    [encode … commit)
//!          completion |   host    |    encoding   | submission
//! driver                                           --[·····)submitted
//!                                             driver | driver | start
//!                                             wait            | latency
//! ```
//!
//! A is the row that ends where the gap starts, at `a`; B is the row that starts where it ends, at
//! `b`. If several rows do, A is the last of them in the table, and B the first. If B's command buffer
//! was committed by `a`, and submitted if the recording has the driver's work, the whole gap is queued
//! instead. Completion delays only a host that waits for A before it encodes B. Queued time, submission
//! and start latency in which another process used the GPU are contention. Without the driver's work,
//! the time after the commit is submission latency.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::plan::sweep::{Gap, Segment};
use crate::plan::{Encoder, Kick, Plan};

/// The idle time by cause. The ten causes add up to `total_ns`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Sum of the lengths of all gaps.
    pub total_ns: u64,
    /// Completion latency: the host was not yet notified of A's completion.
    pub completion_ns: u64,
    /// Host work: the host was notified, and did not encode.
    pub host_ns: u64,
    /// Encoding: the host encoded B.
    pub encoding_ns: u64,
    /// Driver wait: B was committed, and the driver had not begun to work on it.
    #[serde(default)]
    pub driver_wait_ns: u64,
    /// Driver: the driver worked on B, up to its submission to the GPU.
    #[serde(default)]
    pub driver_ns: u64,
    /// GPU start latency: B was submitted, and did not start.
    #[serde(default)]
    pub start_latency_ns: u64,
    /// Submission latency: B was encoded and had not reached the GPU, of which nothing more is recorded.
    pub submission_ns: u64,
    /// Queued: B had been submitted before A ended, and did not start.
    pub queued_ns: u64,
    /// Contention: start latency, submission latency or queued time in which another process used the GPU.
    pub contention_ns: u64,
    /// Unknown: the recording lacks A's completion or B's encoding.
    pub unknown_ns: u64,
    /// Joinable pairs in which B's encoding started at or after A's completion.
    pub serialized: u64,
    /// Pairs for which the recording has A's completion and B's encoding.
    pub joinable: u64,
    /// Number of gaps; each is between one pair of A and B.
    pub pairs: u64,
}

/// The facts about the rows around a gap.
struct Pair<'a> {
    gap_start_ns: u64,
    /// Time when the host was notified of A's completion.
    completed_ns: u64,
    /// Encoder of B, with the time of its encoding.
    encoding: &'a Encoder,
    /// Time when B's command buffer was committed.
    committed_ns: u64,
    /// Times when the driver began to work on it, and submitted it; `None` if that is not recorded.
    driver: Option<(u64, u64)>,
}

/// Adds up the causes of all gaps. `known` returns whether the recording has an encoding.
pub(super) fn ledger(
    plan: &Plan,
    own: &[&Kick],
    segments: &[Segment],
    gaps: &[Gap],
    known: fn(&Encoder) -> bool,
) -> Ledger {
    let neighbors = Neighbors::new(own, gaps);
    let mut ledger = Ledger::default();
    for gap in gaps {
        let pair = neighbors
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
    /// Cuts a segment where the cause changes, and adds each part to its cause.
    fn add_segment(&mut self, pair: &Pair<'_>, segment: &Segment) {
        let (begins_ns, submitted_ns) = pair.driver.unzip();
        let mut cuts: Vec<u64> = [pair.completed_ns, pair.encoding.start_ns, pair.committed_ns]
            .into_iter()
            .chain(begins_ns)
            .chain(submitted_ns)
            .filter(|at_ns| (segment.from_ns..segment.to_ns).contains(at_ns))
            .chain([segment.from_ns, segment.to_ns])
            .collect();
        cuts.sort_unstable();

        for part in cuts.windows(2) {
            *self.cause(pair, part[0], segment.foreign > 0) += part[1] - part[0];
        }
    }

    /// Returns the cause that an instant of a gap belongs to.
    fn cause(&mut self, pair: &Pair<'_>, at_ns: u64, foreign: bool) -> &mut u64 {
        let (begins_ns, submitted_ns) = pair.driver.unwrap_or_default();
        let queued = pair.committed_ns.max(submitted_ns) <= pair.gap_start_ns;
        if queued {
            if foreign {
                &mut self.contention_ns
            } else {
                &mut self.queued_ns
            }
        } else if pair.is_serialized() && at_ns < pair.completed_ns {
            &mut self.completion_ns
        } else if at_ns < pair.encoding.start_ns {
            &mut self.host_ns
        } else if at_ns < pair.committed_ns {
            &mut self.encoding_ns
        } else if at_ns < begins_ns {
            &mut self.driver_wait_ns
        } else if at_ns < submitted_ns {
            &mut self.driver_ns
        } else if foreign {
            &mut self.contention_ns
        } else if pair.driver.is_some() {
            &mut self.start_latency_ns
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

/// The rows that end where a gap starts, and those that start where a gap ends.
struct Neighbors<'a> {
    closing: FxHashMap<u64, Option<&'a Kick>>,
    opening: FxHashMap<u64, Option<&'a Kick>>,
}

impl<'a> Neighbors<'a> {
    /// Finds the rows around each gap. `own` are the process's rows in the table's order.
    fn new(own: &[&'a Kick], gaps: &[Gap]) -> Self {
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

    /// Returns the pair around a gap, if the recording has A's completion.
    fn pair<'p>(&self, plan: &'p Plan, gap: &Gap) -> Option<Pair<'p>> {
        let closing = self.closing.get(&gap.from_ns).copied().flatten()?;
        let opening = self.opening.get(&gap.to_ns).copied().flatten()?;
        let buffer = plan.buffer(closing.buffer);
        let encoding = plan.encoder(opening.encoder);
        let next = plan.buffer(opening.buffer);
        buffer.completion_recorded.then_some(Pair {
            gap_start_ns: gap.from_ns,
            completed_ns: buffer.completed_ns,
            encoding,
            committed_ns: next.committed_ns.max(encoding.end_ns()),
            driver: plan
                .has_chain
                .then_some((next.driver_begins_ns, opening.submitted_ns)),
        })
    }
}
