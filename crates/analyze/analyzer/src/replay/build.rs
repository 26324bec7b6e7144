//! Makes a program of the recorded command buffers.

use std::sync::Arc;

use super::program::{Change, Command, Delays, DriverWork, Kick, Program};
use crate::basics::spans::{Span, time_in};
use crate::basics::statistics::{median, ratio};
use crate::report::{ChainSource, Waiting};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::steps::{Step, Steps};

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

/// Recorded command buffers, and what is known of them.
pub(crate) struct Recorded<'a> {
    pub steps: &'a Steps,
    /// Length of the part of the window that they are from, in nanoseconds.
    pub part_ns: u64,
    /// GPU intervals of the process.
    pub mine: &'a [Interval],
    pub kernels: &'a NamedIntervals,
    pub waiting: &'a Waiting,
    /// Source of the driver's times.
    pub driver: Option<ChainSource>,
    /// GPU use of other processes.
    pub others: &'a [Span],
    /// Places of the command buffers that begin iterations of a program that keeps a pace.
    pub paced: &'a [usize],
}

/// Times of a start: the step before it, and the end of earlier work at the same place.
#[derive(Clone, Copy)]
struct Observed {
    step_ns: i64,
    work_end: Option<i64>,
    start_ns: i64,
    /// Longest time after earlier work that its end explains.
    soon_ns: i64,
    /// True if it came later after its step than the first start of the same command buffer did: the
    /// latency after the step is over, and the earlier work explains the time after it, however long.
    is_late: bool,
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

    /// Returns the delays that give the recorded start. The typical ones are those after the step
    /// and after earlier work.
    fn delays(self, typical: Delays) -> Delays {
        let after_step_ns = self.start_ns - self.step_ns;
        let after_work_ns = self
            .work_end
            .map_or(i64::MIN / 4, |end_ns| self.start_ns - end_ns);
        if self.is_behind_work() {
            Delays {
                after_step_ns: after_step_ns.min(typical.after_step_ns),
                after_work_ns,
            }
        } else {
            Delays {
                after_step_ns,
                after_work_ns: after_work_ns.min(typical.after_work_ns),
            }
        }
    }
}

/// Returns the typical delays of some starts.
fn typical(observed: impl Iterator<Item = Observed> + Clone, otherwise: Delays) -> Delays {
    let alone = observed.clone().filter(|each| !each.is_behind_work());
    let after_step = alone.map(|each| each.start_ns - each.step_ns);
    let behind = observed.filter(|each| each.is_behind_work());
    let after_work = behind.filter_map(|each| Some(each.start_ns - each.work_end?));
    Delays {
        after_step_ns: median(after_step).unwrap_or(otherwise.after_step_ns),
        after_work_ns: median(after_work).unwrap_or(otherwise.after_work_ns),
    }
}

