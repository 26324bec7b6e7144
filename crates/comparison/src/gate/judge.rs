//! Judges which limits a comparison keeps, and by how much it misses the others.
//!
//! A missing figure never keeps a limit. The figure has to be known in every run of new,
//! and for a relative limit in base, too; else the limit is missed unless it is optional.
//! So a gate that is missed stays missed whatever new loses: a table, a kernel, a figure
//! of one run.

use metalens_analyzer::message::percent;
use metalens_analyzer::{Message, message};

use super::kernels::{Strangers, fits, limit_of};
use super::subject::{Presence, Subject};
use super::{
    Gate, GateResult, GateRow, GateVerdict, KernelFigure, KernelLimit, Limit, MetricLimit, Severity,
};
use crate::change::{Change, Side};
use crate::compare::{Comparison, SideFacts};
use crate::kernels::KernelChange;
use crate::metric_changes::find;
use crate::metrics::count_of;
use crate::unit::Unit;

/// Judges a comparison.
#[must_use]
pub fn judge(comparison: &Comparison, gate: &Gate) -> GateResult {
    let mut rows = Rows::default();
    for limit in &gate.metrics {
        rows.judge(&of_metric(comparison, limit), &limit.limit);
    }
    let strangers = Strangers::of(comparison);
    for limit in &gate.kernels {
        let kernels = comparison.kernels.iter();
        let fitting = kernels.filter(|one| fits(&limit.pattern, &one.name));
        let fitting: Vec<&KernelChange> = fitting.collect();
        // A longer pattern may take them all.
        let is_own = |one: &&&KernelChange| limit_of(&one.name, &gate.kernels) == Some(limit);
        let own: Vec<&KernelChange> = fitting.iter().filter(is_own).copied().collect();
        let large = own
            .iter()
            .filter(|one| strangers.share_of(one) >= limit.share);
        let large: Vec<&&KernelChange> = large.collect();
        if fitting.is_empty() {
            rows.judge(&unmatched(limit, None), &limit.limit);
        } else if large.is_empty() && !own.is_empty() {
            let least = percent(limit.share);
            let why = message!(
                "no kernel with such a name has {} of the kernel time",
                least
            );
            rows.judge(&unmatched(limit, Some(why)), &limit.limit);
        }
        for kernel in large {
            rows.judge(&of_kernel(kernel, limit), &limit.limit);
        }
    }
    rows.finish(gate)
}

fn of_metric<'a>(comparison: &'a Comparison, limit: &'a MetricLimit) -> Subject<'a> {
    let of = |id: &str| find(&comparison.metrics, id).map(|one| &one.change);
    let (change, count) = (of(&limit.id), count_of(&limit.id));
    let counts = count.and_then(|count| of(count.id));
    let presence = |side: fn(&Change) -> &Side, facts: &SideFacts| {
        let unknown = vec![None; facts.runs.len()];
        let values = change.map_or(&unknown, |change| &side(change).values);
        Presence::of(values, counts.map(|counts| &side(counts).values))
    };
    Subject {
        what: &limit.id,
        channel: None,
        of: None,
        unit: limit.unit().unwrap_or(Unit::Count),
        change,
        base: presence(|change| &change.base, &comparison.base),
        new: presence(|change| &change.new, &comparison.new),
        thing: count.map_or("", |count| count.word),
        excuse: None,
    }
}

fn of_kernel<'a>(kernel: &'a KernelChange, limit: &KernelLimit) -> Subject<'a> {
    let change = match limit.of {
        KernelFigure::Total => &kernel.total_ns,
        KernelFigure::Median => &kernel.med_ns,
        KernelFigure::Instances => &kernel.instances,
    };
    Subject {
        what: &kernel.name,
        channel: kernel.channel.as_deref(),
        of: Some(limit.of),
        unit: limit.of.unit(),
        change: Some(change),
        base: Presence::of(&change.base.values, None),
        new: Presence::of(&change.new.values, None),
        thing: "",
        excuse: None,
    }
}

/// A limit that is for no kernel; it is missed unless there is an excuse for that.
fn unmatched(limit: &KernelLimit, excuse: Option<Message>) -> Subject<'_> {
    Subject {
        what: &limit.pattern,
        channel: None,
        of: Some(limit.of),
        unit: limit.of.unit(),
        change: None,
        base: Presence::Unknown,
        new: Presence::Unknown,
        thing: "",
        excuse,
    }
}

/// The limits that were judged.
#[derive(Default)]
struct Rows {
    rows: Vec<GateRow>,
    is_measured: bool,
}

impl Rows {
    fn judge(&mut self, subject: &Subject<'_>, limit: &Limit) {
        for (row, is_measured) in subject.judge(limit) {
            self.rows.push(row);
            self.is_measured |= is_measured;
        }
    }

    fn finish(self, gate: &Gate) -> GateResult {
        let mut rows = self.rows;
        // Errors before warnings; the order of limits and of kernels holds among equals.
        rows.sort_by_key(|row| (row.verdict, row.severity == Severity::Warn));
        let is_error =
            |row: &GateRow| row.verdict == GateVerdict::Miss && row.severity == Severity::Error;
        GateResult {
            source: gate.source.text.clone(),
            source_values: gate.source.values.clone(),
            missed: !self.is_measured || rows.iter().any(is_error),
            rows,
        }
    }
}
