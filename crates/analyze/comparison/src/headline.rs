//! Writes the headline of a comparison: the time of the whole run first, then the work, the kernels that
//! one side lacks, and the time per unit of work where all units are alike.

use metalens_analyzer::message::{counted, name, percent};
use metalens_analyzer::{Message, message};

use crate::change::{Change, ChangeClass, Floor};
use crate::comparison::Comparison;
use crate::kernel_sentences::{common, one_sided, other_counts, tails};
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::metrics::MetricGroup;
use crate::per_unit::TimeBasis;
use crate::sentences::{
    confidence, difference, extent, relation, rounded_up, runs, scope_of, share, sureness,
    unchanged, value,
};
use crate::unit::Unit;
use crate::work::{WorkAmount, WorkComparison};
use metalens_analyzer::Number;

/// Returns the headline. `is_clock_known` says whether the GPU clocks of both sides are recorded.
pub(crate) fn headline(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
    floor: &Floor,
    is_clock_known: bool,
) -> Message {
    let mut sentences = Vec::new();
    sentences.push(time(work, metrics, floor));
    sentences.extend(pace(metrics));
    // Who asks for fusion expects other names.
    if work.common_kernels == 0 && !kernels.is_empty() && !work.taken_as_same {
        sentences.push(if work.amount == WorkAmount::Same {
            "No kernel in common: these may be different programs, or all kernels were renamed"
                .into()
        } else {
            "No kernel in common: these may be different programs; if new does the same work in \
             other kernels, --preset fusion says so"
                .into()
        });
    }
    sentences.extend(amounts(work, metrics, kernels));
    sentences.extend(one_sided(work, kernels, "base", "new"));
    sentences.extend(other_counts(work, metrics, kernels));
    sentences.extend(common(work, kernels, is_clock_known));
    sentences.extend(tails(kernels));
    sentences.extend(per_unit(work, floor));
    Message::joined(sentences, ". ")
}

/// Describes both sides of a program that keeps the pace of a display or a timer: its wall time says
/// little, the GPU's part of a period and the missed periods say more.
fn pace(metrics: &[MetricChange]) -> Option<Message> {
    let figure = |id: &str| {
        let metric = find(metrics, id)?;
        let shown = |number| value(number, metric.unit);
        let was = shown(metric.change.base_value()?);
        let now = shown(metric.change.new_value()?);
        Some(if was.text == now.text {
            now
        } else {
            message!("{} → {}", was, now)
        })
    };
    Some(message!(
        "Both sides keep a pace: period {}, GPU busy in a step {}, late steps {}",
        figure("steps.period_ns")?,
        figure("steps.gpu_ns")?,
        figure("steps.missed")?
    ))
}

/// Describes the amounts of work.
fn amounts(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
) -> Option<Message> {
    let counts = all_counts(metrics)?;
    let word = match (work.amount, work.taken_as_same) {
        (WorkAmount::Same, _) if has_other_kernels(work, kernels) => "Same amount, other kernels",
        (WorkAmount::Same, _) => "Same work",
        (WorkAmount::Different, true) => "Different work, taken as the same (--preset fusion)",
        (WorkAmount::Different, false) => "Different work",
        (WorkAmount::Varies, _) => "The amount of work varies from run to run",
        (WorkAmount::Unknown, _) => "Unknown amount of work",
    };
    Some(message!("{}: {}", word, counts))
}

/// Returns the numbers of GPU intervals, command buffers and kernels, as far as they are recorded.
fn all_counts(metrics: &[MetricChange]) -> Option<Message> {
    let intervals = counts(metrics, "counts.intervals", "GPU interval");
    let buffers = counts(metrics, "counts.command_buffers", "command buffer");
    let names = counts(metrics, "counts.kernels", "kernel");
    let counted = Message::joined([intervals, buffers, names].into_iter().flatten(), ", ");
    (!counted.text.is_empty()).then_some(counted)
}

