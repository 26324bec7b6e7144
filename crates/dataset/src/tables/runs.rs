//! `runs`: what was recorded, and every figure of its report.

use std::path::Path;

use metalens_analyzer::{Distribution, Report};

use super::{Field, count, field, fill, ns, ratio, text};
use crate::cells::{Kind, Table, Value};
use crate::error::Result;
use crate::words::{how, reader, source};

pub(crate) fn table(report: &Report) -> Result<Table> {
    fill(&fields(), [report])
}

pub(crate) fn fields<'t>() -> Vec<Field<&'t Report>> {
    let parts = [
        recording(),
        about(),
        counts(),
        busy(),
        gaps(),
        ledger(),
        beside(),
    ];
    parts.into_iter().flatten().collect()
}

fn recording<'t>() -> Vec<Field<&'t Report>> {
    vec![
        text("input", "The input's own name, without its folder.", |r| {
            Value::Text(name_of(&r.source.path))
        }),
        text("kind", "What the input was: bundle, export, xml.", |r| {
            Value::Text(source(r.source.kind))
        }),
        text("reader", "What read it: native, xml.", |r| {
            Value::Text(reader(r.source.reader))
        }),
        field(
            "run_number",
            Kind::Integer,
            "",
            "The run's number in the trace, from 1.",
            |r| Value::whole(r.run.number),
        ),
        field(
            "synthetic",
            Kind::Flag,
            "",
            "Whether a simulator wrote it: no GPU ran any of it.",
            |r| Value::Flag(r.run.synthetic),
        ),
        text("template", "The Instruments template.", |r| {
            Value::text(r.run.template.as_deref())
        }),
        text("instruments_version", "The version of Instruments.", |r| {
            Value::text(r.run.instruments_version.as_deref())
        }),
        text("start", "When the recording began, ISO 8601.", |r| {
            Value::text(r.run.start.as_deref())
        }),
        ns(
            "run_duration_ns",
            "How long it took by the clock on the wall.",
            |r| Value::whole_or_absent(r.run.duration_ns),
        ),
        text("end_reason", "Why it ended.", |r| {
            Value::text(r.run.end_reason.as_deref())
        }),
        text(
            "recording_mode",
            "`Deferred`, or `Windowed (…)`, which keeps only the end.",
            |r| Value::text(r.run.recording_mode.as_deref()),
        ),
        text("os", "The operating system and its version.", |r| {
            Value::text(r.run.device.os.as_deref())
        }),
        text("gpu", "The GPU, as Metal calls it.", |r| {
            Value::text(r.run.device.gpu.as_deref())
        }),
    ]
}

fn about<'t>() -> Vec<Field<&'t Report>> {
    vec![
        text(
            "process",
            "The process that the run is about; of several, all names.",
            |r| Value::Text(&r.process.name),
        ),
        field(
            "process_pid",
            Kind::Integer,
            "",
            "Its number; null if there are several.",
            |r| Value::whole_or_absent(r.process.pid.map(u64::from)),
        ),
        text(
            "process_chosen_by",
            "How it was found: launched, attached, recorded, requested, busiest.",
            |r| Value::Text(how(r.process.chosen_by)),
        ),
        ns(
            "window_start_ns",
            "The window's first nanosecond, since the recording began.",
            |r| Value::whole(r.window.start_ns),
        ),
        ns("window_end_ns", "The nanosecond after its last.", |r| {
            Value::whole(r.window.end_ns)
        }),
        ns(
            "window_ns",
            "Its length. window_ns = busy_ns + gaps_ns.",
            |r| Value::whole(r.window.span_ns),
        ),
        ns(
            "excluded_ns",
            "What was cut off the window on request, in all; 0 if nothing was.",
            |r| {
                Value::whole(
                    r.window
                        .excluded
                        .iter()
                        .map(|cut| cut.to_ns - cut.from_ns)
                        .sum(),
                )
            },
        ),
    ]
}

