//! Runs the recorded submissions as a program of which parts can be changed.
//!
//! ```text
//! host ─▶ encode ─▶ commit ─▶ driver ─▶ submitted ─▶ GPU ─▶ completed
//!   ▲        ▲                one after      each channel       │
//!   │        │                another        one after another  │
//!   └────────┴─ if the thread waits for it ◀────────────────────┘
//! ```
//!
//! Each thread encodes and commits on its own. Driver and channels are common to all threads, and serve
//! what comes first. A channel serves other processes, too: their work comes when it came.
//!
//! Two things delay the driver: a latency after the commit, and its own work on the submission
//! before. Two things delay the GPU: a latency after the submission, which passes while earlier work
//! runs, and that earlier work. Each start is the later of both. The one that bound keeps its recorded
//! rest. The other takes its typical rest, but never so much that it would have bound. So a program
//! without a change has every station at its recorded time.

use metalens_message::{Ns, ratio};
use metalens_text::number::{Float, rounded, rounded_signed};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

use crate::basics::statistics::median;
use crate::report::{ReplayPart, StepTime};

/// Way in which a change of waits or command buffers may come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Likely,
    /// What is merged lies across waits: a program that waits often may wait less often then.
    AcrossWaits,
    /// A thread that waits no more needs no time to wake up.
    AtOnce,
}

impl Way {
    /// All ways, the likely one first.
    pub(crate) const ALL: [Self; 3] = [Self::Likely, Self::AcrossWaits, Self::AtOnce];
}

/// Program, as submissions in the order of their commits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub commands: Vec<Command>,
    /// GPU intervals, grouped by command, those of a thread together. Changed programs share them.
    pub kicks: Arc<Vec<Kick>>,
    /// Number of channels of the GPU.
    pub channels: usize,
    /// Work of other processes on these channels, in the order in which it comes.
    pub others: Arc<Vec<OtherKick>>,
    /// True if the program is a part of what ran: its time then begins with its GPU work.
    pub is_part: bool,
    /// Factor from the time of a run to that of the part of the window that the run stands for: 1
    /// unless the submissions are a sample.
    pub scale: f64,
}

/// Submission. All times are in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Command {
    /// Number of the thread that encodes it, from 0.
    pub thread: usize,
    /// Command whose completion the thread waits for before it encodes this one.
    pub waits_for: Option<usize>,
    /// Command whose completion the thread waits for in the middle of the encoding, or before the
    /// commit.
    pub waits_within: Option<usize>,
    /// Earliest start of its encoding, if the program keeps a pace. The first one of a thread begins at
    /// its recorded time: nothing is before it.
    pub not_before_ns: Option<i64>,
    /// Time from the thread's last commit or the awaited completion, whichever is later, to the
    /// encoding.
    pub host_ns: i64,
    /// Time from the start of the encoding to the wait in its middle, or to the commit.
    pub encode_ns: i64,
    /// Time from the wait in the middle of the encoding to the commit.
    pub encode_after_ns: i64,
    /// The driver's work; `None` if it is not recorded.
    pub driver: Option<DriverWork>,
    /// Command that must have ended on the GPU first.
    pub after: Option<usize>,
    /// Command of the thread that runs before it on the same channel: a queue keeps its order.
    pub turn_after: Option<usize>,
    /// Time for which it is held up before it joins the queue of its channel, for no known reason.
    pub late_ns: i64,
    /// GPU intervals of the command.
    pub kicks: Range<usize>,
    /// Time from the end of its last GPU interval to the notification.
    pub completion_ns: i64,
    /// True if its time is measured, and not only replayed.
    pub is_measured: bool,
    /// Number of steps that begin with it, 0 for one that runs once; `None` if it begins none.
    pub steps: Option<u32>,
}

/// Work of the driver on a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DriverWork {
    /// Delays of its start.
    pub start: Delays,
    /// Time from its start to its end.
    pub work_ns: i64,
}

