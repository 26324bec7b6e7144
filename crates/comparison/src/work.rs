//! Compares the amounts of work of both sides, which come before any time.

use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass, Floor, Judge};
use crate::fusion::ComparisonPreset;
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::metrics::{METRICS, is_sum_over_work, is_total_over_work};
use crate::number::Number;
use crate::per_unit::{TimeBasis, times_per_unit};
use crate::runs::Runs;

const INTERVALS: &str = "counts.intervals";
const BUFFERS: &str = "counts.command_buffers";

/// The amounts of work of both sides, and what their times are compared per.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorkComparison {
    /// Whether both sides ran the same number of GPU intervals.
    pub amount: WorkAmount,
    /// Unit of work that times are compared per.
    pub basis: TimeBasis,
    /// Number of kernels that both sides have, by name and channel.
    pub common_kernels: u64,
    /// Kernels that probably have another name in new: the only one of base and the only one of new
    /// that ran so often on that channel, and that the other side lacks.
    pub renamed: Vec<RenamedKernel>,
    /// Times per unit of work, with the ids of the whole times. Empty if the basis is `whole`. Idle
    /// time lies between units, so it is divided by one less than their number, and the intervals of
    /// the changes contain the error of that.
    pub per_unit: Vec<MetricChange>,
}

/// Whether both sides ran the same number of GPU intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RenamedKernel {
    /// Name of the kernel in base.
    pub base: String,
    /// Name of the kernel in new.
    pub new: String,
    /// GPU channel of both. Null if the recordings do not say.
    pub channel: Option<String>,
}

/// Compares the amounts of work.
pub(crate) fn work(
    (base, new): (&Runs, &Runs),
    (metrics, kernels): (&[MetricChange], &[KernelChange]),
    judge: &Judge,
    preset: Option<ComparisonPreset>,
) -> WorkComparison {
    let class = |id: &str| find(metrics, id).map(|metric| metric.change.material_class());
    let amount = match class(INTERVALS) {
        Some(ChangeClass::Unchanged) => WorkAmount::Same,
        Some(ChangeClass::Grown | ChangeClass::Shrunk) => WorkAmount::Different,
        Some(ChangeClass::Unstable) => WorkAmount::Varies,
        _ => WorkAmount::Unknown,
    };

    let basis = match (amount, preset) {
        // Fusion does the same work in fewer intervals: who asks for it says that it is the same.
        (_, Some(ComparisonPreset::Fusion)) | (WorkAmount::Same | WorkAmount::Unknown, _) => {
            TimeBasis::Whole
        }
        _ if class(BUFFERS) == Some(ChangeClass::Unchanged) => TimeBasis::CommandBuffer,
        _ => TimeBasis::Interval,
    };
    let per_unit = match basis {
        TimeBasis::Whole => Vec::new(),
        TimeBasis::CommandBuffer | TimeBasis::Interval => per_unit(base, new, basis, judge),
    };

    let is_common =
        |one: &&KernelChange| !matches!(one.class, ChangeClass::Added | ChangeClass::Removed);
    WorkComparison {
        amount,
        basis,
        common_kernels: kernels.iter().filter(is_common).count() as u64,
        renamed: renamed(kernels),
        per_unit,
    }
}

/// Returns the changes of all times that sum over the work, per unit of it.
fn per_unit(base: &Runs, new: &Runs, basis: TimeBasis, judge: &Judge) -> Vec<MetricChange> {
    // The floor for times is for single ones; those per unit are means of many.
    let floor = Floor {
        time_ns: 0.0,
        ..judge.floor
    };
    let judge = judge.with_floor(floor);

    let sums = METRICS.iter().filter(|one| is_sum_over_work(one.id));
    let changes = sums.filter_map(|metric| {
        let times = |runs: &Runs| times_per_unit(metric.id, basis, |id| runs.values(id));
        let (was, now) = (times(base)?, times(new)?);
        let judge = judge.with_error(was.error_ns + now.error_ns);
        Some(MetricChange::new(
            metric,
            &judge,
            (&was.values, &now.values),
        ))
    });
    changes.filter(MetricChange::is_recorded).collect()
}

/// Removes what is better or worse from figures that sum over different amounts of work.
pub(crate) fn clear_directions(metrics: &mut [MetricChange], basis: TimeBasis) {
    if basis == TimeBasis::Interval {
        let sums = metrics.iter_mut().filter(|one| is_total_over_work(&one.id));
        sums.for_each(|metric| metric.change.direction = None);
    }
}

/// Finds the kernels that probably have another name in new.
fn renamed(kernels: &[KernelChange]) -> Vec<RenamedKernel> {
    type Side = fn(&Change) -> Option<Number>;
    let (of_base, of_new): (Side, Side) = (Change::base_value, Change::new_value);
    let of_class = |class: ChangeClass| kernels.iter().filter(move |one| one.class == class);

    // How often a kernel ran, and where, is all that both names have in common.
    let is_alike = |one: &KernelChange, other: &KernelChange, (first, second): (Side, Side)| {
        one.channel == other.channel && first(&one.instances) == second(&other.instances)
    };
    let pairs = of_class(ChangeClass::Removed).filter_map(|gone| {
        let twins = of_class(ChangeClass::Removed);
        let twins = twins.filter(|other| is_alike(gone, other, (of_base, of_base)));
        let mut found = of_class(ChangeClass::Added);
        let mut found = found
            .by_ref()
            .filter(|added| is_alike(gone, added, (of_base, of_new)));
        let (Some(added), None, 1) = (found.next(), found.next(), twins.count()) else {
            return None;
        };
        Some(RenamedKernel {
            base: gone.name.clone(),
            new: added.name.clone(),
            channel: gone.channel.clone(),
        })
    });
    pairs.collect()
}
