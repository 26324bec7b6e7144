//! What the machine was like: the GPU, its memory and states, the processes.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, NARRATIVE, Number, Part, Sheet, Text};
use crate::plan::ProcessIndex;
use crate::plan::machine::Held;

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

/// `metal-current-allocated-size`: how much Metal had allocated for the processes it covers.
pub(super) fn allocated_size<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let memory = sheet.plan().memory.iter();
    let row = |(process, levels): &'a (ProcessIndex, Vec<Held>)| {
        levels.iter().map(|level| (level, *process))
    };
    let mut rows: Vec<(&Held, ProcessIndex)> = memory.flat_map(row).collect();
    rows.sort_by_key(|(held, _)| held.start_ns);
    for (held, process) in rows {
        let size = Part::Number(Number::SizeInBytes, held.bytes);
        sheet.row(|cells| {
            cells.number(Number::StartTime, held.start_ns);
            cells.number(Number::Duration, held.end_ns - held.start_ns);
            cells.number(Number::StartTime, held.end_ns);
            cells.process(process);
            cells.number(Number::SizeInBytes, held.bytes);
            cells.label(FORMATTED_LABEL, &[size]);
            cells.label(FORMATTED_LABEL, &[Part::Process(process)]);
            cells.number(Number::Color, 1);
        })?;
    }
    Ok(())
}

/// `metal-wired-sysmem-level-interval`: system memory wired for the GPU.
pub(super) fn wired<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    for held in &plan.wired {
        let size = Part::Number(Number::SizeInBytes, held.bytes);
        sheet.row(|cells| {
            cells.number(Number::StartTime, held.start_ns);
            cells.number(Number::Duration, held.end_ns - held.start_ns);
            cells.number(Number::SizeInBytes, held.bytes);
            cells.number(Number::Color, 1);
            cells.text(Text::DeviceName, &recording.gpu);
            cells.label(NARRATIVE, &[size]);
            cells.text(Text::MemoryEvent, "Wired System Memory");
        })?;
    }
    Ok(())
}

/// `gpu-performance-state-intervals`: the states one after another.
pub(super) fn performance_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for stretch in &sheet.plan().performance {
        let note = format!("{} performance state", stretch.state);
        sheet.row(|cells| {
            cells.number(Number::StartTime, stretch.start_ns);
            cells.number(Number::Duration, stretch.end_ns - stretch.start_ns);
            cells.text(Text::PerformanceState, &stretch.state);
            cells.text(Text::String, "GPU Performance State");
            cells.number(Number::Boolean, u64::from(stretch.induced));
            cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
            cells.text(Text::GpuEventName, "GPU Performance State");
        })?;
    }
    Ok(())
}

/// `device-thermal-state-intervals`: the states one after another.
pub(super) fn thermal_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for stretch in &sheet.plan().thermal {
        let note = format!("{} thermal state", stretch.state);
        sheet.row(|cells| {
            cells.number(Number::StartTime, stretch.start_ns);
            cells.number(Number::Duration, stretch.end_ns - stretch.start_ns);
            cells.number(Number::StartTime, stretch.end_ns);
            cells.text(Text::ThermalState, &stretch.state);
            cells.text(Text::String, "Current");
            cells.number(Number::Boolean, u64::from(stretch.induced));
            cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
        })?;
    }
    Ok(())
}

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
