//! Takes the difference between two runs apart: GPU work and the causes of idle time tile the time from
//! first to last GPU work, so that their changes sum to its change.

use metalens_message::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric_changes::{MetricChange, find, has_same_steps};
use crate::metrics::MetricGroup;
use crate::per_unit::{BUSY, IDLE, WALL};

/// The difference between one run of each side, as a sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The run of median time of each side, as its place among the runs.
    pub runs: Sides<usize>,
    /// Time from first to last GPU work, in nanoseconds.
    pub time_ns: Sides<Number>,
    /// Parts that sum to that time, the one that changed most first.
    pub parts: Vec<DifferencePart>,
    /// The same time by steps. Null if the sides have not the same steps.
    pub steps: Option<StepsDifference>,
}

/// The steps of one run of each side. `count` × `median_ns` + `away_ns` + `once_ns` is the time from first to
/// last GPU work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepsDifference {
    /// Number of steps with a known length.
    pub count: Sides<Number>,
    /// Median length of a step, in nanoseconds.
    pub median_ns: Sides<Number>,
    /// Time that the steps take more than the median, in nanoseconds: negative if less.
    pub away_ns: Sides<Number>,
    /// Time outside of these steps, in nanoseconds: a prefill, the last step.
    pub once_ns: Sides<Number>,
}

/// Values of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sides<T> {
    /// Value of the base side.
    pub base: T,
    /// Value of the new side.
    pub new: T,
}

/// One part of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferencePart {
    /// Path of the figure in a report, such as `idle.host_ns`.
    pub id: String,
    /// Name of the figure in words.
    pub name: String,
    /// Time of the part, in nanoseconds.
    pub time_ns: Sides<Number>,
}

impl Sides<Number> {
    /// Returns new minus base.
    pub fn change(self) -> f64 {
        self.new.get() - self.base.get()
    }
}

impl StepsDifference {
    /// Returns the steps of these runs; `None` if the sides have not the same ones.
    fn of(metrics: &[MetricChange], runs: Sides<usize>, time_ns: Sides<Number>) -> Option<Self> {
        let values = |id: &str| {
            let [base, new] = runs.of(find(metrics, id)?);
            Some(Sides {
                base: base?,
                new: new?,
            })
        };
        let (count, median_ns) = (values("steps.measured")?, values("steps.median_ns")?);
        let once_ns = values("steps.once_ns")?;
        let away = |side: fn(Sides<Number>) -> Number| {
            let usual_ns = side(count).get() * side(median_ns).get();
            Number::new(side(time_ns).get() - side(once_ns).get() - usual_ns)
        };
        let away_ns = Sides {
            base: away(|sides| sides.base)?,
            new: away(|sides| sides.new)?,
        };
        has_same_steps(metrics).then_some(Self {
            count,
            median_ns,
            away_ns,
            once_ns,
        })
    }

    /// Returns what each part adds to the difference, in nanoseconds: their sum is the difference.
    pub fn parts_ns(&self) -> [(StepsPart, f64); 4] {
        [
            (
                StepsPart::Count,
                self.count.change() * self.median_ns.base.get(),
            ),
            (
                StepsPart::Median,
                self.count.new.get() * self.median_ns.change(),
            ),
            (StepsPart::Away, self.away_ns.change()),
            (StepsPart::Once, self.once_ns.change()),
        ]
    }
}

/// Part of the difference of the time, by steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepsPart {
    /// More or fewer steps, each with base's median length.
    Count,
    /// A longer or shorter median of new's steps.
    Median,
    /// Steps that are longer or shorter than the median.
    Away,
    /// Time outside of the steps.
    Once,
}

impl StepsPart {
    /// Returns the part as tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Count => "number of steps",
            Self::Median => "usual length of a step",
            Self::Away => "unusually long or short steps",
            Self::Once => "outside of the steps",
        }
    }
}

impl Sides<usize> {
    /// Returns the values of these runs.
    fn of(self, metric: &MetricChange) -> [Option<Number>; 2] {
        let change = &metric.change;
        [change.base.of_run(self.base), change.new.of_run(self.new)]
    }
}

