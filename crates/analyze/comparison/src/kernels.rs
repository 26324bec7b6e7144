//! Computes the change of each kernel.

use std::collections::BTreeMap;

use metalens_analyzer::{Note, id};
use metalens_message::{Message, Number, Share, kernel, message, percent};
use metalens_text::number::Float;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass, Direction, Judge, Preference, SideValues, known, thirds};
use crate::lengths::{KernelLength, Lengths, is_other_mix};
use crate::metric_changes::{MetricChange, find};
use crate::runs::{KernelRuns, Runs};
use crate::sentences::first_few;
use crate::sessions::Sessions;
use crate::statistics::{median, median_of_known, squares};
use crate::unit::Unit;

/// Number of kernels that a note lists by name.
const NAMED: usize = 5;

/// The change of one kernel: the work with one name on one channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelChange {
    /// Name of the kernel.
    pub name: String,
    /// GPU channel that it ran on. Null if the recording does not say.
    pub channel: Option<String>,
    /// Name and channel in new, if new has the kernel under others. Absent if they are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<NewName>,
    /// Class of the change of its median instance, or its absence on one side.
    pub class: ChangeClass,
    /// Direction of that change: better or worse. Null if no significant change is known.
    pub direction: Option<Direction>,
    /// Largest share of its side's kernel time, by medians. Null if no side has a value.
    pub share: Option<f64>,
    /// Change of the median duration, in nanoseconds: of the mean over `lengths` in base's mix, if there are
    /// any. The interval covers the noise of all kernels together.
    pub med_ns: Change,
    /// Change of the number of GPU intervals.
    pub instances: Change,
    /// Change of the summed durations, in nanoseconds. It has no direction if the kernel ran more or
    /// less often.
    pub total_ns: Change,
    /// Lengths of the instances, the shortest first. Absent if the kernel has only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<KernelLength>,
}

/// Name and channel of a kernel in new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewName {
    /// Name of the kernel.
    pub name: String,
    /// GPU channel that it ran on. Null if the recording does not say.
    pub channel: Option<String>,
}

impl KernelChange {
    /// Returns whether the kernel ran more or less often in new, so that its total says nothing about
    /// its speed.
    pub fn ran_differently_often(&self) -> bool {
        is_other_work(&self.instances)
    }

    /// Returns whether only one side has the kernel.
    pub fn is_one_sided(&self) -> bool {
        matches!(self.class, ChangeClass::Added | ChangeClass::Removed)
    }

    /// Returns whether the kernel took more or less time in all although its median instance hardly changed
    /// and it ran as often: some instances are longer or shorter.
    pub fn has_other_tail(&self) -> bool {
        /// Share of the change of the total that the median may have changed by.
        const HARDLY: f64 = 0.25;
        let by = |change: &Change| change.relative.map(f64::abs);
        let both = by(&self.med_ns).zip(by(&self.total_ns));
        let is_of_some = both.is_some_and(|(median, total)| median <= HARDLY * total);
        is_of_some
            && is_steady(&self.instances)
            && self.total_ns.is_material()
            && !self.has_other_mix()
    }

    /// Returns whether its instances have the same lengths in another mix: other work.
    pub fn has_other_mix(&self) -> bool {
        is_other_mix(&self.lengths)
    }
}

/// Noise of kernels that are judged together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelNoise {
    /// Standard deviation of a run, as a share of the median: the usual one of all kernels, since so few runs
    /// tell that of none alone.
    pub(crate) of_run: f64,
    /// Number of deviations of a difference that are noise: the more kernels, the farther is one of them off
    /// by chance.
    pub(crate) deviations: f64,
}

impl KernelNoise {
    /// Returns the noise of the median instances of kernels of which longer ones are looked for, or changed ones
    /// if `is_both_ways`. If several are far off, each needs less: the procedure of Benjamini and Hochberg.
    pub(crate) fn of<'a>(
        kernels: impl IntoIterator<Item = &'a KernelChange>,
        is_both_ways: bool,
    ) -> Self {
        let changes: Vec<&Change> = kernels.into_iter().map(|kernel| &kernel.med_ns).collect();
        let shares: Vec<f64> = changes
            .iter()
            .filter_map(|change| deviation(change))
            .collect();
        let of_run = median(&shares).unwrap_or(0.0);
        let far = changes.iter().filter_map(|change| {
            let share = change.absolute?.get() / change.base.median?.get();
            let size = if is_both_ways { share.abs() } else { share };
            Some(size / (of_run * spread(change))).filter(|far| far.is_finite())
        });
        let mut far: Vec<f64> = far.collect();
        far.sort_by(|a, b| b.total_cmp(a));
        let least = |among: usize| of_many(changes.len(), among);
        let together = (1..=far.len()).rev();
        let mut together = together.filter(|&among| far.get(among - 1) >= Some(&least(among)));
        Self {
            of_run,
            deviations: least(together.next().unwrap_or(1)),
        }
    }
}

