//! Computes times per unit of work: of a step, of one GPU interval, or of one command buffer.
//!
//! Times of a step are the medians that each report has, so that what runs once is not in them. The others
//! are means:
//!
//! ```text
//! ███──────███──────███──────███   4 units, and 3 times between them
//! ```
//!
//! The busy time is in the units, so it is divided by their number n. The idle time is between them,
//! so it is divided by n − 1, and so is the time of encoding, of which the window lacks the first
//! unit's. The wall time is the sum of both quotients: the time from the start of
//! one unit to the start of the next, however often the program repeats it.
//!
//! That is an estimate, because it takes the time that would follow the last unit to be as long as
//! the others. It may be as long as the longest gap. If units follow each other without a gap, or
//! have gaps inside, it may also be nothing. The n-th part of the distance is the error. With one
//! unit, nothing shows the time between two.

use std::iter::zip;

use metalens_analyzer::{TimePlace, id};
use metalens_message::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::Floor;
use crate::metrics::{GAPS, metric};

/// Id of the busy time.
pub(crate) const BUSY: &str = id!(busy.busy_ns);
/// Id of the wall time.
pub(crate) const WALL: &str = id!(window.span_ns);
/// Id of the idle time.
pub(crate) const IDLE: &str = id!(gaps.total_ns);
/// Id by which the instances of the kernel that is the unit are asked for; they are no figure.
pub(crate) const KERNEL_COUNT: &str = "kernel.instances";
/// Id of the longest gap.
const LONGEST: &str = id!(gaps.max_ns?);

/// Unit of work that times are compared per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeBasis {
    /// The whole work of a run: the same on both sides, requested to count as such, or unlike.
    Whole,
    /// One command buffer: both sides ran as many of them.
    CommandBuffer,
    /// One GPU interval of the process.
    Interval,
    /// One step, by its median: both sides have the same steps, or somebody requested it.
    Step,
    /// One instance of a kernel, on request.
    Kernel,
}

/// Unit of work that somebody wants times to be compared per.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PerUnit {
    /// One step.
    Step,
    /// One command buffer.
    CommandBuffer,
    /// One instance of the kernel with this name.
    Kernel(String),
}

/// A time of each run, per unit of work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimesPerUnit {
    /// Time of each run in nanoseconds. None if the run lacks it, or has too few units.
    pub values: Vec<Option<Number>>,
    /// Largest error of a value, in nanoseconds; 0 for whole runs.
    pub error_ns: f64,
}

impl TimeBasis {
    /// Returns the id of the figure that counts the units. None for whole runs, and for steps, which have
    /// times of their own.
    fn count_id(self) -> Option<&'static str> {
        match self {
            Self::Whole | Self::Step => None,
            Self::CommandBuffer => Some(id!(counts.command_buffers)),
            Self::Interval => Some(id!(counts.intervals)),
            Self::Kernel => Some(KERNEL_COUNT),
        }
    }

    /// Returns what follows a time, such as ` per GPU interval`; nothing for whole runs.
    pub fn per(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::CommandBuffer => " per command buffer",
            Self::Interval => " per GPU interval",
            Self::Step => " per step",
            Self::Kernel => " per instance",
        }
    }

    /// Returns the singular noun for a unit. None for whole runs.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::CommandBuffer => Some("command buffer"),
            Self::Interval => Some("interval"),
            Self::Step => Some("step"),
            Self::Kernel => Some("instance"),
        }
    }
}

impl Floor {
    /// Returns the floor of times per unit of work: some are means.
    #[must_use]
    pub fn of_times(self, basis: TimeBasis) -> Self {
        match basis {
            TimeBasis::Whole | TimeBasis::Step => self,
            TimeBasis::CommandBuffer | TimeBasis::Interval | TimeBasis::Kernel => self.of_means(),
        }
    }
}

