//! What held throughout: the GPU, memory, states, shaders and processes.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, NARRATIVE, Number, Part, Sheet, Text};
use crate::plan::ProcessIndex;

/// `metal-gpu-info`: one row.
pub(super) fn gpu_info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let recording = sheet.recording();
    sheet.row(|cells| {
        cells.number(Number::StartTime, 0);
        cells.text(Text::ObjectLabel, &recording.gpu);
        cells.number(Number::Uint32, 1);
        cells.number(Number::Uint64, ACCELERATOR_ID);
        cells.number(Number::Boolean, 1);
    })
}

/// `metal-current-allocated-size`: 64 KiB, from the target's first encoding to the end.
pub(super) fn allocated_size<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let Some(target) = plan.recorded_target() else {
        return Ok(());
    };
    let buffers = plan
        .buffers
        .iter()
        .filter(|buffer| buffer.process == target);
    let Some(start_ns) = buffers
        .map(|buffer| super::encoding_start_ns(plan, buffer))
        .min()
    else {
        return Ok(());
    };
    sheet.row(|cells| {
        cells.number(Number::StartTime, start_ns);
        cells.number(Number::Duration, plan.wall_ns - start_ns);
        cells.number(Number::StartTime, plan.wall_ns);
        cells.process(target);
        cells.number(Number::SizeInBytes, ALLOCATED_BYTES);
        cells.label(
            FORMATTED_LABEL,
            &[Part::Number(Number::SizeInBytes, ALLOCATED_BYTES)],
        );
        cells.label(FORMATTED_LABEL, &[Part::Process(target)]);
        cells.number(Number::Color, 1);
    })
}

const ALLOCATED_BYTES: u64 = 65_536;

/// `gpu-performance-state-intervals`: one state for the whole run.
pub(super) fn performance_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    let note = format!("{} performance state", recording.performance_state);
    sheet.row(|cells| {
        cells.number(Number::StartTime, 0);
        cells.number(Number::Duration, plan.wall_ns);
        cells.text(Text::PerformanceState, &recording.performance_state);
        cells.text(Text::String, "GPU Performance State");
        cells.number(
            Number::Boolean,
            u64::from(recording.performance_state_induced),
        );
        cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
        cells.text(Text::GpuEventName, "GPU Performance State");
    })
}

/// `device-thermal-state-intervals`: one state for the whole run.
pub(super) fn thermal_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    let note = format!("{} thermal state", recording.thermal_state);
    sheet.row(|cells| {
        cells.number(Number::StartTime, 0);
        cells.number(Number::Duration, plan.wall_ns);
        cells.number(Number::StartTime, plan.wall_ns);
        cells.text(Text::ThermalState, &recording.thermal_state);
        cells.text(Text::String, "Current");
        cells.number(Number::Boolean, 0);
        cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
    })
}

/// `metal-shader-profiler-shader-list`: the functions the scenario names, without times.
pub(super) fn shader_list<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
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

/// How far apart the shaders' addresses lie.
const SHADER_BYTES: u64 = 4_096;

/// `process-info`: one row per process.
pub(super) fn process_info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for (position, process) in plan.processes.iter().enumerate() {
        sheet.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Pid, u64::from(process.pid));
            cells.number(Number::Uint64, u64::from(process.pid));
            cells.process(ProcessIndex::at(position));
            cells.text(Text::String, &process.name);
        })?;
    }
    Ok(())
}
