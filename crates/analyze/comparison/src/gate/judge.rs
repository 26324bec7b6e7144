//! Judges which limits a comparison keeps, and how far it misses the others.
//!
//! A missing figure never keeps a limit. Every run of new has to have the figure, and for a
//! relative limit base too. Otherwise the limit is missed, unless it is optional. So a missed gate
//! stays missed whatever new loses: a table, a kernel, a run, or a figure of one run.

use std::collections::BTreeSet;

use metalens_analyzer::{Report, distrust};
use metalens_failure::similar;
use metalens_message::Number;
use metalens_message::{Message, message};
use metalens_message::{Share, counted};
use metalens_text::number::Float;

use super::kernels::{NewKernelShares, OwnKernels};
use super::subject::{GateSubject, Presence};
use super::{
    Gate, GateResult, GateRow, GateSeverity, GateVerdict, KernelFigure, KernelLimit, Limit,
    LimitRule, MetricLimit,
};
use crate::change::{Change, SideValues};
use crate::compare::{CompareOptions, compare_runs};
use crate::comparison::{Comparison, SideFacts};
use crate::kernels::{KernelChange, KernelNoise};
use crate::metric_changes::{OWN, SECOND_OWN, find, has_same_steps};
use crate::metrics::{GAPS, is_amount_of_work, is_of_gaps, unit_of};
use crate::repeated::SHARED_RUN;
use crate::runs::Runs;
use crate::unit::Unit;

/// Largest number of patterns without a kernel for which the meant one is looked up.
const SUGGESTIONS: usize = 20;

/// Judges a recording by the limits of a gate that compare it with no other. Returns none if there is no
/// such limit.
#[must_use]
pub fn judge_report(report: &Report, gate: &Gate) -> Option<GateResult> {
    let gate = gate.without_base()?;
    // Beside itself, the recording has every figure, and nothing changed.
    let runs = Runs::from_reports(std::slice::from_ref(report));
    let mut comparison = compare_runs(&runs, &runs, &CompareOptions::default());
    comparison.notes.retain(|note| note.id != SHARED_RUN);
    let mut result = judge(&comparison, &gate);
    if let Some(why) = distrust(report) {
        for row in &mut result.rows {
            row.verdict = GateVerdict::Miss;
            row.why = why.clone();
        }
        (result.missed, result.inconclusive) = (true, false);
    }
    Some(result)
}

/// Judges a comparison by a gate.
#[must_use]
pub fn judge(comparison: &Comparison, gate: &Gate) -> GateResult {
    let mut rows = GateRows {
        allow_inconclusive: gate.allow_inconclusive,
        ..GateRows::default()
    };
    rows.rows.extend(missing_runs(comparison, gate));
    let has_steps = has_steps(comparison, gate.may_change_work);
    let metrics = gate.metrics.iter();
    // Not each recording tells what a step waits for.
    let is_of_base = |limit: &MetricLimit| {
        let change = find(&comparison.metrics, &limit.id).map(|metric| &metric.change);
        limit.steps != Some(true) || change.is_some_and(|change| change.base.median.is_some())
    };
    let metrics = metrics.filter(|limit| limit.steps.is_none_or(|steps| steps == has_steps));
    let metrics: Vec<&MetricLimit> = metrics.filter(|limit| is_of_base(limit)).collect();
    rows.chance = gate.until_decided.then(|| chance(&metrics, &gate.kernels));
    for limit in metrics {
        let subject = GateSubject {
            chance: rows.chance,
            ..metric_subject(comparison, limit)
        };
        rows.judge(&subject, &limit.limit);
    }
    let new_kernels = NewKernelShares::from_comparison(comparison);
    let names = comparison.kernels.iter().map(|kernel| kernel.name.as_str());
    let own = OwnKernels::of(&gate.kernels, names);
    let is_judged =
        |limit: &KernelLimit| !limit.is_of_as_many_steps || !has_steps || as_many_steps(comparison);
    let kernels = gate.kernels.iter().zip(&own);
    for (limit, own) in kernels.filter(|(limit, _)| is_judged(limit)) {
        judge_kernels(comparison, limit, own, &new_kernels, &mut rows);
    }
    let mut runs = comparison.base.runs.iter().chain(&comparison.new.runs);
    if let Some(doubt) = runs.find_map(|run| run.doubt.as_ref()) {
        rows.doubt(doubt);
    }
    if comparison.notes.iter().any(|note| note.id == SHARED_RUN) {
        rows.doubt(&"the same run is on both sides".into());
    }
    if gate.may_change_work {
        rows.warn_of_work(&comparison.kernels);
    }
    rows.finish(gate.source.clone())
}

/// Returns the chance of a false alarm of each limit, if all together have that of one in a hundred.
fn chance(metrics: &[&MetricLimit], kernels: &[KernelLimit]) -> f64 {
    const ALL: f64 = 0.01;
    let of_metrics = metrics.iter().map(|metric| &metric.limit);
    let limits = of_metrics.chain(kernels.iter().map(|kernel| &kernel.limit));
    let failing = limits.filter(|limit| limit.severity == GateSeverity::Error);
    ALL / failing.count().max(1).float()
}

