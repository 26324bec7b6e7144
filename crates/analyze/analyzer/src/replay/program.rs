//! Runs the recorded command buffers as a program of which parts can be changed.
//!
//! ```text
//! host ─▶ encode ─▶ commit ─▶ driver ─▶ submitted ─▶ GPU ─▶ completed
//!   ▲                         one after      each channel       │
//!   └──── if the program      another        one after another  │
//!         waits for it ◀────────────────────────────────────────┘
//! ```
//!
//! Two things delay the driver: a latency after the commit, and its own work on the command buffer
//! before. Two things delay the GPU: a latency after the submission, which passes while earlier work
//! runs, and that earlier work. Each start is the later of both. The one that bound keeps its recorded
//! rest. The other takes its typical rest, but never so much that it would have bound. So a program
//! without a change has every station at its recorded time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::report::ReplayPart;

/// Program, as command buffers in the order of their commits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub commands: Vec<Command>,
    /// GPU intervals of all command buffers. Changed programs share them: there may be a million.
    pub kicks: Arc<Vec<Kick>>,
    /// Number of channels of the GPU.
    pub channels: usize,
    /// Factor from the time of a run to that of the part of the window that the run stands for: 1
    /// unless the command buffers are a sample.
    pub scale: f64,
}

/// Command buffer. All times are in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// Command buffer whose completion the program waits for before it encodes this one.
    pub waits_for: Option<usize>,
    /// Earliest start of its encoding, if the program keeps a pace.
    pub not_before_ns: Option<i64>,
    /// Time from the last commit or the awaited completion, whichever is later, to the encoding.
    pub host_ns: i64,
    /// Time from the start of the encoding to the commit.
    pub encode_ns: i64,
    /// The driver's work; `None` if it is not recorded.
    pub driver: Option<DriverWork>,
    /// GPU intervals of the command buffer.
    pub kicks: Range<usize>,
    /// Time from the end of its last GPU interval to the notification.
    pub completion_ns: i64,
}

/// Work of the driver on a command buffer.
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
}

/// GPU interval.
#[derive(Debug, Clone)]
pub(crate) struct Kick {
    /// Time from the driver's start to the submission of this interval; 0 if that is not recorded.
    pub submit_ns: i64,
    pub start: Delays,
    pub length_ns: i64,
    pub channel: usize,
    /// Number of its kernel.
    pub kernel: usize,
    /// Time before its start in which another process used the GPU while this interval waited.
    pub contended_ns: i64,
}

/// Times of a command buffer in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stations {
    pub encoding_ns: i64,
    pub committed_ns: i64,
    pub driver_ns: i64,
    pub started_ns: i64,
    pub ended_ns: i64,
    pub completed_ns: i64,
}

/// Change of a program: factors of its parts.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub host: f64,
    pub encode: f64,
    pub driver: f64,
    pub gpu: f64,
    pub latency: f64,
    /// Factors of the GPU time of kernels, by their numbers.
    pub kernels: BTreeMap<usize, f64>,
    /// False if no other process uses the GPU.
    pub others: bool,
    /// True if a command buffer is prepared during a wait, and committed after it.
    pub encode_ahead: bool,
}

impl Change {
    /// Change of nothing.
    pub(crate) const NONE: Self = Self {
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

    fn kernel(&self, kernel: usize) -> f64 {
        self.gpu * self.kernels.get(&kernel).copied().unwrap_or(1.0)
    }
}

impl Program {
    /// Runs the program with a change, and calls `visit` with the stations of each command buffer.
    /// Returns the time from the first commit to the end of the last GPU work.
    pub(crate) fn run(&self, change: &Change, mut visit: impl FnMut(usize, Stations)) -> i64 {
        let mut completed: Vec<i64> = Vec::with_capacity(self.commands.len());
        let mut channel_ends: Vec<Option<i64>> = vec![None; self.channels];
        let mut driver_end: Option<i64> = None;
        let mut committed_ns: i64 = 0;
        let (mut first_commit, mut last_end): (Option<i64>, i64) = (None, i64::MIN);

        for (place, command) in self.commands.iter().enumerate() {
            let awaited = command.waits_for.and_then(|earlier| completed.get(earlier));
            let (host_ns, encode_ns) = (
                scaled(command.host_ns, change.host),
                scaled(command.encode_ns, change.encode),
            );
            let awaited = awaited.copied().unwrap_or(i64::MIN);
            let free_ns = if change.encode_ahead {
                committed_ns
            } else {
                committed_ns.max(awaited)
            };
            let paced_ns = command.not_before_ns.unwrap_or(i64::MIN);
            let encoding_ns = (free_ns + host_ns).max(paced_ns);
            committed_ns = encoding_ns + encode_ns;
            if change.encode_ahead {
                committed_ns = committed_ns.max(awaited);
            }

            let driver_ns = command.driver.map_or(committed_ns, |driver| {
                let starts_ns = driver.start.after(committed_ns, driver_end, 0, change);
                driver_end = Some(starts_ns + scaled(driver.work_ns, change.driver));
                starts_ns
            });

            let mut own_end: Option<i64> = None;
            let mut started_ns = i64::MAX;
            for kick in self.kicks.get(command.kicks.clone()).unwrap_or(&[]) {
                let channel_end = channel_ends.get_mut(kick.channel);
                let earlier = own_end.max(channel_end.as_deref().copied().flatten());
                let submitted_ns = driver_ns + scaled(kick.submit_ns, change.driver);
                let (delays, contended_ns) = (kick.start, kick.contended_ns);
                let start_ns = delays.after(submitted_ns, earlier, contended_ns, change);
                let end_ns = start_ns + scaled(kick.length_ns, change.kernel(kick.kernel));
                started_ns = started_ns.min(start_ns);
                own_end = own_end.max(Some(end_ns));
                if let Some(channel_end) = channel_end {
                    *channel_end = (*channel_end).max(Some(end_ns));
                }
            }

            let ended_ns = own_end.unwrap_or(driver_ns);
            let completed_ns = ended_ns + latency(command.completion_ns, change.latency);
            completed.push(completed_ns);
            first_commit.get_or_insert(committed_ns);
            last_end = last_end.max(ended_ns);
            visit(
                place,
                Stations {
                    encoding_ns,
                    committed_ns,
                    driver_ns,
                    started_ns: started_ns.min(ended_ns),
                    ended_ns,
                    completed_ns,
                },
            );
        }
        last_end - first_commit.unwrap_or(last_end)
    }

