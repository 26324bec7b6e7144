//! Splits every gap by cause.
//!
//! ```text
//! GPU     …A)                                                     [B…
//!           a                                                     b
//! program  ------------)A completed [B encoded … commit)
//!           completion | host work  |     encoding     | submission
//!           latency    c            s                  k latency
//! ```
//!
//! A closes the busy stretch before the gap, B opens the next. `c` is the completion of A's
//! command buffer, `s` the start of B's encoding, and `k` the commit of B's command buffer, which is
//! never before the end of B's encoding. A command buffer may hold many encoders: the program
//! still encodes the others between the end of B's encoding and the commit.
//!
//! * If `k` is not after `a`, the GPU had the work: the gap is *queued*.
//! * If the program waited for A (`s` is not before `c`), the walk from `a` to `b` is *completion
//!   latency* until `c`, *host work* until `s`, *encoding* until `k`, then *submission latency*.
//! * If it did not wait, completion delayed nothing: the walk is *host work* until `s`, *encoding*
//!   until `k`, then *submission latency*.
//!
//! Each part is clamped to the gap, so that the parts sum to it exactly. The part of *queued* and
//! *submission latency* during which another process held the GPU is *contention*. The cause of a
//! gap is *unknown* if A has no completion or B no encoding.
//!
//! A gap that the edge of the window cuts is walked whole and then cut, so that the causes of two
//! adjacent windows sum to those of both together.

use crate::basics::spans::{Span, parted, time_in};
use crate::report::{Cause, GapParts, IdleTime, Recovered, Report};
use crate::subject::Subject;
use crate::subject::commands::{Commands, Encoding, FoundIn};
use crate::subject::gaps::{Edges, Gap};
use crate::subject::timeline::Interval;

/// What the walking of gaps needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Book<'a> {
    /// The target's intervals in the window; gaps name their places.
    pub mine: &'a [Interval],
    /// Those of the target's next to the window.
    pub edges: Edges,
    /// Encodings and completions.
    pub commands: &'a Commands,
    /// When others were on the GPU.
    pub foreign: &'a [Span],
}

/// One gap, explained.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Where its time went.
    pub parts: GapParts,
    /// What was known of it.
    pub pair: Pair,
    /// The part of it in which the program was at work on something else.
    pub host: Span,
}

/// What is known of the two intervals around a gap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// When A's completion was known.
    pub completed_ns: Option<u64>,
    /// B's encoding.
    pub encoding: Option<Encoding>,
    /// The commit of B's command buffer, if its row tells it.
    pub committed_ns: Option<u64>,
    /// Whether A and B are of one command buffer.
    pub same_buffer: bool,
}

impl Pair {
    fn is_joined(&self) -> bool {
        self.completed_ns.is_some() && self.encoding.is_some()
    }

    /// Whether the program waited for A before it began with B.
    /// Unknown where either is.
    pub(crate) fn is_serialized(&self) -> Option<bool> {
        Some(self.encoding?.span.start_ns >= self.completed_ns?)
    }
}

impl<'a> Book<'a> {
    /// Of a report's subject.
    pub(crate) fn of(subject: &'a Subject) -> Self {
        Self {
            mine: &subject.mine,
            edges: subject.edges,
            commands: &subject.commands,
            foreign: &subject.others.busy,
        }
    }

    /// Explains a gap.
    pub(crate) fn entry(&self, gap: &Gap) -> Entry {
        let (walk, pair) = self.walk(gap);
        Entry {
            parts: self.parts(&walk),
            pair,
            host: walk.host,
        }
    }

