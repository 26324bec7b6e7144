//! Writes the headline of a comparison: the time per unit of work where all units are alike, or where the
//! median step changed by another share than the whole run, then the time of the whole run, the work, and the
//! kernels that one side lacks.

use metalens_analyzer::id;
use metalens_message::Number;
use metalens_message::{Message, message};
use metalens_message::{Share, counted, name, percent, ungrouped};

use crate::by_turns::runs_to_tell;
use crate::change::{Change, ChangeClass, Direction, Floor};
use crate::comparison::Comparison;
use crate::difference::{StepsDifference, StepsPart};
use crate::kernel_sentences::{changed, common, one_sided, other_counts, tails};
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find, has_same_steps};
use crate::metrics::MetricGroup;
use crate::outliers::find_outliers;
use crate::per_unit::{TimeBasis, WALL};
use crate::sentences::{
    confidence, difference, extent, first_few, more_runs, relation, relative, rounded_up, runs,
    scope_of, share, sureness, unchanged, value,
};
use crate::statistics::median;
use crate::unit::Unit;
use crate::work::{WorkAmount, WorkComparison};

impl Comparison {
    /// Returns the headline of the other parts of the comparison.
    pub(crate) fn in_a_headline(&self) -> Message {
        let (work, kernels) = (&self.work, &self.kernels);
        let mut sentences = Vec::new();
        sentences.extend(self.lead());
        sentences.push(self.whole_with_parts());
        sentences.extend(changed(self));
        sentences.extend(memory(&self.metrics));
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
        sentences.extend(self.amounts());
        sentences.extend(self.other_steps());
        sentences.extend(one_sided(work, kernels, "base", "new"));
        sentences.extend(other_counts(self));
        sentences.extend(common(work, kernels));
        sentences.extend(tails(kernels));
        Message::joined(sentences, ". ")
    }

    /// Returns the first sentence of the headline, the change of the time: the budget of a program that keeps
    /// a pace; the change of the time per unit of work, if the sides did different amounts of the same; of the
    /// median step, if that tells another story than the whole run; else the change of that.
    pub fn verdict(&self) -> Message {
        self.lead().unwrap_or_else(|| self.whole())
    }

    /// Returns what comes before the whole run.
    fn lead(&self) -> Option<Message> {
        if let Some(pace) = pace(&self.metrics) {
            return Some(pace);
        }
        if let Some(step) = self.other_step() {
            let unit = Some("step".into());
            return Some(self.of_wall(unit, Some(step), Subject::New));
        }
        let unit = self.work.unit()?;
        let change = find(&self.work.per_unit, WALL).map(|wall| &wall.change);
        Some(self.of_wall(Some(unit), change, Subject::New))
    }

    /// Describes the change of the wall time of whole runs.
    fn whole(&self) -> Message {
        let subject = if self.work.is_other() || self.other_step().is_some() {
            Subject::Run
        } else {
            Subject::New
        };
        let wall = find(&self.metrics, WALL).map(|wall| &wall.change);
        self.of_wall(None, wall, subject)
    }

    /// Describes the same, and where it comes from: from the steps if these come first, else from busy and idle
    /// time.
    fn whole_with_parts(&self) -> Message {
        let verdict = self.whole();
        let class = find(&self.metrics, WALL).map(|wall| wall.change.class);
        if !matches!(class, Some(ChangeClass::Grown | ChangeClass::Shrunk)) {
            return verdict;
        }
        let steps = self.difference.as_ref();
        let steps = steps.and_then(|difference| difference.steps.as_ref());
        let is_by_steps = self.work.basis == TimeBasis::Step || self.other_step().is_some();
        let steps = steps.filter(|_| is_by_steps).map(by_steps);
        // More or fewer steps explain all of the rest.
        let rest = (self.work.basis != TimeBasis::Step || steps.is_none())
            .then(|| busy_and_idle(&self.metrics));
        Message::joined([Some(verdict), steps, rest].into_iter().flatten(), "; ")
    }

