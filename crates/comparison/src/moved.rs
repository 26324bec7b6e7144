//! Which of dispatches, gaps, kernel time and wall moved, in sentences.

use metalens_analyzer::message::{PlacedValue, name, percent};
use metalens_analyzer::{Message, Note, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Class, Side};
use crate::metric_changes::{MetricChange, find};
use crate::metrics::Group;
use crate::number::Number;
use crate::sentences::{became, difference, share, sureness, value};
use crate::unit::Unit;

/// One of the four things that can move, and whether it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Which.
    pub what: Quantity,
    /// What became of it.
    pub class: Class,
    /// The same in a sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// What can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// GPU intervals: each usually one dispatch, or several that the driver merged.
    Dispatches,
    /// The GPU's idle time.
    Gaps,
    /// The kernels' summed durations.
    KernelTime,
    /// From the first to the last GPU work.
    Wall,
}

impl Quantity {
    const ALL: [(Self, &str, &str); 4] = [
        (Self::Dispatches, "counts.intervals", "Dispatches"),
        (Self::Gaps, "gaps.total_ns", "Gaps"),
        (Self::KernelTime, "busy.sum_ns", "Kernel time"),
        (Self::Wall, "window.span_ns", "Wall"),
    ];

    /// As it is called in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(one, ..)| *one == self)
            .map_or("", |(.., name)| name)
    }
}

pub(crate) fn moved(metrics: &[MetricChange]) -> Vec<Moved> {
    let all = Quantity::ALL.into_iter().filter_map(|(what, id, _)| {
        let metric = find(metrics, id)?;
        let said = match what {
            Quantity::Dispatches => of(
                "GPU intervals (dispatches, or several that the driver merged)",
                metric,
            ),
            Quantity::Gaps => gaps(metric, find(metrics, "gaps.count")),
            Quantity::KernelTime => of("the kernels' summed time", metric),
            Quantity::Wall => of("first to last GPU work", metric),
        };
        Some(Moved {
            what,
            class: metric.change.class,
            says: said.text,
            says_values: said.values,
        })
    });
    all.collect()
}

fn of(what: &'static str, metric: &MetricChange) -> Message {
    let (change, unit) = (&metric.change, metric.unit);
    let Some(said) = became(change, unit) else {
        return message!("{}: a side does not tell", what);
    };
    match change.class {
        Class::Unstable => {
            let sure = sureness(change, unit).map(|sure| message!(": {}", sure));
            message!("{}: {}, which the runs do not decide{}", what, said, sure)
        }
        _ => message!("{}: {}", what, said),
    }
}

fn gaps(idle: &MetricChange, gaps: Option<&MetricChange>) -> Message {
    let said = of("GPU idle", idle);
    let count = gaps.and_then(|gaps| {
        let change = &gaps.change;
        let (was, now) = (change.base.median?, change.new.median?);
        Some(match was == now {
            true => message!(", in {} gaps as before", value(now, Unit::Count)),
            false => message!(
                ", in {} gaps instead of {}",
                value(now, Unit::Count),
                value(was, Unit::Count)
            ),
        })
    });
    message!("{}{}", said, count)
}

/// Notes on the sides whose idle time by cause is not known.
pub(crate) fn unexplained(metrics: &[MetricChange]) -> Vec<Note> {
    type SideOf = fn(&Change) -> &Side;
    let sides: [(&'static str, SideOf); 2] = [
        ("base", |change| &change.base),
        ("new", |change| &change.new),
    ];
    let notes = sides.into_iter().filter_map(|(name, side)| {
        let of = |id: &str, run: usize| {
            let change = &find(metrics, id)?.change;
            Some((*side(change).values.get(run)?)?.get())
        };
        let idle = &find(metrics, "gaps.total_ns")?.change;
        let runs = (0..side(idle).values.len()).filter(|&run| of("idle.host_ns", run).is_none());
        let shares = runs.filter_map(|run| {
            let share = of("idle.unknown_ns", run)? / of("gaps.total_ns", run)?;
            share.is_finite().then_some(share)
        });
        let most = shares.max_by(f64::total_cmp)?;
        let text = message!(
            "idle time by cause is not compared: {} of {}'s idle time is unexplained",
            percent(most),
            name
        );
        Some(Note::loud("idle-unexplained", text))
    });
    notes.collect()
}

/// One sentence: how much longer or shorter, and where the difference lies.
pub(crate) fn headline(metrics: &[MetricChange]) -> Message {
    let Some(wall) = find(metrics, "window.span_ns") else {
        return "Neither side tells how long it took".into();
    };
    let change = &wall.change;
    let (Some(was), Some(now)) = (change.base.median, change.new.median) else {
        return "One side does not tell how long it took".into();
    };
    let (was, now) = (value(was, Unit::Ns), value(now, Unit::Ns));
    let sure = sureness(change, Unit::Ns).map(|sure| message!(", {}", sure));
    match change.class {
        Class::Grown | Class::Shrunk => {
            let word = if change.class == Class::Grown {
                "slower"
            } else {
                "faster"
            };
            // Of one run a side nothing follows for the next.
            let who = match change.interval {
                Some(_) => "New is",
                None => "In these recordings new is",
            };
            message!(
                "{} {}: {} instead of {} ({}{}); {}",
                who,
                word,
                now,
                was,
                share(change),
                sure,
                split(metrics)
            )
        }
        Class::Unchanged => message!("New takes as long as base: {} and {}{}", now, was, sure),
        _ => message!(
            "The runs do not decide whether new is slower or faster: {} and {}{}",
            now,
            was,
            sure
        ),
    }
}

/// Where a difference lies: busy, idle, and the causes that moved most.
fn split(metrics: &[MetricChange]) -> Message {
    let said = |id: &str| {
        let change = find(metrics, id).and_then(|one| one.change.absolute);
        change.map_or_else(|| "unknown".into(), |by| difference(by, Unit::Ns))
    };
    let ledger = metrics.iter().filter(|one| one.group == Group::Idle);
    let causes = ledger.filter_map(|one| Some((&one.name, one.change.absolute?)));
    let mut causes: Vec<(&String, Number)> = causes.filter(|(_, by)| by.get() != 0.0).collect();
    causes.sort_by(|(_, one), (_, other)| other.get().abs().total_cmp(&one.get().abs()));
    let most = causes.iter().take(2);
    let most = most.map(|(cause, by)| message!("{} {}", name(cause), difference(*by, Unit::Ns)));
    let most = Message::joined(most, ", ");
    let most = (!causes.is_empty()).then(|| message!(" (most of it {})", most));
    message!(
        "GPU busy {}, idle {}{}",
        said("busy.busy_ns"),
        said("gaps.total_ns"),
        most
    )
}