    /// The same gap in order of time: stretches that tile it, each with its cause.
    pub(crate) fn stretches(&self, gap: &Gap) -> impl Iterator<Item = (Span, Cause)> + use<'a> {
        let (walk, _) = self.walk(gap);
        walk.stretches(self.foreign)
    }

    /// Whether the intervals before and after a gap are of one command buffer.
    pub(crate) fn is_inside_buffer(&self, gap: &Gap) -> bool {
        let buffer = self.before(gap).and_then(|one| one.command_buffer);
        buffer.is_some() && buffer == self.after(gap).and_then(|one| one.command_buffer)
    }

    fn walk(&self, gap: &Gap) -> (Walk, Pair) {
        let (before, after) = (self.before(gap), self.after(gap));
        let buffer = before.and_then(|one| one.command_buffer);
        let pair = Pair {
            completed_ns: buffer.and_then(|buffer| self.commands.completion(buffer)),
            encoding: after.and_then(|one| self.commands.encoding(one)),
            committed_ns: after.and_then(Interval::committed_ns),
            same_buffer: self.is_inside_buffer(gap),
        };
        let whole = Span::new(
            before.map_or(gap.span.start_ns, |one| {
                one.span.end_ns.min(gap.span.start_ns)
            }),
            after.map_or(gap.span.end_ns, |one| {
                one.span.start_ns.max(gap.span.end_ns)
            }),
        );
        (Walk::of(whole, &pair).clip(gap.span), pair)
    }

    fn parts(&self, walk: &Walk) -> GapParts {
        let foreign_queued = time_in(walk.queued, self.foreign);
        let foreign_submission = time_in(walk.submission, self.foreign);
        GapParts {
            completion_ns: walk.completion.length_ns(),
            host_ns: walk.host.length_ns(),
            encoding_ns: walk.encoding.length_ns(),
            submission_ns: walk.submission.length_ns() - foreign_submission,
            queued_ns: walk.queued.length_ns() - foreign_queued,
            contention_ns: foreign_queued + foreign_submission,
            unknown_ns: walk.unknown.length_ns(),
        }
    }

    fn before(&self, gap: &Gap) -> Option<&Interval> {
        match gap.before() {
            Some(at) => self.mine.get(at),
            None => self.edges.before.as_ref(),
        }
    }

    fn after(&self, gap: &Gap) -> Option<&Interval> {
        match gap.after() {
            Some(at) => self.mine.get(at),
            None => self.edges.after.as_ref(),
        }
    }
}

/// A gap's stretches, end to end in this order; those that do not apply are empty.
#[derive(Debug, Clone, Copy)]
struct Walk {
    completion: Span,
    host: Span,
    encoding: Span,
    submission: Span,
    queued: Span,
    unknown: Span,
}

impl Walk {
    fn of(gap: Span, pair: &Pair) -> Self {
        let nothing = Span::new(gap.start_ns, gap.start_ns);
        let mut walk = Self {
            completion: nothing,
            host: nothing,
            encoding: nothing,
            submission: nothing,
            queued: nothing,
            unknown: nothing,
        };
        let (Some(completed_ns), Some(encoding)) = (pair.completed_ns, pair.encoding) else {
            walk.unknown = gap;
            return walk;
        };
        let encoding = encoding.span;
        let committed_ns = pair.committed_ns.unwrap_or(0).max(encoding.end_ns);
        if committed_ns <= gap.start_ns {
            walk.queued = gap;
            return walk;
        }

        let mut at = gap.start_ns;
        let mut until = |end_ns: u64| {
            let span = Span::new(at, end_ns.clamp(at, gap.end_ns));
            at = span.end_ns;
            span
        };
        // Completion delays only a program that waits for it.
        if encoding.start_ns >= completed_ns {
            walk.completion = until(completed_ns);
        }
        walk.host = until(encoding.start_ns);
        walk.encoding = until(committed_ns);
        walk.submission = until(gap.end_ns);
        walk
    }

    /// What of it took time, in order of time; what others held the GPU for apart.
    fn stretches(self, foreign: &[Span]) -> impl Iterator<Item = (Span, Cause)> + use<'_> {
        let nobody: &[Span] = &[];
        let all = [
            (self.completion, Cause::Completion, nobody),
            (self.host, Cause::Host, nobody),
            (self.encoding, Cause::Encoding, nobody),
            (self.submission, Cause::Submission, foreign),
            (self.queued, Cause::Queued, foreign),
            (self.unknown, Cause::Unknown, nobody),
        ];
        let all = all.into_iter().filter(|(span, ..)| !span.is_empty());
        all.flat_map(|(span, cause, foreign)| {
            let parts = parted(span, foreign);
            parts.map(move |(part, is_foreign)| match is_foreign {
                true => (part, Cause::Contention),
                false => (part, cause),
            })
        })
    }

    fn clip(self, to: Span) -> Self {
        Self {
            completion: self.completion.clip(to),
            host: self.host.clip(to),
            encoding: self.encoding.clip(to),
            submission: self.submission.clip(to),
            queued: self.queued.clip(to),
            unknown: self.unknown.clip(to),
        }
    }
}

