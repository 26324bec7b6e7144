//! Simulates the shader timeline: the shaders of a process take its encoders in turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::states::role_color;
use crate::plan::{Kick, Plan, ProcessIndex};

/// Distance between the addresses of two shaders, in bytes.
const SHADER_BYTES: u64 = 4_096;

/// The part of a kick in which one shader was sampled.
#[derive(Debug, Clone)]
pub(crate) struct ShaderInterval<'p> {
    pub(crate) kick: &'p Kick,
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) name: &'p str,
    /// Number of the shader in the process's list, from 1.
    pub(crate) number: usize,
    /// Depth of nesting, from 0.
    pub(crate) depth: u64,
}

impl ShaderInterval<'_> {
    /// Returns the name in the form of the list of shaders: `matmul (1)`.
    pub(crate) fn numbered_name(&self) -> String {
        format!("{} ({})", self.name, self.number)
    }
}

/// Divides the kicks of the processes that the application tables cover among their shaders. A
/// kick of several encoders is divided into equal parts; of each part a share is sampled, from
/// its start. A nested sample is the middle third of the outer one:
///
/// ```text
/// kick     [-----------------------)
/// depth 0  [--------------)            sampled: 60 %
/// depth 1       [----)
/// ```
fn intervals(plan: &Plan) -> Vec<ShaderInterval<'_>> {
    let mut intervals: Vec<ShaderInterval<'_>> = plan
        .kicks
        .iter()
        .flat_map(|kick| intervals_of(plan, kick))
        .collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    intervals
}

/// Returns the samples of a kick: outer ones, each followed by the one inside it.
pub(crate) fn intervals_of<'p>(
    plan: &'p Plan,
    kick: &'p Kick,
) -> impl Iterator<Item = ShaderInterval<'p>> {
    let process = plan.process_of(kick);
    let covered = process.filter(|process| plan.is_instrumented(*process));
    let parts = u64::from(kick.encoder_count);
    let sampled = plan.encoder(kick.encoder).sampled;

    covered.into_iter().flat_map(move |process| {
        let owner = plan.process(process);
        let first = kick.encoder.get() - owner.first_encoder.get();
        let shader = move |turn: usize| {
            let index = turn.checked_rem(owner.shaders.len())?;
            Some((index + 1, owner.shaders[index].as_str()))
        };

        (0..kick.encoder_count)
            .filter_map(move |part| {
                let from_ns = kick.duration_ns * u64::from(part) / parts;
                let to_ns = kick.duration_ns * (u64::from(part) + 1) / parts;
                let (number, name) = shader(first + usize::from(part))?;
                let outer = ShaderInterval {
                    kick,
                    process,
                    start_ns: kick.start_ns + from_ns,
                    duration_ns: (to_ns - from_ns) * u64::from(sampled.percent) / 100,
                    name,
                    number,
                    depth: 0,
                };

                let third_ns = outer.duration_ns / 3;
                let (number, name) = shader(first + usize::from(part) + 1)?;
                let inner = ShaderInterval {
                    start_ns: outer.start_ns + third_ns,
                    duration_ns: third_ns,
                    name,
                    number,
                    depth: 1,
                    ..outer.clone()
                };

                let inner = (sampled.nested && third_ns > 0).then_some(inner);
                (outer.duration_ns > 0).then(|| std::iter::once(outer).chain(inner))
            })
            .flatten()
    })
}

pub(crate) const SHADER_INTERVALS: Schema = Schema {
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
pub(crate) fn write_intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    if !plan.shader_timeline {
        return Ok(());
    }

    for (connection, interval) in (1..).zip(intervals(plan)) {
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
            cells.text(Text::DeviceName, &plan.gpu);
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

pub(crate) const SHADER_LIST: Schema = Schema {
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
pub(crate) fn write_list<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
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
                cells.text(Text::DeviceName, &plan.gpu);
            })?;
        }
    }
    Ok(())
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
pub(super) fn truth(plan: &Plan, target: ProcessIndex) -> Vec<ShaderTotal> {
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