/// Returns how many deviations some of so many kernels are off together by chance.
fn of_many(kernels: usize, among: usize) -> f64 {
    let each = (kernels.float() / among.float()).max(1.0);
    (1.2 + (2.0 * each.ln()).sqrt()).max(NOISE)
}

/// Returns the deviation of a difference between the sides, in that of a run.
pub(crate) fn spread(change: &Change) -> f64 {
    let per_run = |side: &SideValues| 1.0 / count(side);
    (per_run(&change.base) + per_run(&change.new)).sqrt()
}

/// Returns the number of runs that have a value, at least one.
fn count(side: &SideValues) -> f64 {
    side.values.iter().flatten().count().max(1).float()
}

/// Number of deviations of a difference that are noise.
pub(crate) const NOISE: f64 = 1.5;

/// Returns the standard deviation of the runs of both sides, as a share of base's median; `None` for single
/// runs.
pub(crate) fn deviation(change: &Change) -> Option<f64> {
    let sides = [&change.base, &change.new].map(|side| known(&side.values));
    let (mut sum, mut freedom) = (0.0, 0.0);
    for values in sides.iter().filter(|values| values.len() > 1) {
        sum += squares(values);
        freedom += (values.len() - 1).float();
    }
    // Of few values, it is too small.
    let share = (sum / freedom).sqrt() * (1.0 + 0.25 / freedom) / change.base.median?.get();
    share.is_finite().then_some(share)
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
pub(crate) fn changes(
    base: &Runs,
    new: &Runs,
    judge: &Judge,
    sessions: &Sessions,
) -> Vec<KernelChange> {
    let sum = |runs: &Runs| median_of_known(&runs.values(id!(busy.sum_ns)));
    let (base_sum, new_sum) = (sum(base), sum(new));

    let mut changes: Vec<KernelChange> = pairs(base, new)
        .into_iter()
        .filter_map(|(was, now)| {
            let change = kernel_change(was, now, base.count(), new.count(), judge, sessions)?;
            let share = largest_share(&change.total_ns, base_sum, new_sum);
            Some(KernelChange { share, ..change })
        })
        .collect();

    // Of many kernels, some differ by chance.
    let both = |kernel: &&KernelChange| !kernel.is_one_sided();
    let noise = KernelNoise::of(changes.iter().filter(both), true);
    for kernel in &mut changes {
        let reach = noise.deviations * noise.of_run * spread(&kernel.med_ns);
        let middle = kernel.med_ns.base.median.map_or(0.0, Number::get);
        kernel.med_ns = judge.at_least(&kernel.med_ns, reach * middle, Unit::Ns);
        if !kernel.is_one_sided() {
            (kernel.class, kernel.direction) = (kernel.med_ns.class, kernel.med_ns.direction);
        }
    }
    // The sort is stable, so equal changes stay in the order of names.
    changes.sort_by(|a, b| moved_ns(b).total_cmp(&moved_ns(a)));
    changes
}

/// A kernel of base and the same one of new.
type Pair<'a> = (Option<&'a KernelRuns>, Option<&'a KernelRuns>);

/// Returns the name and channel, by which a kernel is found on the other side.
fn key(kernel: &KernelRuns) -> (&str, Option<&str>) {
    (kernel.name.as_str(), kernel.channel.as_deref())
}

/// Returns the kernels of both sides by name and channel, in that order. The only two that one side lacks are
/// one kernel if they have one name, or if one name contains the other, they ran equally often, and as many
/// kernels are gone as came: one that replaces several is a fused one.
fn pairs<'a>(base: &'a Runs, new: &'a Runs) -> Vec<Pair<'a>> {
    const SIGNS: [fn(&KernelRuns, &KernelRuns) -> bool; 2] = [
        |was, now| was.name == now.name,
        |was, now| {
            let count = |kernel: &KernelRuns| median_of_known(&kernel.instances);
            let is_part = was.name.contains(&now.name) || now.name.contains(&was.name);
            is_part && was.channel == now.channel && count(was) == count(now)
        },
    ];
    let mut by_key: BTreeMap<(&str, Option<&str>), Pair<'_>> = BTreeMap::new();
    for kernel in &base.kernels {
        by_key.entry(key(kernel)).or_default().0 = Some(kernel);
    }
    for kernel in &new.kernels {
        by_key.entry(key(kernel)).or_default().1 = Some(kernel);
    }
    for (sign, is_like) in SIGNS.into_iter().enumerate() {
        let gone = by_key.values().filter(|(_, now)| now.is_none());
        let gone: Vec<&KernelRuns> = gone.filter_map(|(was, _)| *was).collect();
        let added = by_key.values().filter(|(was, _)| was.is_none());
        let added: Vec<&KernelRuns> = added.filter_map(|(_, now)| *now).collect();
        if sign > 0 && gone.len() != added.len() {
            break;
        }
        for &was in &gone {
            if let Some(now) = only_alike(was, &gone, &added, is_like) {
                by_key.remove(&key(now));
                by_key.entry(key(was)).or_default().1 = Some(now);
            }
        }
    }
    by_key.into_values().collect()
}

/// Returns the kernel that came and is like one that is gone, if it is the only one, and like no other.
pub(crate) fn only_alike<'a, T>(
    was: &T,
    gone: &[&T],
    added: &[&'a T],
    is_like: fn(&T, &T) -> bool,
) -> Option<&'a T> {
    let mut alike = added.iter().filter(|now| is_like(was, now));
    let now = alike.next().filter(|_| alike.next().is_none())?;
    let twins = gone.iter().filter(|was| is_like(was, now));
    (twins.count() == 1).then_some(*now)
}