/// Returns whether limits of steps are judged: base has steps, and those of new are the same thing, or were
/// lost. Steps of which the number and the work differ were found in another way: ten layers, and then one
/// token; unless somebody says that the work was meant to change.
fn has_steps(comparison: &Comparison, may_change_work: bool) -> bool {
    let change = |id: &str| find(&comparison.metrics, id).map(|metric| &metric.change);
    let Some(own) = change(OWN).filter(|own| own.base.median.is_some()) else {
        return false;
    };
    let is_lost = own.new.median.is_none();
    is_lost || may_change_work || has_same_steps(&comparison.metrics) || as_many_steps(comparison)
}

/// Returns whether both sides have as many steps.
fn as_many_steps(comparison: &Comparison) -> bool {
    /// Share by which equal numbers of steps may differ: the last one may be cut.
    const CUT: f64 = 0.02;
    let steps = find(&comparison.metrics, "counts.steps").map(|metric| &metric.change);
    let by = steps.and_then(|change| change.relative);
    by.is_some_and(|by| by.abs() <= CUT)
}

/// Returns the miss of a side with too few runs. The runs that are missing may be the slower ones.
fn missing_runs(comparison: &Comparison, gate: &Gate) -> Option<GateRow> {
    let (base, new) = (comparison.base.runs.len(), comparison.new.runs.len());
    let least = gate.runs.unwrap_or(base);
    let judged = gate.runs.map_or(new, |_| base.min(new));
    let by = least.checked_sub(judged).filter(|by| *by > 0)?;
    let why = message!(
        "new has {}, base has {}; the missing runs may be slower",
        counted(new as u64, "run"),
        counted(base as u64, "run")
    );
    Some(GateRow {
        what: "runs".to_owned(),
        channel: None,
        of: None,
        rule: LimitRule::Min,
        limit: Number::new(least.float())?,
        value: Number::new(judged.float()),
        unit: Unit::Count,
        by: Number::new(by.float()),
        severity: if gate.allow_inconclusive {
            GateSeverity::Warn
        } else {
            GateSeverity::Error
        },
        verdict: GateVerdict::Miss,
        why,
    })
}

fn judge_kernels(
    comparison: &Comparison,
    limit: &KernelLimit,
    own: &OwnKernels,
    new_kernels: &NewKernelShares,
    rows: &mut GateRows,
) {
    if !own.is_known {
        let names = comparison.kernels.iter().map(|kernel| kernel.name.as_str());
        // Each suggestion takes a look at all kernels.
        let is_first = rows.unknown < SUGGESTIONS;
        rows.unknown += 1;
        let meant = is_first.then(|| similar(&limit.pattern.replace('*', ""), names));
        let subject = GateSubject {
            meant: meant.flatten(),
            ..unmatched_subject(limit, None)
        };
        rows.judge(&subject, &limit.limit);
        return;
    }

    // A longer pattern takes precedence and may leave this one without a kernel.
    let own = own.kernels.iter();
    let own = own.filter_map(|&kernel| comparison.kernels.get(kernel));
    let own: Vec<&KernelChange> = own.collect();
    let is_large = |kernel: &&&KernelChange| new_kernels.largest_share(kernel) >= limit.share;
    let large: Vec<&&KernelChange> = own.iter().filter(is_large).collect();

    if large.is_empty() && !own.is_empty() {
        let why = message!(
            "no matching kernel has {} of the kernel time",
            Share(limit.share)
        );
        rows.judge(&unmatched_subject(limit, Some(why)), &limit.limit);
    }
    let judged: Vec<&KernelChange> = large.iter().map(|kernel| **kernel).collect();
    let noise = KernelNoise::of(judged.iter().copied(), false);
    let chance = rows.chance.map(|chance| chance / judged.len().float());
    for kernel in judged {
        let subject = GateSubject {
            chance,
            has_one_session: comparison.method.sessions == 1,
            together: (limit.figure == KernelFigure::Median).then_some(noise),
            ..kernel_subject(kernel, limit)
        };
        rows.judge(&subject, &limit.limit);
    }
}

fn metric_subject<'a>(comparison: &'a Comparison, limit: &'a MetricLimit) -> GateSubject<'a> {
    let change = |id: &str| find(&comparison.metrics, id).map(|metric| &metric.change);
    let counts = is_of_gaps(&limit.id).then(|| change(GAPS)).flatten();
    let change = change(&limit.id);
    let presence = |side: fn(&Change) -> &SideValues, facts: &SideFacts| {
        let unknown = vec![None; facts.runs.len()];
        let values = change.map_or(&unknown, |change| &side(change).values);
        Presence::from_values(values, counts.map(|counts| &side(counts).values))
    };

    GateSubject {
        what: &limit.id,
        unit: unit_of(&limit.id).unwrap_or_default(),
        change,
        base: presence(|change| &change.base, &comparison.base),
        new: presence(|change| &change.new, &comparison.new),
        whole: whole_of_own(comparison, &limit.id),
        has_one_session: comparison.method.sessions == 1,
        ..GateSubject::default()
    }
}

