//! Splits every gap by cause.
//!
//! ```text
//! GPU     …A)                                                     [B…
//!           a                                                     b
//! program  ------------)A completed [B encoded … commit)
//!           completion | host work  |     encoding     | submission
//!           latency    c            s                  k latency
//! driver                                                --[B······)submitted
//!                                            waiting for | driver  | GPU start
//!                                           k the driver d         u latency
//! ```
//!
//! A closes the busy stretch before the gap, B opens the next. `c` is a completion, here of A's
//! command buffer, `s` the start of B's encoding, and `k` the commit of B's command buffer, which is
//! never before the end of B's encoding. A command buffer may hold many encoders: the program
//! still encodes the others between the end of B's encoding and the commit.
//!
//! * `d` and `u` are the driver's start and its submission of B. Where both are recorded, the walk
//!   from `k` is *waiting for the driver* until `d`, *driver* until `u`, then *GPU start latency*;
//!   if `u` is not after `a`, the GPU had the work, and the gap is *queued*. Where they are not
//!   recorded, it is *submission latency*, and *queued* if `k` is not after `a`.
//! * If B's thread waited before it encoded B, `c` is the completion that it waited for: the walk from
//!   `a` to `b` is *completion latency* until `c`, *host work* until `s`, *encoding* until `k`, then
//!   *submission latency*. A wait in the middle of the encoding is *completion latency*, too.
//! * If it did not wait, completion delayed nothing: the walk is *host work* until `s`, *encoding*
//!   until `k`, then *submission latency*.
//! * What B waited for is the replay's answer. Of very many command buffers, only some are replayed: the
//!   others count as if they waited for A, unless the program is known not to wait.
//!
//! Each part is clamped to the gap, so that the parts sum to it exactly. The part of *queued*,
//! *submission latency* and *GPU start latency* during which another process held the GPU is
//! *contention*. The cause of a gap is *unknown* if A has no completion or B no encoding; in a log,
//! which has every commit, only until `k`.
//!
//! A gap that the edge of the window cuts is walked whole and then cut, so that the causes of two
//! adjacent windows sum to those of both together.

use metalens_message::Ns;

use crate::basics::spans::{Span, pieces, time_in};
use crate::report::{Cause, GapParts, IdleTime, Recovered, Report, WaitVerdict};
use crate::subject::Subject;
use crate::subject::chain::{Chain, DriverTimes};
use crate::subject::commands::{Commands, Encoding, FoundIn};
use crate::subject::gaps::{Edges, Gap};
use crate::subject::interval::Interval;
use crate::subject::submissions::Submissions;
use crate::subject::waits::{Awaited, Waits};

/// Splits gaps by cause.
#[derive(Clone, Copy)]
pub(crate) struct GapSplitter<'a> {
    /// GPU intervals of the process in the window; gaps have their indices.
    pub mine: &'a [Interval],
    /// GPU intervals of the process next to the window.
    pub edges: Edges,
    /// Encodings and completions of the process.
    pub commands: &'a Commands,
    /// The driver's work on the command buffers of the process.
    pub chain: &'a Chain,
    /// Submissions of the process, and what they waited for.
    pub submissions: &'a Submissions,
    pub waits: &'a Waits,
    /// Union of the intervals of other processes.
    pub others: &'a [Span],
    /// True if a command-buffer log has the commits.
    pub is_log: bool,
}

/// Gap with its causes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitGap {
    /// Time of the gap by cause.
    pub parts: GapParts,
    /// Completion and encoding at the ends of the gap.
    pub pair: Pair,
    /// Part of the gap that host work caused.
    pub host: Span,
}

/// Completion and encoding of the two intervals around a gap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// Time at which the program was notified of the completion that B waited for, or of A's.
    pub completed_ns: Option<u64>,
    /// Encoding of the next work, B.
    pub encoding: Option<Encoding>,
    /// Commit of B's command buffer; `None` if unknown.
    pub committed_ns: Option<u64>,
    /// The driver's work on B; `None` if it is not recorded.
    pub driver: Option<DriverTimes>,
    /// True if A and B are of one command buffer.
    pub same_buffer: bool,
    /// True if B's thread waited for the completion.
    pub waits: bool,
    /// Wait of B's thread in the middle of the encoding.
    pub within: Option<Span>,
    /// True if a command-buffer log has the commit.
    pub is_logged: bool,
}