/// Delays of a start: the later of two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delays {
    /// Time after the step before.
    pub after_step_ns: i64,
    /// Time after the end of earlier work at the same place. Negative if it may overlap that work.
    pub after_work_ns: i64,
    /// Part of the time after the step that nothing known explains.
    pub unexplained_ns: i64,
    /// Part of the time after earlier work that is no latency: the program separates both.
    pub barrier_ns: i64,
}

/// GPU interval.
#[derive(Debug, Clone)]
pub(crate) struct Kick {
    /// Time from the driver's start to the submission of this interval; 0 if that is not recorded.
    pub submit_ns: i64,
    pub start: Delays,
    pub length_ns: i64,
    /// Time that it takes if no other process runs at once.
    pub alone_ns: i64,
    pub channel: usize,
    /// Number of its kernel.
    pub kernel: usize,
}

/// GPU interval of another process. It comes at its recorded time, whatever the program does.
#[derive(Debug, Clone)]
pub(crate) struct OtherKick {
    pub arrives_ns: i64,
    pub start: Delays,
    pub length_ns: i64,
    pub channel: usize,
}

/// Time of a run, of a step, and of parts of the run with as many commands; no parts if there are few.
#[derive(Debug)]
pub(crate) struct Timed {
    pub time_ns: u64,
    /// Time of a step; `None` if fewer than two begin.
    pub step: Option<StepTime>,
    parts: Vec<f64>,
}

impl Timed {
    /// Returns how far the time of a changed run may be off, because it varies from one part to the next.
    pub(crate) fn error_ns(&self, changed: &Self) -> u64 {
        /// Number of standard errors on either side: eight in ten lie between.
        const ERRORS: f64 = 1.28;
        let share = changed.parts.iter().sum::<f64>() / self.parts.iter().sum::<f64>().max(1.0);
        let pairs = self.parts.iter().zip(&changed.parts);
        let squares = pairs.map(|(before, after)| (after - share * before).powi(2));
        rounded(ERRORS * squares.sum::<f64>().sqrt())
    }
}

/// Returns the time of a step, from the starts of commands, each with the number of steps that begin with it.
fn step_time(mut starts: Vec<(i64, u32)>) -> Option<StepTime> {
    starts.sort_unstable();
    let (mut lengths, mut total_ns, mut count) = (Vec::new(), 0, 0);
    for two in starts.windows(2) {
        if let &[(start_ns, steps), (next_ns, _)] = two
            && steps > 0
        {
            let length_ns = next_ns.abs_diff(start_ns);
            lengths.push(length_ns / u64::from(steps));
            total_ns += length_ns;
            count += u64::from(steps);
        }
    }
    Some(StepTime {
        median_ns: Ns(median(lengths)?),
        mean_ns: Ns(total_ns / count.max(1)),
    })
}

/// Times of a command in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stations {
    pub encoding_ns: i64,
    pub committed_ns: i64,
    pub driver_ns: i64,
    pub started_ns: i64,
    pub ended_ns: i64,
    pub completed_ns: i64,
}

/// Change of a program: factors of its parts, other waits, and other command buffers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// How many times as many command buffers are in flight; 0 if the program waits for none.
    pub in_flight: usize,
    /// Number of neighboring command buffers that become one.
    pub per_buffer: usize,
    pub host: f64,
    pub encode: f64,
    pub driver: f64,
    pub gpu: f64,
    pub latency: f64,
    /// Factors of the GPU time of kernels, by their numbers.
    pub kernels: BTreeMap<usize, f64>,
    /// False if no other process uses the GPU.
    pub others: bool,
    /// True if a command is prepared during a wait, and committed after it.
    pub encode_ahead: bool,
}

impl Change {
    /// Change of nothing.
    pub(crate) const NONE: Self = Self {
        in_flight: 1,
        per_buffer: 1,
        host: 1.0,
        encode: 1.0,
        driver: 1.0,
        gpu: 1.0,
        latency: 1.0,
        kernels: BTreeMap::new(),
        others: true,
        encode_ahead: false,
    };

