//! What became of each kernel.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Class, Direction, Judge, Wish};
use crate::metrics::Unit;
use crate::number::Number;
use crate::runs::{KernelRuns, Runs};

/// What became of one kernel: work of one name on one channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelChange {
    /// What it is called.
    pub name: String,
    /// Where it ran.
    pub channel: Option<String>,
    /// What became of its total time; whether it is there at all.
    pub class: Class,
    /// Whether that is for the better; null if nothing is known to have changed.
    pub direction: Option<Direction>,
    /// Its share of all kernels' time on the side where that is larger, by medians.
    pub share: Option<f64>,
    /// Its summed durations.
    pub total_ns: Change,
    /// Its intervals.
    pub instances: Change,
    /// Its median duration.
    pub med_ns: Change,
}

/// What became of all kernels, the largest change of total time first.
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
    let sums = (base.values("busy.sum_ns"), new.values("busy.sum_ns"));
    let sums = (middle(&sums.0), middle(&sums.1));
    let counts = (base.count(), new.count());
    let pairs = pairs.into_iter();
    let all = pairs.map(|((name, channel), (was, now))| {
        let mut change = one((was, now), counts, judge);
        change.name = name.to_owned();
        change.channel = channel.map(str::to_owned);
        change.share = share(&change.total_ns, sums);
        change
    });
    let mut all: Vec<KernelChange> = all.collect();
    let size = |one: &KernelChange| one.total_ns.absolute.map_or(0.0, |by| by.get().abs());
    // The order of names holds among equals.
    all.sort_by(|one, other| size(other).total_cmp(&size(one)));
    all
}

fn one(
    (was, now): (Option<&KernelRuns>, Option<&KernelRuns>),
    (base, new): (usize, usize),
    judge: &Judge,
) -> KernelChange {
    type Figure = fn(&KernelRuns) -> Vec<Option<Number>>;
    let total: Figure = |kernel| kernel.total_ns.iter().copied().map(Some).collect();
    let instances: Figure = |kernel| kernel.instances.iter().copied().map(Some).collect();
    let of = |figure: Figure, absent: Option<Number>, unit: Unit, wish: Wish| {
        let was = was.map_or_else(|| vec![absent; base], figure);
        let now = now.map_or_else(|| vec![absent; new], figure);
        judge.change((&was, &now), unit, wish)
    };
    let nothing = Number::of(0.0);
    let total_ns = of(total, nothing, Unit::Ns, Wish::Less);
    let (class, direction) = match (was, now) {
        (None, Some(_)) if base > 0 => (Class::Added, None),
        (Some(_), None) if new > 0 => (Class::Removed, None),
        _ => (total_ns.class, total_ns.direction),
    };
    KernelChange {
        name: String::new(),
        channel: None,
        class,
        direction,
        share: None,
        total_ns,
        instances: of(instances, nothing, Unit::Count, Wish::Neither),
        med_ns: of(|kernel| kernel.med_ns.clone(), None, Unit::Ns, Wish::Less),
    }
}

fn middle(values: &[Option<Number>]) -> Option<f64> {
    crate::change::Side::of(values).median.map(Number::get)
}

fn share(total: &Change, (base, new): (Option<f64>, Option<f64>)) -> Option<f64> {
    let of = |median: Option<Number>, sum: Option<f64>| {
        let share = median?.get() / sum?;
        share.is_finite().then_some(share)
    };
    let shares = [of(total.base.median, base), of(total.new.median, new)];
    shares.into_iter().flatten().max_by(f64::total_cmp)
}