impl Pair {
    fn is_joined(&self) -> bool {
        self.completed_ns.is_some() && self.encoding.is_some()
    }

    /// Returns whether the program waited before it began to encode B; `None` if either time is unknown.
    pub(crate) fn is_serialized(&self) -> Option<bool> {
        let is_later = self.encoding?.span.start_ns >= self.completed_ns?;
        Some(is_later && self.waits)
    }
}

impl<'a> GapSplitter<'a> {
    /// Returns the splitter for a report's subject.
    pub(crate) fn new(subject: &'a Subject) -> Self {
        Self {
            mine: &subject.mine,
            edges: subject.edges,
            commands: &subject.commands,
            chain: &subject.chain,
            submissions: &subject.submissions,
            waits: &subject.waits,
            others: &subject.others.busy,
            is_log: subject.others.are_unrecorded,
        }
    }

    /// Splits a gap, and sums its time by cause.
    pub(crate) fn split(&self, gap: &Gap) -> SplitGap {
        let (stretches, pair) = self.walked(gap);
        let [_, (host, _), ..] = stretches;
        SplitGap {
            parts: parts(stretches, self.others),
            pair,
            host,
        }
    }

    /// Splits a gap into stretches that tile it, in order of time, each with its cause.
    pub(crate) fn stretches(&self, gap: &Gap) -> impl Iterator<Item = (Span, Cause)> + use<'a> {
        contended(self.walked(gap).0, self.others)
    }

    /// Returns whether the intervals before and after a gap are of one command buffer, which was
    /// committed once.
    pub(crate) fn is_inside_buffer(&self, gap: &Gap) -> bool {
        let buffer = |interval: &Interval| interval.command_buffer;
        let before = self.before(gap).and_then(buffer);
        let after = self.after(gap).and_then(buffer);
        before == after && before.is_some_and(|buffer| !self.commands.is_reused(buffer))
    }

    fn walked(&self, gap: &Gap) -> (Stretches, Pair) {
        let (before, after) = (self.before(gap), self.after(gap));
        let buffer = before.and_then(|interval| interval.command_buffer);
        let completed_ns = buffer.and_then(|buffer| self.commands.completion(buffer));
        let same_buffer = self.is_inside_buffer(gap);
        let awaited = after.filter(|_| !same_buffer);
        let awaited = awaited.and_then(|interval| self.awaited(interval));
        let completion = |place: usize| {
            let completed_ns = self.submissions.list.get(place)?.completed_ns?;
            u64::try_from(completed_ns).ok()
        };
        let awaited_ns = awaited.and_then(|awaited| completion(awaited.before?));
        let within = awaited.and_then(|awaited| awaited.within);
        // The gap before the window cut it.
        let whole = Span::new(
            before.map_or(gap.span.start_ns, |interval| {
                interval.span.end_ns.min(gap.span.start_ns)
            }),
            after.map_or(gap.span.end_ns, |interval| {
                interval.span.start_ns.max(gap.span.end_ns)
            }),
        );
        let pair = Pair {
            completed_ns: awaited_ns.or(completed_ns),
            encoding: after.and_then(|interval| self.commands.encoding(interval)),
            committed_ns: after.and_then(Interval::committed_ns),
            driver: after.and_then(|interval| self.chain.times(interval)),
            waits: match awaited {
                // What completed before the last work, and before the gap, held nothing up.
                Some(_) => awaited_ns >= Some(whole.start_ns.min(completed_ns.unwrap_or(u64::MAX))),
                None => !same_buffer && self.waits.summary.verdict != WaitVerdict::DoesNotWait,
            },
            within: within.and_then(|within| {
                let from_ns = u64::try_from(within.from_ns).ok()?;
                Some(Span::new(from_ns, completion(within.place)?.max(from_ns)))
            }),
            same_buffer,
            is_logged: self.is_log,
        };

        let stretches = walk(whole, &pair).map(|(span, cause)| (span.clip(gap.span), cause));
        (stretches, pair)
    }

    /// Returns what the command buffer of an interval waited for; `None` if it was not replayed.
    fn awaited(&self, interval: &Interval) -> Option<Awaited> {
        let (id, committed_ns) = (interval.command_buffer?, interval.committed_ns()?);
        let place = self.submissions.place_of(id, committed_ns)?;
        self.waits.likely.get(place).copied()
    }

    fn before(&self, gap: &Gap) -> Option<&Interval> {
        match gap.before() {
            Some(index) => self.mine.get(index),
            None => self.edges.before.as_ref(),
        }
    }

    fn after(&self, gap: &Gap) -> Option<&Interval> {
        match gap.after() {
            Some(index) => self.mine.get(index),
            None => self.edges.after.as_ref(),
        }
    }
}