    /// Returns the change that takes away all time of some parts.
    pub(crate) fn without(parts: &[ReplayPart]) -> Self {
        parts
            .iter()
            .fold(Self::NONE, |change, &part| change.and_without(part))
    }

    /// Returns the change that takes away all time of one more part.
    pub(crate) fn and_without(mut self, part: ReplayPart) -> Self {
        match part {
            ReplayPart::Host => (self.host, self.encode) = (0.0, 0.0),
            ReplayPart::Driver => self.driver = 0.0,
            ReplayPart::Gpu => self.gpu = 0.0,
            ReplayPart::Latency => self.latency = 0.0,
            ReplayPart::Others => self.others = false,
        }
        self
    }

    /// Returns whether no part of the program takes longer, and each wait is for what it was for, or for
    /// something earlier.
    pub(crate) fn only_shortens(&self) -> bool {
        let factors = [self.host, self.encode, self.driver, self.gpu, self.latency];
        let mut factors = factors.iter().chain(self.kernels.values());
        self.in_flight > 0 && self.per_buffer < 2 && factors.all(|&factor| factor <= 1.0)
    }

    fn kernel(&self, kernel: usize) -> f64 {
        self.gpu * self.kernels.get(&kernel).copied().unwrap_or(1.0)
    }
}

impl Program {
    /// Runs the program with a change, and calls `visit` with the stations of each command. Returns the
    /// time of what is measured: from the first commit, or of a part from its first GPU start, to the
    /// end of the last GPU work.
    pub(crate) fn run(&self, change: &Change, mut visit: impl FnMut(usize, Stations)) -> i64 {
        let mut run = Run::new(self, change);
        run.all();
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for (place, (command, stations)) in self.commands.iter().zip(&run.stations).enumerate() {
            if command.is_measured {
                first = first.min(if self.is_part {
                    stations.started_ns
                } else {
                    stations.committed_ns
                });
                last = last.max(stations.ended_ns);
            }
            visit(place, *stations);
        }
        last.saturating_sub(first).max(0)
    }

    /// Returns the time of a changed run, in nanoseconds. If the commands are a sample, this is
    /// the time of all that they stand for.
    pub(crate) fn time(&self, change: &Change) -> u64 {
        self.for_all(self.run(change, |_, _| ()))
    }

    /// Returns the time of a changed run, and those of its parts.
    pub(crate) fn timed(&self, change: &Change) -> Timed {
        /// Number of parts.
        const PARTS: usize = 10;
        let mut ends: Vec<i64> = Vec::with_capacity(self.commands.len());
        let mut starts: Vec<(i64, u32)> = Vec::new();
        let run_ns = self.run(change, |place, stations| {
            let command = self.commands.get(place);
            if command.is_some_and(|command| command.is_measured) {
                ends.push(stations.ended_ns);
                let steps = command.and_then(|command| command.steps);
                starts.extend(steps.map(|steps| (stations.started_ns, steps)));
            }
        });
        let last = ends.len().saturating_sub(1);
        let edge = |part: usize| ends.get(part * last / PARTS).copied();
        let length = |part: usize| Some((edge(part + 1)? - edge(part)?).float() * self.scale);
        let parts = (0..PARTS).filter(|_| ends.len() >= 2 * PARTS);
        Timed {
            time_ns: self.for_all(run_ns),
            step: step_time(starts),
            parts: parts.filter_map(length).collect(),
        }
    }

    /// Returns a time of all commands that these ones stand for.
    fn for_all(&self, ns: i64) -> u64 {
        u64::try_from(scaled(ns, self.scale)).unwrap_or(0)
    }

    /// Returns the number of commands that are measured.
    pub(crate) fn measured(&self) -> usize {
        self.commands
            .iter()
            .filter(|command| command.is_measured)
            .count()
    }

    /// Returns the time before GPU starts that nothing known explains.
    pub(crate) fn unexplained_ns(&self) -> u64 {
        let measured = self.commands.iter().filter(|command| command.is_measured);
        let unexplained_ns = measured.map(|command| {
            let kicks = self.kicks.get(command.kicks.clone()).unwrap_or(&[]);
            command.late_ns
                + kicks
                    .iter()
                    .map(|kick| kick.start.unexplained_ns)
                    .sum::<i64>()
        });
        self.for_all(unexplained_ns.sum())
    }

