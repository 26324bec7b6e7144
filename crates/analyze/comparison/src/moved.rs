//! Describes in sentences how GPU intervals, idle time, kernel time and wall time changed.

use metalens_analyzer::{Cause, Note, id};
use metalens_message::{Message, Share, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass, ChangeSize, SideValues};
use crate::metric_changes::{MetricChange, find};
use crate::runs::Runs;
use crate::sentences::{became, sureness, value};
use crate::unit::Unit;
use crate::work::WorkComparison;

/// The change of one of the four main quantities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantityChange {
    /// The quantity that this is about.
    pub what: Quantity,
    /// Class of its change.
    pub class: ChangeClass,
    /// Size of its change, compared with the floor. Null if the class is neither grown nor shrunk.
    pub size: Option<ChangeSize>,
    /// The change in one sentence.
    pub says: Message,
}

/// One of the four main quantities of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// GPU intervals. Each is usually one encoder, with one dispatch or many.
    Dispatches,
    /// The idle time of the GPU.
    Gaps,
    /// The summed durations of the kernels.
    KernelTime,
    /// The time from the first to the last GPU work.
    Wall,
}

impl Quantity {
    const ALL: [(Self, &str, &str); 4] = [
        (Self::Dispatches, id!(counts.intervals), "GPU intervals"),
        (Self::Gaps, id!(gaps.total_ns), "GPU idle"),
        (Self::KernelTime, id!(busy.sum_ns), "Kernel time"),
        (Self::Wall, id!(window.span_ns), "Wall time"),
    ];

    /// Returns the id of the figure that tells it.
    pub fn id(self) -> &'static str {
        Self::ALL
            .into_iter()
            .find(|(quantity, ..)| *quantity == self)
            .map_or("", |(_, id, _)| id)
    }

    /// Returns the name for tables.
    pub fn name(self) -> &'static str {
        Self::ALL
            .into_iter()
            .find(|(quantity, ..)| *quantity == self)
            .map_or("", |(.., name)| name)
    }
}

/// Returns the changes of the four main quantities, of those that a side has.
pub(crate) fn moved(metrics: &[MetricChange], work: &WorkComparison) -> Vec<QuantityChange> {
    let moved = Quantity::ALL.into_iter().filter_map(|(what, id, _)| {
        let metric = find(metrics, id)?;
        let sentence = match what {
            Quantity::Dispatches => metric_sentence("GPU intervals", metric),
            Quantity::Gaps => gaps_sentence(metric, find(metrics, id!(gaps.count))),
            Quantity::KernelTime => metric_sentence("kernel time, summed", metric),
            Quantity::Wall => metric_sentence("first to last GPU work", metric),
        };
        Some(QuantityChange {
            what,
            class: metric.change.class,
            size: metric.change.size,
            says: message!("{}{}", sentence, per_unit(work, id)),
        })
    });
    moved.collect()
}

/// Returns the changes of a figure per unit of work, in words, if the amounts of work differ.
fn per_unit(work: &WorkComparison, id: &str) -> Option<Message> {
    let unit = work.unit()?;
    let change: &Change = &find(&work.per_unit, id)?.change;
    let became = became(change, Unit::Ns)?;
    Some(message!("; per {}: {}", unit, became))
}

fn metric_sentence(name: &'static str, metric: &MetricChange) -> Message {
    let (change, unit) = (&metric.change, metric.unit);
    let Some(became) = became(change, unit) else {
        return message!("{}: not recorded on one side", name);
    };
    if change.class == ChangeClass::Unstable {
        let sure = sureness(change, unit).map(|sure| message!("; {}", sure));
        message!("{}: inconclusive, {}{}", name, became, sure)
    } else {
        message!("{}: {}", name, became)
    }
}

fn gaps_sentence(idle: &MetricChange, gaps: Option<&MetricChange>) -> Message {
    let count = gaps.and_then(|gaps| {
        let change = &gaps.change;
        let (was, now) = (change.base_value()?, change.new_value()?);
        Some(if was == now {
            message!("; {} gaps on both sides", value(now, Unit::Count))
        } else {
            message!(
                "; {} → {} gaps",
                value(was, Unit::Count),
                value(now, Unit::Count)
            )
        })
    });
    message!("{}{}", metric_sentence("GPU idle", idle), count)
}

/// Returns a note on sides of which only some runs look as if they waited, so that their idle time is divided
/// in two ways.
pub(crate) fn mixed_waits_note(base: &Runs, new: &Runs) -> Option<Note> {
    let has_mixed_waits = base.has_mixed_waits() || new.has_mixed_waits();
    has_mixed_waits.then(|| {
        let text = "idle time by cause is not compared: only some runs of a side look as if the program \
                    waited for completions";
        Note::loud("mixed-waits", Message::from(text))
    })
}

/// Returns notes on the sides of which too much idle time has no known cause.
pub(crate) fn unknown_cause_notes(metrics: &[MetricChange]) -> Vec<Note> {
    type SideOf = fn(&Change) -> &SideValues;
    let sides: [(&'static str, SideOf); 2] = [
        ("base", |change| &change.base),
        ("new", |change| &change.new),
    ];
    let notes = sides.into_iter().filter_map(|(name, side)| {
        let figure = |id: &str, run: usize| {
            let change = &find(metrics, id)?.change;
            Some(side(change).of_run(run)?.get())
        };

        let idle = &find(metrics, id!(gaps.total_ns))?.change;
        let runs = 0..side(idle).values.len();
        // The analyzer gives no causes for runs of which too much is unknown.
        let unknown = runs.filter(|&run| figure(Cause::Host.figure(), run).is_none());
        let shares = unknown.filter_map(|run| {
            let share = figure(Cause::Unknown.figure(), run)? / figure(id!(gaps.total_ns), run)?;
            share.is_finite().then_some(share)
        });
        let most = shares.max_by(f64::total_cmp)?;

        let text = message!(
            "idle time by cause is not compared: the cause of {} of the idle time of {} is unknown",
            Share(most),
            name
        );
        Some(Note::loud("idle-unexplained", text))
    });
    notes.collect()
}