/// Returns the median step that a time of its own is a part of.
fn whole_of_own(comparison: &Comparison, id: &str) -> Option<Number> {
    let step = match id {
        OWN => "steps.median_ns",
        SECOND_OWN => "steps.second.median_ns",
        _ => return None,
    };
    find(&comparison.metrics, step)?.change.base.median
}

fn kernel_subject<'a>(kernel: &'a KernelChange, limit: &KernelLimit) -> GateSubject<'a> {
    let change = match limit.figure {
        KernelFigure::Total => &kernel.total_ns,
        KernelFigure::Median => &kernel.med_ns,
        KernelFigure::Instances => &kernel.instances,
    };

    GateSubject {
        what: &kernel.name,
        channel: kernel.channel.as_deref(),
        figure: Some(limit.figure),
        unit: limit.figure.unit(),
        change: Some(change),
        base: Presence::from_values(&change.base.values, None),
        new: Presence::from_values(&change.new.values, None),
        ..GateSubject::default()
    }
}

/// Returns the subject of a limit that no kernel has. The limit is missed unless there is an
/// excuse.
fn unmatched_subject(limit: &KernelLimit, excuse: Option<Message>) -> GateSubject<'_> {
    GateSubject {
        what: &limit.pattern,
        figure: Some(limit.figure),
        unit: limit.figure.unit(),
        excuse,
        ..GateSubject::default()
    }
}

/// Kernel that could not be measured: its name and channel, the verdict and whether it only warns, the reason.
type Unmeasured = ((String, Option<String>), (GateVerdict, bool), String);

/// Rows of the limits that were judged so far.
#[derive(Default)]
struct GateRows {
    rows: Vec<GateRow>,
    is_measured: bool,
    /// True if a figure varies too much to be judged.
    is_noisy: bool,
    /// Chance of a false alarm of each limit, if the runs are judged after each pair.
    chance: Option<f64>,
    allow_inconclusive: bool,
    /// Kernels that could not be measured, each with the verdict, whether it only warns, and the reason.
    unmeasured: BTreeSet<Unmeasured>,
    /// Number of limits whose patterns match no kernel.
    unknown: usize,
}

impl GateRows {
    fn judge(&mut self, subject: &GateSubject<'_>, limit: &Limit) {
        for (mut row, is_measured) in subject.judge(limit) {
            if self.allow_inconclusive && row.verdict == GateVerdict::Inconclusive {
                row.severity = GateSeverity::Warn;
            }
            self.is_noisy |= row.verdict == GateVerdict::NotMeasurable && row.value.is_some();
            self.is_measured |= is_measured;
            // A kernel that is gone misses each of its limits: one row says so.
            let is_known = row.of.is_none() || is_measured;
            let mut is_new = || {
                let kernel = (row.what.clone(), row.channel.clone());
                let outcome = (row.verdict, row.severity == GateSeverity::Warn);
                self.unmeasured
                    .insert((kernel, outcome, row.why.text.clone()))
            };
            if is_known || is_new() {
                self.rows.push(row);
            }
        }
    }

    /// Makes warnings of limits of amounts of work, and of kernels of which there are more, fewer, or none.
    fn warn_of_work(&mut self, kernels: &[KernelChange]) {
        let is_other = |row: &GateRow| {
            let mut kernels = kernels.iter();
            let own =
                |kernel: &&KernelChange| kernel.name == row.what && kernel.channel == row.channel;
            let other = |kernel: &KernelChange| {
                kernel.is_one_sided() || kernel.ran_differently_often() || kernel.has_other_mix()
            };
            kernels.find(own).is_some_and(other)
        };
        for row in self.rows.iter_mut().filter(|row| row.rule.is_relative()) {
            let is_of_work = match row.of {
                Some(_) => is_other(row),
                None => is_amount_of_work(&row.what),
            };
            if is_of_work {
                row.severity = GateSeverity::Warn;
            }
        }
    }

    /// Takes back what was decided for new by runs that cannot decide it.
    fn doubt(&mut self, why: &Message) {
        let passed = self.rows.iter_mut();
        for row in passed.filter(|row| row.verdict == GateVerdict::Pass) {
            row.verdict = GateVerdict::Inconclusive;
            row.why = message!("{}; inconclusive: {}", row.why.clone(), why);
            if self.allow_inconclusive {
                row.severity = GateSeverity::Warn;
            }
        }
    }

    fn finish(self, source: Message) -> GateResult {
        let mut rows = self.rows;
        // Errors before warnings. The sort is stable, so limits and kernels keep their order.
        rows.sort_by_key(|row| (row.verdict, row.severity == GateSeverity::Warn));
        let has_error = |verdict: GateVerdict| {
            rows.iter()
                .any(|row| row.verdict == verdict && row.severity == GateSeverity::Error)
        };

        let is_noisy = !self.is_measured && self.is_noisy;
        let is_failed = !self.is_measured && !is_noisy || has_error(GateVerdict::Miss);
        let inconclusive = !is_failed && (is_noisy || has_error(GateVerdict::Inconclusive));
        GateResult {
            source,
            missed: is_failed || inconclusive,
            inconclusive,
            rows,
        }
    }
}
