//! Writes the headline of a comparison: the work first, then the kernels that one side lacks, then
//! the time.

use metalens_analyzer::message::{counted, kernel, name, ungrouped};
use metalens_analyzer::{Message, message};

use crate::change::{ChangeClass, Floor};
use crate::comparison::Comparison;
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::metrics::MetricGroup;
use crate::number::Number;
use crate::per_unit::TimeBasis;
use crate::sentences::{difference, extent, share, sureness, unchanged, value};
use crate::unit::Unit;
use crate::work::{WorkAmount, WorkComparison};

/// Largest number of kernels that a headline names in each list.
const NAMED: usize = 3;

/// Returns the headline.
pub(crate) fn headline(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
    floor: &Floor,
) -> Message {
    let mut sentences = Vec::new();
    // Who asks for fusion expects other names.
    let is_expected = work.amount == WorkAmount::Different && work.basis == TimeBasis::Whole;
    if work.common_kernels == 0 && !kernels.is_empty() && !is_expected {
        sentences.push(if work.basis == TimeBasis::Whole {
            "No kernel in common: these may be different programs, or all kernels were renamed"
                .into()
        } else {
            "No kernel in common: these may be different programs; if new does the same work in \
             other kernels, --preset fusion compares whole times"
                .into()
        });
    }
    sentences.extend(amounts(work, metrics, kernels));
    sentences.extend(one_sided(work, kernels, ("base", "new")));
    sentences.push(time(work, metrics, floor));
    Message::joined(sentences, ". ")
}

/// Describes the amounts of work.
fn amounts(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
) -> Option<Message> {
    let all = all_counts(metrics)?;
    let word = match (work.amount, work.basis) {
        (WorkAmount::Same, _) if has_other_kernels(work, kernels) => "Same amount, other kernels",
        (WorkAmount::Same, _) => "Same work",
        (WorkAmount::Different, TimeBasis::Whole) => {
            "Different work, taken as the same (--preset fusion)"
        }
        (WorkAmount::Different, _) => "Different work",
        (WorkAmount::Varies, _) => "The amount of work varies from run to run",
        (WorkAmount::Unknown, _) => "Unknown amount of work",
    };
    Some(message!("{}: {}", word, all))
}

/// Returns the numbers of GPU intervals, command buffers and kernels, as far as they are recorded.
fn all_counts(metrics: &[MetricChange]) -> Option<Message> {
    let intervals = counts(metrics, "counts.intervals", "GPU interval");
    let buffers = counts(metrics, "counts.command_buffers", "command buffer");
    let names = counts(metrics, "counts.kernels", "kernel");
    let all = Message::joined([intervals, buffers, names].into_iter().flatten(), ", ");
    (!all.text.is_empty()).then_some(all)
}

/// Returns whether a side has a kernel that the other lacks under any name, or runs one more often.
fn has_other_kernels(work: &WorkComparison, kernels: &[KernelChange]) -> bool {
    kernels.iter().any(|one| match one.class {
        ChangeClass::Removed => work.renamed.iter().all(|other| other.base != one.name),
        ChangeClass::Added => work.renamed.iter().all(|other| other.new != one.name),
        _ => one.ran_differently_often(),
    })
}

/// Returns `800 GPU intervals instead of 1,000 (−20.0 %)`, or the count if it is the same.
fn counts(metrics: &[MetricChange], id: &str, noun: &str) -> Option<Message> {
    let change = &find(metrics, id)?.change;
    let (was, now) = (change.base_value()?, change.new_value()?);
    let whole = now.get().fract() == 0.0 && now.get() >= 0.0;
    let counted = if whole {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and not negative"
        )]
        counted(now.get() as u64, noun)
    } else {
        message!("{} {}s", value(now, Unit::Count), name(noun))
    };
    Some(if was == now {
        counted
    } else {
        let was = value(was, Unit::Count);
        message!("{} instead of {} ({})", counted, was, share(change))
    })
}