    /// Returns the places of the commands of each thread, in order.
    fn threads(&self) -> Vec<Vec<usize>> {
        let mut threads = Vec::new();
        for (place, command) in self.commands.iter().enumerate() {
            if threads.len() <= command.thread {
                threads.resize_with(command.thread + 1, Vec::new);
            }
            if let Some(own) = threads.get_mut(command.thread) {
                own.push(place);
            }
        }
        threads
    }

    /// Returns the program with the waits and the command buffers of a change, in a way in which that may
    /// come out; `None` if it comes out as the likely way.
    pub(crate) fn shaped(&self, change: &Change, way: Way) -> Option<Cow<'_, Self>> {
        /// Share of the wanted number of command buffers that must lie between two waits.
        const BETWEEN: f64 = 0.95;
        let (in_flight, times) = (change.in_flight, change.per_buffer.max(1));
        if (in_flight, times) == (1, 1) {
            return (way == Way::Likely).then_some(Cow::Borrowed(self));
        }
        if (times, way) == (1, Way::AcrossWaits) {
            return None;
        }
        let mut program = Cow::Borrowed(self);
        if way == Way::AtOnce {
            program.to_mut().wake_at_once();
        }
        if in_flight != 1 {
            program.to_mut().keep_in_flight(in_flight);
        }
        if times == 1 {
            return Some(program);
        }
        if way == Way::AcrossWaits {
            let threads = program.threads();
            let groups = threads
                .iter()
                .map(|own| program.groups(own, times, true).len());
            let most = groups.sum::<usize>() * times;
            if ratio(self.commands.len() as u64, most as u64) >= Some(BETWEEN) {
                return None;
            }
        }
        Some(Cow::Owned(program.merged(times, way != Way::AcrossWaits)))
    }

    /// Takes away the time in which a thread wakes up after a wait. It is not recorded, and counts as host
    /// work.
    fn wake_at_once(&mut self) {
        /// Usual time in which a thread wakes up, in nanoseconds.
        const WAKES_NS: i64 = 5_000;
        for command in &mut self.commands {
            if command.waits_for.is_some() {
                command.host_ns = (command.host_ns - WAKES_NS).max(0);
            }
        }
    }

    /// Keeps this many times as many commands in flight: each wait of a thread is for what an earlier one
    /// was for. 0 means that it waits for none.
    pub(crate) fn keep_in_flight(&mut self, times: usize) {
        let points: [fn(&mut Command) -> &mut Option<usize>; 2] = [
            |command| &mut command.waits_for,
            |command| &mut command.waits_within,
        ];
        for own in self.threads() {
            for point in points {
                let mut awaited: Vec<usize> = Vec::new();
                for (index, &place) in own.iter().enumerate() {
                    let Some(command) = self.commands.get_mut(place) else {
                        continue;
                    };
                    let wait = point(command);
                    let Some(target) = *wait else { continue };
                    // What another thread does is its own matter.
                    let Ok(before) = own.binary_search(&target) else {
                        continue;
                    };
                    let back = times.checked_sub(1).map(|more| more * (index - before));
                    let earlier = back.and_then(|back| awaited.len().checked_sub(back));
                    awaited.push(target);
                    *wait = earlier.and_then(|earlier| awaited.get(earlier).copied());
                }
            }
        }
    }

    /// Returns the program with this many neighboring commands of a thread merged into one. Host work,
    /// encoding and GPU time stay; the driver works, the program waits and is notified once. As many
    /// commands as before are in flight. If a thread waits before some of its commands only, these waits
    /// may be barriers: then what lies between two of them is merged.
    pub(crate) fn merged(&self, times: usize, keeps_barriers: bool) -> Self {
        let threads = self.threads();
        let groups: Vec<Group<'_>> = threads
            .iter()
            .flat_map(|own| self.groups(own, times.max(1), keeps_barriers))
            .collect();
        // The commit of a group is that of its last command.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&number| groups.get(number).and_then(|group| group.places().last()));
        let mut group_of = vec![0_usize; self.commands.len()];
        for (number, &group) in order.iter().enumerate() {
            for &place in groups.get(group).map(Group::places).unwrap_or_default() {
                if let Some(slot) = group_of.get_mut(place) {
                    *slot = number;
                }
            }
        }
        let mut kicks = self.kicks.as_ref().clone();
        let mut numbers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut commands = Vec::with_capacity(groups.len());
        for group in order.iter().filter_map(|&group| groups.get(group)) {
            let own = || {
                group
                    .places()
                    .iter()
                    .filter_map(|&place| self.commands.get(place))
            };
            let (Some(first), Some(last)) = (own().next(), own().next_back()) else {
                continue;
            };
            for command in own().skip(1) {
                // What follows in a command buffer begins at once.
                if let Some(kick) = kicks.get_mut(command.kicks.start) {
                    kick.start = Delays {
                        after_step_ns: 0,
                        after_work_ns: kick.start.after_work_ns.min(MERGED_NS),
                        unexplained_ns: 0,
                        barrier_ns: 0,
                    };
                }
            }
            let before = numbers.entry(first.thread).or_default();
            let waits = |wait: Option<usize>| {
                let group_of = group_of
                    .get(wait?)
                    .copied()
                    .filter(|&of| of != commands.len());
                match group.own.binary_search(&wait?) {
                    // As many are in flight as before, counted in merged ones.
                    Ok(awaited) if !group.has_barriers => before
                        .get(before.len().checked_sub(group.own_places.start - awaited)?)
                        .copied(),
                    _ => group_of,
                }
            };
            let sum = |part: fn(&Command) -> i64| own().map(part).sum::<i64>();
            let work_ns = own()
                .filter_map(|each| each.driver)
                .map(|each| each.work_ns)
                .max();
            let other_group = |place: Option<usize>| {
                let group = group_of.get(place?).copied();
                group.filter(|&group| group != commands.len())
            };
            let after = own().find_map(|each| other_group(each.after));
            let merged = Command {
                thread: first.thread,
                waits_for: waits(first.waits_for),
                waits_within: waits(first.waits_within),
                not_before_ns: first.not_before_ns,
                host_ns: first.host_ns,
                encode_ns: sum(|each| each.host_ns + each.encode_ns) - first.host_ns,
                encode_after_ns: sum(|each| each.encode_after_ns),
                driver: first.driver.map(|own| DriverWork {
                    work_ns: work_ns.unwrap_or(own.work_ns),
                    ..own
                }),
                after,
                turn_after: other_group(first.turn_after),
                late_ns: first.late_ns,
                kicks: first.kicks.start..last.kicks.end,
                completion_ns: last.completion_ns,
                is_measured: own().any(|each| each.is_measured),
                steps: own()
                    .filter_map(|each| each.steps)
                    .reduce(|one, other| one + other),
            };
            before.push(commands.len());
            commands.push(merged);
        }
        Self {
            commands,
            kicks: Arc::new(kicks),
            others: Arc::clone(&self.others),
            ..*self
        }
    }

    /// Divides the commands of a thread into groups of this many.
    fn groups<'own>(
        &self,
        own: &'own [usize],
        times: usize,
        keeps_barriers: bool,
    ) -> Vec<Group<'own>> {
        let waits = |place: &usize| {
            let command = self.commands.get(*place);
            command.is_some_and(|command| command.waits_for.is_some())
        };
        let is_seldom = 2 * own.iter().filter(|place| waits(place)).count() < own.len();
        let has_barriers = keeps_barriers && is_seldom;
        let mut groups = Vec::new();
        let mut begin = 0;
        for (index, place) in own.iter().enumerate().skip(1) {
            if index - begin == times || has_barriers && waits(place) {
                groups.push(begin..index);
                begin = index;
            }
        }
        groups.extend((begin < own.len()).then_some(begin..own.len()));
        let groups = groups.into_iter().map(|own_places| Group {
            own,
            own_places,
            has_barriers,
        });
        groups.collect()
    }
}