    /// Returns the change of the median step, if as much work changed the whole run, and by another share: some
    /// steps are longer, or what runs once.
    fn other_step(&self) -> Option<&Change> {
        /// Least distance between two shares that tell different stories.
        const APART: f64 = 0.02;
        let (work, metrics) = (&self.work, &self.metrics);
        if work.basis != TimeBasis::Whole || work.is_other() || !has_same_steps(metrics) {
            return None;
        }
        // Of steps of two lengths, the median went from one to the other, and the rest makes up for it.
        let [_, (_, median_ns), (_, away_ns), _] =
            self.difference.as_ref()?.steps.as_ref()?.parts_ns();
        let is_length = (-2.0..=-0.5).contains(&(away_ns / median_ns));
        let of_run = &find(metrics, WALL)?.change;
        if is_length || !of_run.is_material() {
            return None;
        }
        let of_step = &find(metrics, "steps.median_ns")?.change;
        let ends = |change: &Change| {
            let base = change.base_value()?.get();
            let interval = change.interval.map(|both| (both.low, both.high));
            let (low, high) = interval.or(change.absolute.map(|by| (by, by)))?;
            Some((low.get() / base, high.get() / base))
        };
        let ((run_low, run_high), (step_low, step_high)) = (ends(of_run)?, ends(of_step)?);
        let is_apart = run_low > step_high || step_low > run_high;
        let by = of_run.relative? - of_step.relative?;
        (is_apart && by.abs() >= APART).then_some(of_step)
    }

