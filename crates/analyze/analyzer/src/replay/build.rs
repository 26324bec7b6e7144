//! Makes a program of the recorded submissions.

use std::sync::Arc;

use metalens_message::ratio;
use metalens_trace::Symbol;
use rustc_hash::FxHashMap;

use super::program::{Change, Command, Delays, DriverWork, Kick, OtherKick, Program};
use crate::basics::follows::{Distances, follows};
use crate::basics::spans::{Span, length_ns, overlap_ns, time_in, united};
use crate::basics::statistics::median;
use crate::report::ChainSource;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::submissions::{Submission, Submissions, Work, signed};
use crate::subject::waits::{Awaited, Waits};

/// Typical delays where a recording shows none, in nanoseconds: medians of recordings of an M1 and an
/// M2 Ultra.
const AFTER_COMMIT_NS: i64 = 9_000;
const AFTER_DRIVER_NS: i64 = 11_000;
const AFTER_SUBMISSION_NS: i64 = 66_000;
const AFTER_GPU_NS: i64 = 700;
/// Longest time after earlier work that its end explains, in nanoseconds. A latency that passes while
/// earlier work runs is longer.
const SOON_AFTER_DRIVER_NS: i64 = 45_000;
const SOON_AFTER_GPU_NS: i64 = 5_000;
/// Smallest number of starts that tell what is typical.
const STARTS: usize = 5;
/// Smallest number of starts of a thread that show what they follow.
const FOLLOWERS: usize = 8;
/// Share of resampled pairs that must agree.
const SURE: f64 = 0.95;
/// Part of two works' time in which they run side by side, as one part in this many, from which on they
/// do not wait for each other.
const BESIDE: u64 = 50;

/// Recorded submissions, and what is known of them.
pub(crate) struct Recorded<'a> {
    pub submissions: &'a Submissions,
    /// Part of the window that is measured; `None` for all of it.
    pub part: Option<Span>,
    /// Length of the part of the window that they are from, in nanoseconds.
    pub part_ns: u64,
    pub kernels: &'a NamedIntervals,
    pub waits: &'a Waits,
    /// Source of the driver's times.
    pub driver: Option<ChainSource>,
    /// Places of the submissions that begin at their time whatever the program does: those that begin
    /// steps of a program that keeps a pace, and those that begin work on a request.
    pub held: &'a [usize],
    /// Places of the submissions that begin a step, with whether the step counts.
    pub steps: Vec<(usize, bool)>,
}

/// Times of a start: the step before it, and the end of earlier work at the same place.
#[derive(Clone, Copy)]
struct Observed {
    step_ns: i64,
    work_end: Option<i64>,
    start_ns: i64,
    /// Longest time after earlier work that its end explains.
    soon_ns: i64,
    /// True if it came later after its step than the first start of the same submission did: the
    /// latency after the step is over, and the earlier work explains the time after it, however long.
    is_late: bool,
}

/// Typical delays of starts.
#[derive(Debug, Clone, Copy)]
struct Typical {
    after_step_ns: i64,
    after_work_ns: i64,
    /// Largest time by which a start after a step may be later than typical.
    tolerance_ns: i64,
}

impl Observed {
    /// Returns whether earlier work at the same place held up the start.
    fn is_behind_work(self) -> bool {
        self.work_end.is_some_and(|end_ns| {
            let rest_ns = self.start_ns - end_ns;
            let is_explained = rest_ns <= self.soon_ns || self.is_late;
            end_ns > self.step_ns && rest_ns >= 0 && is_explained
        })
    }

    /// Returns whether nothing was at work between the step and the start.
    fn is_alone(self) -> bool {
        self.work_end.is_none_or(|end_ns| end_ns <= self.step_ns)
    }

    /// Returns the time before the start that neither the typical delay nor earlier work explains.
    fn unexplained_ns(self, typical: Typical) -> i64 {
        let late_ns = self.start_ns - self.step_ns - typical.after_step_ns;
        if self.is_behind_work() || self.is_late || late_ns <= typical.tolerance_ns {
            return 0;
        }
        let after_work_ns = self
            .work_end
            .map_or(i64::MAX, |end_ns| self.start_ns - end_ns);
        late_ns.min(after_work_ns).max(0)
    }

