//! Lists the figures of a report, each once: its unit, its name, which direction is better, and its
//! column in a dataset. Comparisons, gates, baselines, benchmarks and datasets take them from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::MetricGroup::{Gaps, Latency, Machine, Memory, Time, Work};
use self::Preference::{Lower, None as Neither};
use self::TimePlace::{Between, Both, Inside, Outside};
use crate::basics::unit::Unit;
use crate::report::{Cause, OnceKind, Report, StepKind, StepSeries, StepsBy, WaitVerdict};

/// Returns the main series. What the program waits for is known only with completions, and without some
/// of them two steps look like one, or a layer like a step.
fn main_steps(report: &Report) -> Option<&StepSeries> {
    let main = report.steps.first()?;
    let completed = report.latency.completion.map_or(0, |all| all.count);
    let is_sure = match main.by {
        StepsBy::Named | StepsBy::Paced => true,
        StepsBy::Waited | StepsBy::Repeated => completed >= report.counts.command_buffers,
    };
    is_sure.then_some(main)
}

/// Returns the steps of the main series that have most of its time.
fn main_kind(report: &Report) -> Option<&StepKind> {
    main_steps(report)?.kinds.first()
}

/// Returns the steps of the main series that have the most time after these.
fn second_kind(report: &Report) -> Option<&StepKind> {
    main_steps(report)?.kinds.get(1)
}

/// Returns the time from first to last GPU work in which there is no step with a known length.
fn once_ns(report: &Report) -> Option<u64> {
    report
        .window
        .span_ns
        .checked_sub(main_steps(report)?.total_ns)
}

/// Returns the time from the first event of the program to its first step.
fn first_ns(report: &Report) -> Option<u64> {
    main_steps(report)?;
    let before = report
        .once
        .iter()
        .find(|part| part.what == OnceKind::Before)?;
    Some(before.end_ns - before.start_ns)
}

/// Returns how often a step waits for the GPU, to the nearest whole number: some waits begin when it is idle.
/// `None` if the times do not tell whether the program waits.
#[expect(clippy::cast_precision_loss, reason = "counts")]
fn waits_of_a_step(report: &Report) -> Option<f64> {
    let steps = main_steps(report)?.count;
    let waiting = &report.replay.as_ref()?.waiting;
    if waiting.verdict == WaitVerdict::Unknown {
        return None;
    }
    let waits = report.idle.known_serialized()?;
    (steps > 0).then(|| (waits as f64 / steps as f64).round())
}

/// Group of related figures.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
    /// Metal memory of the process.
    Memory,
}

/// Direction of a figure that is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// A lower value is better.
    Lower,
    /// Neither direction is better.
    None,
}

/// Place of a time that sums over the work of a run: twice the work takes twice the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePlace {
    /// In the units of work.
    Inside,
    /// Between the units.
    Between,
    /// In and between them.
    Both,
    /// In, between, before and after them: it has no meaning per unit, because what lies before the
    /// first GPU work and after the last happens once.
    Outside,
}

/// A figure of a report.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Path of the figure in a report, such as `gaps.median_ns`.
    pub id: &'static str,
    /// Group that the figure belongs to.
    pub group: MetricGroup,
    /// Unit of the value.
    pub unit: Unit,
    /// Name of the figure in words. Empty if it is not compared.
    pub name: &'static str,
    /// Direction that is better.
    pub preference: Preference,
    /// Place of the time in a run's work. None if it is no such sum.
    pub place: Option<TimePlace>,
    /// Name of its column in the table `runs` of a dataset. Empty if there is none.
    pub column: &'static str,
    /// Meaning of the column, and of null.
    pub meaning: &'static str,
    source: Source,
    is_known: fn(&Report) -> bool,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Field(fn(&Report) -> Option<f64>),
    Idle(Cause),
}

impl Figure {
    const fn new(id: &'static str, group: MetricGroup, unit: Unit, source: Source) -> Self {
        Self {
            id,
            group,
            unit,
            name: "",
            preference: Neither,
            place: None,
            column: "",
            meaning: "",
            source,
            is_known: |_| true,
        }
    }