    /// Describes a change of the wall time: that of a unit of work, or of whole runs.
    fn of_wall(&self, unit: Option<Message>, wall: Option<&Change>, subject: Subject) -> Message {
        let floor = &self.method.floor;
        let is_per_unit = unit.is_some();
        let per = unit.map(|unit| message!("Per {}, ", unit));
        let new = match subject {
            _ if is_per_unit => "new",
            Subject::Run => "The run",
            Subject::New => "New",
        };
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
            let no = if is_per_unit { "no" } else { "No" };
            let seen = match change.class {
                ChangeClass::Grown | ChangeClass::Shrunk => "that counts",
                _ => "seen",
            };
            return message!("{}{} change {}: {}; {}", per, no, seen, both, at_most);
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
            _ => {
                let word = if is_per_unit {
                    "inconclusive"
                } else {
                    "Inconclusive"
                };
                // Where the amount of work varies, so does the time.
                let far = (subject == Subject::New).then(|| far_runs(change, floor));
                let far = far.flatten();
                let needed = runs_to_tell(change, *floor, Unit::Ns);
                let needed = needed.filter(|needed| far.is_none() && needed.runs <= MOST_RUNS);
                let more = needed.map(|needed| more_runs(needed, was)).or(far);
                message!(
                    "{}{}, the runs vary too much: {}{}{}",
                    per,
                    word,
                    both,
                    sure,
                    more
                )
            }
        }
    }

    /// Says why other work is not compared by the step, and how it can be.
    fn other_steps(&self) -> Option<Message> {
        let (work, metrics) = (&self.work, &self.metrics);
        if !work.is_other() || work.basis != TimeBasis::Whole || has_same_steps(metrics) {
            return None;
        }
        let intervals = &find(metrics, "steps.intervals")?.change;
        let shown = |count: Number| value(count, Unit::Count);
        Some(match (intervals.base.median, intervals.new.median) {
            (Some(was), Some(now)) => message!(
                "A step of base has {} GPU intervals, one of new {}; --per step compares them all the same",
                shown(was),
                shown(now)
            ),
            (was, _) => message!(
                "Not compared by step: none is known in {}; --step says what one is",
                if was.is_some() { "new" } else { "base" }
            ),
        })
    }

    /// Describes the amounts of work.
    fn amounts(&self) -> Option<Message> {
        let work = &self.work;
        let counts = all_counts(&self.metrics)?;
        let word = match (work.amount, work.taken_as_same) {
            (WorkAmount::Same, _) if self.has_other_kernels() => "Same amount, other kernels",
            (WorkAmount::Same, _) if work.other_mix => "Same amount, another mix",
            (WorkAmount::Same, _) => "Same work",
            (WorkAmount::Different, true) => "Different work, taken as the same (--preset fusion)",
            (WorkAmount::Different, false) => "Different work",
            (WorkAmount::Varies, _) => "The amount of work varies from run to run",
            (WorkAmount::Unknown, _) => "Unknown amount of work",
        };
        Some(message!("{}: {}", word, counts))
    }

    /// Returns whether a side has a kernel that the other lacks under any name.
    fn has_other_kernels(&self) -> bool {
        let work = &self.work;
        self.kernels.iter().any(|kernel| match kernel.class {
            ChangeClass::Removed => work.renamed.iter().all(|other| other.base != kernel.name),
            ChangeClass::Added => work.renamed.iter().all(|other| other.new != kernel.name),
            _ => false,
        })
    }

    /// Returns what the headline says next: the whole run if the verdict is about a unit of work, else the
    /// changes of busy and idle time.
    pub fn because(&self) -> Message {
        match self.lead() {
            Some(_) => self.whole_with_parts(),
            None => busy_and_idle(&self.metrics),
        }
    }

    /// Says how many runs there are, and how sure the intervals are. None if there are no intervals.
    pub fn sides(&self) -> Option<Message> {
        let sure = self.method.confidence?;
        let runs = runs(self.base.runs.len(), self.new.runs.len());
        let sessions = match self.method.sessions {
            0 => Message::default(),
            1 => " for these two sessions, and not for other days".into(),
            count => message!(
                ", with the spread between {} of base",
                counted(count as u64, "session")
            ),
        };
        Some(message!(
            "{}; intervals have {} confidence{}",
            runs,
            confidence(sure),
            sessions
        ))
    }

    /// Returns the unit that times should be compared per if a run has too few of it for that.
    pub fn missing_unit(&self) -> Option<Message> {
        let wall = find(&self.work.per_unit, WALL).map(|wall| &wall.change);
        let both = wall.and_then(|wall| wall.base_value().zip(wall.new_value()));
        self.work.unit().filter(|_| both.is_none())
    }

    /// Returns the figures whose times are compared: per unit of work if units are.
    pub fn compared(&self) -> &[MetricChange] {
        if self.work.basis == TimeBasis::Whole {
            &self.metrics
        } else {
            &self.work.per_unit
        }
    }

    /// Returns the changes of busy and idle time, as in the headline.
    pub fn causes(&self) -> Message {
        busy_and_idle(self.compared())
    }

    /// Returns the amounts of work, and the kernels that one side lacks, as in the headline.
    pub fn work_in_words(&self) -> Message {
        let sentences = [
            self.amounts(),
            one_sided(&self.work, &self.kernels, "base", "new"),
        ];
        Message::joined(sentences.into_iter().flatten(), ". ")
    }
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
    let period = find(metrics, "steps.period_ns").map(|period| &period.change);
    let (period_ns, gpu_ns) = (figure("steps.period_ns")?, figure("steps.gpu_ns")?);
    Some(if period.is_some_and(Change::is_material) {
        message!(
            "The pace changed: a step each {}, in which the GPU is busy {}",
            period_ns,
            gpu_ns
        )
    } else {
        message!(
            "Both sides keep a pace: period {}, GPU busy in a step {}, late steps {}",
            period_ns,
            gpu_ns,
            figure("steps.missed")?
        )
    })
}

/// Names the figures of memory that became worse: the wall time says nothing about them.
fn memory(metrics: &[MetricChange]) -> Option<Message> {
    let worse = metrics.iter().filter(|metric| {
        let is_worse = metric.change.direction == Some(Direction::Worse);
        metric.group == MetricGroup::Memory && is_worse && metric.change.is_material()
    });
    let worse = worse.map(|metric| message!("{} {}", name(&metric.name), share(&metric.change)));
    let worse: Vec<Message> = worse.collect();
    (!worse.is_empty()).then(|| message!("Worse: {}", first_few(worse, NAMED)))
}