    /// Returns the delays that give the recorded start.
    fn delays(self, typical: Typical) -> Delays {
        let after_step_ns = self.start_ns - self.step_ns;
        let after_work_ns = self
            .work_end
            .map_or(i64::MIN / 4, |end_ns| self.start_ns - end_ns);
        if self.is_behind_work() {
            Delays {
                after_step_ns: after_step_ns.min(typical.after_step_ns),
                after_work_ns,
                unexplained_ns: 0,
                barrier_ns: (after_work_ns - typical.after_work_ns - SOON_AFTER_GPU_NS).max(0),
            }
        } else {
            Delays {
                after_step_ns,
                after_work_ns: after_work_ns.min(typical.after_work_ns),
                unexplained_ns: self.unexplained_ns(typical),
                barrier_ns: 0,
            }
        }
    }
}

/// Returns the typical delays of some starts.
fn typical(observed: impl Iterator<Item = Observed> + Clone, otherwise: (i64, i64)) -> Typical {
    let alone = observed
        .clone()
        .filter(|each| each.is_alone() && !each.is_late);
    let mut alone: Vec<i64> = alone.map(|each| each.start_ns - each.step_ns).collect();
    let shortest = observed
        .clone()
        .map(|each| each.start_ns - each.step_ns)
        .min();
    let behind = observed.filter(|each| each.is_behind_work());
    let behind = behind.filter_map(|each| Some((each.is_late, each.start_ns - each.work_end?)));
    // Gaps inside a submission stand for those between two, if there are no others.
    let (inside, behind): (Vec<_>, Vec<_>) = behind.partition(|&(is_late, _)| is_late);
    let behind = if behind.is_empty() { inside } else { behind };
    let behind = behind.into_iter().map(|(_, after_work_ns)| after_work_ns);
    alone.sort_unstable();
    let (after_step_ns, tolerance_ns) = match alone.get(alone.len() / 2) {
        Some(&middle) if alone.len() >= STARTS => {
            let apart = median(alone.iter().map(|each| (each - middle).abs()));
            (middle, 4 * apart.unwrap_or(0))
        }
        // A usual delay is no longer than the shortest one.
        _ => {
            let after_step_ns = shortest.unwrap_or(otherwise.0).clamp(0, otherwise.0);
            (after_step_ns, after_step_ns / 2)
        }
    };
    Typical {
        after_step_ns,
        after_work_ns: median(behind).unwrap_or(otherwise.1),
        tolerance_ns: tolerance_ns.max(SOON_AFTER_GPU_NS),
    }
}

/// Numbers of the channels of the GPU.
struct Channels {
    /// Channels of the program's work, by their numbers.
    own: Vec<Option<Symbol>>,
    /// Channels of other processes that are served with one of them.
    others: FxHashMap<Option<Symbol>, usize>,
}

impl Channels {
    fn own(&self, channel: Option<Symbol>) -> Option<usize> {
        self.own.iter().position(|&each| each == channel)
    }

    fn other(&self, channel: Option<Symbol>) -> Option<usize> {
        self.others.get(&channel).copied()
    }
}

fn span(start_ns: i64, end_ns: i64) -> Span {
    let [start_ns, end_ns] = [start_ns, end_ns].map(|ns| u64::try_from(ns).unwrap_or(0));
    Span::new(start_ns, end_ns)
}

/// Returns whether work runs at the same time as that of other processes.
fn is_beside(work: &Work, others: &[Span]) -> bool {
    time_in(span(work.start_ns, work.end_ns), others) > 0
}

/// Returns the time in which each channel is at work.
fn busy(
    work: impl Iterator<Item = (Option<Symbol>, i64, i64)>,
) -> Vec<(Option<Symbol>, Vec<Span>)> {
    let mut busy: Vec<(Option<Symbol>, Vec<Span>)> = Vec::new();
    for (channel, start_ns, end_ns) in work {
        let span = span(start_ns, end_ns);
        match busy.iter_mut().find(|each| each.0 == channel) {
            Some((_, spans)) => spans.push(span),
            None => busy.push((channel, vec![span])),
        }
    }
    for (_, spans) in &mut busy {
        spans.sort_unstable();
        *spans = united(std::mem::take(spans));
    }
    busy
}

