//! Lists the figures that are compared: where each is in a report, and which direction is better.

use metalens_analyzer::{Cause, Report};
use serde::{Deserialize, Serialize};

use crate::change::Preference;
use crate::number::Number;
use crate::unit::Unit;

/// Group of related figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MetricGroup {
    /// Wall time and the GPU's busy time.
    Time,
    /// Gaps and the GPU's idle time.
    Gaps,
    /// Idle time by cause; these figures sum to the idle time.
    Idle,
    /// Numbers of GPU intervals, encoders, command buffers and kernels.
    Work,
    /// Submission latency, completion latency and encoding time.
    Latency,
    /// GPU work of other processes and the driver.
    Machine,
}

pub(crate) struct Metric {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) group: MetricGroup,
    pub(crate) unit: Unit,
    pub(crate) preference: Preference,
    get: fn(&Report) -> Option<f64>,
}

impl Metric {
    pub(crate) fn value(&self, report: &Report) -> Option<Number> {
        Number::new((self.get)(report)?)
    }
}

/// Returns the ids of all figures, in their order.
#[must_use]
pub fn metric_ids() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.id).collect()
}

/// Returns the id, the name and the unit of all figures, in their order.
pub fn described_metrics() -> impl Iterator<Item = (&'static str, &'static str, Unit)> {
    METRICS.iter().map(|one| (one.id, one.name, one.unit))
}

/// Returns the unit of a figure, by its id.
pub(crate) fn unit_of(id: &str) -> Option<Unit> {
    let mut all = METRICS.iter();
    all.find(|metric| metric.id == id).map(|metric| metric.unit)
}

/// The count of the things that a figure sums up. If there are none, there is nothing to measure,
/// and nothing is missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountOf {
    /// Id of the figure that counts them.
    pub(crate) id: &'static str,
    /// Singular noun for one of the things.
    pub(crate) word: &'static str,
}

/// Returns the count of the things that a figure sums up, if there may be none of them: a program
/// without a gap has no mean gap, and no idle time to compare with.
pub(crate) fn count_of(id: &str) -> Option<CountOf> {
    let gaps = CountOf {
        id: "gaps.count",
        word: "gap",
    };
    match id {
        "gaps.total_ns" | "gaps.mean_ns" | "gaps.median_ns" | "gaps.p95_ns" | "gaps.max_ns" => {
            Some(gaps)
        }
        _ => None,
    }
}

/// Returns whether a figure is a time that sums over the work of a run: twice the work takes twice
/// the time.
pub(crate) fn is_sum_over_work(id: &str) -> bool {
    let is_cause = id.starts_with("idle.") && id.ends_with("_ns");
    let is_other = matches!(
        id,
        "window.span_ns"
            | "busy.busy_ns"
            | "busy.sum_ns"
            | "efficiency.program_ns"
            | "gaps.total_ns"
            | "latency.encoding_busy_ns"
    );
    is_cause || is_other
}

/// Returns whether a figure is a time or a count that sums over the work of a run, so that less of it
/// for less work is no better.
pub(crate) fn is_total_over_work(id: &str) -> bool {
    is_sum_over_work(id) || id == "idle.serialized"
}

macro_rules! metrics {
    ($($id:literal, $name:literal, $group:ident, $unit:ident, $preference:ident, $get:expr;)*) => {
        &[$(Metric {
            id: $id,
            name: $name,
            group: MetricGroup::$group,
            unit: Unit::$unit,
            preference: Preference::$preference,
            get: $get,
        }),*]
    };
}