impl Recorded<'_> {
    /// Makes the program.
    pub(crate) fn program(&self) -> Program {
        let (gpu, channels) = self.gpu_starts();
        let drivers = self.driver_starts();
        let typical_gpu = typical(
            gpu.iter().map(|&(observed, _)| observed),
            Delays {
                after_step_ns: AFTER_SUBMISSION_NS,
                after_work_ns: AFTER_GPU_NS,
            },
        );
        let typical_driver = typical(
            drivers.iter().flatten().copied(),
            Delays {
                after_step_ns: AFTER_COMMIT_NS,
                after_work_ns: AFTER_DRIVER_NS,
            },
        );
        let completion_ns = self.typical_completion();

        let mut kicks = Vec::with_capacity(gpu.len());
        let mut commands: Vec<Command> = Vec::with_capacity(self.steps.list.len());
        for (place, step) in self.steps.list.iter().enumerate() {
            let first = kicks.len();
            let own = gpu.get(first..).unwrap_or(&[]);
            kicks.extend(self.kicks(step, own, typical_gpu));

            let waits_for = self.awaited(place, step);
            let awaited_ns = waits_for.and_then(|place| self.steps.list.get(place)?.completed_ns);
            let before = place
                .checked_sub(1)
                .and_then(|place| self.steps.list.get(place));
            let free_ns = before.map(|step| step.committed_ns).max(awaited_ns);
            let begun_ns = step.encoding_ns.unwrap_or(step.committed_ns);
            let encoding_ns = begun_ns.max(free_ns.unwrap_or(begun_ns));
            let is_paced = self.paced.binary_search(&place).is_ok();
            let driver = drivers.get(place).copied().flatten();
            let ended_ns = self.ended_ns(step);
            commands.push(Command {
                waits_for,
                not_before_ns: is_paced.then_some(encoding_ns),
                // The first one begins at its recorded time: nothing is before it.
                host_ns: encoding_ns - free_ns.unwrap_or(0),
                encode_ns: step.committed_ns - encoding_ns,
                driver: self.driver_work(step, driver, typical_driver),
                kicks: first..kicks.len(),
                completion_ns: step
                    .completed_ns
                    .map_or(completion_ns, |completed_ns| completed_ns - ended_ns),
            });
        }
        let mut program = Program {
            commands,
            kicks: Arc::new(kicks),
            channels,
            scale: 1.0,
        };
        if self.steps.is_sample {
            let scale = ratio(self.part_ns, program.time(&Change::NONE));
            program.scale = scale.unwrap_or(1.0);
        }
        program
    }

    /// Returns the GPU intervals of a command buffer. `starts` begin with theirs.
    fn kicks(
        &self,
        step: &Step,
        starts: &[(Observed, usize)],
        typical: Delays,
    ) -> impl Iterator<Item = Kick> {
        let began_ns = step.driver.map(|times| signed(times.begins_ns));
        let indices = self.steps.intervals_of(step).iter();
        let own = indices.filter_map(|&index| Some((index, self.mine.get(index)?)));
        own.zip(starts)
            .map(move |((index, interval), &(observed, channel))| Kick {
                submit_ns: began_ns.map_or(0, |began_ns| observed.step_ns - began_ns),
                start: observed.delays(typical),
                length_ns: signed(interval.span.length_ns()),
                channel,
                kernel: self.kernels.number_of(index).unwrap_or(usize::MAX),
                contended_ns: self.contended_ns(observed),
            })
    }

    /// Returns the completed command buffer that the program waited for before it encoded this one.
    fn awaited(&self, place: usize, step: &Step) -> Option<usize> {
        if !self.waiting.is_replayed() {
            return None;
        }
        let in_flight = usize::try_from(self.waiting.in_flight).ok()?;
        let awaited = place.checked_sub(in_flight)?;
        let completed_ns = self.steps.list.get(awaited)?.completed_ns?;
        let encoding_ns = step.encoding_ns.unwrap_or(step.committed_ns);
        (completed_ns <= encoding_ns).then_some(awaited)
    }

    fn driver_work(
        &self,
        step: &Step,
        observed: Option<Observed>,
        typical: Delays,
    ) -> Option<DriverWork> {
        let times = step.driver?;
        let began_ns = signed(times.begins_ns);
        let end_ns = step.driver_end_ns.unwrap_or(times.submitted_ns);
        Some(DriverWork {
            start: observed?.delays(typical),
            work_ns: signed(end_ns) - began_ns,
        })
    }

    /// Returns the start of the driver's work on each command buffer.
    fn driver_starts(&self) -> Vec<Option<Observed>> {
        let mut work_end = None;
        let starts = self.steps.list.iter().map(|step| {
            let times = step.driver?;
            let observed = Observed {
                step_ns: step.committed_ns,
                work_end,
                start_ns: signed(times.begins_ns),
                soon_ns: SOON_AFTER_DRIVER_NS,
                is_late: false,
            };
            work_end = Some(signed(step.driver_end_ns.unwrap_or(times.submitted_ns)));
            Some(observed)
        });
        starts.collect()
    }

    /// Returns the start of each GPU interval with the number of its channel, and the number of
    /// channels.
    fn gpu_starts(&self) -> (Vec<(Observed, usize)>, usize) {
        let mut channels = Vec::new();
        let mut ends: Vec<Option<i64>> = Vec::new();
        let mut starts = Vec::with_capacity(self.steps.intervals.len());
        for step in &self.steps.list {
            let mut own_end: Option<i64> = None;
            let mut first_latency_ns: Option<i64> = None;
            for place in step.intervals.clone() {
                let index = self.steps.intervals.get(place);
                let Some(interval) = index.and_then(|&index| self.mine.get(index)) else {
                    continue;
                };
                let known = channels.iter().position(|&each| each == interval.channel);
                let channel = known.unwrap_or(channels.len());
                if known.is_none() {
                    channels.push(interval.channel);
                    ends.push(None);
                }
                let start_ns = signed(interval.span.start_ns);
                let end_ns = signed(interval.span.end_ns);
                let submitted = self.steps.submitted.get(place).copied().flatten();
                let step_ns = submitted.unwrap_or(match step.driver {
                    Some(times) => signed(times.submitted_ns),
                    None => step.committed_ns,
                });
                let latency_ns = start_ns - step_ns;
                let first_latency_ns = *first_latency_ns.get_or_insert(latency_ns);
                starts.push((
                    Observed {
                        step_ns,
                        work_end: own_end.max(ends.get(channel).copied().flatten()),
                        start_ns,
                        soon_ns: SOON_AFTER_GPU_NS,
                        is_late: latency_ns > first_latency_ns + SOON_AFTER_GPU_NS,
                    },
                    channel,
                ));
                own_end = own_end.max(Some(end_ns));
                if let Some(end) = ends.get_mut(channel) {
                    *end = (*end).max(Some(end_ns));
                }
            }
        }
        (starts, channels.len())
    }

    /// Returns the time before a start in which another process used the GPU while the work waited.
    fn contended_ns(&self, observed: Observed) -> i64 {
        let ready_ns = observed.step_ns.max(observed.work_end.unwrap_or(i64::MIN));
        let from = u64::try_from(ready_ns).unwrap_or(0);
        let until = u64::try_from(observed.start_ns).unwrap_or(0);
        if from >= until {
            return 0;
        }
        signed(time_in(Span::new(from, until), self.others))
    }

    fn ended_ns(&self, step: &Step) -> i64 {
        let own = self.steps.intervals_of(step).iter();
        let ends = own.filter_map(|&index| Some(signed(self.mine.get(index)?.span.end_ns)));
        ends.max().unwrap_or(step.committed_ns)
    }

    fn typical_completion(&self) -> i64 {
        let known = self
            .steps
            .list
            .iter()
            .filter_map(|step| Some(step.completed_ns? - self.ended_ns(step)));
        median(known).unwrap_or(0)
    }
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