/// Whether the encoder list lost encodings that
/// [`selection_with_recovery`](crate::selection_with_recovery) might find.
#[must_use]
pub fn lost_encodings(report: &Report) -> bool {
    let has_list = report.sanity.encoders_listed.is_some();
    has_list && report.idle.without_encoding > 0 && report.idle.recovered.is_none()
}

/// Adds up the entries of all gaps, in any order.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    ledger: IdleTime,
    recovered: Recovered,
}

impl Totals {
    /// Books one gap.
    pub(crate) fn add(&mut self, entry: &Entry) {
        let (ledger, parts, pair) = (&mut self.ledger, &entry.parts, &entry.pair);
        ledger.parts.add(parts);
        ledger.total_ns += parts.total_ns();
        ledger.pairs += 1;
        ledger.joinable += u64::from(pair.is_joined());
        ledger.between_buffers += u64::from(pair.is_joined() && !pair.same_buffer);
        if pair.is_serialized() == Some(true) {
            ledger.serialized += 1;
            ledger.round_trips_ns += parts.completion_ns + parts.submission_ns;
        }
        ledger.without_completion += u64::from(pair.completed_ns.is_none());
        ledger.without_encoding += u64::from(pair.encoding.is_none());
        match pair.encoding.map(|encoding| encoding.found_in) {
            Some(FoundIn::Interval) => self.recovered.from_intervals += 1,
            Some(FoundIn::Submission) => self.recovered.from_submissions += 1,
            Some(FoundIn::List) | None => {}
        }
    }