/// Work that comes to a channel of the GPU.
struct Arrival {
    arrives_ns: i64,
    start_ns: i64,
    channel: usize,
    of: Customer,
    after: Option<usize>,
    /// Time for which it is held up before it comes.
    late_ns: i64,
}

/// Place of a submission, or of another process's interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Customer {
    Own(usize),
    Other(usize),
}

/// Starts on the GPU, of submissions and of other processes.
struct GpuStarts {
    /// Start of each interval in [`Submissions::work`], with its channel.
    own: Vec<Option<(Observed, usize)>>,
    others: Vec<(usize, Observed, usize)>,
}

impl Recorded<'_> {
    /// Makes the program, with the waits as they look, or with the other answer if the recording does
    /// not tell.
    pub(crate) fn program(&self, waits: &[Awaited]) -> Program {
        let channels = self.channels();
        let drivers = self.driver_starts();
        let typical_driver = typical(
            drivers.iter().flatten().copied(),
            (AFTER_COMMIT_NS, AFTER_DRIVER_NS),
        );
        let mut arrivals = self.arrivals(&channels, &FxHashMap::default());
        let mut gpu = self.gpu_starts(&arrivals, &channels);
        let mut typical_gpu = self.typical_gpu(&gpu);
        let followed = self.followed(&gpu, typical_gpu);
        if !followed.is_empty() {
            arrivals = self.arrivals(&channels, &followed);
            gpu = self.gpu_starts(&arrivals, &channels);
            typical_gpu = self.typical_gpu(&gpu);
        }
        let mut of_arrival: FxHashMap<usize, (Option<usize>, i64)> = FxHashMap::default();
        for arrival in &arrivals {
            if let Customer::Own(place) = arrival.of {
                of_arrival.insert(place, (arrival.after, arrival.late_ns));
            }
        }
        let list = &self.submissions.list;
        let known = list.iter();
        let known = known.filter_map(|each| Some(each.completed_ns? - self.ended_ns(each)));
        let completion_ns = median(known).unwrap_or(0);
        let mut commands: Vec<Command> = Vec::with_capacity(list.len());
        let mut last_of: Vec<Option<i64>> = vec![None; self.submissions.threads.len()];
        let mut turns: FxHashMap<(usize, Option<Symbol>), (usize, i64)> = FxHashMap::default();
        let completed = |place: Option<usize>| list.get(place?)?.completed_ns;
        for (place, submission) in list.iter().enumerate() {
            let begun_ns = submission.encoding_ns.unwrap_or(submission.committed_ns);
            let awaited = waits.get(place).copied().unwrap_or_default();
            let waits_for = awaited.before.filter(|&before| {
                completed(Some(before)).is_some_and(|completed_ns| completed_ns <= begun_ns)
            });
            let last_ns = last_of.get(submission.thread).copied().flatten();
            let free_ns = last_ns.max(completed(waits_for));
            let encoding_ns = begun_ns
                .max(free_ns.unwrap_or(begun_ns))
                .min(submission.committed_ns);
            let within = awaited.within.filter(|within| {
                completed(Some(within.place)).is_some_and(|ns| ns <= submission.committed_ns)
                    && (encoding_ns..=submission.committed_ns).contains(&within.from_ns)
            });
            let (encode_ns, encode_after_ns) = match within {
                None => (submission.committed_ns - encoding_ns, 0),
                Some(within) => {
                    let completed_ns = completed(Some(within.place)).unwrap_or(within.from_ns);
                    let from_ns = within.from_ns.max(completed_ns);
                    (
                        within.from_ns - encoding_ns,
                        submission.committed_ns - from_ns,
                    )
                }
            };
            let is_held = self.held.binary_search(&place).is_ok();
            let driver = submission.driver.zip(drivers.get(place).copied().flatten());
            let (after, late_ns) = of_arrival.get(&place).copied().unwrap_or_default();
            let ended_ns = self.ended_ns(submission);
            let first = self.submissions.work_of(submission).first();
            let turn = first.and_then(|work| {
                let queue = (submission.thread, work.channel);
                let (before, start_ns) = turns.insert(queue, (place, work.start_ns))?;
                (start_ns <= work.start_ns).then_some(before)
            });
            commands.push(Command {
                thread: submission.thread,
                waits_for,
                waits_within: within.map(|within| within.place),
                not_before_ns: (is_held || last_ns.is_none()).then_some(encoding_ns),
                host_ns: free_ns.map_or(0, |free_ns| encoding_ns - free_ns),
                encode_ns,
                encode_after_ns,
                driver: driver.map(|(times, observed)| DriverWork {
                    start: Delays {
                        unexplained_ns: 0,
                        ..observed.delays(typical_driver)
                    },
                    work_ns: signed(submission.driver_end_ns.unwrap_or(times.submitted_ns))
                        - signed(times.begins_ns),
                }),
                after,
                turn_after: turn,
                late_ns,
                kicks: 0..0,
                completion_ns: submission
                    .completed_ns
                    .map_or(completion_ns, |completed_ns| completed_ns - ended_ns),
                is_measured: self.submissions.is_in(submission, self.part),
                steps: self.steps_at(place),
            });
            if let Some(last) = last_of.get_mut(submission.thread) {
                *last = Some(submission.committed_ns);
            }
        }

        let kicks = self.kicks(&gpu, typical_gpu, &mut commands);
        let others = gpu.others.iter().filter_map(|&(index, observed, channel)| {
            let other = self.submissions.others.get(index)?;
            Some(OtherKick {
                arrives_ns: observed.step_ns,
                start: observed.delays(typical_gpu),
                length_ns: other.end_ns - other.start_ns,
                channel,
            })
        });
        let mut program = Program {
            commands,
            kicks: Arc::new(kicks),
            channels: channels.own.len(),
            others: Arc::new(others.collect()),
            is_part: self.part.is_some() || self.submissions.is_part,
            scale: 1.0,
        };
        if self.submissions.is_sample {
            let scale = ratio(self.part_ns, program.time(&Change::NONE));
            program.scale = scale.unwrap_or(1.0);
        }
        program
    }

    fn steps_at(&self, place: usize) -> Option<u32> {
        let found = self.steps.binary_search_by_key(&place, |&(place, _)| place);
        let (_, counts) = self.steps.get(found.ok()?)?;
        Some(u32::from(*counts))
    }

    /// Returns the GPU intervals, those of a thread together, and tells each command its own.
    fn kicks(&self, gpu: &GpuStarts, typical: Typical, commands: &mut [Command]) -> Vec<Kick> {
        let work = self.submissions.others.iter();
        let others = busy(work.map(|other| (None, other.start_ns, other.end_ns))).pop();
        let others = others.map_or_else(Vec::new, |(_, spans)| spans);
        let usual = self.usual_lengths(&others);
        let mut kicks = Vec::with_capacity(self.submissions.work.len());
        let list = &self.submissions.list;
        let mut by_thread: Vec<usize> = (0..list.len()).collect();
        by_thread.sort_by_key(|&place| list.get(place).map(|submission| submission.thread));
        for place in by_thread {
            let (Some(submission), Some(command)) = (list.get(place), commands.get_mut(place))
            else {
                continue;
            };
            let first = kicks.len();
            let began_ns = submission
                .driver
                .map_or(submission.committed_ns, |times| signed(times.begins_ns));
            for index in submission.work.clone() {
                let start = gpu.own.get(index).copied().flatten();
                let (Some(work), Some((observed, channel))) =
                    (self.submissions.work.get(index), start)
                else {
                    continue;
                };
                let start = observed.delays(typical);
                let kernel = self.kernel_of(work);
                let length_ns = work.end_ns - work.start_ns;
                // Beside other processes, a kernel may take longer.
                let lengths = usual.get(&(kernel, false)).zip(usual.get(&(kernel, true)));
                let is_slowed = |(alone, beside): (&i64, &i64)| 10 * beside > 11 * alone;
                let alone = lengths.filter(|&both| is_slowed(both) && is_beside(work, &others));
                kicks.push(Kick {
                    submit_ns: observed.step_ns - began_ns,
                    start,
                    length_ns,
                    alone_ns: alone.map_or(length_ns, |(&alone_ns, _)| alone_ns.min(length_ns)),
                    channel,
                    kernel,
                });
            }
            command.kicks = first..kicks.len();
        }
        kicks
    }

    /// Returns how long each kernel's work usually takes alone, and beside other processes.
    fn usual_lengths(&self, others: &[Span]) -> FxHashMap<(usize, bool), i64> {
        let mut lengths: FxHashMap<(usize, bool), Vec<i64>> = FxHashMap::default();
        let work = self.submissions.work.iter();
        for work in work.filter(|_| !others.is_empty()) {
            let kind = (self.kernel_of(work), is_beside(work, others));
            let length_ns = work.end_ns - work.start_ns;
            lengths.entry(kind).or_default().push(length_ns);
        }
        lengths.retain(|_, lengths| lengths.len() >= STARTS);
        let usual = lengths.into_iter();
        usual
            .filter_map(|(kind, lengths)| Some((kind, median(lengths)?)))
            .collect()
    }

    fn kernel_of(&self, work: &Work) -> usize {
        let kernel = work
            .interval
            .and_then(|index| self.kernels.number_of(index));
        kernel.unwrap_or(usize::MAX)
    }

    /// Returns the channels of the program's work, each with the channels of other processes whose work
    /// runs before or after the program's there, and never beside it.
    fn channels(&self) -> Channels {
        let work = self.submissions.work.iter();
        let own = busy(work.map(|work| (work.channel, work.start_ns, work.end_ns)));
        let work = self.submissions.others.iter();
        let mut others = FxHashMap::default();
        for (channel, work) in busy(work.map(|work| (work.channel, work.start_ns, work.end_ns))) {
            let is_apart = |own: &[Span], is_same: bool| {
                let run = Span::new(
                    own.first().map_or(0, |first| first.start_ns),
                    own.last().map_or(0, |last| last.end_ns),
                );
                let (beside_ns, own_ns) = (overlap_ns(own, &work), length_ns(own));
                let during_ns = time_in(run, &work);
                let work_ns = during_ns.min(own_ns);
                let run_ns = u128::from(run.length_ns().max(1));
                // How long they would be beside each other by chance.
                let chance_ns = u128::from(during_ns) * u128::from(own_ns) / run_ns;
                let is_seldom = beside_ns * BESIDE < work_ns;
                is_seldom && (is_same || chance_ns > u128::from(4 * beside_ns + work_ns / BESIDE))
            };
            let mut places = own.iter();
            let same = places.position(|(each, own)| *each == channel && is_apart(own, true));
            let number = same.or_else(|| own.iter().position(|(_, own)| is_apart(own, false)));
            others.extend(number.map(|number| (channel, number)));
        }
        Channels {
            own: own.into_iter().map(|(channel, _)| channel).collect(),
            others,
        }
    }

    /// Returns what comes to the GPU, in the order in which it is served.
    fn arrivals(&self, channels: &Channels, followed: &FxHashMap<usize, usize>) -> Vec<Arrival> {
        let list = &self.submissions.list;
        let submitted = |submission: &Submission| {
            let first = self.submissions.work_of(submission).first();
            first.map(|work| self.step_ns(submission, work))
        };
        let known = list
            .iter()
            .filter_map(|each| Some(submitted(each)? - each.committed_ns));
        let usual_ns = median(known).unwrap_or(0);
        let own = list.iter().enumerate().filter_map(|(place, submission)| {
            let first = self.submissions.work_of(submission).first()?;
            let event = followed.get(&place).copied();
            let ended_ns = event.and_then(|other| Some(self.ended_ns(list.get(other)?)));
            Some(Arrival {
                arrives_ns: submitted(submission)?.max(ended_ns.unwrap_or(i64::MIN)),
                start_ns: first.start_ns,
                channel: channels.own(first.channel)?,
                of: Customer::Own(place),
                after: event,
                late_ns: 0,
            })
        });
        let others = self.submissions.others.iter().enumerate();
        let others = others.filter_map(|(index, other)| {
            let channel = channels.other(other.channel)?;
            let comes_ns = other
                .committed_ns
                .map_or(other.start_ns, |ns| ns + usual_ns);
            Some(Arrival {
                arrives_ns: comes_ns.min(other.start_ns),
                start_ns: other.start_ns,
                channel,
                of: Customer::Other(index),
                after: None,
                late_ns: 0,
            })
        });
        let mut arrivals: Vec<Arrival> = own.chain(others).collect();
        arrivals.sort_by_key(|each| (each.start_ns, each.arrives_ns));

        // What is served first came first: what seems to have come before it was held up.
        let mut last: Vec<Option<i64>> = vec![None; channels.own.len()];
        for each in &mut arrivals {
            let Some(slot) = last.get_mut(each.channel) else {
                continue;
            };
            if let Some(last_ns) = slot.filter(|&ns| ns >= each.arrives_ns) {
                each.late_ns = last_ns + 1 - each.arrives_ns;
                each.arrives_ns = last_ns + 1;
            }
            *slot = Some(each.arrives_ns);
        }
        arrivals.sort_by_key(|arrival| (arrival.arrives_ns, arrival.of));
        arrivals
    }

    /// Returns the start of each GPU interval with its channel.
    fn gpu_starts(&self, arrivals: &[Arrival], channels: &Channels) -> GpuStarts {
        let mut ends: Vec<Option<i64>> = vec![None; channels.own.len()];
        let mut found = GpuStarts {
            own: vec![None; self.submissions.work.len()],
            others: Vec::new(),
        };
        for arrival in arrivals {
            match arrival.of {
                Customer::Own(place) => {
                    let Some(submission) = self.submissions.list.get(place) else {
                        continue;
                    };
                    let after = arrival
                        .after
                        .and_then(|other| self.submissions.list.get(other));
                    let mut own_end = after.map(|other| self.ended_ns(other));
                    let mut first_latency_ns: Option<i64> = None;
                    let dependency = own_end;
                    for index in submission.work.clone() {
                        let Some(work) = self.submissions.work.get(index) else {
                            continue;
                        };
                        let Some(channel) = channels.own(work.channel) else {
                            continue;
                        };
                        let end = ends.get_mut(channel);
                        let step_ns = self.step_ns(submission, work);
                        let latency_ns = work.start_ns - step_ns;
                        let first_ns = *first_latency_ns.get_or_insert(latency_ns);
                        let work_end = own_end.max(end.as_deref().copied().flatten());
                        let is_event = dependency.is_some() && dependency == work_end;
                        let observed = Observed {
                            step_ns,
                            work_end,
                            start_ns: work.start_ns,
                            soon_ns: if is_event {
                                i64::MAX
                            } else {
                                SOON_AFTER_GPU_NS
                            },
                            is_late: latency_ns > first_ns + SOON_AFTER_GPU_NS,
                        };
                        if let Some(slot) = found.own.get_mut(index) {
                            *slot = Some((observed, channel));
                        }
                        own_end = own_end.max(Some(work.end_ns));
                        if let Some(end) = end {
                            *end = (*end).max(Some(work.end_ns));
                        }
                    }
                }
                Customer::Other(index) => {
                    let other = self.submissions.others.get(index);
                    let channel = other.and_then(|other| channels.other(other.channel));
                    let (Some(other), Some(channel)) = (other, channel) else {
                        continue;
                    };
                    if let Some(end) = ends.get_mut(channel) {
                        let observed = Observed {
                            step_ns: arrival.arrives_ns,
                            work_end: *end,
                            start_ns: other.start_ns,
                            soon_ns: SOON_AFTER_GPU_NS,
                            is_late: false,
                        };
                        found.others.push((index, observed, channel));
                        *end = (*end).max(Some(other.end_ns));
                    }
                }
            }
        }
        found
    }

    /// Returns the typical delays of starts.
    fn typical_gpu(&self, gpu: &GpuStarts) -> Typical {
        let starts = gpu.own.iter().flatten();
        let starts = starts.map(|&(observed, _)| observed);
        typical(starts, (AFTER_SUBMISSION_NS, AFTER_GPU_NS))
    }

    /// Returns the submissions whose start follows the end of another one that ran elsewhere, with that
    /// one: a queue that waits for an event, or work that needs what another channel made.
    fn followed(&self, gpu: &GpuStarts, typical: Typical) -> FxHashMap<usize, usize> {
        let list = &self.submissions.list;
        let mut ends: Vec<Vec<(i64, usize)>> = vec![Vec::new(); self.submissions.threads.len()];
        for (place, submission) in list.iter().enumerate() {
            if let Some(own) = ends.get_mut(submission.thread) {
                own.push((self.ended_ns(submission), place));
            }
        }
        ends.iter_mut().for_each(|own| own.sort_unstable());
        let mut followed = FxHashMap::default();
        for thread in 0..ends.len() {
            let own = self.submissions.of_thread(thread).into_iter();
            let late = own.filter_map(|place| {
                let submission = list.get(place)?;
                let (observed, _) = gpu.own.get(submission.work.start).copied().flatten()?;
                let is_late = observed.unexplained_ns(typical) > 0;
                is_late.then_some((place, submission.kind, observed))
            });
            let late: Vec<(usize, u64, Observed)> = late.collect();
            if late.len() < FOLLOWERS {
                continue;
            }
            let mut nearest: Option<(i64, Vec<(usize, usize)>)> = None;
            for other in &ends {
                let pairs = late.iter().filter_map(|&(place, kind, observed)| {
                    let until = other.partition_point(|&(end_ns, _)| end_ns <= observed.start_ns);
                    let &(end_ns, before) = other.get(until.checked_sub(1)?)?;
                    let distances = Distances {
                        first_ns: observed.start_ns - end_ns,
                        second_ns: observed.start_ns - observed.step_ns,
                        kind,
                    };
                    let is_between = end_ns > observed.step_ns && before != place;
                    is_between.then_some(((place, before), distances))
                });
                let (pairs, distances): (Vec<_>, Vec<_>) = pairs.unzip();
                let answer = follows(&distances);
                let is_nearer = nearest
                    .as_ref()
                    .is_none_or(|&(least_ns, _)| answer.change_ns < least_ns);
                if 4 * pairs.len() >= 3 * late.len() && is_nearer && answer.share >= SURE {
                    nearest = Some((answer.change_ns, pairs));
                }
            }
            followed.extend(nearest.into_iter().flat_map(|(_, pairs)| pairs));
        }
        followed
    }

    /// Returns the time of a GPU interval's submission; where that is not recorded, of its commit.
    fn step_ns(&self, submission: &Submission, work: &Work) -> i64 {
        work.submitted_ns.unwrap_or(match submission.driver {
            Some(times) => signed(times.submitted_ns),
            None => submission.committed_ns,
        })
    }

    /// Returns the start of the driver's work on each submission.
    fn driver_starts(&self) -> Vec<Option<Observed>> {
        let mut work_end = None;
        let starts = self.submissions.list.iter().map(|submission| {
            let times = submission.driver?;
            let observed = Observed {
                step_ns: submission.committed_ns,
                work_end,
                start_ns: signed(times.begins_ns),
                soon_ns: SOON_AFTER_DRIVER_NS,
                is_late: false,
            };
            work_end = Some(signed(
                submission.driver_end_ns.unwrap_or(times.submitted_ns),
            ));
            Some(observed)
        });
        starts.collect()
    }

    fn ended_ns(&self, submission: &Submission) -> i64 {
        let ends = self
            .submissions
            .work_of(submission)
            .iter()
            .map(|work| work.end_ns);
        ends.max().unwrap_or(submission.committed_ns)
    }
}
