//! Compares the amounts of work of both sides, which come before any time.

use metalens_analyzer::id;
use metalens_message::{Message, Number, kernel, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass};
use crate::changes::Changes;
use crate::kernels::{KernelChange, only_alike};
use crate::metric_changes::{MetricChange, find, has_same_steps};
use crate::metrics::{MetricGroup, is_total_over_work, metrics};
use crate::per_unit::{KERNEL_COUNT, PerUnit, TimeBasis, WALL, times_per_unit};
use crate::runs::Runs;

const INTERVALS: &str = id!(counts.intervals);
const BUFFERS: &str = id!(counts.command_buffers);

/// The amounts of work of both sides, and what their times are compared per.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkComparison {
    /// Whether both sides ran the same number of GPU intervals.
    pub amount: WorkAmount,
    /// Unit of work that times are compared per. A unit only if somebody requested it, if both sides have the
    /// same steps, or if all units are alike: each kernel runs more or less often by the same factor.
    pub basis: TimeBasis,
    /// Name of the kernel of which an instance is the unit, if the basis is `kernel`.
    pub kernel: Option<String>,
    /// True if `--preset fusion` says that both sides do the same work.
    pub taken_as_same: bool,
    /// True if as many GPU intervals are other work: kernels that both sides have ran more or less often, or
    /// in another mix of lengths, and have more than 1 % of the kernel time.
    pub other_mix: bool,
    /// Number of kernels that both sides have, by name and channel.
    pub common_kernels: u64,
    /// Kernels that probably have another name in new: the only one of base and the only one of new
    /// that ran so often on that channel, and that the other side lacks. If several ran so often, those
    /// whose median instances are within 10 %. Kernels that surely have another name are one in `kernels`.
    pub renamed: Vec<RenamedKernel>,
    /// Times per unit of work, with the ids of the whole times. Empty if the basis is `whole`. Of steps
    /// they are medians. Else idle time lies between units, so it is divided by one less than their
    /// number, and the intervals of the changes contain the error of that.
    pub per_unit: Vec<MetricChange>,
}

/// Whether both sides ran the same number of GPU intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkAmount {
    /// The number is the same, or differs by less than the floor.
    Same,
    /// The numbers differ by the floor or more.
    Different,
    /// The number varies from run to run by more than it differs between the sides.
    Varies,
    /// A side has no value.
    Unknown,
}

/// A kernel that probably has another name in new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenamedKernel {
    /// Name of the kernel in base.
    pub base: String,
    /// Name of the kernel in new.
    pub new: String,
    /// GPU channel of both. Null if the recordings do not say.
    pub channel: Option<String>,
}

impl Changes<'_> {
    /// Compares the amounts of work. The times of different amounts count as those of the same if they are
    /// `taken_as_same`: fusion does the same work in fewer intervals.
    pub fn work(&self, taken_as_same: bool, per: Option<&PerUnit>) -> WorkComparison {
        let (metrics, kernels) = (&self.metrics[..], &self.kernels[..]);
        let class = |id: &str| find(metrics, id).map(|metric| metric.change.material_class());
        let amount = match class(INTERVALS) {
            Some(ChangeClass::Unchanged) => WorkAmount::Same,
            Some(ChangeClass::Grown | ChangeClass::Shrunk) => WorkAmount::Different,
            Some(ChangeClass::Unstable) => WorkAmount::Varies,
            _ => WorkAmount::Unknown,
        };

        let renamed = renamed(kernels);
        let basis = match amount {
            _ if per == Some(&PerUnit::Step) => TimeBasis::Step,
            _ if per == Some(&PerUnit::CommandBuffer) => TimeBasis::CommandBuffer,
            _ if per.is_some() => TimeBasis::Kernel,
            WorkAmount::Same | WorkAmount::Unknown => TimeBasis::Whole,
            _ if taken_as_same => TimeBasis::Whole,
            // As many command buffers, each with less or more in it: these are what is repeated.
            _ if class(BUFFERS) == Some(ChangeClass::Unchanged) && are_alike(metrics, kernels) => {
                TimeBasis::CommandBuffer
            }
            _ if have_alike_steps(metrics, kernels) => TimeBasis::Step,
            // A mean over unlike intervals changes with their mix, whatever happens to each.
            _ if are_alike(metrics, kernels) => TimeBasis::Interval,
            _ => TimeBasis::Whole,
        };
        let kernel = match per {
            Some(PerUnit::Kernel(name)) => Some(name.clone()),
            _ => None,
        };
        let per_unit = match basis {
            TimeBasis::Whole => Vec::new(),
            _ => self.per_unit(basis, kernel.as_deref()),
        };

        let common = kernels.iter().filter(|kernel| !kernel.is_one_sided());
        WorkComparison {
            amount,
            basis,
            kernel,
            taken_as_same,
            other_mix: amount == WorkAmount::Same && !taken_as_same && has_other_mix(kernels),
            common_kernels: common.count() as u64,
            renamed,
            per_unit,
        }
    }

    /// Returns the changes of all times that sum over the work, per unit of it.
    fn per_unit(&self, basis: TimeBasis, kernel: Option<&str>) -> Vec<MetricChange> {
        let judge = self.judge;
        let judge = judge.with_floor(judge.floor.of_times(basis));

        let sums = metrics().filter(|metric| metric.place.is_some());
        let changes = sums.filter_map(|metric| {
            let times = |runs: &Runs| {
                times_per_unit(metric.id, basis, |id| match kernel {
                    Some(name) if id == KERNEL_COUNT => runs.instances_of(name),
                    _ => runs.values(id),
                })
            };
            let (was, now) = (times(&self.base)?, times(&self.new)?);
            let judge = judge.with_error(was.error_ns + now.error_ns);
            Some(MetricChange::new(metric, &judge, &was.values, &now.values))
        });
        changes.filter(MetricChange::is_recorded).collect()
    }
}