// Shares of time have no better side: a slower kernel makes the GPU busier.
pub(crate) const METRICS: &[Metric] = metrics! {
    "window.span_ns", "first to last GPU work", Time, Ns, Lower, |r| exact(r.window.span_ns);
    "busy.busy_ns", "GPU busy", Time, Ns, Lower, |r| exact(r.busy.busy_ns);
    "busy.ratio", "busy share", Time, Ratio, None, |r| r.busy.ratio;
    "busy.sum_ns", "kernel time, summed", Time, Ns, Lower, |r| exact(r.busy.sum_ns);
    "efficiency.program_ns", "first encoding to last completion", Time, Ns, Lower,
        |r| exact(r.efficiency.program_ns?);
    "efficiency.of_program", "busy share, first encoding to last completion", Time, Ratio, None,
        |r| r.efficiency.of_program;
    "run.duration_ns", "recording", Time, Ns, None, |r| exact(r.run.duration_ns?);

    "pace.period_ns", "period of the pace", Time, Ns, None, |r| exact(r.pace.as_ref()?.period_ns);
    "pace.busy_ns", "GPU busy in a period", Time, Ns, Lower, |r| exact(r.pace.as_ref()?.busy_ns);
    "pace.missed_count", "missed periods", Time, Count, Lower,
        |r| exact(r.pace.as_ref()?.missed_count);

    "gaps.total_ns", "GPU idle", Gaps, Ns, Lower, |r| exact(r.gaps.total_ns);
    "gaps.count", "gaps", Gaps, Count, None, |r| exact(r.gaps.count);
    "gaps.mean_ns", "mean gap", Gaps, Ns, Lower, |r| exact(r.gaps.mean_ns?);
    "gaps.median_ns", "median gap", Gaps, Ns, Lower, |r| exact(r.gaps.median_ns?);
    "gaps.p95_ns", "gap, 95th percentile", Gaps, Ns, Lower, |r| exact(r.gaps.p95_ns?);
    "gaps.max_ns", "longest gap", Gaps, Ns, Lower, |r| exact(r.gaps.max_ns?);

    "idle.completion_ns", "completion latency", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Completion);
    "idle.host_ns", "host work", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Host);
    "idle.encoding_ns", "encoding", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Encoding);
    "idle.driver_wait_ns", "driver wait", Idle, Ns, Lower,
        |r| idle_by_cause(r, Cause::DriverWait);
    "idle.driver_ns", "driver", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Driver);
    "idle.start_latency_ns", "GPU start latency", Idle, Ns, Lower,
        |r| idle_by_cause(r, Cause::StartLatency);
    "idle.submission_ns", "submission latency", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Submission);
    "idle.queued_ns", "queued", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Queued);
    "idle.contention_ns", "contention", Idle, Ns, Lower, |r| idle_by_cause(r, Cause::Contention);
    "idle.unknown_ns", "unknown", Idle, Ns, None,
        |r| idle_by_cause(r, Cause::Unknown);

    "counts.intervals", "GPU intervals", Work, Count, None, |r| exact(r.counts.intervals);
    "counts.encoders", "encoders", Work, Count, None, |r| exact(r.counts.known_encoders()?);
    "counts.command_buffers", "command buffers", Work, Count, None,
        |r| exact(r.counts.known_command_buffers()?);
    "counts.iterations", "iterations", Work, Count, None,
        |r| exact(r.phases.iterations.as_ref()?.count);
    "counts.kernels", "kernel names", Work, Count, None, |r| exact(r.counts.kernels);
    // Without the list a label with an ampersand looks like two encoders.
    "counts.coalesced", "coalesced intervals", Work, Count, None,
        |r| exact(r.counts.coalesced).filter(|_| r.sanity.lists_encoders());
    "idle.serialized", "serialized pairs", Work, Count, Lower,
        |r| exact(r.idle.known_serialized()?);

    "latency.submission.median_ns", "submission latency, median", Latency, Ns, Lower,
        |r| signed(r.latency.submission?.median_ns);
    "latency.completion.median_ns", "completion latency, median", Latency, Ns, Lower,
        |r| signed(r.latency.completion?.median_ns);
    "latency.encoding.median_ns", "encoding, median", Latency, Ns, Lower,
        |r| signed(r.latency.encoding?.median_ns);
    "latency.encoding_busy_ns", "encoding, total", Latency, Ns, Lower,
        |r| exact(r.latency.encoding_busy_ns.filter(|_| r.sanity.lists_encoders())?);

    "busy.machine_busy_ns", "GPU busy, all processes", Machine, Ns, None,
        |r| exact(r.busy.machine_busy_ns);
    "busy.others_busy_ns", "GPU busy, other processes", Machine, Ns, None,
        |r| exact(r.busy.others_busy_ns);
    "machine.driver.busy_ns", "driver work for the process", Machine, Ns, None,
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

/// Returns the idle time of a cause; `None` if the recording does not divide the time between commit and
/// start that way: a zero there would look like a gain.
fn idle_by_cause(report: &Report, cause: Cause) -> Option<f64> {
    /// One part in this many of that time may be undivided: a few rows are missing in any recording.
    const FEW: u64 = 100;
    let parts = &report.idle.parts;
    // A report of which a part was removed is not complete.
    if parts.total_ns() != report.idle.total_ns {
        return None;
    }
    let undivided_ns = parts.submission_ns;
    let has_driver =
        report.latency.driver_source.is_some() && undivided_ns * FEW <= parts.after_commit_ns();
    let is_divided = match cause {
        Cause::DriverWait | Cause::Driver | Cause::StartLatency => has_driver,
        Cause::Submission => undivided_ns == parts.after_commit_ns(),
        _ => true,
    };
    if !is_divided {
        return None;
    }
    exact(report.idle.known(cause)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause under another name would be missing wherever idle time is taken apart.
    #[test]
    fn each_cause_is_a_figure() {
        let idle = METRICS
            .iter()
            .filter(|metric| metric.group == MetricGroup::Idle);
        let figures: Vec<&str> = idle.map(|metric| metric.id).collect();
        let causes = Cause::ALL.map(Cause::figure);
        assert_eq!(figures, causes);
    }
}