/// Returns the numbers of GPU intervals, command buffers and kernels, as far as they are recorded.
fn all_counts(metrics: &[MetricChange]) -> Option<Message> {
    let intervals = counts(metrics, id!(counts.intervals), "GPU interval");
    let buffers = counts(metrics, id!(counts.command_buffers), "command buffer");
    let names = counts(metrics, id!(counts.kernels), "kernel");
    let counted = Message::joined([intervals, buffers, names].into_iter().flatten(), ", ");
    (!counted.text.is_empty()).then_some(counted)
}

/// Returns `800 GPU intervals instead of 1,000 (−20.0 %)`, or the count if it is the same; with the range of the
/// runs of a side that differ.
fn counts(metrics: &[MetricChange], id: &str, noun: &str) -> Option<Message> {
    let change = &find(metrics, id)?.change;
    let (was, now) = (change.base_value()?, change.new_value()?);
    let is_whole = now.get().fract() == 0.0 && now.get() >= 0.0;
    let counted = if is_whole {
        counted(now.to_whole(), noun)
    } else {
        message!("{} {}s", value(now, Unit::Count), name(noun))
    };
    let apart = [("base", &change.base), ("new", &change.new)].map(|(side, values)| {
        let ends = values
            .min
            .zip(values.max)
            .filter(|(least, most)| least != most)?;
        let [least, most] = [ends.0, ends.1].map(|end| value(end, Unit::Count));
        Some(message!("{} {} to {}", side, least, most))
    });
    let apart = apart.into_iter().flatten();
    let apart = apart.filter(|_| change.material_class() == ChangeClass::Unstable);
    let by = (was != now).then(|| share(change));
    let more = Message::joined(by.into_iter().chain(apart), ", ");
    let more = (!more.text.is_empty()).then(|| message!(" ({})", more));
    let instead = (was != now).then(|| message!(" instead of {}", value(was, Unit::Count)));
    Some(message!("{}{}{}", counted, instead, more))
}