/// Neighboring commands of a thread.
struct Group<'a> {
    /// Places of all commands of the thread.
    own: &'a [usize],
    /// Those of the group among them.
    own_places: Range<usize>,
    /// True if the thread waits before some of its commands only.
    has_barriers: bool,
}

impl Group<'_> {
    fn places(&self) -> &[usize] {
        self.own.get(self.own_places.clone()).unwrap_or(&[])
    }
}

/// Longest time between two GPU intervals of one command buffer that had one each, in nanoseconds.
const MERGED_NS: i64 = 700;
/// Time that no event has.
const NEVER: i64 = i64::MIN;

/// State of a thread in a run.
enum Next {
    /// The next command is committed at this time.
    Commits(Stations),
    /// It waits for a command that has not completed.
    Blocked,
    /// Nothing is left.
    Done,
}

/// Run of a program.
struct Run<'a> {
    program: &'a Program,
    change: &'a Change,
    stations: Vec<Stations>,
    threads: Vec<ThreadRun>,
    driver_end: Option<i64>,
    channel_ends: Vec<Option<i64>>,
    /// Commands that come to the GPU, with their times.
    queue: BinaryHeap<Reverse<(i64, usize)>>,
    /// Commands that wait for the end of others, by those.
    held: BTreeMap<usize, Vec<usize>>,
    next_other: usize,
}