/// Stretches of a gap by cause, end to end; those that do not apply are empty. Contention is not split
/// off yet.
type Stretches = [(Span, Cause); 8];

/// Walks through a gap.
fn walk(gap: Span, pair: &Pair) -> Stretches {
    match pair.committed_ns {
        Some(committed_ns) if pair.is_logged && !pair.is_joined() => halves(gap, committed_ns),
        _ => walk_causes(gap, pair),
    }
}

/// Divides a gap of which only the commit is known: not committed, and committed but not started.
fn halves(gap: Span, committed_ns: u64) -> Stretches {
    let at_ns = committed_ns.clamp(gap.start_ns, gap.end_ns);
    let later = if committed_ns <= gap.start_ns {
        Cause::Queued
    } else {
        Cause::Submission
    };
    let mut stretches = [(Span::new(at_ns, at_ns), Cause::Unknown); 8];
    let [first, .., last] = &mut stretches;
    first.0 = Span::new(gap.start_ns, at_ns);
    *last = (Span::new(at_ns, gap.end_ns), later);
    stretches
}

fn walk_causes(gap: Span, pair: &Pair) -> Stretches {
    /// Causes of all stretches but the last, in order of time.
    const CAUSES: [Cause; 7] = [
        Cause::Completion,
        Cause::Host,
        Cause::Encoding,
        Cause::Completion,
        Cause::Encoding,
        Cause::DriverWait,
        Cause::Driver,
    ];
    let (ends, last) = ends(gap, pair);
    let mut from_ns = gap.start_ns;
    let mut until = |end_ns: u64| {
        let span = Span::new(from_ns, end_ns.clamp(from_ns, gap.end_ns));
        from_ns = span.end_ns;
        span
    };
    let mut stretches = [(Span::new(gap.end_ns, gap.end_ns), last); 8];
    let known = ends.into_iter().zip(CAUSES).chain([(gap.end_ns, last)]);
    for (stretch, (end_ns, cause)) in stretches.iter_mut().zip(known) {
        *stretch = (until(end_ns), cause);
    }
    stretches
}

/// Returns the ends of all stretches but the last, and the cause of the last one.
fn ends(gap: Span, pair: &Pair) -> ([u64; 7], Cause) {
    let (Some(completed_ns), Some(encoding)) = (pair.completed_ns, pair.encoding) else {
        return ([0; 7], Cause::Unknown);
    };
    let encoding = encoding.span;
    let committed_ns = pair.committed_ns.unwrap_or(0).max(encoding.end_ns);
    let (begins_ns, submitted_ns, last) = match pair.driver {
        Some(driver) => (driver.begins_ns, driver.submitted_ns, Cause::StartLatency),
        None => (0, 0, Cause::Submission),
    };
    let left_ns = pair.driver.map_or(committed_ns, |_| submitted_ns);
    if left_ns.max(committed_ns) <= gap.start_ns {
        return ([0; 7], Cause::Queued);
    }
    let within = pair.within.unwrap_or(Span::new(0, 0));
    let ends = [
        // Completion delays only a program that waits for it.
        if pair.is_serialized() == Some(true) {
            completed_ns
        } else {
            0
        },
        encoding.start_ns,
        within.start_ns,
        within.end_ns,
        committed_ns,
        begins_ns,
        submitted_ns,
    ];
    (ends, last)
}

/// Returns the times of other processes that count as contention in a stretch of this cause.
fn contending(cause: Cause, others: &[Span]) -> &[Span] {
    match cause {
        Cause::StartLatency | Cause::Submission | Cause::Queued => others,
        _ => &[],
    }
}

fn parts(stretches: Stretches, others: &[Span]) -> GapParts {
    let mut parts = GapParts::default();
    for (span, cause) in stretches {
        let others_ns = time_in(span, contending(cause, others));
        *parts.get_mut(cause) += Ns(span.length_ns() - others_ns);
        parts.contention_ns += Ns(others_ns);
    }
    parts
}