/// Names the kernels that one side lacks, and those that were probably renamed.
fn one_sided(
    work: &WorkComparison,
    kernels: &[KernelChange],
    (base, new): (&str, &str),
) -> Option<Message> {
    let renamed = work.renamed.iter();
    let renamed = renamed.map(|one| message!("{} → {}", kernel(&one.base), kernel(&one.new)));
    let gone = kernels.iter().filter(|one| {
        let is_renamed = work.renamed.iter().any(|other| other.base == one.name);
        one.class == ChangeClass::Removed && !is_renamed
    });
    let added = kernels.iter().filter(|one| {
        let is_renamed = work.renamed.iter().any(|other| other.new == one.name);
        one.class == ChangeClass::Added && !is_renamed
    });

    let lists = [
        list("probably renamed: ".into(), renamed.collect()),
        list(
            message!("only in {}: ", name(base)),
            gone.map(|one| kernel(&one.name)).collect(),
        ),
        list(
            message!("only in {}: ", name(new)),
            added.map(|one| kernel(&one.name)).collect(),
        ),
    ];
    let lists: Vec<Message> = lists.into_iter().flatten().collect();
    (!lists.is_empty()).then(|| message!("Kernels {}", Message::joined(lists, "; ")))
}

fn list(title: Message, items: Vec<Message>) -> Option<Message> {
    let more = items.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| message!(" and {} more", ungrouped(more as u64)));
    let is_empty = items.is_empty();
    let items = Message::joined(items.into_iter().take(NAMED), ", ");
    (!is_empty).then(|| message!("{}{}{}", title, items, more))
}

/// Describes the change of the wall time, per unit of work if the amounts differ, and where it comes
/// from.
fn time(work: &WorkComparison, metrics: &[MetricChange], floor: &Floor) -> Message {
    let verdict = verdict(work, metrics, floor);
    let metrics = compared(work, metrics);
    let class = find(metrics, "window.span_ns").map(|wall| wall.change.class);
    if matches!(class, Some(ChangeClass::Grown | ChangeClass::Shrunk)) {
        message!("{}; {}", verdict, busy_and_idle(metrics))
    } else {
        verdict
    }
}

/// Returns the figures whose times are compared: per unit of work if the amounts differ.
fn compared<'a>(work: &'a WorkComparison, metrics: &'a [MetricChange]) -> &'a [MetricChange] {
    match work.basis {
        TimeBasis::Whole => metrics,
        TimeBasis::CommandBuffer | TimeBasis::Interval => &work.per_unit,
    }
}

impl Comparison {
    /// Returns the change of the wall time, as in the headline.
    #[must_use]
    pub fn verdict(&self) -> Message {
        let work = self.work.as_ref();
        work.map_or_else(
            || Message::new(&self.headline, &self.headline_values),
            |work| verdict(work, &self.metrics, &self.method.floor),
        )
    }

    /// Returns the changes of busy and idle time, as in the headline.
    #[must_use]
    pub fn causes(&self) -> Message {
        let work = self.work.as_ref();
        busy_and_idle(work.map_or(&self.metrics, |work| compared(work, &self.metrics)))
    }

    /// Returns the amounts of work, and the kernels that one side lacks, as in the headline.
    #[must_use]
    pub fn work_in_words(&self) -> Message {
        let work = self.work.as_ref();
        let sentences = work.map(|work| {
            [
                amounts(work, &self.metrics, &self.kernels),
                one_sided(work, &self.kernels, ("base", "new")),
            ]
        });
        Message::joined(sentences.into_iter().flatten().flatten(), ". ")
    }
}

/// Says how the work of two sides, which have names, differs: the amounts, and the kernels that one
/// side lacks.
pub(crate) fn different_work(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
    (base, new): (&str, &str),
) -> Message {
    let said = match work.amount {
        WorkAmount::Varies => message!(
            "The amount of work of {} and {} varies from run to run",
            name(new),
            name(base)
        ),
        WorkAmount::Unknown => message!(
            "The amount of work of {} and {} is unknown",
            name(new),
            name(base)
        ),
        _ => message!("{} did different work than {}", name(new), name(base)),
    };
    let counts = all_counts(metrics).map(|all| message!(": {}", all));
    let kernels = one_sided(work, kernels, (base, new));
    let said = message!("{}{}", said, counts);
    Message::joined([Some(said), kernels].into_iter().flatten(), ". ")
}