fn counts<'t>() -> Vec<Field<&'t Report>> {
    vec![
        count(
            "interval_count",
            "The target's intervals in the window.",
            |r| Value::whole(r.counts.intervals),
        ),
        count("encoder_count", "Distinct encoders among them.", |r| {
            Value::whole(r.counts.encoders)
        }),
        count(
            "command_buffer_count",
            "Distinct command buffers among them.",
            |r| Value::whole(r.counts.command_buffers),
        ),
        count(
            "kernel_count",
            "Distinct names of work, per channel.",
            |r| Value::whole(r.counts.kernels),
        ),
        count(
            "coalesced_count",
            "Intervals that the driver made of several encoders.",
            |r| Value::whole(r.counts.coalesced),
        ),
        count(
            "coalesced_encoder_count",
            "How many encoders those were.",
            |r| Value::whole(r.counts.coalesced_encoders),
        ),
        count(
            "all_interval_count",
            "Everyone's intervals in the whole recording.",
            |r| Value::whole(r.counts.all_intervals),
        ),
        count(
            "unattributed_count",
            "Those of them that name no process.",
            |r| Value::whole(r.counts.unattributed),
        ),
    ]
}

fn busy<'t>() -> Vec<Field<&'t Report>> {
    vec![
        ns(
            "busy_ns",
            "The length of the union of the target's intervals.",
            |r| Value::whole(r.busy.busy_ns),
        ),
        ns(
            "sum_ns",
            "Their summed durations, which count overlaps twice.",
            |r| Value::whole(r.busy.sum_ns),
        ),
        ratio(
            "busy_ratio",
            "busy_ns / window_ns; null if the window has no length.",
            |r| Value::number(r.busy.ratio),
        ),
        ratio("overlap_factor", "sum_ns / busy_ns.", |r| {
            Value::number(r.busy.overlap_factor)
        }),
        ns(
            "machine_busy_ns",
            "The length of the union of everyone's intervals.",
            |r| Value::whole(r.busy.machine_busy_ns),
        ),
        ns(
            "machine_active_ns",
            "How long the GPU itself says it was active; null if that was not recorded.",
            |r| Value::whole_or_absent(r.busy.machine_active_ns),
        ),
        ns(
            "others_busy_ns",
            "The length of the union of all intervals that are not the target's.",
            |r| Value::whole(r.busy.others_busy_ns),
        ),
        ns(
            "others_overlap_ns",
            "How long the target and others were on the GPU at once.",
            |r| Value::whole(r.busy.others_overlap_ns),
        ),
        ns(
            "program_ns",
            "From the first encoding to the last completion, within the window.",
            |r| Value::whole_or_absent(r.efficiency.program_ns),
        ),
        ratio("program_ratio", "busy_ns / program_ns.", |r| {
            Value::number(r.efficiency.of_program)
        }),
        ns(
            "steady_ns",
            "The window without the warm-up; null if there is none.",
            |r| Value::whole_or_absent(r.efficiency.steady_ns),
        ),
        ratio("steady_ratio", "The busy time of that / steady_ns.", |r| {
            Value::number(r.efficiency.of_steady)
        }),
        ratio("wall_ratio", "busy_ns / run_duration_ns.", |r| {
            Value::number(r.efficiency.of_wall)
        }),
    ]
}

fn gaps<'t>() -> Vec<Field<&'t Report>> {
    vec![
        count("gap_count", "How many gaps.", |r| {
            Value::whole(r.gaps.count)
        }),
        ns("gaps_ns", "Their summed length: the idle time.", |r| {
            Value::whole(r.gaps.total_ns)
        }),
        ns(
            "gap_mean_ns",
            "Their mean, to the nearest nanosecond; null if there is none.",
            |r| Value::whole_or_absent(r.gaps.mean_ns),
        ),
        ns("gap_median_ns", "Their median, nearest rank.", |r| {
            Value::whole_or_absent(r.gaps.median_ns)
        }),
        ns("gap_p95_ns", "95 % are not longer, nearest rank.", |r| {
            Value::whole_or_absent(r.gaps.p95_ns)
        }),
        ns("gap_p99_ns", "99 % are not longer, nearest rank.", |r| {
            Value::whole_or_absent(r.gaps.p99_ns)
        }),
        ns("gap_max_ns", "The longest.", |r| {
            Value::whole_or_absent(r.gaps.max_ns)
        }),
        count(
            "gap_below_1us_count",
            "How many are shorter than 1 µs.",
            |r| Value::whole(r.gaps.below_1us),
        ),
    ]
}