/// Returns the stretches that are not empty, in order of time, with contention split off.
fn contended(
    stretches: Stretches,
    others: &[Span],
) -> impl Iterator<Item = (Span, Cause)> + use<'_> {
    let stretches = stretches.into_iter().filter(|(span, _)| !span.is_empty());
    stretches.flat_map(|(span, cause)| {
        let pieces = pieces(span, contending(cause, others));
        pieces.map(move |(piece, is_contended)| {
            (
                piece,
                if is_contended {
                    Cause::Contention
                } else {
                    cause
                },
            )
        })
    })
}

/// Returns whether the encoder list lost encodings that
/// [`selection_with_recovery`](crate::selection_with_recovery) might find.
pub fn lost_encodings(report: &Report) -> bool {
    let has_list = report.sanity.encoders_listed.is_some();
    has_list && report.idle.without_encoding > 0 && report.idle.recovered.is_none()
}

/// Sums split gaps, in any order.
#[derive(Debug, Default)]
pub(crate) struct IdleTotals {
    idle: IdleTime,
    recovered: Recovered,
}

impl IdleTotals {
    /// Adds one gap to the sums.
    pub(crate) fn add(&mut self, gap: &SplitGap) {
        let (idle, parts, pair) = (&mut self.idle, &gap.parts, &gap.pair);
        idle.parts.add(parts);
        idle.total_ns += parts.total_ns();
        idle.pairs += 1;
        idle.joinable += u64::from(pair.is_joined());
        idle.between_buffers += u64::from(pair.is_joined() && !pair.same_buffer);
        if pair.is_serialized() == Some(true) {
            idle.serialized += 1;
            idle.round_trips_ns += parts.completion_ns + parts.after_commit_ns();
            idle.round_trips_contended_ns += parts.contention_ns;
        }

        idle.without_completion += u64::from(pair.completed_ns.is_none());
        idle.without_encoding += u64::from(pair.encoding.is_none());
        match pair.encoding.map(|encoding| encoding.found_in) {
            Some(FoundIn::Interval) => self.recovered.from_intervals += 1,
            Some(FoundIn::Submission) => self.recovered.from_submissions += 1,
            Some(FoundIn::List) | None => {}
        }
    }

