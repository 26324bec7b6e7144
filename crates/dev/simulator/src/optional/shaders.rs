//! Simulates the shader timeline: the shaders of a process take its encoders in turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::plan::shaders::{ShaderInterval, intervals};
use crate::plan::states::process_color;
use crate::plan::{Plan, ProcessIndex};
use crate::sheet::table;

/// Distance between the addresses of two shaders, in bytes.
const SHADER_BYTES: u64 = 4_096;

table! {
    SHADER_INTERVALS: "metal-shader-profiler-intervals",
        "How the GPU time of a kick divides among shaders.";
    |plan, _| for (connection, interval) in (1_u64..).zip(recorded(plan)) => {
        let channel = plan.channels.text(interval.kick.channel);
        let share = billionths_of(interval.duration_ns, interval.kick.duration_ns);
        "start" "Start" StartTime = interval.start_ns;
        "duration" "Sample Duration" Duration = interval.duration_ns;
        "name" "Shader Name" ObjectLabel = &interval.numbered_name();
        "label" "Function Label" ObjectLabel = interval.name;
        "pso-label" "Pipeline" ObjectLabel;
        "event-name" "Event Name" GpuEventName = "Shader Timeline";
        "shader-type" "Shader Type" ObjectLabel = kind(channel);
        "percent-of-kick" "% GPU Work" Percent = share;
        "total-kick-percent" "% Total GPU Work" Percent;
        "color" "Color" Color = process_color(plan, interval.process);
        "event-priority" "Priority" Priority;
        "process" "Process" Process = interval.process;
        "gpu" "Metal Device" DeviceName;
        "channel-name" "Channel Name" ChannelName = channel;
        "event-depth" "Depth" NestingLevel = interval.depth;
        "connection-UUID" "Connection UUID" ConnectionUuid = connection;
    }
}

/// Returns the samples, of which there are none with the stock template: its shader timeline is off.
fn recorded(plan: &Plan) -> Vec<ShaderInterval<'_>> {
    if plan.shader_timeline {
        intervals(plan)
    } else {
        Vec::new()
    }
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

table! {
    SHADER_LIST: "metal-shader-profiler-shader-list", "Which shaders were loaded.";
    |plan, _| for (process, id, shader) in listed(plan) => {
        "timestamp" "Timestamp" StartTime;
        "name" "Shader Name" ObjectLabel = &format!("{shader} ({id})");
        "label" "Function Label" ObjectLabel = shader;
        "pso-name" "Pipeline" ObjectLabel;
        "id" "ID" Uint64 = id;
        "pc-start" "PC Start" Uint64 = id * SHADER_BYTES;
        "pc-end" "PC End" Uint64 = (id + 1) * SHADER_BYTES - 1;
        "shader-type" "Shader Type" String = "Compute";
        "process" "Process" Process = process;
        "gpu" "Metal Device" DeviceName;
    }
}

/// Returns the functions that the scenario names, numbered for each process.
fn listed(plan: &Plan) -> impl Iterator<Item = (ProcessIndex, u64, &String)> {
    plan.indexed_processes().flat_map(|(index, process)| {
        let numbered = (1..).zip(&process.shaders);
        numbered.map(move |(id, shader)| (index, id, shader))
    })
}

/// Share of one shader in the process's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderTotal {
    /// Name of the function.
    pub name: String,
    /// Rows of the shader timeline.
    pub count: u64,
    /// Sum of their lengths.
    pub total_ns: u64,
}

/// Computes totals of the process's shaders by name.
pub(crate) fn truth(plan: &Plan, target: ProcessIndex) -> Vec<ShaderTotal> {
    let mut totals = BTreeMap::new();
    for interval in intervals(plan)
        .into_iter()
        .filter(|interval| interval.process == target)
    {
        let total = totals.entry(interval.name).or_insert_with(|| ShaderTotal {
            name: interval.name.to_owned(),
            count: 0,
            total_ns: 0,
        });
        total.count += 1;
        total.total_ns += interval.duration_ns;
    }
    totals.into_values().collect()
}