/// Returns what the parts of the run add to the difference, those with most of it by name.
fn by_steps(steps: &StepsDifference) -> Message {
    /// Share of the largest part that is too small to be named.
    const LITTLE: f64 = 0.02;
    let mut parts = steps.parts_ns().to_vec();
    parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let largest_ns = parts.first().map_or(0.0, |(_, ns)| ns.abs());
    let is_large = |ns: f64| ns.abs() >= LITTLE * largest_ns;
    let shown = |ns: f64| Number::new(ns).map(|by| difference(by, Unit::Ns));
    let more = steps.count.change();
    let (named, others) = parts.split_at(NAMED);
    let named = named.iter().filter(|(_, ns)| is_large(*ns));
    let named = named.map(|&(part, ns)| match part {
        StepsPart::Count => {
            let word = if more < 0.0 { "fewer" } else { "more" };
            let count = Number::new(more.abs()).map(|count| value(count, Unit::Count));
            message!("{} {} steps {}", count, word, shown(ns))
        }
        StepsPart::Median if ns < 0.0 => message!("shorter steps {}", shown(ns)),
        StepsPart::Median => message!("longer steps {}", shown(ns)),
        StepsPart::Away => message!("unusual steps {}", shown(ns)),
        StepsPart::Once => message!("{} {}", part.label(), shown(ns)),
    });
    let rest: f64 = others.iter().map(|(_, ns)| ns).sum();
    let rest = is_large(rest).then(|| message!("others {}", shown(rest)));
    Message::joined(named.chain(rest), ", ")
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

/// Largest number of runs that somebody is advised to record.
const MOST_RUNS: u64 = 30;
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

/// Names the runs that are far from the others of their side.
fn far_runs(change: &Change, floor: &Floor) -> Option<Message> {
    let sides = [("base", &change.base), ("new", &change.new)];
    let far = sides.into_iter().filter_map(|(side, values)| {
        let known: Option<Vec<f64>> = values
            .values
            .iter()
            .map(|run| Some((*run)?.get()))
            .collect();
        let known = known?;
        let found = find_outliers(&known, floor.for_values(Unit::Ns, median(&known)?, 0.0))?;
        let runs = found.outliers.iter().filter_map(|run| {
            let by = known.get(run.index)? / found.median - 1.0;
            let number = ungrouped(run.index as u64 + 1);
            Some(message!(
                "run {} of {} differs by {} from the others",
                number,
                side,
                relative(by)
            ))
        });
        Some(runs.collect::<Vec<_>>())
    });
    let far: Vec<Message> = far.flatten().collect();
    (!far.is_empty()).then(|| message!("; {}", first_few(far, NAMED)))
}

/// Says how far a time may have moved although no change is seen, or none that counts; `None` if one is, or if
/// the runs cannot even exclude a large one.
fn at_most(change: &Change, subject: Subject) -> Option<Message> {
    /// Share of base that is a large change.
    const LARGE: f64 = 0.1;
    /// Smallest share that is said.
    const LEAST: f64 = 0.001;
    let is_seen = !matches!(
        change.material_class(),
        ChangeClass::Unchanged | ChangeClass::Unstable
    );
    let base = change.base_value()?.get();
    let interval = change.interval.filter(|_| !is_seen && base > 0.0)?;
    let (less, more) = (-interval.low.get() / base, interval.high.get() / base);
    let (slower, faster) = match subject {
        Subject::Run => ("longer", "shorter"),
        Subject::New => ("slower", "faster"),
    };
    let shown = |share: f64| percent(Share(rounded_up(share, 3).max(LEAST)));
    let ends = if less < 0.0 {
        message!("{} {}", shown(more), slower)
    } else if more < 0.0 {
        message!("{} {}", shown(less), faster)
    } else {
        let (more, less) = (shown(more), shown(less));
        let other = (more.text != less.text).then(|| message!("{} ", less));
        message!("{} {} or {}{}", more, slower, other, faster)
    };
    let sure = confidence(interval.confidence);
    (less.max(more) <= LARGE).then(|| message!("at most {} ({})", ends, sure))
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
    let has_moved = find(metrics, id!(gaps.total_ns)).is_some_and(is_changed);
    let mut causes: Vec<(&String, Number)> = idle
        .filter(|metric| has_moved && is_changed(metric))
        .filter_map(|metric| Some((&metric.name, metric.change.absolute?)))
        .filter(|(_, by)| by.get() != 0.0)
        .collect();
    causes.sort_by(|(_, a), (_, b)| b.get().abs().total_cmp(&a.get().abs()));

    causes.truncate(NAMED);

    let named = causes.iter();
    let parts = named.map(|(cause, by)| message!("{} {}", name(cause), difference(*by, Unit::Ns)));
    let rest = rest(metrics, &causes);
    let rest = rest.map(|by| message!("other causes {}", difference(by, Unit::Ns)));
    let parts = Message::joined(parts.chain(rest), ", ");
    let most = (!causes.is_empty()).then(|| message!(" ({})", parts));
    message!(
        "GPU busy {}, idle {}{}",
        change(id!(busy.busy_ns)),
        change(id!(gaps.total_ns)),
        most
    )
}

/// Returns what the causes that are named leave of the change of the idle time; `None` if it would be
/// rounded away beside them.
fn rest(metrics: &[MetricChange], named: &[(&String, Number)]) -> Option<Number> {
    let whole = find(metrics, id!(gaps.total_ns))?.change.absolute?.get();
    let rest = whole - named.iter().map(|(_, by)| by.get()).sum::<f64>();
    let is_large = rest.abs() >= 0.001 * whole.abs();
    Number::new(rest).filter(|_| is_large)
}
