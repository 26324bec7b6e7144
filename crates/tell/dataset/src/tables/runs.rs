//! Defines `runs`: facts of the recording, and the figures of its report.

use std::path::Path;

use metalens_analyzer::{Distribution, Report};

use super::field::{TableField, count, field, fill, ns, ratio, text};
use crate::cells::{CellKind, CellValue, MemoryTable};
use crate::error::Result;
use crate::report_names::{chosen_by, reader, source};

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    fill(&fields(), [report])
}

pub(crate) fn fields<'t>() -> Vec<TableField<&'t Report>> {
    let parts = [
        recording(),
        about(),
        counts(),
        busy(),
        gaps(),
        idle(),
        latency_and_machine(),
    ];
    parts.into_iter().flatten().collect()
}

fn recording<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        text(
            "input",
            "File name of the input, without its folder.",
            |r| CellValue::Text(file_name(&r.source.path)),
        ),
        text("kind", "Kind of the input: bundle, export, xml.", |r| {
            CellValue::Text(source(r.source.kind))
        }),
        text("reader", "Reader of the input: native, xml.", |r| {
            CellValue::Text(reader(r.source.reader))
        }),
        field(
            "run_number",
            CellKind::Integer,
            "",
            "Number of the run in the recording, from 1.",
            |r| CellValue::integer(r.run.number),
        ),
        field(
            "synthetic",
            CellKind::Flag,
            "",
            "True if a simulator wrote the recording, so that no GPU ran any of it.",
            |r| CellValue::Flag(r.run.synthetic),
        ),
        text("template", "Name of the Instruments template.", |r| {
            CellValue::text(r.run.template.as_deref())
        }),
        text("instruments_version", "Version of Instruments.", |r| {
            CellValue::text(r.run.instruments_version.as_deref())
        }),
        text("start", "Start of the recording, ISO 8601.", |r| {
            CellValue::text(r.run.start.as_deref())
        }),
        ns(
            "run_duration_ns",
            "Duration of the recording, wall time.",
            |r| CellValue::integer_or_absent(r.run.duration_ns),
        ),
        text("end_reason", "Reason why the recording ended.", |r| {
            CellValue::text(r.run.end_reason.as_deref())
        }),
        text(
            "recording_mode",
            "Recording mode: `Deferred`, or `Windowed (…)`, which keeps only the end.",
            |r| CellValue::text(r.run.recording_mode.as_deref()),
        ),
        text("os", "Operating system and its version.", |r| {
            CellValue::text(r.run.device.os.as_deref())
        }),
        text("gpu", "Name of the GPU in Metal.", |r| {
            CellValue::text(r.run.device.gpu.as_deref())
        }),
    ]
}

