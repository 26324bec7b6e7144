//! Writes the tables about the machine: the GPU, its memory and states, the processes.

use super::submission::ACCELERATOR_ID;
use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, NARRATIVE, Number, Part, Sheet, Text};
use crate::export::functions;
use crate::export::schema::Schema;
use crate::plan::MemoryInterval;
use crate::plan::ProcessIndex;

pub(super) const GPU_INFO: Schema = Schema {
    name: "metal-gpu-info",
    documentation: "Which GPUs there are.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("gpu-name", "GPU Name", "metal-object-label"),
        ("gpu-index", "GPU Index", "uint32"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("mobile", "Mobile", "boolean"),
    ],
};

/// Writes `metal-gpu-info`: one row, since the machine has one GPU.
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

pub(super) const ALLOCATED_SIZE: Schema = Schema {
    name: "metal-current-allocated-size",
    documentation: "How much memory Metal had allocated.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("end", "End", "start-time"),
        ("process", "Process", "process"),
        (
            "current-allocated-size",
            "Current Allocated Size",
            "size-in-bytes",
        ),
        ("label", "Label", "formatted-label"),
        ("track-name", "Track", "formatted-label"),
        ("color", "Color", "render-buffer-depth"),
    ],
};

/// Writes `metal-current-allocated-size`: memory that Metal had allocated for covered processes.
pub(super) fn allocated_size<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let memory = sheet.plan().memory.iter();
    let mut rows: Vec<(&MemoryInterval, ProcessIndex)> = memory
        .flat_map(|(process, intervals)| intervals.iter().map(|interval| (interval, *process)))
        .collect();
    rows.sort_by_key(|(interval, _)| interval.start_ns);

    for (interval, process) in rows {
        let size = Part::Number(Number::SizeInBytes, interval.bytes);
        sheet.row(|cells| {
            cells.number(Number::StartTime, interval.start_ns);
            cells.number(Number::Duration, interval.end_ns - interval.start_ns);
            cells.number(Number::StartTime, interval.end_ns);
            cells.process(process);
            cells.number(Number::SizeInBytes, interval.bytes);
            cells.label(FORMATTED_LABEL, &[size]);
            cells.label(FORMATTED_LABEL, &[Part::Process(process)]);
            cells.number(Number::Color, 1);
        })?;
    }
    Ok(())
}

pub(super) const RESOURCE_ALLOCATIONS: Schema = Schema {
    name: "metal-resource-allocations",
    documentation: "Which resources were allocated and freed.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("duration", "Lifetime", "duration"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("resource-id", "ID", "gpu-hardware-trace"),
        ("parent-resource-id", "Parent ID", "gpu-hardware-trace"),
        ("label", "Label", "metal-object-label"),
        ("vidmem-bytes", "Video Memory Bytes", "size-in-bytes"),
        ("sysmem-bytes", "System Memory Bytes", "size-in-bytes"),
        ("resource-size", "Resource Size", "size-in-bytes"),
        ("event-label", "Description", "formatted-label"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("resource-type", "Resource Type", "metal-object-label"),
        ("event-type", "Event Type", "gpu-memory-event-name"),
        ("backtrace", "Backtrace", "backtrace"),
        ("event-icon", "Event Icon", "metal-event"),
    ],
};

/// Writes `metal-resource-allocations`: an event for each resource that was made, and for each that
/// was freed, with its lifetime.
pub(super) fn allocations<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    let events = plan.allocations.iter().flat_map(|allocation| {
        let made = allocation
            .made_ns
            .map(|at_ns| (at_ns, "Allocation", 0, allocation));
        let lifetime = |at_ns: u64| allocation.made_ns.map_or(0, |made_ns| at_ns - made_ns);
        let freed = allocation
            .freed_ns
            .map(|at_ns| (at_ns, "Deallocation", lifetime(at_ns), allocation));
        made.into_iter().chain(freed)
    });
    let mut events: Vec<_> = events.collect();
    events.sort_by_key(|(at_ns, ..)| *at_ns);

    for (at_ns, event, lifetime_ns, allocation) in events {
        let label = match allocation.label.as_str() {
            "" => format!("Resource 0x{:x}", allocation.id),
            label => label.to_owned(),
        };
        let stack = functions::allocation_stack(plan, allocation);
        let parts = [
            Part::Text(Text::ObjectLabel, &label),
            Part::Number(Number::SizeInBytes, allocation.bytes),
        ];
        sheet.row(|cells| {
            cells.number(Number::StartTime, at_ns);
            cells.number(Number::Duration, lifetime_ns);
            cells.process(allocation.process);
            cells.thread(allocation.process);
            cells.number(Number::HardwareTraceId, allocation.id);
            cells.number(Number::HardwareTraceId, u64::MAX);
            cells.text(Text::ObjectLabel, &label);
            cells.nothing();
            cells.number(Number::SizeInBytes, allocation.bytes);
            cells.number(Number::SizeInBytes, allocation.bytes);
            cells.label(FORMATTED_LABEL, &parts);
            cells.text(Text::DeviceName, &recording.gpu);
            cells.text(Text::ObjectLabel, "Buffer");
            cells.text(Text::AllocationEvent, event);
            cells.stack(&stack);
            cells.text(Text::Event, "Buffer");
        })?;
    }
    Ok(())
}