/// Returns whether a side has a kernel that the other lacks under any name, or runs one more often.
fn has_other_kernels(work: &WorkComparison, kernels: &[KernelChange]) -> bool {
    kernels.iter().any(|kernel| match kernel.class {
        ChangeClass::Removed => work.renamed.iter().all(|other| other.base != kernel.name),
        ChangeClass::Added => work.renamed.iter().all(|other| other.new != kernel.name),
        _ => kernel.ran_differently_often(),
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

/// Describes the change of the time of the whole run, and where it comes from.
fn time(work: &WorkComparison, metrics: &[MetricChange], floor: &Floor) -> Message {
    let verdict = whole(work, metrics, floor);
    let class = find(metrics, "window.span_ns").map(|wall| wall.change.class);
    if matches!(class, Some(ChangeClass::Grown | ChangeClass::Shrunk)) {
        message!("{}; {}", verdict, busy_and_idle(metrics))
    } else {
        verdict
    }
}

/// Describes the change of the time per unit of work, if the sides did different amounts of the same.
fn per_unit(work: &WorkComparison, floor: &Floor) -> Option<Message> {
    let unit = work.unit()?;
    Some(of_wall(Some(unit), &work.per_unit, floor, Subject::New))
}

impl Comparison {
    /// Returns the change of the wall time, as in the headline.
    #[must_use]
    pub fn verdict(&self) -> Message {
        let floor = &self.method.floor;
        per_unit(&self.work, floor).unwrap_or_else(|| whole(&self.work, &self.metrics, floor))
    }

    /// Says how many runs there are, and how sure the intervals are. None if there are no intervals.
    #[must_use]
    pub fn sides(&self) -> Option<Message> {
        let sure = self.method.confidence?;
        let runs = runs(self.base.runs.len(), self.new.runs.len());
        Some(message!(
            "{}; intervals have {} confidence",
            runs,
            confidence(sure)
        ))
    }

    /// Returns the unit that times should be compared per if a run has too few of it for that.
    #[must_use]
    pub fn missing_unit(&self) -> Option<Message> {
        let wall = find(&self.work.per_unit, "window.span_ns").map(|wall| &wall.change);
        let both = wall.and_then(|wall| wall.base_value().zip(wall.new_value()));
        self.work.unit().filter(|_| both.is_none())
    }

    /// Returns the figures whose times are compared: per unit of work if units are.
    #[must_use]
    pub fn compared(&self) -> &[MetricChange] {
        if self.work.basis == TimeBasis::Whole {
            &self.metrics
        } else {
            &self.work.per_unit
        }
    }

    /// Returns the changes of busy and idle time, as in the headline.
    #[must_use]
    pub fn causes(&self) -> Message {
        busy_and_idle(self.compared())
    }

    /// Returns the amounts of work, and the kernels that one side lacks, as in the headline.
    #[must_use]
    pub fn work_in_words(&self) -> Message {
        let sentences = [
            amounts(&self.work, &self.metrics, &self.kernels),
            one_sided(&self.work, &self.kernels, "base", "new"),
        ];
        Message::joined(sentences.into_iter().flatten(), ". ")
    }
}

/// Says how the work of two sides, which have these names, differs: the amounts, and the kernels that one
/// side lacks.
pub(crate) fn different_work(
    work: &WorkComparison,
    metrics: &[MetricChange],
    kernels: &[KernelChange],
    base: &str,
    new: &str,
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
    let counts = all_counts(metrics).map(|counts| message!(": {}", counts));
    let kernels = one_sided(work, kernels, base, new);
    let said = message!("{}{}", said, counts);
    Message::joined([Some(said), kernels].into_iter().flatten(), ". ")
}

/// Number of causes of idle time that the headline names.
const NAMED: usize = 2;

/// Subject of a sentence on the wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// The new side, which is faster or slower at the same work.
    New,
    /// The run, which is shorter or longer with other work.
    Run,
}

/// Describes the change of the wall time of whole runs.
fn whole(work: &WorkComparison, metrics: &[MetricChange], floor: &Floor) -> Message {
    let subject = if work.is_other() {
        Subject::Run
    } else {
        Subject::New
    };
    of_wall(None, metrics, floor, subject)
}

/// Describes the change of the wall time among figures per unit of work, or of whole runs.
fn of_wall(
    unit: Option<Message>,
    metrics: &[MetricChange],
    floor: &Floor,
    subject: Subject,
) -> Message {
    let is_per_unit = unit.is_some();
    let per = unit.map(|unit| message!("Per {}, ", unit));
    let new = match subject {
        _ if is_per_unit => "new",
        Subject::Run => "The run",
        Subject::New => "New",
    };
    let wall = find(metrics, "window.span_ns").map(|wall| &wall.change);
    let both = wall.and_then(|wall| Some((wall.base_value()?, wall.new_value()?)));
    let (Some(change), Some((was, now))) = (wall, both) else {
        return match (is_per_unit, wall.is_some()) {
            (false, false) => "Wall time is not recorded on either side".into(),
            (false, true) => "Wall time is not recorded on one side".into(),
            (true, _) => message!("{}wall time is unknown: a side has too few", per),
        };
    };

    let both = message!("{} → {}", value(was, Unit::Ns), value(now, Unit::Ns));
    if let Some(at_most) = at_most(change, subject) {
        let seen = if is_per_unit { "no" } else { "No" };
        return message!("{}{} change seen: {}; {}", per, seen, both, at_most);
    }
    let sure = sureness(change, Unit::Ns).map(|sure| message!(", {}", sure));
    match change.class {
        ChangeClass::Grown | ChangeClass::Shrunk => {
            let moved = longer_or_shorter(new, change, floor, subject);
            message!("{}{}: {}", per, moved, both)
        }
        ChangeClass::Unchanged => {
            let word = match (!is_per_unit, change.interval.is_some()) {
                (true, true) => "No significant change",
                (true, false) => "No difference that counts",
                (false, _) => unchanged(change),
            };
            message!("{}{}: {}{}", per, word, both, sure)
        }
        _ => message!(
            "{}{}, the runs vary too much: {}{}",
            per,
            if !is_per_unit {
                "Inconclusive"
            } else {
                "inconclusive"
            },
            both,
            sure
        ),
    }
}

/// Says how far a time may have moved although no change is seen; `None` if a change is seen, or if the runs
/// cannot even exclude a large one.
fn at_most(change: &Change, subject: Subject) -> Option<Message> {
    /// Share of base that is a large change.
    const LARGE: f64 = 0.1;
    /// Smallest share that is said.
    const LEAST: f64 = 0.001;
    let is_seen = !matches!(change.class, ChangeClass::Unchanged | ChangeClass::Unstable);
    let base = change.base_value()?.get();
    let interval = change.interval.filter(|_| !is_seen && base > 0.0)?;
    let (less, more) = (-interval.low.get() / base, interval.high.get() / base);
    let (slower, faster) = match subject {
        Subject::Run => ("longer", "shorter"),
        Subject::New => ("slower", "faster"),
    };
    let shown = |share: f64| percent(rounded_up(share, 3).max(LEAST));
    let (more_shown, less_shown) = (shown(more), shown(less));
    let other = (more_shown.text != less_shown.text).then(|| message!("{} ", less_shown));
    (less.max(more) <= LARGE).then(|| {
        message!(
            "at most {} {} or {}{} ({})",
            more_shown,
            slower,
            other,
            faster,
            confidence(interval.confidence)
        )
    })
}

/// Says how much longer or shorter the wall time is.
fn longer_or_shorter(
    new: &'static str,
    change: &Change,
    floor: &Floor,
    subject: Subject,
) -> Message {
    const SCOPE: &str = " in these recordings";
    if let (Some(relation), Subject::New) = (relation(change, floor, None, SCOPE), subject) {
        return message!("{} {}", new, relation);
    }
    let is_longer = change.class == ChangeClass::Grown;
    let word = if is_longer { "longer" } else { "shorter" };
    let scope = scope_of(change, SCOPE);
    message!("{} is {}{} {}", new, word, scope, extent(change, floor))
}

/// Returns the changes of busy and idle time, and the causes of idle time that changed most.
fn busy_and_idle(metrics: &[MetricChange]) -> Message {
    let change = |id: &str| {
        let change = find(metrics, id).and_then(|metric| metric.change.absolute);
        change.map_or_else(|| "not recorded".into(), |by| difference(by, Unit::Ns))
    };
    let idle = metrics
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
    let mut causes: Vec<(&String, Number)> = idle
        .filter(|metric| has_moved && is_changed(metric))
        .filter_map(|metric| Some((&metric.name, metric.change.absolute?)))
        .filter(|(_, by)| by.get() != 0.0)
        .collect();
    causes.sort_by(|(_, a), (_, b)| b.get().abs().total_cmp(&a.get().abs()));

    causes.truncate(NAMED);

    let named = causes.iter();
    let parts = named.map(|(cause, by)| message!("{} {}", name(cause), difference(*by, Unit::Ns)));
    let rest = rest(metrics, &causes).map(|by| message!("others {}", difference(by, Unit::Ns)));
    let parts = Message::joined(parts.chain(rest), ", ");
    let most = (!causes.is_empty()).then(|| message!(" ({})", parts));
    message!(
        "GPU busy {}, idle {}{}",
        change("busy.busy_ns"),
        change("gaps.total_ns"),
        most
    )
}

/// Returns what the causes that are named leave of the change of the idle time; `None` if it would be
/// rounded away beside them.
fn rest(metrics: &[MetricChange], named: &[(&String, Number)]) -> Option<Number> {
    let whole = find(metrics, "gaps.total_ns")?.change.absolute?.get();
    let rest = whole - named.iter().map(|(_, by)| by.get()).sum::<f64>();
    let is_large = rest.abs() >= 0.001 * whole.abs();
    Number::new(rest).filter(|_| is_large)
}
