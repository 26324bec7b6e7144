//! Writes the tables of the shader profiler: the functions of a process, and their times in kicks.

use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::ProcessIndex;
use crate::plan::shaders::{ShaderInterval, shader_intervals};
use crate::plan::states::role_color;

pub(super) const SHADER_INTERVALS: Schema = Schema {
    name: "metal-shader-profiler-intervals",
    documentation: "How the GPU time of a kick divides among shaders.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Sample Duration", "duration"),
        ("name", "Shader Name", "metal-object-label"),
        ("label", "Function Label", "metal-object-label"),
        ("pso-label", "Pipeline", "metal-object-label"),
        ("event-name", "Event Name", "gpu-event-name"),
        ("shader-type", "Shader Type", "metal-object-label"),
        ("percent-of-kick", "% GPU Work", "percent"),
        ("total-kick-percent", "% Total GPU Work", "percent"),
        ("color", "Color", "render-buffer-depth"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("channel-name", "Channel Name", "gpu-channel-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
    ],
};

/// Writes `metal-shader-profiler-intervals`: a row per kick and shader. There are none with the
/// stock template, whose shader timeline is off.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    if !plan.shader_timeline {
        return Ok(());
    }

    let intervals: Vec<ShaderInterval<'a>> = shader_intervals(plan);
    for (connection, interval) in (1..).zip(intervals) {
        let channel = plan.channels.text(interval.kick.channel);
        let role = plan.process(interval.process).role;
        sheet.row(|cells| {
            cells.number(Number::StartTime, interval.start_ns);
            cells.number(Number::Duration, interval.duration_ns);
            cells.text(Text::ObjectLabel, &interval.numbered_name());
            cells.text(Text::ObjectLabel, interval.name);
            cells.text(Text::ObjectLabel, "");
            cells.text(Text::GpuEventName, "Shader Timeline");
            cells.text(Text::ObjectLabel, kind(channel));
            cells.percent(billionths_of(
                interval.duration_ns,
                interval.kick.duration_ns,
            ));
            cells.nothing();
            cells.number(Number::Color, role_color(role));
            cells.number(Number::Priority, 0);
            cells.process(interval.process);
            cells.text(Text::DeviceName, &recording.gpu);
            cells.text(Text::ChannelName, channel);
            cells.number(Number::NestingLevel, interval.depth);
            cells.number(Number::ConnectionUuid, connection);
        })?;
    }

    Ok(())
}

/// Returns a part of a whole, in billionths of a percent.
fn billionths_of(part: u64, whole: u64) -> u64 {
    let billionths = u128::from(part) * 100_000_000_000 / u128::from(whole.max(1));
    u64::try_from(billionths).unwrap_or(u64::MAX)
}

/// Returns the kind of shader that runs on a channel.
fn kind(channel: &str) -> &str {
    match channel {
        "Vertex" | "Fragment" => channel,
        _ => "Compute",
    }
}

pub(super) const SHADER_LIST: Schema = Schema {
    name: "metal-shader-profiler-shader-list",
    documentation: "Which shaders were loaded.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("name", "Shader Name", "metal-object-label"),
        ("label", "Function Label", "metal-object-label"),
        ("pso-name", "Pipeline", "metal-object-label"),
        ("id", "ID", "uint64"),
        ("pc-start", "PC Start", "uint64"),
        ("pc-end", "PC End", "uint64"),
        ("shader-type", "Shader Type", "string"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
    ],
};

/// Writes `metal-shader-profiler-shader-list`: the functions that the scenario names, without times.
pub(super) fn list<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    for (position, process) in plan.processes.iter().enumerate() {
        for (id, shader) in (1_u64..).zip(&process.shaders) {
            let name = format!("{shader} ({id})");
            sheet.row(|cells| {
                cells.number(Number::StartTime, 0);
                cells.text(Text::ObjectLabel, &name);
                cells.text(Text::ObjectLabel, shader);
                cells.text(Text::ObjectLabel, "");
                cells.number(Number::Uint64, id);
                cells.number(Number::Uint64, id * SHADER_BYTES);
                cells.number(Number::Uint64, (id + 1) * SHADER_BYTES - 1);
                cells.text(Text::String, "Compute");
                cells.process(ProcessIndex::at(position));
                cells.text(Text::DeviceName, &recording.gpu);
            })?;
        }
    }
    Ok(())
}

/// Distance between the addresses of two shaders, in bytes.
const SHADER_BYTES: u64 = 4_096;