/// Returns a time of each run per unit of work. `values` returns a figure of each run by its id.
/// None if the figure has no meaning per unit.
pub fn times_per_unit(
    id: &str,
    basis: TimeBasis,
    values: impl Fn(&str) -> Vec<Option<Number>>,
) -> Option<TimesPerUnit> {
    if basis == TimeBasis::Step {
        let values = of_steps(id, values)?;
        return Some(TimesPerUnit {
            values,
            error_ns: 0.0,
        });
    }
    let Some(count_id) = basis.count_id() else {
        return Some(TimesPerUnit {
            values: values(id),
            error_ns: 0.0,
        });
    };

    let place = metric(id)?
        .place
        .filter(|place| *place != TimePlace::Outside)?;
    let times = values(if place == TimePlace::Both { IDLE } else { id });
    let (counts, busy) = (values(count_id), values(BUSY));
    let (gaps, longest) = (values(GAPS), values(LONGEST));
    let value = |values: &[Option<Number>], run: usize| values.get(run).copied().flatten();
    let runs: Vec<Option<(f64, f64)>> = zip(times, counts)
        .enumerate()
        .map(|(run, (time, count))| {
            let (time, count) = (time?.get(), count?.get());
            if place == TimePlace::Inside {
                return Some((time / count, 0.0));
            }

            let between = time / (count - 1.0);
            let longest = value(&longest, run).map_or(between, |longest| longest.get().min(time));
            let is_one_between_each =
                value(&gaps, run).is_some_and(|gaps| gaps.get() == count - 1.0);
            let least = if is_one_between_each { between } else { 0.0 };
            let error = (between - least).max(longest - between) / count;
            let inside = match place {
                TimePlace::Both => value(&busy, run)?.get() / count,
                _ => 0.0,
            };
            (count > 1.0).then_some((inside + between, error))
        })
        .collect();
    let errors = runs.iter().flatten().map(|(_, error)| *error);
    Some(TimesPerUnit {
        error_ns: errors.filter(|error| error.is_finite()).fold(0.0, f64::max),
        values: runs.iter().map(|run| Number::new((*run)?.0)).collect(),
    })
}