/// Returns the difference; `None` if a side has no time, or parts that do not sum to it. Medians of
/// several runs would not: each side is one of its runs. Where a cause is told on one side only, all idle time
/// is one part.
pub(crate) fn difference(metrics: &[MetricChange]) -> Option<Difference> {
    let wall = find(metrics, WALL)?;
    let runs = Sides {
        base: median_run(&wall.change.base.values)?,
        new: median_run(&wall.change.new.values)?,
    };
    let [base, new] = runs.of(wall);
    let time_ns = Sides {
        base: base?,
        new: new?,
    };
    let parts_of = |is_idle: fn(&MetricChange) -> bool| {
        let is_part = |metric: &&MetricChange| metric.id == BUSY || is_idle(metric);
        let parts = metrics.iter().filter(is_part).filter_map(|metric| {
            let time_ns = match runs.of(metric) {
                [Some(base), Some(new)] => Sides { base, new },
                // What only one side tells is no time that the other saved: the sum will lack it.
                _ => return None,
            };
            Some(DifferencePart {
                id: metric.id.clone(),
                name: metric.name.clone(),
                time_ns,
            })
        });
        let parts: Vec<DifferencePart> = parts.collect();
        let is_sum = |side: fn(Sides<Number>) -> Number| {
            let sum: f64 = parts.iter().map(|part| side(part.time_ns).get()).sum();
            sum == side(time_ns).get()
        };
        (is_sum(|sides| sides.base) && is_sum(|sides| sides.new)).then_some(parts)
    };
    let by_cause = parts_of(|metric| metric.group == MetricGroup::Idle);
    let mut parts = by_cause.or_else(|| parts_of(|metric| metric.id == IDLE))?;
    let size = |part: &DifferencePart| part.time_ns.change().abs();
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    Some(Difference {
        runs,
        time_ns,
        parts,
        steps: StepsDifference::of(metrics, runs, time_ns),
    })
}

/// Returns the run whose value is the median; of an even number, the lower of the middle two.
fn median_run(values: &[Option<Number>]) -> Option<usize> {
    let mut known: Vec<(Number, usize)> = (values.iter().enumerate())
        .filter_map(|(run, value)| Some(((*value)?, run)))
        .collect();
    known.sort_by(|(a, _), (b, _)| a.get().total_cmp(&b.get()));
    let middle = known.len().checked_sub(1)? / 2;
    known.get(middle).map(|&(_, run)| run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Floor, Judge};
    use crate::metrics::metric;

    /// Checks the runs that are taken apart, and how much of the change each part has. A run is its
    /// time, GPU work, and host work.
    fn check(base: &[[u32; 3]], new: &[[u32; 3]], expected: Option<&str>) {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        let ids = ["window.span_ns", "busy.busy_ns", "idle.host_ns"];
        let changes = ids.iter().enumerate().filter_map(|(index, id)| {
            let metric = metric(id)?;
            let values = |side: &[[u32; 3]]| -> Vec<Option<Number>> {
                side.iter()
                    .map(|run| Number::new(f64::from(run[index])))
                    .collect()
            };
            let (base, new) = (values(base), values(new));
            Some(MetricChange::new(metric, &judge, &base, &new))
        });
        let shown = difference(&changes.collect::<Vec<_>>()).map(|difference| {
            let parts = difference.parts.iter();
            let parts = parts.map(|part| format!("{} {}", part.name, part.time_ns.change()));
            let Sides { base, new } = difference.runs;
            format!("{base} {new}: {}", parts.collect::<Vec<_>>().join(", "))
        });
        assert_eq!(shown.as_deref(), expected);
    }

    #[test]
    fn the_parts_of_two_runs_sum_to_their_difference() {
        check(
            &[[100, 60, 40]],
            &[[90, 60, 30]],
            Some("0 0: host work -10, GPU busy 0"),
        );
        // The run of median time; the lower one of an even number.
        let three = [[300, 60, 240], [100, 70, 30], [200, 80, 120]];
        check(
            &three,
            &[[90, 60, 30], [95, 60, 35]],
            Some("2 0: host work -90, GPU busy -20"),
        );
        // Parts of which one is unknown do not sum to the time.
        check(&[[100, 60, 40]], &[[90, 60, 20]], None);
        check(&[], &[], None);
    }
}