    /// Returns the idle time of all gaps.
    pub(crate) fn finish(self) -> IdleTime {
        let recovered = Some(self.recovered).filter(|recovered| *recovered != Recovered::default());
        IdleTime {
            recovered,
            ..self.idle
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
        others: &[(u64, u64)],
        expected: [u64; 7],
    ) {
        // Without the driver's times.
        let [
            completion,
            host,
            encoding,
            submission,
            queued,
            contention,
            unknown,
        ] = expected;
        let expected = [
            completion, host, encoding, 0, 0, 0, submission, queued, contention, unknown,
        ];
        let pair = pair(completed_ns, encoded);
        let others: Vec<Span> = others.iter().map(|&(a, b)| Span::new(a, b)).collect();
        let parts = parts(walk(Span::new(gap.0, gap.1), &pair), &others);
        assert_eq!(
            parts.by_cause().map(|(_, ns)| ns.0),
            expected,
            "{gap:?} {completed_ns:?} {encoded:?} {others:?}"
        );
    }

    fn pair(completed_ns: Option<u64>, encoded: Option<(u64, u64, u64)>) -> Pair {
        Pair {
            completed_ns,
            encoding: encoded.map(|(start, end, _)| Encoding {
                span: Span::new(start, end),
                found_in: FoundIn::List,
            }),
            committed_ns: encoded.map(|(.., commit)| commit),
            driver: None,
            same_buffer: false,
            waits: true,
            within: None,
            is_logged: false,
        }
    }

    /// Splits gaps whose neighbors have all times.
    ///
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

    /// Splits the time after the commit at the driver's start, 44, and its submission, 46.
    ///
    /// ```text
    ///          10        20        30        40        50
    /// GPU      )A                                      [B
    /// program  --------completed     [encoded)   )commit
    /// driver                                        [44··)46
    /// ```
    #[test]
    fn the_drivers_times_split_the_time_after_the_commit() {
        let check = |commit, driver: (u64, u64), others: &[Span], expected: [u64; 10]| {
            let pair = Pair {
                driver: Some(DriverTimes {
                    begins_ns: driver.0,
                    submitted_ns: driver.1,
                }),
                ..pair(Some(20), Some((commit - 13, commit - 6, commit)))
            };
            let parts = parts(walk(Span::new(10, 50), &pair), others);
            assert_eq!(
                parts.by_cause().map(|(_, ns)| ns.0),
                expected,
                "{commit} {driver:?}"
            );
        };
        check(41, (44, 46), &[], [10, 8, 13, 3, 2, 4, 0, 0, 0, 0]);
        // Another process on the GPU does not delay the driver.
        let other = [Span::new(42, 48)];
        check(41, (44, 46), &other, [10, 8, 13, 3, 2, 2, 0, 0, 2, 0]);
        // Committed before the gap, submitted in it: the driver has the rest.
        check(9 + 13, (12 + 13, 30), &[], [0, 0, 12, 3, 5, 20, 0, 0, 0, 0]);
        check(13, (20, 30), &[], [0, 0, 3, 7, 10, 20, 0, 0, 0, 0]);
        // Submitted before the gap: the GPU had it.
        let early = Pair {
            driver: Some(DriverTimes {
                begins_ns: 8,
                submitted_ns: 10,
            }),
            ..pair(Some(20), Some((2, 5, 6)))
        };
        assert_eq!(
            parts(walk(Span::new(10, 50), &early), &[]).queued_ns,
            Ns(40)
        );
    }

    #[test]
    fn a_program_that_does_not_wait_has_no_completion_latency() {
        let never = Pair {
            waits: false,
            ..pair(Some(20), Some((28, 35, 41)))
        };
        assert_eq!(never.is_serialized(), Some(false));
        let parts = parts(walk(Span::new(10, 50), &never), &[]);
        assert_eq!((parts.completion_ns, parts.host_ns), (Ns(0), Ns(18)));
    }

    #[test]
    fn a_wait_in_the_middle_of_the_encoding_is_completion_latency() {
        let within = Pair {
            within: Some(Span::new(30, 36)),
            ..pair(Some(20), Some((28, 40, 41)))
        };
        let parts = parts(walk(Span::new(10, 50), &within), &[]);
        let found = (parts.completion_ns, parts.host_ns, parts.encoding_ns);
        assert_eq!(found, (Ns(10 + 6), Ns(8), Ns(2 + 5)));
    }

    #[test]
    fn work_of_other_processes_is_contention() {
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
        /// Whatever the tables say, the parts sum to the gap, and so do the parts of its two
        /// halves.
        #[test]
        fn the_parts_sum_to_the_gap(
            start in 0_u64..60, length in 1_u64..60, cut in 0_u64..120,
            completed in prop::option::of(0_u64..150),
            encoded in prop::option::of((0_u64..150, 0_u64..60, 0_u64..200)),
            driver in prop::option::of((0_u64..150, 0_u64..60)),
            within in prop::option::of((0_u64..150, 0_u64..60)),
            mut others in prop::collection::vec((0_u64..150, 1_u64..20), 0..6),
        ) {
            others.sort_unstable();
            let others = crate::basics::spans::union(
                others.iter().map(|&(start, length)| Span::new(start, start + length)),
            );
            let gap = Span::new(start, start + length);
            let encoded = encoded.map(|(start, long, commit)| (start, start + long, commit));
            let pair = Pair {
                driver: driver.map(|(begins_ns, long)| DriverTimes {
                    begins_ns,
                    submitted_ns: begins_ns + long,
                }),
                within: within.map(|(from, long)| Span::new(from, from + long)),
                ..pair(completed, encoded)
            };
            let stretches = walk(gap, &pair);
            let parts = |stretches| parts(stretches, &others);

            let whole = parts(stretches);
            prop_assert_eq!(whole.total_ns(), Ns(length));

            let (mut at, mut sums) = (gap.start_ns, [Ns(0); Cause::ALL.len()]);
            for (span, cause) in contended(stretches, &others) {
                prop_assert!(span.start_ns == at && !span.is_empty());
                let place = Cause::ALL.iter().position(|&each| each == cause).unwrap();
                sums[place] += Ns(span.length_ns());
                at = span.end_ns;
            }
            prop_assert_eq!(at, gap.end_ns);
            prop_assert_eq!(sums, whole.by_cause().map(|(_, ns)| ns));

            let clip = |to: Span| stretches.map(|(span, cause)| (span.clip(to), cause));
            let mut halves = parts(clip(Span::new(0, cut)));
            halves.add(&parts(clip(Span::new(cut, u64::MAX))));
            prop_assert_eq!(halves, whole);
        }
    }
}
