//! The figures that are compared: where each is in a report, and which way it should go.

use metalens_analyzer::{Cause, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::Wish;
use crate::number::Number;
use crate::unit::Unit;

/// What a figure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// How long it took, and how much of that the GPU worked.
    Time,
    /// When it did not.
    Gaps,
    /// Why it did not: these sum to the idle time.
    Idle,
    /// How much ran.
    Work,
    /// How long work travels.
    Latency,
    /// What the targets measure.
    Thresholds,
    /// Everybody else on the GPU.
    Machine,
}

pub(crate) struct Metric {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) unit: Unit,
    pub(crate) wish: Wish,
    get: fn(&Report) -> Option<f64>,
}

impl Metric {
    pub(crate) fn value(&self, report: &Report) -> Option<Number> {
        Number::of((self.get)(report)?)
    }
}

/// The ids of all figures, in their order.
#[must_use]
pub fn metric_ids() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.id).collect()
}

/// What a figure is in, by its id.
pub(crate) fn unit_of(id: &str) -> Option<Unit> {
    let mut all = METRICS.iter();
    all.find(|metric| metric.id == id).map(|metric| metric.unit)
}

/// The count of the things that a figure sums up. Where there are none of them there is
/// nothing to measure, and nothing is missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountOf {
    /// The id of the count.
    pub(crate) id: &'static str,
    /// The word for one of the things.
    pub(crate) word: &'static str,
}

/// The count of what a figure sums up, where that may be none: a program that never left
/// the GPU idle has no gap, and so no mean one.
pub(crate) fn count_of(id: &str) -> Option<CountOf> {
    let gaps = CountOf {
        id: "gaps.count",
        word: "gap",
    };
    match id {
        "gaps.mean_ns" | "gaps.median_ns" | "gaps.p95_ns" | "gaps.max_ns" => Some(gaps),
        _ => None,
    }
}

macro_rules! metrics {
    ($($id:literal, $name:literal, $group:ident, $unit:ident, $wish:ident, $get:expr;)*) => {
        &[$(Metric {
            id: $id,
            name: $name,
            group: Group::$group,
            unit: Unit::$unit,
            wish: Wish::$wish,
            get: $get,
        }),*]
    };
}

// Shares of time have no good side of their own: a slower kernel makes the GPU
// busier. Whether a target is met, its own verdict says.
pub(crate) const METRICS: &[Metric] = metrics! {
    "window.span_ns", "first to last GPU work", Time, Ns, Less, |r| exact(r.window.span_ns);
    "busy.busy_ns", "GPU busy", Time, Ns, Less, |r| exact(r.busy.busy_ns);
    "busy.ratio", "busy share", Time, Ratio, Neither, |r| r.busy.ratio;
    "busy.sum_ns", "kernels' time, summed", Time, Ns, Less, |r| exact(r.busy.sum_ns);
    "efficiency.program_ns", "first encoding to last completion", Time, Ns, Less,
        |r| exact(r.efficiency.program_ns?);
    "run.duration_ns", "the whole recording", Time, Ns, Neither, |r| exact(r.run.duration_ns?);

    "gaps.total_ns", "GPU idle", Gaps, Ns, Less, |r| exact(r.gaps.total_ns);
    "gaps.count", "gaps", Gaps, Count, Neither, |r| exact(r.gaps.count);
    "gaps.mean_ns", "mean gap", Gaps, Ns, Less, |r| exact(r.gaps.mean_ns?);
    "gaps.median_ns", "median gap", Gaps, Ns, Less, |r| exact(r.gaps.median_ns?);
    "gaps.p95_ns", "gap, 95th percentile", Gaps, Ns, Less, |r| exact(r.gaps.p95_ns?);
    "gaps.max_ns", "longest gap", Gaps, Ns, Less, |r| exact(r.gaps.max_ns?);

    "idle.completion_ns", "completion latency", Idle, Ns, Less, |r| idle(r, Cause::Completion);
    "idle.host_ns", "host work", Idle, Ns, Less, |r| idle(r, Cause::Host);
    "idle.encoding_ns", "encoding", Idle, Ns, Less, |r| idle(r, Cause::Encoding);
    "idle.submission_ns", "submission latency", Idle, Ns, Less, |r| idle(r, Cause::Submission);
    "idle.queued_ns", "queued", Idle, Ns, Less, |r| idle(r, Cause::Queued);
    "idle.contention_ns", "contention", Idle, Ns, Less, |r| idle(r, Cause::Contention);
    "idle.unknown_ns", "unknown", Idle, Ns, Neither,
        |r| idle(r, Cause::Unknown);

    "counts.intervals", "GPU intervals", Work, Count, Neither, |r| exact(r.counts.intervals);
    "counts.encoders", "encoders", Work, Count, Neither, |r| exact(r.counts.known_encoders()?);
    "counts.command_buffers", "command buffers", Work, Count, Neither,
        |r| exact(r.counts.known_command_buffers()?);
    "counts.kernels", "kernel names", Work, Count, Neither, |r| exact(r.counts.kernels);
    // Without the list a label with an ampersand looks like two encoders.
    "counts.coalesced", "coalesced intervals", Work, Count, Neither,
        |r| exact(r.counts.coalesced).filter(|_| r.sanity.lists_encoders());
    "idle.serialized", "serialized pairs", Work, Count, Less,
        |r| exact(r.idle.known_serialized()?);

    "latency.submission.median_ns", "commit to GPU start, median", Latency, Ns, Less,
        |r| signed(r.latency.submission?.median_ns);
    "latency.completion.median_ns", "GPU end to completion, median", Latency, Ns, Less,
        |r| signed(r.latency.completion?.median_ns);
    "latency.encoding.median_ns", "encoding, median", Latency, Ns, Less,
        |r| signed(r.latency.encoding?.median_ns);
    "latency.encoding_busy_ns", "encoding, all of it", Latency, Ns, Less,
        |r| exact(r.latency.encoding_busy_ns.filter(|_| r.sanity.lists_encoders())?);

    "thresholds.average-gap", "average-gap", Thresholds, Ns, Less, |r| target(r, "average-gap");
    "thresholds.utilization", "utilization", Thresholds, Ratio, Neither, |r| target(r, "utilization");
    "thresholds.launch-efficiency", "launch-efficiency", Thresholds, Ratio, Neither,
        |r| target(r, "launch-efficiency");

    "busy.machine_busy_ns", "GPU busy with anybody's work", Machine, Ns, Neither,
        |r| exact(r.busy.machine_busy_ns);
    "busy.others_busy_ns", "GPU busy with others' work", Machine, Ns, Neither,
        |r| exact(r.busy.others_busy_ns);
    "machine.driver.busy_ns", "driver at work for the target", Machine, Ns, Neither,
        |r| exact(r.machine.driver.as_ref()?.busy_ns);
};

#[expect(
    clippy::cast_precision_loss,
    clippy::unnecessary_wraps,
    reason = "exact up to 2^53 ns, 104 days; the getters of the table are alike"
)]
fn exact(value: u64) -> Option<f64> {
    Some(value as f64)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::unnecessary_wraps,
    reason = "as above"
)]
fn signed(value: i64) -> Option<f64> {
    Some(value as f64)
}

/// A part of the idle time, as far as the analyzer says that it is a measurement.
fn idle(report: &Report, cause: Cause) -> Option<f64> {
    exact(report.idle.known(cause)?)
}

fn target(report: &Report, id: &str) -> Option<f64> {
    report
        .thresholds
        .iter()
        .find(|target| target.id == id)?
        .value
}