struct ThreadRun {
    /// Commands of the thread, in order.
    own: Vec<usize>,
    /// Number of them that were committed.
    done: usize,
    committed_ns: Option<i64>,
    next: Next,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program, change: &'a Change) -> Self {
        let unknown = Stations {
            completed_ns: NEVER,
            ended_ns: NEVER,
            ..Stations::default()
        };
        let threads = program.threads().into_iter().map(|own| ThreadRun {
            own,
            done: 0,
            committed_ns: None,
            next: Next::Done,
        });
        let mut run = Self {
            program,
            change,
            stations: vec![unknown; program.commands.len()],
            threads: threads.collect(),
            driver_end: None,
            channel_ends: vec![None; program.channels],
            queue: BinaryHeap::new(),
            held: BTreeMap::new(),
            next_other: 0,
        };
        for number in 0..run.threads.len() {
            run.plan(number, false);
        }
        run
    }

    /// Runs until every command has completed.
    fn all(&mut self) {
        loop {
            let commits = self
                .threads
                .iter()
                .enumerate()
                .filter_map(|(number, thread)| {
                    let Next::Commits(stations) = &thread.next else {
                        return None;
                    };
                    Some((stations.committed_ns, *thread.own.get(thread.done)?, number))
                });
            let next = commits.min();
            let arrival = self.queue.peek().map(|&Reverse(arrival)| arrival);
            match (arrival, next) {
                (Some((arrives_ns, _)), Some((commits_ns, ..))) if arrives_ns > commits_ns => {
                    self.commit(next);
                }
                (Some((arrives_ns, place)), _) => {
                    self.queue.pop();
                    self.serve_others(arrives_ns);
                    self.serve(place);
                }
                (None, Some(_)) => self.commit(next),
                // Contradicting waits come from damaged rows: no thread waits for ever.
                (None, None) if !self.release() => return,
                (None, None) => {}
            }
        }
    }

    /// Lets the first blocked thread, or the first command that is held, go on. Returns whether there is
    /// one.
    fn release(&mut self) -> bool {
        if let Some((_, held)) = self.held.pop_first() {
            held.into_iter().for_each(|place| self.arrive(place));
            return true;
        }
        let blocked = |thread: &ThreadRun| matches!(thread.next, Next::Blocked);
        let Some(number) = self.threads.iter().position(blocked) else {
            return false;
        };
        self.plan(number, true);
        true
    }

    /// Plans the next command of a thread.
    fn plan(&mut self, number: usize, ignores_waits: bool) {
        let Some(thread) = self.threads.get(number) else {
            return;
        };
        let next = match thread.own.get(thread.done) {
            None => Next::Done,
            Some(&place) => self
                .planned(place, thread.committed_ns, ignores_waits)
                .map_or(Next::Blocked, Next::Commits),
        };
        if let Some(thread) = self.threads.get_mut(number) {
            thread.next = next;
        }
    }

    /// Returns encoding and commit of a command; `None` if it waits for one that has not completed.
    fn planned(
        &self,
        place: usize,
        committed_ns: Option<i64>,
        ignores_waits: bool,
    ) -> Option<Stations> {
        let (command, change) = (self.program.commands.get(place)?, self.change);
        let completion = |wait: Option<usize>| match wait.filter(|_| !ignores_waits) {
            None => Some(NEVER),
            Some(awaited) => {
                let completed_ns = self.stations.get(awaited)?.completed_ns;
                (completed_ns != NEVER).then_some(completed_ns)
            }
        };
        let (awaited_ns, within_ns) = (
            completion(command.waits_for)?,
            completion(command.waits_within)?,
        );
        let host_ns = scaled(command.host_ns, change.host);
        let waited_ns = if change.encode_ahead {
            NEVER
        } else {
            awaited_ns
        };
        let free_ns = committed_ns.map(|committed_ns| committed_ns.max(waited_ns));
        let mut encoding_ns = free_ns.map_or(NEVER, |free_ns| free_ns + host_ns);
        encoding_ns = encoding_ns.max(command.not_before_ns.unwrap_or(NEVER));
        let encoded_ns = encoding_ns + scaled(command.encode_ns, change.encode);
        let mut committed_ns =
            encoded_ns.max(within_ns) + scaled(command.encode_after_ns, change.encode);
        if change.encode_ahead {
            committed_ns = committed_ns.max(awaited_ns);
        }
        Some(Stations {
            encoding_ns,
            committed_ns,
            completed_ns: NEVER,
            ended_ns: NEVER,
            ..Stations::default()
        })
    }

    /// Commits the next command of a thread, and lets the driver work on it.
    fn commit(&mut self, next: Option<(i64, usize, usize)>) {
        let Some((committed_ns, place, number)) = next else {
            return;
        };
        let Some(command) = self.program.commands.get(place) else {
            return;
        };
        let mut planned = Stations::default();
        if let Some(thread) = self.threads.get_mut(number) {
            if let Next::Commits(stations) = thread.next {
                planned = stations;
            }
            thread.done += 1;
            thread.committed_ns = Some(committed_ns);
        }
        planned.driver_ns = command.driver.map_or(committed_ns, |driver| {
            let starts_ns = driver
                .start
                .after(committed_ns, self.driver_end, self.change);
            self.driver_end = Some(starts_ns + scaled(driver.work_ns, self.change.driver));
            starts_ns
        });
        if let Some(slot) = self.stations.get_mut(place) {
            *slot = planned;
        }
        self.plan(number, false);

        self.come(place);
    }

    /// Puts a command into the queue of the GPU when those before it have run.
    fn come(&mut self, place: usize) {
        let command = self.program.commands.get(place);
        let before = command.map_or([None; 2], |command| [command.after, command.turn_after]);
        let mut before = before.into_iter().flatten();
        match before.find(|&other| self.ended_ns(other) == Some(NEVER)) {
            Some(other) => self.held.entry(other).or_default().push(place),
            None => self.arrive(place),
        }
    }

    /// Returns the end of a command on the GPU; [`NEVER`] before that is known.
    fn ended_ns(&self, place: usize) -> Option<i64> {
        Some(self.stations.get(place)?.ended_ns)
    }

    /// Puts a command into the queue of the GPU.
    fn arrive(&mut self, place: usize) {
        let (Some(command), Some(stations)) =
            (self.program.commands.get(place), self.stations.get(place))
        else {
            return;
        };
        let first = self.program.kicks.get(command.kicks.start);
        let submit_ns = first.map_or(0, |kick| scaled(kick.submit_ns, self.change.driver));
        let allowed_ns = command.after.and_then(|other| self.ended_ns(other));
        let submitted_ns = stations.driver_ns + submit_ns;
        let arrives_ns = submitted_ns.max(allowed_ns.unwrap_or(NEVER)) + command.late_ns;
        self.queue.push(Reverse((arrives_ns, place)));
    }

    /// Runs the work of other processes that comes before a time.
    fn serve_others(&mut self, until_ns: i64) {
        if !self.change.others {
            return;
        }
        while let Some(other) = self.program.others.get(self.next_other) {
            if other.arrives_ns >= until_ns {
                return;
            }
            self.next_other += 1;
            if let Some(end) = self.channel_ends.get_mut(other.channel) {
                let starts_ns = other.start.after(other.arrives_ns, *end, &Change::NONE);
                *end = (*end).max(Some(starts_ns + other.length_ns));
            }
        }
    }

    /// Runs a command on the GPU, and lets those go on that wait for it.
    fn serve(&mut self, place: usize) {
        let Some(command) = self.program.commands.get(place) else {
            return;
        };
        let change = self.change;
        let driver_ns = self.stations.get(place).map_or(0, |each| each.driver_ns);
        let after = command.after.and_then(|other| self.ended_ns(other));
        let mut own_end = after.filter(|&ns| ns != NEVER);
        let (mut started_ns, mut ended_ns) = (i64::MAX, NEVER);
        for kick in self.program.kicks.get(command.kicks.clone()).unwrap_or(&[]) {
            let channel_end = self.channel_ends.get_mut(kick.channel);
            let earlier = own_end.max(channel_end.as_deref().copied().flatten());
            let submitted_ns = driver_ns + scaled(kick.submit_ns, change.driver);
            let start_ns = kick.start.after(submitted_ns, earlier, change);
            let length_ns = if change.others {
                kick.length_ns
            } else {
                kick.alone_ns
            };
            let end_ns = start_ns + scaled(length_ns, change.kernel(kick.kernel));
            started_ns = started_ns.min(start_ns);
            ended_ns = ended_ns.max(end_ns);
            own_end = own_end.max(Some(end_ns));
            if let Some(channel_end) = channel_end {
                *channel_end = (*channel_end).max(Some(end_ns));
            }
        }
        if ended_ns == NEVER {
            ended_ns = driver_ns;
        }
        if let Some(stations) = self.stations.get_mut(place) {
            stations.started_ns = started_ns.min(ended_ns);
            stations.ended_ns = ended_ns;
            stations.completed_ns = ended_ns + latency(command.completion_ns, change.latency);
        }
        let held = self.held.remove(&place).unwrap_or_default();
        held.into_iter().for_each(|place| self.come(place));
        for number in 0..self.threads.len() {
            let next = self.threads.get(number).map(|thread| &thread.next);
            if matches!(next, Some(Next::Blocked)) {
                self.plan(number, false);
            }
        }
    }
}

impl Delays {
    /// Returns the start after a step and after earlier work.
    fn after(self, step_ns: i64, work_end: Option<i64>, change: &Change) -> i64 {
        let known_ns = self.after_step_ns - self.unexplained_ns;
        let by_step = step_ns + latency(known_ns, change.latency) + self.unexplained_ns;
        let handed_ns = self.after_work_ns - self.barrier_ns;
        let by_work =
            work_end.map(|end_ns| end_ns + latency(handed_ns, change.latency) + self.barrier_ns);
        by_work.map_or(by_step, |by_work| by_work.max(by_step))
    }
}

/// Returns a time that a change makes shorter or longer; a negative one stays.
fn latency(ns: i64, factor: f64) -> i64 {
    if ns > 0 { scaled(ns, factor) } else { ns }
}

fn scaled(ns: i64, factor: f64) -> i64 {
    // A replay takes parts away or leaves them, and rounds only what a user scales.
    if factor == 1.0 {
        return ns;
    }
    if factor == 0.0 {
        return 0;
    }
    rounded_signed(ns.float() * factor)
}