/// Share by which a count may differ from its expectation.
const COUNTS: f64 = 0.02;
/// Share of the kernel time that kernels which one rate cannot tell may have.
const UNTOLD: f64 = 0.01;

/// Returns the values of both sides.
fn both(change: &Change) -> Option<(f64, f64)> {
    Some((change.base_value()?.get(), change.new_value()?.get()))
}

/// Returns how often new has a thing for each that base has.
fn factor(metrics: &[MetricChange], id: &str) -> Option<f64> {
    let (was, now) = both(&find(metrics, id)?.change)?;
    Some(now / was).filter(|factor| factor.is_finite())
}

/// Returns whether kernels that both sides have did other work, and have more than a negligible part of the
/// time.
fn has_other_mix(kernels: &[KernelChange]) -> bool {
    let both = kernels.iter().filter(|kernel| !kernel.is_one_sided());
    let other = both.filter(|kernel| kernel.ran_differently_often() || kernel.has_other_mix());
    other.filter_map(|kernel| kernel.share).sum::<f64>() > UNTOLD
}

/// Returns whether both sides have the same steps: of as many GPU intervals, with the kernels of base. A kernel
/// runs once, or in each step, or both.
fn have_alike_steps(metrics: &[MetricChange], kernels: &[KernelChange]) -> bool {
    let Some(factor) = factor(metrics, "counts.steps").filter(|_| has_same_steps(metrics)) else {
        return false;
    };
    let (mut untold_ns, mut total_ns) = (0.0, 0.0);
    for kernel in kernels {
        let side_ns = |value: Option<Number>| value.map_or(0.0, Number::get);
        let total = &kernel.total_ns;
        let most_ns = side_ns(total.base_value()).max(side_ns(total.new_value()));
        let is_told = both(&kernel.instances).is_some_and(|(was, now)| {
            let ends = (was.min(was * factor), was.max(was * factor));
            let error = (COUNTS * ends.1).max(1.0);
            (ends.0 - error..=ends.1 + error).contains(&now)
        });
        total_ns += most_ns;
        untold_ns += if is_told { 0.0 } else { most_ns };
    }
    untold_ns <= UNTOLD * total_ns
}

/// Returns whether the intervals of both sides are alike: each kernel runs more or less often by the same
/// factor. Kernels without a label may be different ones under one name. One kernel that runs once, such as a
/// prefill, may hold most of the time.
fn are_alike(metrics: &[MetricChange], kernels: &[KernelChange]) -> bool {
    let Some(factor) = factor(metrics, INTERVALS) else {
        return false;
    };
    let (mut untold_ns, mut total_ns) = (0.0, 0.0);
    for kernel in kernels {
        let named = both(&kernel.instances).filter(|_| !kernel.name.starts_with("(unlabeled"));
        let Some((was, now)) = named else {
            return false;
        };
        let apart = (now - was * factor).abs();
        if apart > (COUNTS * was * factor).max(1.0) {
            return false;
        }
        let new_ns = kernel.total_ns.new_value().map_or(0.0, Number::get);
        untold_ns += apart * new_ns / now.max(1.0);
        total_ns += new_ns;
    }
    untold_ns <= UNTOLD * total_ns
}