    /// Makes comparisons show the figure under a name.
    const fn compared(self, name: &'static str, preference: Preference) -> Self {
        Self {
            name,
            preference,
            ..self
        }
    }

    /// Makes it a time that sums over the work of a run.
    const fn sum(self, place: TimePlace) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    /// Gives it a column in datasets.
    const fn column(self, column: &'static str, meaning: &'static str) -> Self {
        Self {
            column,
            meaning,
            ..self
        }
    }

    /// Leaves it out of the comparison of reports that cannot tell it.
    const fn known_if(self, is_known: fn(&Report) -> bool) -> Self {
        Self { is_known, ..self }
    }

    /// Returns the cause whose idle time the figure is.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self.source {
            Source::Field(_) => None,
            Source::Idle(cause) => Some(cause),
        }
    }

    /// Returns the value that a report has.
    #[must_use]
    pub fn recorded(&self, report: &Report) -> Option<f64> {
        match self.source {
            Source::Field(get) => get(report),
            Source::Idle(cause) => whole(report.idle.parts.get(cause)),
        }
    }

    /// Returns the value to compare; `None` if the recording cannot tell it: a zero would look like a
    /// gain.
    #[must_use]
    pub fn known(&self, report: &Report) -> Option<f64> {
        let is_known = match self.source {
            Source::Field(_) => (self.is_known)(report),
            Source::Idle(cause) => knows(report, cause),
        };
        self.recorded(report).filter(|_| is_known)
    }
}

const fn ns(group: MetricGroup, id: &'static str, get: fn(&Report) -> Option<f64>) -> Figure {
    Figure::new(id, group, Unit::Ns, Source::Field(get))
}

const fn count(group: MetricGroup, id: &'static str, get: fn(&Report) -> Option<f64>) -> Figure {
    Figure::new(id, group, Unit::Count, Source::Field(get))
}

const fn bytes(id: &'static str, get: fn(&Report) -> Option<f64>) -> Figure {
    Figure::new(id, Memory, Unit::Bytes, Source::Field(get))
}

const fn ratio(group: MetricGroup, id: &'static str, get: fn(&Report) -> Option<f64>) -> Figure {
    Figure::new(id, group, Unit::Ratio, Source::Field(get))
}

const fn idle(cause: Cause, preference: Preference) -> Figure {
    let figure = Figure::new(
        cause.figure(),
        MetricGroup::Idle,
        Unit::Ns,
        Source::Idle(cause),
    )
    .compared(cause.label(), preference)
    .sum(Between);
    figure.column(cause.column(), cause.meaning())
}