pub(super) const WIRED_MEMORY: Schema = Schema {
    name: "metal-wired-sysmem-level-interval",
    documentation: "How much system memory was wired for the GPU.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("bytes", "Bytes", "size-in-bytes"),
        ("color", "Color", "render-buffer-depth"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("event-label", "Description", "narrative"),
        ("event-type", "Event Type", "metal-memory-level-event"),
    ],
};

/// Writes `metal-wired-sysmem-level-interval`: system memory wired for the GPU.
pub(super) fn wired<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    for interval in &plan.wired {
        let size = Part::Number(Number::SizeInBytes, interval.bytes);
        sheet.row(|cells| {
            cells.number(Number::StartTime, interval.start_ns);
            cells.number(Number::Duration, interval.end_ns - interval.start_ns);
            cells.number(Number::SizeInBytes, interval.bytes);
            cells.number(Number::Color, 1);
            cells.text(Text::DeviceName, &recording.gpu);
            cells.label(NARRATIVE, &[size]);
            cells.text(Text::MemoryEvent, "Wired System Memory");
        })?;
    }
    Ok(())
}

pub(super) const PERFORMANCE_STATES: Schema = Schema {
    name: "gpu-performance-state-intervals",
    documentation: "Which performance state the GPU was in.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        (
            "gpu-performance-state",
            "GPU Performance State",
            "gpu-performance-state",
        ),
        ("track-label", "Track", "string"),
        ("is-induced", "Is Induced", "boolean"),
        ("narrative", "Narrative", "narrative"),
        ("event-type", "Event Type", "gpu-event-name"),
    ],
};

/// Writes `gpu-performance-state-intervals`: the states in order.
pub(super) fn performance_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for state in &sheet.plan().performance {
        let note = format!("{} performance state", state.state);
        sheet.row(|cells| {
            cells.number(Number::StartTime, state.start_ns);
            cells.number(Number::Duration, state.end_ns - state.start_ns);
            cells.text(Text::PerformanceState, &state.state);
            cells.text(Text::String, "GPU Performance State");
            cells.number(Number::Boolean, u64::from(state.induced));
            cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
            cells.text(Text::GpuEventName, "GPU Performance State");
        })?;
    }
    Ok(())
}

pub(super) const THERMAL_STATES: Schema = Schema {
    name: "device-thermal-state-intervals",
    documentation: "Which thermal state the device was in.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("end", "End", "start-time"),
        ("thermal-state", "Thermal State", "thermal-state"),
        ("track-label", "Track", "string"),
        ("is-induced", "Is Induced", "boolean"),
        ("narrative", "Narrative", "narrative"),
    ],
};

/// Writes `device-thermal-state-intervals`: the states in order.
pub(super) fn thermal_states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for state in &sheet.plan().thermal {
        let note = format!("{} thermal state", state.state);
        sheet.row(|cells| {
            cells.number(Number::StartTime, state.start_ns);
            cells.number(Number::Duration, state.end_ns - state.start_ns);
            cells.number(Number::StartTime, state.end_ns);
            cells.text(Text::ThermalState, &state.state);
            cells.text(Text::String, "Current");
            cells.number(Number::Boolean, u64::from(state.induced));
            cells.label(NARRATIVE, &[Part::Text(Text::Narrative, &note)]);
        })?;
    }
    Ok(())
}

pub(super) const PROCESS_INFO: Schema = Schema {
    name: "process-info",
    documentation: "Which processes were running.",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("pid", "Process ID", "pid"),
        ("unique-id", "Unique Process ID", "uint64"),
        ("process", "Process", "process"),
        ("process-name", "Process Name", "string"),
    ],
};

/// Writes `process-info`: one row per process.
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