impl WorkComparison {
    /// Returns the unit that times are compared per, such as `command buffer` or `instance of gemm`. None
    /// for whole runs.
    pub fn unit(&self) -> Option<Message> {
        let unit = Message::from(self.basis.unit()?);
        Some(match &self.kernel {
            Some(name) => message!("{} of {}", unit, kernel(name)),
            None => unit,
        })
    }

    /// Returns whether both sides did other work, so that a time is neither better nor worse.
    pub fn is_other(&self) -> bool {
        let is_other_amount = matches!(self.amount, WorkAmount::Different | WorkAmount::Varies);
        self.other_mix || is_other_amount && !self.taken_as_same
    }
}

/// Removes what is better or worse from figures that sum over different amounts of work, and from kernels
/// that ran more or less often where no unit of work is alike: they may do more or less each time.
pub(crate) fn clear_directions(
    metrics: &mut [MetricChange],
    kernels: &mut [KernelChange],
    work: &WorkComparison,
) {
    if work.is_other() && matches!(work.basis, TimeBasis::Whole | TimeBasis::Kernel) {
        let other = kernels
            .iter_mut()
            .filter(|kernel| kernel.ran_differently_often());
        other.for_each(|kernel| (kernel.direction, kernel.med_ns.direction) = (None, None));
    }
    // The GPU is idle longer if it waits for a display, or if less of the same time is work.
    let is_paced = find(metrics, "steps.period_ns").is_some();
    let is_as_long = find(metrics, WALL).is_none_or(|wall| !wall.change.is_material());
    if is_paced || is_as_long {
        let idle = metrics
            .iter_mut()
            .filter(|metric| matches!(metric.group, MetricGroup::Idle | MetricGroup::Gaps));
        idle.for_each(|metric| metric.change.direction = None);
    }
    // Steps of other work are other ones.
    if work.is_other() && work.basis == TimeBasis::Whole {
        let steps = metrics
            .iter_mut()
            .filter(|metric| metric.id.starts_with("steps."));
        steps.for_each(|metric| metric.change.direction = None);
    }
    if work.is_other() && work.basis != TimeBasis::CommandBuffer {
        let sums = metrics
            .iter_mut()
            .filter(|metric| is_total_over_work(&metric.id));
        sums.for_each(|metric| metric.change.direction = None);
    }
}

/// Finds the kernels that probably have another name in new: alone on their side with so many instances
/// on that channel, or with instances that take as long, too.
fn renamed(kernels: &[KernelChange]) -> Vec<RenamedKernel> {
    let of_class = |class: ChangeClass| kernels.iter().filter(move |kernel| kernel.class == class);
    let (gone, added): (Vec<_>, Vec<_>) = (
        of_class(ChangeClass::Removed).collect(),
        of_class(ChangeClass::Added).collect(),
    );
    let renamed = gone.iter().filter_map(|&was| {
        let only = |is_like| only_alike(was, &gone, &added, is_like);
        let now = only(ran_as_often).or_else(|| only(took_as_long))?;
        Some(RenamedKernel {
            base: was.name.clone(),
            new: now.name.clone(),
            channel: was.channel.clone(),
        })
    });
    renamed.collect()
}

/// Returns whether a kernel of base and one of new are on the same channel and ran equally often.
pub(crate) fn ran_as_often(was: &KernelChange, now: &KernelChange) -> bool {
    was.channel == now.channel && was.instances.base_value() == now.instances.new_value()
}

/// Returns whether their median instances also take about as long.
fn took_as_long(was: &KernelChange, now: &KernelChange) -> bool {
    /// Share by which the median of a renamed kernel may differ.
    const SHARE: f64 = 0.1;
    let both = was.med_ns.base_value().zip(now.med_ns.new_value());
    let is_near = both.is_some_and(|(was, now)| {
        (now.get() - was.get()).abs() <= SHARE * was.get().max(now.get())
    });
    is_near && ran_as_often(was, now)
}