/// Returns the time by which a kernel changes the total: all of its time if only one side has it.
fn moved_ns(kernel: &KernelChange) -> f64 {
    let total = &kernel.total_ns;
    let moved = total.absolute.or(total.base.median).or(total.new.median);
    moved.map_or(0.0, |ns| ns.get().abs())
}

/// Returns a note on the kernels that only one side has, if base has some that new lacks.
pub(crate) fn one_sided_note(kernels: &[KernelChange], metrics: &[MetricChange]) -> Option<Note> {
    let sum = find(metrics, id!(busy.sum_ns)).map(|metric| &metric.change);
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
        let share = percent(Share(total / sum));
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
    sessions: &Sessions,
) -> Option<KernelChange> {
    type Figure = fn(&KernelRuns) -> &Vec<Option<Number>>;
    let change = |figure: Figure, unit: Unit, preference: Preference| {
        let was = was.map_or_else(|| vec![None; base_runs], |was| figure(was).clone());
        let now = now.map_or_else(|| vec![None; new_runs], |now| figure(now).clone());
        let judge = judge.with_error(sessions.error(&was));
        judge.change(&was, &now, unit, preference)
    };

    let instances = change(|kernel| &kernel.instances, Unit::Count, Preference::None);
    let preference = if is_other_work(&instances) {
        Preference::None
    } else {
        Preference::Lower
    };
    let total_ns = change(|kernel| &kernel.total_ns, Unit::Ns, preference);
    let lengths = was.zip(now).and_then(|(was, now)| Lengths::of(was, now));
    let med_ns = if let Some(Lengths {
        base_ns, new_ns, ..
    }) = &lengths
    {
        let judge = judge.with_error(sessions.error(base_ns));
        let change = judge.change(base_ns, new_ns, Unit::Ns, Preference::Lower);
        change.with_noise(&known(base_ns), &known(new_ns))
    } else {
        let of_runs = |kernel: Option<&KernelRuns>| {
            kernel.map_or_else(Vec::new, |kernel| thirds(&kernel.med_thirds_ns))
        };
        let change = change(|kernel| &kernel.med_ns, Unit::Ns, Preference::Lower);
        change.with_noise(&of_runs(was), &of_runs(now))
    };
    let (class, direction) = match (was, now) {
        (None, Some(_)) if base_runs > 0 => (ChangeClass::Added, None),
        (Some(_), None) if new_runs > 0 => (ChangeClass::Removed, None),
        _ => (med_ns.class, med_ns.direction),
    };

    let known = was.or(now)?;
    let renamed = was.zip(now).filter(|(was, now)| key(was) != key(now));
    Some(KernelChange {
        name: known.name.clone(),
        channel: known.channel.clone(),
        renamed: renamed.map(|(_, now)| NewName {
            name: now.name.clone(),
            channel: now.channel.clone(),
        }),
        class,
        direction,
        share: None,
        med_ns,
        instances,
        total_ns,
        lengths: lengths.map_or_else(Vec::new, |lengths| lengths.all),
    })
}

fn largest_share(total: &Change, base: Option<f64>, new: Option<f64>) -> Option<f64> {
    let shares = [share(total.base.median, base), share(total.new.median, new)];
    shares.into_iter().flatten().max_by(f64::total_cmp)
}

fn share(median: Option<Number>, sum: Option<f64>) -> Option<f64> {
    let share = median?.get() / sum?;
    share.is_finite().then_some(share)
}