/// All figures, in the order of their columns.
// Shares of time have no better side: a slower kernel makes the GPU busier. The table is formatted by
// hand: broken by a program, it would be twice as long.
#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    ns(Time, "window.span_ns", |r| whole(r.window.span_ns))
        .compared("first to last GPU work", Lower).sum(Both)
        .column("window_ns", "Length of the window: busy_ns + gaps_ns."),
    ns(Time, "window.excluded", |r| whole(excluded_ns(r)))
        .column("excluded_ns", "Time excluded from the window on request."),
    count(Work, "counts.intervals", |r| whole(r.counts.intervals))
        .compared("GPU intervals", Neither)
        .column("interval_count", "The process's GPU intervals in the window."),
    count(Work, "counts.encoders", |r| whole(r.counts.encoders)).compared("encoders", Neither)
        .known_if(|r| r.counts.known_encoders().is_some())
        .column("encoder_count", "Their encoders."),
    count(Work, "counts.command_buffers", |r| whole(r.counts.command_buffers))
        .compared("command buffers", Neither)
        .known_if(|r| r.counts.known_command_buffers().is_some())
        .column("command_buffer_count", "Their command buffers."),
    count(Work, "counts.steps", |r| whole(main_steps(r)?.count))
        .compared("steps", Neither),
    count(Work, "counts.kernels", |r| whole(r.counts.kernels)).compared("kernel names", Neither)
        .column("kernel_count", "Their kernels, by name and channel."),
    // Without the list a label with an ampersand looks like two encoders.
    count(Work, "counts.coalesced", |r| whole(r.counts.coalesced))
        .compared("coalesced intervals", Neither).known_if(|r| r.sanity.lists_encoders())
        .column("coalesced_count", "Intervals that the driver merged from several encoders."),
    count(Work, "counts.coalesced_encoders", |r| whole(r.counts.coalesced_encoders))
        .column("coalesced_encoder_count", "Encoders that were merged."),
    count(Work, "counts.all_intervals", |r| whole(r.counts.all_intervals))
        .column("all_interval_count", "Intervals of all processes in the whole recording."),
    count(Work, "counts.unattributed", |r| whole(r.counts.unattributed))
        .column("unattributed_count", "Those that name no process."),
    ns(Time, "busy.busy_ns", |r| whole(r.busy.busy_ns)).compared("GPU busy", Lower).sum(Inside)
        .column("busy_ns", "Union of the process's intervals."),
    ratio(Time, "busy.ratio", |r| r.busy.ratio).compared("busy share", Neither)
        .column("busy_ratio", "busy_ns / window_ns."),
    ns(Time, "busy.sum_ns", |r| whole(r.busy.sum_ns)).compared("kernel time, summed", Lower)
        .sum(Inside)
        .column("sum_ns", "Summed durations of the intervals: overlaps count twice."),
    ratio(Time, "busy.overlap_factor", |r| r.busy.overlap_factor)
        .column("overlap_factor", "sum_ns / busy_ns."),
    ns(Machine, "busy.machine_busy_ns", |r| whole(r.busy.machine_busy_ns))
        .compared("GPU busy, all processes", Neither)
        .column("machine_busy_ns", "Union of all processes' intervals."),
    ns(Machine, "busy.machine_active_ns", |r| whole(r.busy.machine_active_ns?))
        .column("machine_active_ns", "Time that the GPU itself reports as active."),
    ns(Machine, "busy.others_busy_ns", |r| whole(r.busy.others_busy_ns?))
        .compared("GPU busy, other processes", Neither)
        .column("others_busy_ns", "Union of the other processes' intervals."),
    ns(Machine, "busy.others_overlap_ns", |r| whole(r.busy.others_overlap_ns?))
        .column("others_overlap_ns", "Time in which the process and others used the GPU at once."),
    ns(Time, "efficiency.program_ns", |r| whole(r.efficiency.program_ns?))
        .compared("first encoding to completion", Lower).sum(Outside)
        .column("program_ns", "Time from the first encoding to the last completion, within \
            the window."),
    ratio(Time, "efficiency.of_program", |r| r.efficiency.of_program)
        .compared("busy share from first encoding", Neither)
        .column("program_ratio", "busy_ns / program_ns."),
    ns(Time, "run.duration_ns", |r| whole(r.run.duration_ns?)).compared("recording", Neither)
        .column("run_duration_ns", "Duration of the recording."),
    ratio(Time, "efficiency.of_wall", |r| r.efficiency.of_wall)
        .column("wall_ratio", "busy_ns / run_duration_ns."),
    ns(Time, "steps.median_ns", |r| whole(main_kind(r)?.median_ns?)).compared("step", Lower)
        .column("step_median_ns", "Median length of a step of the main series."),
    ns(Time, "steps.own_ns", |r| whole(main_kind(r)?.own_ns?)).compared("own time", Lower)
        .column("step_own_ns", "A step's GPU time, host work and encoding: the mean of the middle half."),
    ns(Time, "steps.gpu_ns", |r| whole(main_kind(r)?.gpu_ns?)).compared("GPU busy in a step", Lower),
    ns(Time, "steps.p95_ns", |r| whole(main_kind(r)?.p95_ns?))
        .compared("step, 95th percentile", Lower),
    count(Work, "steps.measured", |r| whole(main_steps(r)?.measured))
        .compared("steps with a known length", Neither),
    ns(Time, "steps.once_ns", |r| whole(once_ns(r)?)).compared("outside of the steps", Lower),
    ns(Time, "steps.first_ns", |r| whole(first_ns(r)?)).compared("time to the first step", Lower),
    count(Work, "steps.intervals", |r| whole(main_kind(r)?.intervals))
        .compared("GPU intervals of a step", Neither),
    count(Work, "steps.command_buffers", |r| whole(main_kind(r)?.command_buffers?))
        .compared("command buffers of a step", Lower),
    count(Work, "steps.waits", waits_of_a_step).compared("waits of a step", Lower),
    ns(Time, "steps.second.median_ns", |r| whole(second_kind(r)?.median_ns?))
        .compared("step of the second kind", Lower),
    ns(Time, "steps.second.own_ns", |r| whole(second_kind(r)?.own_ns?))
        .compared("own time, second kind", Lower),
    ns(Time, "steps.second.gpu_ns", |r| whole(second_kind(r)?.gpu_ns?))
        .compared("GPU busy, second kind", Lower),
    ns(Time, "steps.second.p95_ns", |r| whole(second_kind(r)?.p95_ns?))
        .compared("95th percentile, second kind", Lower),
    count(Work, "steps.second.intervals", |r| whole(second_kind(r)?.intervals))
        .compared("GPU intervals, second kind", Neither),
    count(Work, "steps.second.command_buffers", |r| whole(second_kind(r)?.command_buffers?))
        .compared("command buffers, second kind", Lower),
    ns(Time, "steps.period_ns", |r| whole(main_steps(r)?.period_ns?))
        .compared("period of the pace", Neither),
    count(Time, "steps.missed", |r| whole(main_steps(r)?.missed?)).compared("late steps", Lower),
    ns(Gaps, "gaps.total_ns", |r| whole(r.gaps.total_ns)).compared("GPU idle", Lower).sum(Between)
        .column("gaps_ns", "Idle time: the sum of the gaps, and of the ten causes."),
    count(Gaps, "gaps.count", |r| whole(r.gaps.count)).compared("gaps", Neither)
        .column("gap_count", "Gaps."),
    ns(Gaps, "gaps.mean_ns", |r| whole(r.gaps.mean_ns?)).compared("mean gap", Lower)
        .column("gap_mean_ns", "Mean gap."),
    ns(Gaps, "gaps.median_ns", |r| whole(r.gaps.median_ns?)).compared("median gap", Lower)
        .column("gap_median_ns", "Median gap."),
    ns(Gaps, "gaps.p95_ns", |r| whole(r.gaps.p95_ns?)).compared("gap, 95th percentile", Lower)
        .column("gap_p95_ns", "95th percentile."),
    ns(Gaps, "gaps.p99_ns", |r| whole(r.gaps.p99_ns?))
        .column("gap_p99_ns", "99th percentile."),
    ns(Gaps, "gaps.max_ns", |r| whole(r.gaps.max_ns?)).compared("longest gap", Lower)
        .column("gap_max_ns", "Longest gap."),
    count(Gaps, "gaps.below_1us", |r| whole(r.gaps.below_1us))
        .column("gap_below_1us_count", "Gaps shorter than 1 µs."),
    idle(Cause::Completion, Lower),
    idle(Cause::Host, Lower),
    idle(Cause::Encoding, Lower),
    idle(Cause::DriverWait, Lower),
    idle(Cause::Driver, Lower),
    idle(Cause::StartLatency, Lower),
    idle(Cause::Submission, Lower),
    idle(Cause::Queued, Lower),
    idle(Cause::Contention, Lower),
    idle(Cause::Unknown, Neither),
    count(Work, "idle.serialized", |r| whole(r.idle.serialized))
        .compared("serialized pairs", Lower).known_if(|r| r.idle.known_serialized().is_some())
        .column("serialized_count", "Pairs of intervals where the program waited for the \
            first before it encoded the second."),
    ns(Work, "idle.round_trips_ns", |r| whole(r.idle.round_trips_ns))
        .column("round_trips_ns", "Their completion and submission latency."),
    count(Work, "idle.between_buffers", |r| whole(r.idle.between_buffers))
        .column("between_buffers_count", "Joinable pairs in two command buffers."),
    count(Work, "idle.joinable", |r| whole(r.idle.joinable))
        .column("joinable_count", "Pairs with a recorded completion and encoding."),
    count(Work, "idle.pairs", |r| whole(r.idle.pairs))
        .column("pair_count", "All pairs: one per gap."),
    count(Work, "idle.without_completion", |r| whole(r.idle.without_completion))
        .column("without_completion_count", "Pairs without a completion."),
    count(Work, "idle.without_encoding", |r| whole(r.idle.without_encoding))
        .column("without_encoding_count", "Pairs without an encoding."),
    ns(Latency, "latency.submission.median_ns", |r| signed(r.latency.submission?.median_ns))
        .compared("submission latency, median", Lower)
        .column("start_latency_median_ns", "Median time from commit to GPU start."),
    ns(Latency, "latency.completion.median_ns", |r| signed(r.latency.completion?.median_ns))
        .compared("completion latency, median", Lower)
        .column("completion_latency_median_ns", "Median time from GPU end to completion; may be \
            negative."),
    ns(Latency, "latency.encoding.median_ns", |r| signed(r.latency.encoding?.median_ns))
        .compared("encoding, median", Lower),
    // The first unit is encoded before the window, which begins with its work on the GPU.
    ns(Latency, "latency.encoding_busy_ns", |r| whole(r.latency.encoding_busy_ns?))
        .compared("encoding, total", Lower).sum(Between).known_if(|r| r.sanity.lists_encoders()),
    ns(Machine, "machine.driver.busy_ns", |r| whole(r.machine.driver.as_ref()?.busy_ns))
        .compared("driver work for the process", Neither),
    bytes("memory.peak_bytes", |r| whole(r.memory.as_ref()?.peak_bytes))
        .compared("peak Metal memory", Lower)
        .column("memory_peak_bytes", "Largest number of live bytes of Metal resources that the \
            process made in the recording; null if not recorded."),
    bytes("memory.live.bytes", |r| whole(r.memory.as_ref()?.live.bytes))
        .compared("Metal memory live at the end", Lower)
        .column("memory_live_bytes", "Those that were never freed."),
    count(Memory, "memory.steps.median_allocations",
        |r| whole(r.memory.as_ref()?.steps?.median_allocations))
        .compared("allocations per step", Lower),
    bytes("memory.steps.median_bytes",
        |r| whole(r.memory.as_ref()?.steps?.median_bytes))
        .compared("bytes allocated per step", Lower),
];