    /// Returns the time of a changed run, in nanoseconds. If the command buffers are a sample, this is
    /// the time of all that they stand for.
    pub(crate) fn time(&self, change: &Change) -> u64 {
        u64::try_from(scaled(self.run(change, |_, _| ()), self.scale)).unwrap_or(0)
    }

    /// Returns the program with this many times as many command buffers in flight: each wait is for
    /// what an earlier wait was for. 0 means that it waits for none.
    pub(crate) fn with_in_flight(&self, times: usize) -> Self {
        let mut changed = self.clone();
        let waits: Vec<Option<usize>> = self.commands.iter().map(|each| each.waits_for).collect();
        let awaited: Vec<usize> = waits.iter().flatten().copied().collect();
        let mut number: usize = 0;
        for (place, command) in changed.commands.iter_mut().enumerate() {
            if let Some(awaited_now) = command.waits_for {
                let in_flight = place - awaited_now;
                let back = times.checked_sub(1).map(|more| more * in_flight);
                let earlier = back.and_then(|back| number.checked_sub(back));
                command.waits_for = earlier.and_then(|earlier| awaited.get(earlier).copied());
                number += 1;
            }
        }
        changed
    }

    /// Returns the program with this many neighboring command buffers merged into one. Host work,
    /// encoding and GPU time stay; the driver works, the program waits and is notified once. As many
    /// command buffers as before are in flight.
    pub(crate) fn merged(&self, times: usize) -> Self {
        let times = times.max(1);
        let groups = self.commands.chunks(times).enumerate();
        Self {
            commands: groups
                .filter_map(|(number, group)| {
                    let (first, last) = (group.first()?, group.last()?);
                    let sum = |part: fn(&Command) -> i64| group.iter().map(part).sum::<i64>();
                    // The rest of a group would wait for its own first part.
                    let waits_for = first.waits_for.and_then(|earlier| {
                        let in_flight = number * times - earlier;
                        number.checked_sub(in_flight)
                    });
                    let driver = group.iter().filter_map(|each| each.driver);
                    Some(Command {
                        waits_for,
                        not_before_ns: first.not_before_ns,
                        host_ns: first.host_ns,
                        encode_ns: sum(|each| each.host_ns + each.encode_ns) - first.host_ns,
                        driver: first.driver.map(|own| DriverWork {
                            work_ns: driver.map(|each| each.work_ns).max().unwrap_or(own.work_ns),
                            ..own
                        }),
                        kicks: first.kicks.start..last.kicks.end,
                        completion_ns: last.completion_ns,
                    })
                })
                .collect(),
            kicks: Arc::clone(&self.kicks),
            channels: self.channels,
            scale: self.scale,
        }
    }
}

impl Delays {
    /// Returns the start after a step and after earlier work. Of each delay, the time in which other
    /// processes used the GPU is no latency.
    fn after(self, step_ns: i64, work_end: Option<i64>, contended_ns: i64, change: &Change) -> i64 {
        let rest = |ns: i64| {
            let others_ns = contended_ns.min(ns.max(0));
            let own_ns = latency(ns - others_ns, change.latency);
            if change.others {
                own_ns + others_ns
            } else {
                own_ns
            }
        };
        let by_step = step_ns + rest(self.after_step_ns);
        let by_work = work_end.map(|end_ns| end_ns + rest(self.after_work_ns));
        by_work.map_or(by_step, |by_work| by_work.max(by_step))
    }
}

/// Returns a time that a change makes shorter or longer; a negative one stays.
fn latency(ns: i64, factor: f64) -> i64 {
    if ns > 0 { scaled(ns, factor) } else { ns }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "times are below 2^53 ns"
)]
fn scaled(ns: i64, factor: f64) -> i64 {
    // A replay takes parts away or leaves them, and rounds only what a user scales.
    if factor == 1.0 {
        return ns;
    }
    if factor == 0.0 {
        return 0;
    }
    (ns as f64 * factor).round() as i64
}
