//! Computes the change of each kernel.

use std::collections::BTreeMap;

use metalens_analyzer::message::{kernel, percent};
use metalens_analyzer::{Message, Note, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass, Direction, Judge, Preference, SideValues};
use crate::metric_changes::{MetricChange, find};
use crate::runs::{KernelRuns, Runs};
use crate::sentences::first_few;
use crate::statistics::median_of_known;
use crate::unit::Unit;
use metalens_analyzer::Number;

/// Number of kernels that a note lists by name.
const NAMED: usize = 5;

/// The change of one kernel: the work with one name on one channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelChange {
    /// Name of the kernel.
    pub name: String,
    /// GPU channel that it ran on. Null if the recording does not say.
    pub channel: Option<String>,
    /// Class of the change of its median instance, or its absence on one side.
    pub class: ChangeClass,
    /// Direction of that change: better or worse. Null if no significant change is known.
    pub direction: Option<Direction>,
    /// Largest share of its side's kernel time, by medians. Null if no side has a value.
    pub share: Option<f64>,
    /// Change of the median duration, in nanoseconds.
    pub med_ns: Change,
    /// Change of the number of GPU intervals.
    pub instances: Change,
    /// Change of the summed durations, in nanoseconds. It has no direction if the kernel ran more or
    /// less often.
    pub total_ns: Change,
}

impl KernelChange {
    /// Returns whether the kernel ran more or less often in new, so that its total says nothing about
    /// its speed.
    #[must_use]
    pub fn ran_differently_often(&self) -> bool {
        is_other_work(&self.instances)
    }

    /// Returns whether only one side has the kernel.
    #[must_use]
    pub fn is_one_sided(&self) -> bool {
        matches!(self.class, ChangeClass::Added | ChangeClass::Removed)
    }

    /// Returns whether the kernel took more or less time in all although its median instance is the
    /// same and it ran as often: some instances are longer or shorter.
    #[must_use]
    pub fn has_other_tail(&self) -> bool {
        is_steady(&self.med_ns) && is_steady(&self.instances) && self.total_ns.is_material()
    }

    /// Returns whether the median instance of several runs changed although the kernel ran as often and
    /// took as much time in all: its instances may be of several lengths, of which the median is now
    /// another. Of a single run, the median differs by chance.
    #[must_use]
    pub fn has_other_mix(&self) -> bool {
        let is_sure = self.med_ns.interval.is_some() && self.med_ns.is_material();
        is_sure && is_steady(&self.instances) && is_steady(&self.total_ns)
    }
}

fn is_steady(change: &Change) -> bool {
    change.material_class() == ChangeClass::Unchanged
}

/// Returns whether a kernel ran more or less often, so that its total says nothing about its speed.
fn is_other_work(instances: &Change) -> bool {
    matches!(
        instances.material_class(),
        ChangeClass::Grown | ChangeClass::Shrunk | ChangeClass::Unstable
    )
}

/// Returns the changes of all kernels, the largest change of total time first.
pub(crate) fn changes(base: &Runs, new: &Runs, judge: &Judge) -> Vec<KernelChange> {
    type Key<'a> = (&'a str, Option<&'a str>);
    let mut pairs: BTreeMap<Key<'_>, (Option<&KernelRuns>, Option<&KernelRuns>)> = BTreeMap::new();
    for kernel in &base.kernels {
        let key = (kernel.name.as_str(), kernel.channel.as_deref());
        pairs.entry(key).or_default().0 = Some(kernel);
    }
    for kernel in &new.kernels {
        let key = (kernel.name.as_str(), kernel.channel.as_deref());
        pairs.entry(key).or_default().1 = Some(kernel);
    }

    let sum = |runs: &Runs| median_of_known(&runs.values("busy.sum_ns"));
    let (base_sum, new_sum) = (sum(base), sum(new));

    let mut changes: Vec<KernelChange> = pairs
        .into_iter()
        .map(|((name, channel), (was, now))| {
            let mut change = kernel_change(was, now, base.count(), new.count(), judge);
            change.name = name.to_owned();
            change.channel = channel.map(str::to_owned);
            change.share = largest_share(&change.total_ns, base_sum, new_sum);
            change
        })
        .collect();
    // The sort is stable, so equal changes stay in the order of names.
    changes.sort_by(|a, b| moved_ns(b).total_cmp(&moved_ns(a)));
    changes
}