#[expect(
    clippy::cast_precision_loss,
    clippy::unnecessary_wraps,
    reason = "exact up to 2^53 ns, 104 days; the getters of the table are alike"
)]
fn whole(value: u64) -> Option<f64> {
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

fn excluded_ns(report: &Report) -> u64 {
    let cuts = report.window.excluded.iter();
    cuts.map(|cut| cut.to_ns - cut.from_ns).sum()
}

/// Returns whether the recording divides the time between commit and start as this cause needs it.
fn knows(report: &Report, cause: Cause) -> bool {
    /// One part in this many of that time may be undivided: a few rows are missing in any recording.
    const FEW: u64 = 100;
    let parts = &report.idle.parts;
    // A report of which a part was removed is not complete.
    if parts.total_ns() != report.idle.total_ns || report.idle.known(cause).is_none() {
        return false;
    }
    let undivided_ns = parts.submission_ns;
    match cause {
        Cause::DriverWait | Cause::Driver | Cause::StartLatency => {
            report.latency.driver_source.is_some() && undivided_ns * FEW <= parts.after_commit_ns()
        }
        Cause::Submission => undivided_ns == parts.after_commit_ns(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::GapParts;

    /// A cause under another name would be missing wherever idle time is taken apart.
    #[test]
    fn each_cause_is_a_figure_and_a_key_of_reports() {
        let causes: Vec<Cause> = FIGURES.iter().filter_map(Figure::cause).collect();
        assert_eq!(causes, Cause::ALL);
        for cause in causes {
            let mut parts = GapParts::default();
            *parts.get_mut(cause) = 7;
            let json = serde_json::to_value(parts).unwrap();
            assert_eq!(json[cause.column()], 7, "{cause:?}");
        }
    }

    #[test]
    fn ids_and_columns_are_used_once() {
        for key in [|figure: &Figure| figure.id, |figure: &Figure| figure.column] {
            let mut keys: Vec<&str> = FIGURES.iter().map(key).collect();
            keys.retain(|key| !key.is_empty());
            let count = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), count);
        }
    }
}