/// Returns a time of the median step of each run.
fn of_steps(id: &str, values: impl Fn(&str) -> Vec<Option<Number>>) -> Option<Vec<Option<Number>>> {
    let (length, busy) = (values("steps.median_ns"), values("steps.gpu_ns"));
    Some(match id {
        WALL => length,
        BUSY => busy,
        IDLE => zip(length, busy)
            .map(|(length, busy)| Number::new(length?.get() - busy?.get()))
            .collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{ChangeClass, Judge, Preference};
    use crate::unit::Unit;

    /// Returns the figures of a program that repeats a step so often: some GPU intervals of 20 µs with
    /// gaps between them, and a longer wait from step to step.
    fn figures(steps: u32, intervals: u32, gap: f64, wait: f64) -> impl Fn(&str) -> f64 {
        let (steps, intervals) = (f64::from(steps), f64::from(intervals));
        let idle = (steps - 1.0) * wait + steps * (intervals - 1.0) * gap;
        let busy = steps * intervals * 20_000.0;
        move |id| match id {
            "window.span_ns" => busy + idle,
            "busy.busy_ns" | "busy.sum_ns" => busy,
            "gaps.total_ns" => idle,
            "idle.host_ns" => (steps - 1.0) * wait * 0.75,
            "gaps.max_ns" if steps > 1.0 => wait.max(gap),
            "gaps.max_ns" => gap,
            "gaps.count" if gap > 0.0 => steps * intervals - 1.0,
            "gaps.count" => steps - 1.0,
            "counts.intervals" => steps * intervals,
            "counts.command_buffers" => steps,
            _ => f64::NAN,
        }
    }

    fn times(id: &str, basis: TimeBasis, of: impl Fn(&str) -> f64) -> TimesPerUnit {
        times_per_unit(id, basis, |id| vec![Number::new(of(id))]).unwrap()
    }

    const TIMES: [&str; 5] = [
        "window.span_ns",
        "busy.busy_ns",
        "busy.sum_ns",
        "gaps.total_ns",
        "idle.host_ns",
    ];

    /// The same program is as fast per unit however often it repeats its step.
    #[test]
    fn more_repetitions_make_no_difference() {
        let programs = [
            (1, 0.0, 100_000.0),
            (4, 0.0, 100_000.0),
            (4, 5_000.0, 100_000.0),
            (40, 100_000.0, 1_000.0),
        ];
        let repetitions = [10, 20, 100, 1_000];
        for (intervals, gap, wait) in programs {
            for (basis, id) in [TimeBasis::Interval, TimeBasis::CommandBuffer]
                .into_iter()
                .flat_map(|basis| TIMES.map(|id| (basis, id)))
            {
                for (few, many) in repetitions
                    .into_iter()
                    .flat_map(|few| repetitions.map(|many| (few, many)))
                {
                    let base = times(id, basis, figures(few, intervals, gap, wait));
                    let new = times(id, basis, figures(many, intervals, gap, wait));
                    let judge = Judge::new(Floor::default(), 1, 1);
                    let judge = judge.with_error(base.error_ns + new.error_ns);
                    let change =
                        judge.change(&base.values, &new.values, Unit::Ns, Preference::Lower);
                    assert_eq!(
                        change.class,
                        ChangeClass::Unchanged,
                        "{id} {basis:?} of {intervals}: {few} and {many}: {change:?}"
                    );
                }
            }
        }
    }

    /// 20 µs of work and 100 µs to the next, whatever the number.
    #[test]
    fn equal_units_are_exact() {
        for steps in [2, 10, 1_000] {
            let of = |id: &str| {
                let found = times(id, TimeBasis::Interval, figures(steps, 1, 0.0, 100_000.0));
                found.values.first().copied().flatten().map(Number::get)
            };
            assert_eq!(of("busy.busy_ns"), Some(20_000.0), "{steps}");
            assert_eq!(of("gaps.total_ns"), Some(100_000.0), "{steps}");
            assert_eq!(of("window.span_ns"), Some(120_000.0), "{steps}");
        }
    }

    /// A slower program is, beyond the error of 100 units.
    #[test]
    fn a_difference_beyond_the_error_is_found() {
        let base = times(
            "window.span_ns",
            TimeBasis::Interval,
            figures(100, 1, 0.0, 100_000.0),
        );
        let new = times(
            "window.span_ns",
            TimeBasis::Interval,
            figures(200, 1, 0.0, 105_000.0),
        );
        let judge = Judge::new(Floor::default(), 1, 1);
        let judge = judge.with_error(base.error_ns + new.error_ns);
        let change = judge.change(&base.values, &new.values, Unit::Ns, Preference::Lower);
        assert_eq!(change.class, ChangeClass::Grown, "{change:?}");
    }

    #[test]
    fn one_unit_says_nothing_about_the_time_between_two() {
        let of = |id: &str| times(id, TimeBasis::CommandBuffer, figures(1, 4, 5_000.0, 0.0));
        assert_eq!(of("window.span_ns").values, [None]);
        assert_eq!(of("gaps.total_ns").values, [None]);
        assert_eq!(of("busy.busy_ns").values, [Number::new(80_000.0)]);
        assert_eq!(of("gaps.total_ns").error_ns, 0.0);
    }

    #[test]
    fn what_happens_once_has_no_time_per_unit() {
        let of = |id: &str, basis| times_per_unit(id, basis, |_| vec![Number::new(1.0)]);
        assert_eq!(of("efficiency.program_ns", TimeBasis::Interval), None);
        let whole = of("efficiency.program_ns", TimeBasis::Whole).unwrap();
        assert_eq!(whole.values, [Number::new(1.0)]);
    }
}