fn about<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        text(
            "process",
            "Name of the analyzed process, or of all if there are several.",
            |r| CellValue::Text(&r.process.name),
        ),
        field(
            "process_pid",
            CellKind::Integer,
            "",
            "Process id; null if there are several.",
            |r| CellValue::integer_or_absent(r.process.pid.map(u64::from)),
        ),
        text(
            "process_chosen_by",
            "Way in which the process was chosen: launched, attached, recorded, requested, busiest.",
            |r| CellValue::Text(chosen_by(r.process.chosen_by)),
        ),
        ns(
            "window_start_ns",
            "First nanosecond of the window, since the start of the recording.",
            |r| CellValue::integer(r.window.start_ns),
        ),
        ns(
            "window_end_ns",
            "Nanosecond after the last one of the window.",
            |r| CellValue::integer(r.window.end_ns),
        ),
        ns(
            "window_ns",
            "Length of the window: window_ns = busy_ns + gaps_ns.",
            |r| CellValue::integer(r.window.span_ns),
        ),
        ns(
            "excluded_ns",
            "Time that was excluded from the window on request; 0 if none was.",
            |r| {
                CellValue::integer(
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

fn counts<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        count(
            "interval_count",
            "Number of the process's GPU intervals in the window.",
            |r| CellValue::integer(r.counts.intervals),
        ),
        count(
            "encoder_count",
            "Number of distinct encoders of these intervals.",
            |r| CellValue::integer(r.counts.encoders),
        ),
        count(
            "command_buffer_count",
            "Number of distinct command buffers of these intervals.",
            |r| CellValue::integer(r.counts.command_buffers),
        ),
        count(
            "kernel_count",
            "Number of distinct kernel names, counted per channel.",
            |r| CellValue::integer(r.counts.kernels),
        ),
        count(
            "coalesced_count",
            "Number of intervals that the driver merged from several encoders.",
            |r| CellValue::integer(r.counts.coalesced),
        ),
        count(
            "coalesced_encoder_count",
            "Number of the encoders that were merged.",
            |r| CellValue::integer(r.counts.coalesced_encoders),
        ),
        count(
            "all_interval_count",
            "Number of all processes' intervals in the whole recording.",
            |r| CellValue::integer(r.counts.all_intervals),
        ),
        count(
            "unattributed_count",
            "Number of those intervals that name no process.",
            |r| CellValue::integer(r.counts.unattributed),
        ),
    ]
}

fn busy<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        ns(
            "busy_ns",
            "Length of the union of the process's intervals.",
            |r| CellValue::integer(r.busy.busy_ns),
        ),
        ns(
            "sum_ns",
            "Summed durations of the intervals, which count overlaps twice.",
            |r| CellValue::integer(r.busy.sum_ns),
        ),
        ratio(
            "busy_ratio",
            "busy_ns / window_ns; null if the window has no length.",
            |r| CellValue::number(r.busy.ratio),
        ),
        ratio("overlap_factor", "sum_ns / busy_ns.", |r| {
            CellValue::number(r.busy.overlap_factor)
        }),
        ns(
            "machine_busy_ns",
            "Length of the union of all processes' intervals.",
            |r| CellValue::integer(r.busy.machine_busy_ns),
        ),
        ns(
            "machine_active_ns",
            "Time that the GPU itself reports as active; null if it was not recorded.",
            |r| CellValue::integer_or_absent(r.busy.machine_active_ns),
        ),
        ns(
            "others_busy_ns",
            "Length of the union of all other processes' intervals.",
            |r| CellValue::integer(r.busy.others_busy_ns),
        ),
        ns(
            "others_overlap_ns",
            "Time in which the process and others used the GPU at once.",
            |r| CellValue::integer(r.busy.others_overlap_ns),
        ),
        ns(
            "program_ns",
            "Time from the first encoding to the last completion, within the window.",
            |r| CellValue::integer_or_absent(r.efficiency.program_ns),
        ),
        ratio("program_ratio", "busy_ns / program_ns.", |r| {
            CellValue::number(r.efficiency.of_program)
        }),
        ns(
            "steady_ns",
            "Length of the window without the warm-up; null if there is no warm-up.",
            |r| CellValue::integer_or_absent(r.efficiency.steady_ns),
        ),
        ratio(
            "steady_ratio",
            "Busy time without the warm-up, divided by steady_ns.",
            |r| CellValue::number(r.efficiency.of_steady),
        ),
        ratio("wall_ratio", "busy_ns / run_duration_ns.", |r| {
            CellValue::number(r.efficiency.of_wall)
        }),
    ]
}

fn gaps<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        count("gap_count", "Number of gaps.", |r| {
            CellValue::integer(r.gaps.count)
        }),
        ns(
            "gaps_ns",
            "Summed length of the gaps: the idle time.",
            |r| CellValue::integer(r.gaps.total_ns),
        ),
        ns(
            "gap_mean_ns",
            "Mean gap, rounded to a nanosecond; null without gaps.",
            |r| CellValue::integer_or_absent(r.gaps.mean_ns),
        ),
        ns(
            "gap_median_ns",
            "Median gap, nearest rank; null without gaps.",
            |r| CellValue::integer_or_absent(r.gaps.median_ns),
        ),
        ns(
            "gap_p95_ns",
            "95th percentile of the gaps, nearest rank; null without gaps.",
            |r| CellValue::integer_or_absent(r.gaps.p95_ns),
        ),
        ns(
            "gap_p99_ns",
            "99th percentile of the gaps, nearest rank; null without gaps.",
            |r| CellValue::integer_or_absent(r.gaps.p99_ns),
        ),
        ns("gap_max_ns", "Longest gap; null without gaps.", |r| {
            CellValue::integer_or_absent(r.gaps.max_ns)
        }),
        count(
            "gap_below_1us_count",
            "Number of gaps shorter than 1 µs.",
            |r| CellValue::integer(r.gaps.below_1us),
        ),
    ]
}

