//! Lists the figures of a report, each once: its unit, its name, which direction is better, and its
//! column in a dataset. Comparisons, gates, baselines, benchmarks and datasets take them from here.

use std::sync::LazyLock;

use metalens_message::{Ns, Quantity, Unit, ratio};
use metalens_text::number::rounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::MetricGroup::{Gaps, Latency, Machine, Memory, Time, Work};
use self::Preference::{Lower, None as Neither};
use self::TimePlace::{Between, Both, Inside, Outside};
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
fn once_ns(report: &Report) -> Option<Ns> {
    report
        .window
        .span_ns
        .checked_sub(main_steps(report)?.total_ns)
}

/// Returns the time from the first event of the program to its first step.
fn first_ns(report: &Report) -> Option<Ns> {
    main_steps(report)?;
    let before = report
        .once
        .iter()
        .find(|part| part.what == OnceKind::Before)?;
    Some(before.end_ns - before.start_ns)
}

/// Returns how often a step waits for the GPU, to the nearest whole number: some waits begin when it is idle.
/// `None` if the times do not tell whether the program waits.
fn waits_of_a_step(report: &Report) -> Option<u64> {
    let steps = main_steps(report)?.count;
    let waiting = &report.replay.as_ref()?.waiting;
    if waiting.verdict == WaitVerdict::Unknown {
        return None;
    }
    let waits = report.idle.known_serialized()?;
    ratio(waits, steps).map(rounded)
}

/// Group of related figures.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
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
    /// Meaning, where it is no field of a report, whose doc comment tells it.
    own_meaning: &'static str,
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
            own_meaning: "",
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
    const fn column(self, column: &'static str) -> Self {
        Self { column, ..self }
    }

    /// Gives a figure that is no field a meaning.
    const fn meaning(self, own_meaning: &'static str) -> Self {
        Self {
            own_meaning,
            ..self
        }
    }

    /// Leaves it out of the comparison of reports that cannot tell it.
    const fn known_if(self, is_known: fn(&Report) -> bool) -> Self {
        Self { is_known, ..self }
    }

    /// Returns what the figure means, and null.
    pub fn means(&self) -> &'static str {
        match self.own_meaning {
            "" => doc_comment(self.id),
            own => own,
        }
    }

    /// Returns the cause whose idle time the figure is.
    pub fn cause(&self) -> Option<Cause> {
        match self.source {
            Source::Field(_) => None,
            Source::Idle(cause) => Some(cause),
        }
    }

    /// Returns the value that a report has.
    pub fn recorded(&self, report: &Report) -> Option<f64> {
        match self.source {
            Source::Field(get) => get(report),
            Source::Idle(cause) => Some(report.idle.parts.get(cause).number()),
        }
    }

    /// Returns the value to compare; `None` if the recording cannot tell it: a zero would look like a
    /// gain.
    pub fn known(&self, report: &Report) -> Option<f64> {
        let is_known = match self.source {
            Source::Field(_) => (self.is_known)(report),
            Source::Idle(cause) => knows(report, cause),
        };
        self.recorded(report).filter(|_| is_known)
    }
}

/// Returns the doc comment of a field of a report, by its path. Empty if there is no such field.
fn doc_comment(path: &str) -> &'static str {
    static SCHEMA: LazyLock<serde_json::Value> =
        LazyLock::new(|| schemars::schema_for!(Report).into());
    let mut field = &*SCHEMA;
    for key in path.split('.') {
        let parts = [&field["$ref"], &field["anyOf"][0]["$ref"]];
        if let Some(part) = parts.into_iter().find_map(|part| part.as_str()) {
            field = SCHEMA
                .pointer(part.trim_start_matches('#'))
                .unwrap_or(field);
        }
        field = &field["properties"][key];
    }
    field["description"].as_str().unwrap_or_default()
}