/// Describes the change of the wall time, per unit of work if the amounts differ.
fn verdict(work: &WorkComparison, metrics: &[MetricChange], floor: &Floor) -> Message {
    let metrics = compared(work, metrics);
    let (per, new) = match work.basis {
        TimeBasis::Whole => ("", "New"),
        TimeBasis::CommandBuffer => ("Per command buffer, ", "new"),
        TimeBasis::Interval => ("Per interval, ", "new"),
    };
    let wall = find(metrics, "window.span_ns").map(|wall| &wall.change);
    let both = wall.and_then(|wall| Some((wall.base_value()?, wall.new_value()?)));
    let (Some(change), Some((was, now))) = (wall, both) else {
        return match (work.basis, wall.is_some()) {
            (TimeBasis::Whole, false) => "Wall time is not recorded on either side".into(),
            (TimeBasis::Whole, true) => "Wall time is not recorded on one side".into(),
            (TimeBasis::CommandBuffer | TimeBasis::Interval, _) => message!(
                "{}wall time is unknown: a side has only one, and nothing shows the time between two",
                per
            ),
        };
    };

    let both = message!("{} → {}", value(was, Unit::Ns), value(now, Unit::Ns));
    let sure = sureness(change, Unit::Ns).map(|sure| message!(", {}", sure));
    match change.class {
        ChangeClass::Grown | ChangeClass::Shrunk => {
            let verdict = if change.class == ChangeClass::Grown {
                "slower"
            } else {
                "faster"
            };
            // One run a side does not show that the next run would differ, too.
            let scope = if change.interval.is_some() {
                ""
            } else {
                " in these recordings"
            };
            message!(
                "{}{} is {}{} {}: {}",
                per,
                new,
                verdict,
                scope,
                extent(change, floor),
                both
            )
        }
        ChangeClass::Unchanged => {
            let word = match (per.is_empty(), change.interval.is_some()) {
                (true, true) => "No significant change",
                (true, false) => "No difference that counts",
                (false, _) => unchanged(change),
            };
            message!("{}{}: {}{}", per, word, both, sure)
        }
        _ => message!(
            "{}{}, the runs vary too much: {}{}",
            per,
            if per.is_empty() {
                "Inconclusive"
            } else {
                "inconclusive"
            },
            both,
            sure
        ),
    }
}

/// Returns the changes of busy and idle time, and the causes of idle time that changed most.
fn busy_and_idle(metrics: &[MetricChange]) -> Message {
    let change = |id: &str| {
        let change = find(metrics, id).and_then(|metric| metric.change.absolute);
        change.map_or_else(|| "not recorded".into(), |by| difference(by, Unit::Ns))
    };
    let causes = metrics
        .iter()
        .filter(|metric| metric.group == MetricGroup::Idle);
    // A part explains nothing if it, or the whole, did not change beyond noise.
    let is_changed = |metric: &MetricChange| {
        matches!(
            metric.change.class,
            ChangeClass::Grown | ChangeClass::Shrunk
        )
    };
    let has_moved = find(metrics, "gaps.total_ns").is_some_and(is_changed);
    let causes = causes.filter(|metric| has_moved && is_changed(metric));
    let causes = causes.filter_map(|metric| Some((&metric.name, metric.change.absolute?)));
    let mut causes: Vec<(&String, Number)> = causes.filter(|(_, by)| by.get() != 0.0).collect();
    causes.sort_by(|(_, one), (_, other)| other.get().abs().total_cmp(&one.get().abs()));

    let most = causes.iter().take(2);
    let most = most.map(|(cause, by)| message!("{} {}", name(cause), difference(*by, Unit::Ns)));
    let most = Message::joined(most, ", ");
    let most = (!causes.is_empty()).then(|| message!(" (mostly {})", most));
    message!(
        "GPU busy {}, idle {}{}",
        change("busy.busy_ns"),
        change("gaps.total_ns"),
        most
    )
}
