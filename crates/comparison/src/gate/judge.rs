//! Judges which limits a comparison keeps, and how far it misses the others.
//!
//! A missing figure never keeps a limit. Every run of new has to have the figure, and for a
//! relative limit base too. Otherwise the limit is missed, unless it is optional. So a missed gate
//! stays missed whatever new loses: a table, a kernel, or a figure of one run.

use metalens_analyzer::message::percent;
use metalens_analyzer::{Message, message};
use metalens_failure::similar;

use super::kernels::{NewKernelShares, limit_of, matches};
use super::subject::{GateSubject, Presence};
use super::{
    Gate, GateResult, GateRow, GateSeverity, GateVerdict, KernelFigure, KernelLimit, Limit,
    MetricLimit,
};
use crate::change::{Change, SideValues};
use crate::comparison::{Comparison, SideFacts};
use crate::kernels::KernelChange;
use crate::metric_changes::find;
use crate::metrics::{count_of, unit_of};
use crate::unit::Unit;

/// Judges a comparison by a gate.
#[must_use]
pub fn judge(comparison: &Comparison, gate: &Gate) -> GateResult {
    let mut rows = GateRows::default();
    for limit in &gate.metrics {
        rows.judge(&metric_subject(comparison, limit), &limit.limit);
    }
    let new_kernels = NewKernelShares::from_comparison(comparison);
    for limit in &gate.kernels {
        judge_kernels(comparison, gate, limit, &new_kernels, &mut rows);
    }
    rows.finish(gate)
}

fn judge_kernels(
    comparison: &Comparison,
    gate: &Gate,
    limit: &KernelLimit,
    new_kernels: &NewKernelShares,
    rows: &mut GateRows,
) {
    let kernels = comparison.kernels.iter();
    let matching = kernels.filter(|kernel| matches(&limit.pattern, &kernel.name));
    let matching: Vec<&KernelChange> = matching.collect();
    if matching.is_empty() {
        let names = comparison.kernels.iter().map(|kernel| kernel.name.as_str());
        let subject = GateSubject {
            meant: similar(&limit.pattern.replace('*', ""), names),
            ..unmatched_subject(limit, None)
        };
        rows.judge(&subject, &limit.limit);
        return;
    }

    // A longer pattern takes precedence and may leave this one without a kernel.
    let is_own = |kernel: &&KernelChange| limit_of(&kernel.name, &gate.kernels) == Some(limit);
    let own: Vec<&KernelChange> = matching.into_iter().filter(is_own).collect();
    let is_large = |kernel: &&&KernelChange| new_kernels.largest_share(kernel) >= limit.share;
    let large: Vec<&&KernelChange> = own.iter().filter(is_large).collect();

    if large.is_empty() && !own.is_empty() {
        let why = message!(
            "no matching kernel has {} of the kernel time",
            percent(limit.share)
        );
        rows.judge(&unmatched_subject(limit, Some(why)), &limit.limit);
    }
    for kernel in large {
        rows.judge(&kernel_subject(kernel, limit), &limit.limit);
    }
}

fn metric_subject<'a>(comparison: &'a Comparison, limit: &'a MetricLimit) -> GateSubject<'a> {
    let change = |id: &str| find(&comparison.metrics, id).map(|metric| &metric.change);
    let count = count_of(&limit.id);
    let counts = count.and_then(|count| change(count.id));
    let change = change(&limit.id);
    let presence = |side: fn(&Change) -> &SideValues, facts: &SideFacts| {
        let unknown = vec![None; facts.runs.len()];
        let values = change.map_or(&unknown, |change| &side(change).values);
        Presence::from_values(values, counts.map(|counts| &side(counts).values))
    };

    GateSubject {
        what: &limit.id,
        channel: None,
        figure: None,
        unit: unit_of(&limit.id).unwrap_or(Unit::Count),
        change,
        base: presence(|change| &change.base, &comparison.base),
        new: presence(|change| &change.new, &comparison.new),
        thing: count.map_or("", |count| count.word),
        excuse: None,
        meant: None,
    }
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
        thing: "",
        excuse: None,
        meant: None,
    }
}

/// Returns the subject of a limit that no kernel has. The limit is missed unless there is an
/// excuse.
fn unmatched_subject(limit: &KernelLimit, excuse: Option<Message>) -> GateSubject<'_> {
    GateSubject {
        what: &limit.pattern,
        channel: None,
        figure: Some(limit.figure),
        unit: limit.figure.unit(),
        change: None,
        base: Presence::Unknown,
        new: Presence::Unknown,
        thing: "",
        excuse,
        meant: None,
    }
}

/// Rows of the limits that were judged so far.
#[derive(Default)]
struct GateRows {
    rows: Vec<GateRow>,
    is_measured: bool,
}

impl GateRows {
    fn judge(&mut self, subject: &GateSubject<'_>, limit: &Limit) {
        for (row, is_measured) in subject.judge(limit) {
            self.rows.push(row);
            self.is_measured |= is_measured;
        }
    }

    fn finish(self, gate: &Gate) -> GateResult {
        let mut rows = self.rows;
        // Errors before warnings. The sort is stable, so limits and kernels keep their order.
        rows.sort_by_key(|row| (row.verdict, row.severity == GateSeverity::Warn));
        let is_error =
            |row: &GateRow| row.verdict == GateVerdict::Miss && row.severity == GateSeverity::Error;

        GateResult {
            source: gate.source.text.clone(),
            source_values: gate.source.values.clone(),
            missed: !self.is_measured || rows.iter().any(is_error),
            rows,
        }
    }
}