fn ledger<'t>() -> Vec<Field<&'t Report>> {
    vec![
        ns(
            "completion_ns",
            "The idle time by what was waited for; these seven sum to gaps_ns. Until the program knew that work was done.",
            |r| Value::whole(r.idle.parts.completion_ns),
        ),
        ns(
            "host_ns",
            "The program did something else than encode.",
            |r| Value::whole(r.idle.parts.host_ns),
        ),
        ns("encoding_ns", "The program encoded.", |r| {
            Value::whole(r.idle.parts.encoding_ns)
        }),
        ns("submission_ns", "Work was on its way to the GPU.", |r| {
            Value::whole(r.idle.parts.submission_ns)
        }),
        ns("queued_ns", "The GPU had the work already.", |r| {
            Value::whole(r.idle.parts.queued_ns)
        }),
        ns("contention_ns", "Another process held the GPU.", |r| {
            Value::whole(r.idle.parts.contention_ns)
        }),
        ns("unknown_ns", "The recording does not say.", |r| {
            Value::whole(r.idle.parts.unknown_ns)
        }),
        count(
            "serialized_count",
            "Pairs of which the second was encoded only when the first was known to be done.",
            |r| Value::whole(r.idle.serialized),
        ),
        ns(
            "round_trips_ns",
            "What those took in completion and launch.",
            |r| Value::whole(r.idle.round_trips_ns),
        ),
        count(
            "between_buffers_count",
            "Joinable pairs of two command buffers.",
            |r| Value::whole(r.idle.between_buffers),
        ),
        count(
            "joinable_count",
            "Pairs with both a completion and an encoding on record.",
            |r| Value::whole(r.idle.joinable),
        ),
        count("pair_count", "All pairs: one per gap.", |r| {
            Value::whole(r.idle.pairs)
        }),
        count(
            "without_completion_count",
            "Pairs whose first has no completion on record.",
            |r| Value::whole(r.idle.without_completion),
        ),
        count(
            "without_encoding_count",
            "Pairs whose second has no encoding on record.",
            |r| Value::whole(r.idle.without_encoding),
        ),
    ]
}

fn beside<'t>() -> Vec<Field<&'t Report>> {
    vec![
        ns(
            "start_latency_median_ns",
            "From a commit to the start of the work, median; null if not measurable.",
            |r| median(r.latency.submission),
        ),
        ns(
            "completion_latency_median_ns",
            "From the end of the work to its completion, median; negative where the completion is stamped first.",
            |r| median(r.latency.completion),
        ),
        text(
            "performance_state",
            "The GPU performance state that held the longest; null if no row tells.",
            |r| Value::text(state(r)),
        ),
        ns(
            "performance_unknown_ns",
            "Time in the window of which the performance state is unknown; null if none is known at all.",
            |r| {
                Value::whole_or_absent(r.machine.performance.as_ref().map(|found| found.unknown_ns))
            },
        ),
        text(
            "thermal_worst",
            "The worst thermal state; null if not recorded.",
            |r| Value::text(thermal(r)),
        ),
        text(
            "metalens_version",
            "The version of metalens that wrote the row.",
            |_| Value::Text(env!("CARGO_PKG_VERSION")),
        ),
    ]
}

/// The input's own name: its folder is nobody's business.
fn name_of(path: &str) -> &str {
    let name = Path::new(path).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(path)
}

fn median<'r>(distribution: Option<Distribution>) -> Value<'r> {
    distribution.map_or(Value::Absent, |found| Value::Integer(found.median_ns))
}

fn state(report: &Report) -> Option<&str> {
    let longest = report.machine.performance.as_ref()?.states.first()?;
    Some(&longest.state)
}

fn thermal(report: &Report) -> Option<&str> {
    report.machine.thermal.as_ref()?.worst.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_goes_by_its_own_name() {
        for (path, expected) in [("/Users/me/a.trace", "a.trace"), ("a/b/", "b"), ("-", "-")] {
            assert_eq!(name_of(path), expected);
        }
    }
}
