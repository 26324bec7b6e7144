//! What became of each kernel.

use std::collections::BTreeMap;

use metalens_analyzer::message::{kernel, percent, ungrouped};
use metalens_analyzer::{Message, Note, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Class, Direction, Judge, Side, Wish};
use crate::metric_changes::{MetricChange, find};
use crate::number::Number;
use crate::runs::{KernelRuns, Runs};
use crate::unit::Unit;

/// So many kernels are named in a note.
const NAMED: usize = 5;

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
    // The order of names holds among equals.
    all.sort_by(|one, other| moved_ns(other).total_cmp(&moved_ns(one)));
    all
}

/// The time by which a kernel changes the whole: all of it where one side alone has it.
fn moved_ns(kernel: &KernelChange) -> f64 {
    let total = &kernel.total_ns;
    let moved = total.absolute.or(total.base.median).or(total.new.median);
    moved.map_or(0.0, |ns| ns.get().abs())
}

/// A note on the kernels that only one side has, if base has some that new does not.
pub(crate) fn gone(kernels: &[KernelChange], metrics: &[MetricChange]) -> Option<Note> {
    let sum = find(metrics, "busy.sum_ns");
    let of = |class: Class, side: fn(&Change) -> &Side| {
        let all = kernels.iter().filter(|one| one.class == class);
        let all: Vec<&KernelChange> = all.collect();
        let totals = all.iter().filter_map(|one| side(&one.total_ns).median);
        let total: f64 = totals.map(Number::get).sum();
        let whole = sum.and_then(|sum| side(&sum.change).median);
        let whole = whole.filter(|whole| whole.get() > 0.0);
        let share = whole.map(|whole| {
            let share = percent(total / whole.get());
            message!(" ({} of its kernel time)", share)
        });
        let names = all.iter().take(NAMED).map(|one| kernel(&one.name));
        let more = all.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| message!(" and {} more", ungrouped(more as u64)));
        let names = Message::joined(names, ", ");
        (!all.is_empty()).then(|| message!("{}{}{}", names, more, share))
    };
    let removed = of(Class::Removed, |change| &change.base)?;
    let added = of(Class::Added, |change| &change.new);
    let added = added.map(|added| {
        message!(
            "; only new has {}. A renamed kernel is in both lists",
            added
        )
    });
    let text = message!("only base has {}{}", removed, added);
    Some(Note::loud("kernels-gone", text))
}

fn one(
    (was, now): (Option<&KernelRuns>, Option<&KernelRuns>),
    (base, new): (usize, usize),
    judge: &Judge,
) -> KernelChange {
    type Figure = fn(&KernelRuns) -> &Vec<Option<Number>>;
    let of = |figure: Figure, unit: Unit, wish: Wish| {
        let was = was.map_or_else(|| vec![None; base], |was| figure(was).clone());
        let now = now.map_or_else(|| vec![None; new], |now| figure(now).clone());
        judge.change((&was, &now), unit, wish)
    };
    let total_ns = of(|kernel| &kernel.total_ns, Unit::Ns, Wish::Less);
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
        instances: of(|kernel| &kernel.instances, Unit::Count, Wish::Neither),
        med_ns: of(|kernel| &kernel.med_ns, Unit::Ns, Wish::Less),
    }
}

fn middle(values: &[Option<Number>]) -> Option<f64> {
    Side::of(values).median.map(Number::get)
}

fn share(total: &Change, (base, new): (Option<f64>, Option<f64>)) -> Option<f64> {
    let of = |median: Option<Number>, sum: Option<f64>| {
        let share = median?.get() / sum?;
        share.is_finite().then_some(share)
    };
    let shares = [of(total.base.median, base), of(total.new.median, new)];
    shares.into_iter().flatten().max_by(f64::total_cmp)
}