/// Returns the time by which a kernel changes the total: all of its time if only one side has it.
fn moved_ns(kernel: &KernelChange) -> f64 {
    let total = &kernel.total_ns;
    let moved = total.absolute.or(total.base.median).or(total.new.median);
    moved.map_or(0.0, |ns| ns.get().abs())
}

/// Returns a note on the kernels that only one side has, if base has some that new lacks.
pub(crate) fn one_sided_note(kernels: &[KernelChange], metrics: &[MetricChange]) -> Option<Note> {
    let sum = find(metrics, "busy.sum_ns").map(|metric| &metric.change);
    let removed = names_and_share(kernels, ChangeClass::Removed, sum, |change| &change.base)?;
    let added =
        names_and_share(kernels, ChangeClass::Added, sum, |change| &change.new).map(|added| {
            message!(
                "; kernels only in new: {}. A renamed kernel is in both lists",
                added
            )
        });
    let text = message!("kernels only in base: {}{}", removed, added);
    Some(Note::loud("kernels-gone", text))
}

/// Lists the kernels of a class with their share of their side's kernel time; none if there are
/// none.
fn names_and_share(
    kernels: &[KernelChange],
    class: ChangeClass,
    sum: Option<&Change>,
    side: fn(&Change) -> &SideValues,
) -> Option<Message> {
    let of_class: Vec<&KernelChange> = kernels
        .iter()
        .filter(|kernel| kernel.class == class)
        .collect();
    if of_class.is_empty() {
        return None;
    }

    let totals = of_class
        .iter()
        .filter_map(|kernel| side(&kernel.total_ns).median);
    let total: f64 = totals.map(Number::get).sum();
    let sum = sum.and_then(|sum| side(sum).median).map(Number::get);
    let share = sum.filter(|&sum| sum > 0.0).map(|sum| {
        let share = percent(total / sum);
        message!(" ({} of its kernel time)", share)
    });

    let names = of_class.iter().map(|change| kernel(&change.name)).collect();
    Some(message!("{}{}", first_few(names, NAMED), share))
}

fn kernel_change(
    was: Option<&KernelRuns>,
    now: Option<&KernelRuns>,
    base_runs: usize,
    new_runs: usize,
    judge: &Judge,
) -> KernelChange {
    type Figure = fn(&KernelRuns) -> &Vec<Option<Number>>;
    let change = |figure: Figure, unit: Unit, preference: Preference| {
        let was = was.map_or_else(|| vec![None; base_runs], |was| figure(was).clone());
        let now = now.map_or_else(|| vec![None; new_runs], |now| figure(now).clone());
        judge.change(&was, &now, unit, preference)
    };

    let instances = change(|kernel| &kernel.instances, Unit::Count, Preference::None);
    let preference = if is_other_work(&instances) {
        Preference::None
    } else {
        Preference::Lower
    };
    let total_ns = change(|kernel| &kernel.total_ns, Unit::Ns, preference);
    let med_ns = change(|kernel| &kernel.med_ns, Unit::Ns, Preference::Lower);
    let thirds = |kernel: Option<&KernelRuns>| {
        kernel.map_or_else(Vec::new, |kernel| kernel.med_thirds_ns.clone())
    };
    let med_ns = med_ns.with_noise(&thirds(was), &thirds(now));
    let (class, direction) = match (was, now) {
        (None, Some(_)) if base_runs > 0 => (ChangeClass::Added, None),
        (Some(_), None) if new_runs > 0 => (ChangeClass::Removed, None),
        _ => (med_ns.class, med_ns.direction),
    };

    KernelChange {
        name: String::new(),
        channel: None,
        class,
        direction,
        share: None,
        med_ns,
        instances,
        total_ns,
    }
}

fn largest_share(total: &Change, base: Option<f64>, new: Option<f64>) -> Option<f64> {
    let shares = [share(total.base.median, base), share(total.new.median, new)];
    shares.into_iter().flatten().max_by(f64::total_cmp)
}

fn share(median: Option<Number>, sum: Option<f64>) -> Option<f64> {
    let share = median?.get() / sum?;
    share.is_finite().then_some(share)
}