fn idle<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        ns(
            "completion_ns",
            "Completion latency, one of the ten causes that sum to gaps_ns: until the program was notified that work was done.",
            |r| CellValue::integer(r.idle.parts.completion_ns),
        ),
        ns(
            "host_ns",
            "Host work: the program was notified, and had not started to encode.",
            |r| CellValue::integer(r.idle.parts.host_ns),
        ),
        ns("encoding_ns", "Encoding of the next work.", |r| {
            CellValue::integer(r.idle.parts.encoding_ns)
        }),
        ns(
            "driver_wait_ns",
            "Waiting for the driver: work was committed, and the driver had not begun.",
            |r| CellValue::integer(r.idle.parts.driver_wait_ns),
        ),
        ns(
            "driver_ns",
            "Driver: it worked on work, up to the submission to the GPU.",
            |r| CellValue::integer(r.idle.parts.driver_ns),
        ),
        ns(
            "start_latency_ns",
            "GPU start latency: work was submitted to the GPU, and had not started.",
            |r| CellValue::integer(r.idle.parts.start_latency_ns),
        ),
        ns(
            "submission_ns",
            "Submission latency, where the driver's times are not recorded: work was committed, and had not started on the GPU.",
            |r| CellValue::integer(r.idle.parts.submission_ns),
        ),
        ns(
            "queued_ns",
            "Queued: the GPU, or the driver where its times are not recorded, had the work before the gap began.",
            |r| CellValue::integer(r.idle.parts.queued_ns),
        ),
        ns(
            "contention_ns",
            "Contention: another process used the GPU while work waited.",
            |r| CellValue::integer(r.idle.parts.contention_ns),
        ),
        ns(
            "unknown_ns",
            "Unknown: the recording does not show the cause.",
            |r| CellValue::integer(r.idle.parts.unknown_ns),
        ),
        count(
            "serialized_count",
            "Number of pairs in which the program waited for the first before it encoded the second.",
            |r| CellValue::integer(r.idle.serialized),
        ),
        ns(
            "round_trips_ns",
            "Completion and submission latency of these pairs.",
            |r| CellValue::integer(r.idle.round_trips_ns),
        ),
        count(
            "between_buffers_count",
            "Number of joinable pairs that are in two command buffers.",
            |r| CellValue::integer(r.idle.between_buffers),
        ),
        count(
            "joinable_count",
            "Number of pairs with both a recorded completion and a recorded encoding.",
            |r| CellValue::integer(r.idle.joinable),
        ),
        count("pair_count", "Number of all pairs: one per gap.", |r| {
            CellValue::integer(r.idle.pairs)
        }),
        count(
            "without_completion_count",
            "Number of pairs whose first has no recorded completion.",
            |r| CellValue::integer(r.idle.without_completion),
        ),
        count(
            "without_encoding_count",
            "Number of pairs whose second has no recorded encoding.",
            |r| CellValue::integer(r.idle.without_encoding),
        ),
    ]
}

fn latency_and_machine<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        ns(
            "start_latency_median_ns",
            "Median submission latency, from commit to GPU start; null if not measurable.",
            |r| median(r.latency.submission),
        ),
        ns(
            "completion_latency_median_ns",
            "Median completion latency, from GPU end to completion; negative if the completion is stamped first.",
            |r| median(r.latency.completion),
        ),
        text(
            "performance_state",
            "GPU performance state with the most time; null if it was not recorded.",
            |r| CellValue::text(state(r)),
        ),
        ns(
            "performance_unknown_ns",
            "Time in the window with an unknown performance state; null if none was recorded.",
            |r| {
                CellValue::integer_or_absent(
                    r.machine.performance.as_ref().map(|found| found.unknown_ns),
                )
            },
        ),
        text(
            "thermal_worst",
            "Worst thermal state; null if it was not recorded.",
            |r| CellValue::text(thermal(r)),
        ),
        field(
            "bandwidth_gb_per_s",
            CellKind::Number,
            "GB/s",
            "Memory bandwidth while the process was busy, as hardware counters have it; null if it was \
             not counted.",
            |r| CellValue::number(bandwidth(r)),
        ),
        text(
            "metalens_version",
            "Version of metalens that wrote the row.",
            |_| CellValue::Text(env!("CARGO_PKG_VERSION")),
        ),
    ]
}

/// Returns the file name of the input. Its folder may be private.
fn file_name(path: &str) -> &str {
    let name = Path::new(path).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(path)
}

fn median<'r>(distribution: Option<Distribution>) -> CellValue<'r> {
    distribution.map_or(CellValue::Absent, |distribution| {
        CellValue::Integer(distribution.median_ns)
    })
}

fn state(report: &Report) -> Option<&str> {
    let longest = report.machine.performance.as_ref()?.states.first()?;
    Some(&longest.state)
}

fn bandwidth(report: &Report) -> Option<f64> {
    let counted = report.counters.as_ref()?.bandwidth?;
    Some(counted.gb_per_s)
}

fn thermal(report: &Report) -> Option<&str> {
    report.machine.thermal.as_ref()?.worst.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_name_is_kept() {
        for (path, expected) in [("/Users/me/a.trace", "a.trace"), ("a/b/", "b"), ("-", "-")] {
            assert_eq!(file_name(path), expected);
        }
    }
}