    /// The ledger.
    pub(crate) fn finish(self) -> IdleTime {
        let recovered = Some(self.recovered).filter(|all| *all != Recovered::default());
        IdleTime {
            recovered,
            ..self.ledger
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks the parts of a gap in the order of [`Cause::ALL`]; `encoded` is the encoding's start,
    /// its end, and the commit.
    fn check(
        gap: (u64, u64),
        completed_ns: Option<u64>,
        encoded: Option<(u64, u64, u64)>,
        foreign: &[(u64, u64)],
        expected: [u64; 7],
    ) {
        let pair = pair(completed_ns, encoded);
        let foreign: Vec<Span> = foreign.iter().map(|&(a, b)| Span::new(a, b)).collect();
        let parts =
            book(&foreign, &Commands::default()).parts(&Walk::of(Span::new(gap.0, gap.1), &pair));
        assert_eq!(
            parts.by_cause().map(|(_, ns)| ns),
            expected,
            "{gap:?} {completed_ns:?} {encoded:?} {foreign:?}"
        );
    }

    fn book<'a>(foreign: &'a [Span], commands: &'a Commands) -> Book<'a> {
        Book {
            mine: &[],
            edges: Edges::default(),
            commands,
            foreign,
        }
    }

    fn pair(completed_ns: Option<u64>, encoded: Option<(u64, u64, u64)>) -> Pair {
        Pair {
            completed_ns,
            encoding: encoded.map(|(start, end, _)| Encoding {
                span: Span::new(start, end),
                found_in: FoundIn::List,
            }),
            committed_ns: encoded.map(|(.., commit)| commit),
            same_buffer: false,
        }
    }

    /// ```text
    ///          10        20        30        40        50
    /// GPU      )A                                      [B
    /// program  --------completed     [encoded)   )commit
    /// ```
    #[test]
    fn gaps_are_split_at_the_commit() {
        let gap = (10, 50);
        let encoded = Some((28, 35, 41));
        check(gap, Some(20), encoded, &[], [10, 8, 13, 9, 0, 0, 0]);
        // A commit before the end of the encoding is not one: some rows have no latency.
        check(
            gap,
            Some(20),
            Some((28, 35, 0)),
            &[],
            [10, 8, 7, 15, 0, 0, 0],
        );
        // Completed before the GPU's own end, or after B started.
        check(gap, Some(5), encoded, &[], [0, 18, 13, 9, 0, 0, 0]);
        check(
            gap,
            Some(90),
            Some((95, 99, 99)),
            &[],
            [40, 0, 0, 0, 0, 0, 0],
        );
        // Encoded, as the tables have it, only after B ran.
        check(
            gap,
            Some(20),
            Some((60, 70, 70)),
            &[],
            [10, 30, 0, 0, 0, 0, 0],
        );
    }

    #[test]
    fn completion_delays_only_a_program_that_waits() {
        let gap = (10, 50);
        check(
            gap,
            Some(20),
            Some((15, 35, 41)),
            &[],
            [0, 5, 26, 9, 0, 0, 0],
        );
        check(
            gap,
            Some(20),
            Some((2, 35, 41)),
            &[],
            [0, 0, 31, 9, 0, 0, 0],
        );
        check(
            gap,
            Some(20),
            Some((12, 18, 19)),
            &[],
            [0, 2, 7, 31, 0, 0, 0],
        );
    }

    #[test]
    fn work_that_was_committed_before_the_gap_is_queued() {
        let gap = (10, 50);
        check(gap, Some(20), Some((2, 8, 9)), &[], [0, 0, 0, 0, 40, 0, 0]);
        check(gap, Some(20), Some((2, 8, 10)), &[], [0, 0, 0, 0, 40, 0, 0]);
        // Encoded before, committed after: the program was still encoding the rest.
        check(
            gap,
            Some(20),
            Some((2, 8, 30)),
            &[],
            [0, 0, 20, 20, 0, 0, 0],
        );
    }

    #[test]
    fn others_on_the_gpu() {
        let gap = (10, 50);
        let others = [(0, 22), (30, 40), (48, 60)];
        // Only submission latency is theirs: the program would not have been faster alone.
        let encoded = Some((28, 35, 35));
        check(gap, Some(20), encoded, &others, [10, 8, 7, 8, 0, 7, 0]);
        check(
            gap,
            Some(20),
            Some((2, 9, 9)),
            &others,
            [0, 0, 0, 0, 16, 24, 0],
        );
    }

    #[test]
    fn without_a_completion_or_an_encoding_the_cause_is_unknown() {
        let nothing = [0, 0, 0, 0, 0, 0, 40];
        check((10, 50), None, Some((28, 35, 35)), &[(0, 60)], nothing);
        check((10, 50), Some(20), None, &[(0, 60)], nothing);
    }

    proptest! {
        /// Whatever the tables say, however absurd: the parts are the gap, and
        /// so are the parts of its two halves.
        #[test]
        fn the_parts_are_the_gap(
            start in 0_u64..60, length in 1_u64..60, cut in 0_u64..120,
            completed in prop::option::of(0_u64..150),
            encoded in prop::option::of((0_u64..150, 0_u64..60, 0_u64..200)),
            mut foreign in prop::collection::vec((0_u64..150, 1_u64..20), 0..6),
        ) {
            foreign.sort_unstable();
            let foreign = crate::basics::spans::union(
                foreign.iter().map(|&(start, long)| Span::new(start, start + long)),
            );
            let commands = Commands::default();
            let book = book(&foreign, &commands);
            let gap = Span::new(start, start + length);
            let encoded = encoded.map(|(start, long, commit)| (start, start + long, commit));
            let walk = Walk::of(gap, &pair(completed, encoded));
            let whole = book.parts(&walk);
            prop_assert_eq!(whole.total_ns(), length);
            let (mut at, mut sums) = (gap.start_ns, [0; 7]);
            for (span, cause) in walk.stretches(&foreign) {
                prop_assert!(span.start_ns == at && !span.is_empty());
                let place = Cause::ALL.iter().position(|&one| one == cause).unwrap();
                sums[place] += span.length_ns();
                at = span.end_ns;
            }
            prop_assert_eq!(at, gap.end_ns);
            prop_assert_eq!(sums, whole.by_cause().map(|(_, ns)| ns));
            let mut halves = book.parts(&walk.clip(Span::new(0, cut)));
            halves.add(&book.parts(&walk.clip(Span::new(cut, u64::MAX))));
            prop_assert_eq!(halves, whole);
        }
    }
}