/// Path of a field of a report, as text: `id!(gaps.median_ns?)` is `"gaps.median_ns"`. A `?` follows each part
/// that may be null. A field that does not exist is an error of the compiler.
#[macro_export]
macro_rules! id {
    ($($path:tt)+) => {{
        const _: fn(&$crate::Report) -> Option<()> = |report| {
            let _ = $crate::field!(report; $($path)+);
            Some(())
        };
        $crate::path!($($path)+)
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! path {
    ($head:ident $(?)? $(. $part:ident $(?)?)*) => {
        concat!(stringify!($head) $(, ".", stringify!($part))*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! field {
    ($from:expr; $part:ident ?. $($rest:tt)+) => { $crate::field!($from.$part.as_ref()?; $($rest)+) };
    ($from:expr; $part:ident . $($rest:tt)+) => { $crate::field!($from.$part; $($rest)+) };
    ($from:expr; $part:ident ?) => { $from.$part? };
    ($from:expr; $part:ident) => { $from.$part };
}

/// Returns the unit of what a function returns.
const fn unit_of<Q: Quantity>(_: fn(&Report) -> Option<Q>) -> Unit {
    Q::UNIT
}

macro_rules! computed {
    ($group:ident, $id:expr, |$report:ident| $value:expr) => {
        Figure::new(
            $id,
            $group,
            unit_of(|$report| Some($value)),
            Source::Field(|$report| Some($value.number())),
        )
    };
}

/// A figure that is a field of a report, by its path.
macro_rules! at {
    ($group:ident, $($path:tt)+) => {
        computed!($group, id!($($path)+), |report| $crate::field!(report; $($path)+))
    };
}

/// A figure that is a field of a part that a function chooses.
macro_rules! of {
    ($group:ident, $of:literal, $part:ident, $($path:tt)+) => {
        computed!($group, concat!($of, ".", path!($($path)+)), |report| $crate::field!($part(report)?; $($path)+))
    };
}

const fn idle(cause: Cause, preference: Preference) -> Figure {
    let figure = Figure::new(
        cause.figure(),
        MetricGroup::Idle,
        Unit::Ns,
        Source::Idle(cause),
    );
    figure
        .compared(cause.label(), preference)
        .sum(Between)
        .column(cause.column())
}

/// All figures, in the order of their columns.
// Shares of time have no better side: a slower kernel makes the GPU busier. The table is formatted by
// hand: broken by a program, it would be twice as long.
#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    at!(Time, window.span_ns).compared("first to last GPU work", Lower).sum(Both)
        .column("window_ns"),
    computed!(Time, "window.excluded", |r| excluded_ns(r)).column("excluded_ns")
        .meaning("Time excluded from the window on request."),
    at!(Work, counts.intervals).compared("GPU intervals", Neither).column("interval_count"),
    at!(Work, counts.encoders).compared("encoders", Neither)
        .known_if(|r| r.counts.known_encoders().is_some()).column("encoder_count"),
    at!(Work, counts.command_buffers).compared("command buffers", Neither)
        .known_if(|r| r.counts.known_command_buffers().is_some()).column("command_buffer_count"),
    computed!(Work, "counts.steps", |r| main_steps(r)?.count).compared("steps", Neither),
    at!(Work, counts.kernels).compared("kernel names", Neither).column("kernel_count"),
    // Without the list a label with an ampersand looks like two encoders.
    at!(Work, counts.coalesced).compared("coalesced intervals", Neither)
        .known_if(|r| r.sanity.lists_encoders()).column("coalesced_count"),
    at!(Work, counts.coalesced_encoders).column("coalesced_encoder_count"),
    at!(Work, counts.all_intervals).column("all_interval_count"),
    at!(Work, counts.unattributed).column("unattributed_count"),
    at!(Time, busy.busy_ns).compared("GPU busy", Lower).sum(Inside).column("busy_ns"),
    at!(Time, busy.ratio?).compared("busy share", Neither).column("busy_ratio"),
    at!(Time, busy.sum_ns).compared("kernel time, summed", Lower).sum(Inside).column("sum_ns"),
    at!(Time, busy.overlap_factor?).column("overlap_factor"),
    at!(Machine, busy.machine_busy_ns).compared("GPU busy, all processes", Neither)
        .column("machine_busy_ns"),
    at!(Machine, busy.machine_active_ns?).column("machine_active_ns"),
    at!(Machine, busy.others_busy_ns?).compared("GPU busy, other processes", Neither)
        .column("others_busy_ns"),
    at!(Machine, busy.others_overlap_ns?).column("others_overlap_ns"),
    at!(Time, efficiency.program_ns?).compared("first encoding to completion", Lower).sum(Outside)
        .column("program_ns"),
    at!(Time, efficiency.of_program?).compared("busy share from first encoding", Neither)
        .column("program_ratio"),
    at!(Time, run.duration_ns?).compared("recording", Neither).column("run_duration_ns"),
    at!(Time, efficiency.of_wall?).column("wall_ratio"),
    of!(Time, "steps", main_kind, median_ns?).compared("step", Lower)
        .column("step_median_ns").meaning("Median length of a step of the main series."),
    of!(Time, "steps", main_kind, own_ns?).compared("own time", Lower).column("step_own_ns")
        .meaning("A step's GPU time, host work and encoding: the mean of the middle half."),
    of!(Time, "steps", main_kind, gpu_ns?).compared("GPU busy in a step", Lower),
    of!(Time, "steps", main_kind, p95_ns?).compared("step, 95th percentile", Lower),
    of!(Work, "steps", main_steps, measured).compared("steps with a known length", Neither),
    computed!(Time, "steps.once_ns", |r| once_ns(r)?).compared("outside of the steps", Lower),
    computed!(Time, "steps.first_ns", |r| first_ns(r)?).compared("time to the first step", Lower),
    of!(Work, "steps", main_kind, intervals).compared("GPU intervals of a step", Neither),
    of!(Work, "steps", main_kind, command_buffers?).compared("command buffers of a step", Lower),
    computed!(Work, "steps.waits", |r| waits_of_a_step(r)?).compared("waits of a step", Lower),
    of!(Time, "steps.second", second_kind, median_ns?).compared("step of the second kind", Lower),
    of!(Time, "steps.second", second_kind, own_ns?).compared("own time, second kind", Lower),
    of!(Time, "steps.second", second_kind, gpu_ns?).compared("GPU busy, second kind", Lower),
    of!(Time, "steps.second", second_kind, p95_ns?).compared("95th percentile, second kind", Lower),
    of!(Work, "steps.second", second_kind, intervals)
        .compared("GPU intervals, second kind", Neither),
    of!(Work, "steps.second", second_kind, command_buffers?)
        .compared("command buffers, second kind", Lower),
    of!(Time, "steps", main_steps, period_ns?).compared("period of the pace", Neither),
    of!(Time, "steps", main_steps, missed?).compared("late steps", Lower),
    at!(Gaps, gaps.total_ns).compared("GPU idle", Lower).sum(Between).column("gaps_ns"),
    at!(Gaps, gaps.count).compared("gaps", Neither).column("gap_count"),
    at!(Gaps, gaps.mean_ns?).compared("mean gap", Lower).column("gap_mean_ns"),
    at!(Gaps, gaps.median_ns?).compared("median gap", Lower).column("gap_median_ns"),
    at!(Gaps, gaps.p95_ns?).compared("gap, 95th percentile", Lower).column("gap_p95_ns"),
    at!(Gaps, gaps.p99_ns?).column("gap_p99_ns"),
    at!(Gaps, gaps.max_ns?).compared("longest gap", Lower).column("gap_max_ns"),
    at!(Gaps, gaps.below_1us).column("gap_below_1us_count"),
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
    at!(Work, idle.serialized).compared("serialized pairs", Lower)
        .known_if(|r| r.idle.known_serialized().is_some()).column("serialized_count"),
    at!(Work, idle.round_trips_ns).column("round_trips_ns"),
    at!(Work, idle.between_buffers).column("between_buffers_count"),
    at!(Work, idle.joinable).column("joinable_count"),
    at!(Work, idle.pairs).column("pair_count"),
    at!(Work, idle.without_completion).column("without_completion_count"),
    at!(Work, idle.without_encoding).column("without_encoding_count"),
    at!(Latency, latency.submission?.median_ns).compared("submission latency, median", Lower)
        .column("start_latency_median_ns"),
    at!(Latency, latency.completion?.median_ns).compared("completion latency, median", Lower)
        .column("completion_latency_median_ns"),
    at!(Latency, latency.encoding?.median_ns).compared("encoding, median", Lower),
    // The first unit is encoded before the window, which begins with its work on the GPU.
    at!(Latency, latency.encoding_busy_ns?).compared("encoding, total", Lower).sum(Between)
        .known_if(|r| r.sanity.lists_encoders()),
    at!(Machine, machine.driver?.busy_ns).compared("driver work for the process", Neither),
    at!(Memory, memory?.peak_bytes).compared("peak Metal memory", Lower)
        .column("memory_peak_bytes"),
    at!(Memory, memory?.live.bytes).compared("Metal memory live at the end", Lower)
        .column("memory_live_bytes"),
    at!(Memory, memory?.steps?.median_allocations).compared("allocations per step", Lower),
    at!(Memory, memory?.steps?.median_bytes).compared("bytes allocated per step", Lower),
];

fn excluded_ns(report: &Report) -> Ns {
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
            *parts.get_mut(cause) = Ns(7);
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
