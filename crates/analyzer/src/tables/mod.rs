//! The door: every table of a trace that the analysis reads, each of its own type.
//!
//! [`take`] takes a trace apart once. Later stages are functions of what it returns, so
//! that the compiler knows their order; they take whole tables where these are large, so
//! that each table's memory ends with its use. Columns are moved, never copied.
//!
//! A table is `Ok`, or an [`Absent`] that says why there is none: absent is never empty,
//! and null is never zero.

pub(crate) mod columns;
pub(crate) mod commands;
pub(crate) mod counters;
pub(crate) mod cpu;
pub(crate) mod gpu;
pub(crate) mod machine;
pub(crate) mod names;
pub(crate) mod reader;
pub(crate) mod recording;
mod selection;
pub(crate) mod signposts;
mod times;

use metalens_trace::Trace;

pub use selection::{profile_selection, selection, selection_with_recovery};

use self::reader::Given;
use self::recording::Recording;
use crate::error::Result;

/// Everything that the analysis reads, in the order in which it is used.
pub(crate) struct Tables {
    /// The GPU's intervals and states.
    pub gpu: GpuTables,
    /// The phases that programs named.
    pub signposts: SignpostTables,
    /// What the program did with its command buffers.
    pub commands: CommandTables,
    /// What may name the work besides its labels.
    pub names: NameTables,
    /// What there is beside the GPU's intervals.
    pub surroundings: SurroundingTables,
}

pub(crate) struct GpuTables {
    pub intervals: Given<gpu::GpuIntervals>,
    pub states: Given<gpu::GpuStates>,
}

pub(crate) struct SignpostTables {
    /// One per set of subsystems.
    pub events: Vec<Given<signposts::SignpostEvents>>,
    pub intervals: Vec<Given<signposts::SignpostIntervals>>,
}

pub(crate) struct CommandTables {
    pub encoders: Given<commands::Encoders>,
    pub completions: Given<commands::Completions>,
    pub application: Given<commands::ApplicationIntervals>,
    pub submissions: Given<commands::Submissions>,
}

pub(crate) struct NameTables {
    pub shader_samples: Given<names::ShaderSamples>,
    pub application_events: Given<names::ApplicationEvents>,
}

pub(crate) struct SurroundingTables {
    /// What else the machine did.
    pub machine: MachineTables,
    /// The GPU's hardware counters.
    pub counters: CounterTables,
    /// CPU samples; none if no table of them has rows.
    pub cpu: Option<cpu::CpuTable>,
    /// Shaders without times.
    pub shader_list: Given<names::ShaderList>,
}

pub(crate) struct MachineTables {
    pub performance: Given<machine::NamedStates>,
    pub device: Given<machine::NumberedStates>,
    pub thermal: Given<machine::NamedStates>,
    pub allocated: Given<machine::AllocatedSizes>,
    pub wired: Given<machine::WiredSizes>,
    pub driver_intervals: Given<machine::DriverWork>,
    pub driver_events: Given<machine::DriverWork>,
    pub shader_compiles: Given<machine::OwnedSpans>,
    pub hangs: Given<machine::OwnedSpans>,
    pub hang_risks: Given<machine::HangRisks>,
    pub buffer_errors: Given<machine::BufferErrors>,
    pub compositor: Given<machine::Compositor>,
    pub vsyncs: Given<machine::Vsyncs>,
    pub surfaces: Given<columns::Spans>,
}

pub(crate) struct CounterTables {
    pub intervals: Given<counters::CounterSamples>,
    pub values: Given<counters::CounterSamples>,
    pub info: Given<counters::CounterInfo>,
}

/// Takes a trace apart. Refuses it if a main table has impossible times.
pub(crate) fn take(mut trace: Trace) -> Result<(Recording, Tables)> {
    times::check(&mut trace)?;
    let recording = Recording::of(&mut trace);
    let trace = &mut trace;
    let tables = Tables {
        gpu: GpuTables {
            intervals: gpu::GPU_INTERVALS.take(trace),
            states: gpu::GPU_STATES.take(trace),
        },
        signposts: SignpostTables {
            events: signposts::SIGNPOST_EVENTS.take_all(trace),
            intervals: signposts::SIGNPOST_INTERVALS.take_all(trace),
        },
        commands: CommandTables {
            encoders: commands::ENCODERS.take(trace),
            completions: commands::COMPLETIONS.take(trace),
            application: commands::APPLICATION.take(trace),
            submissions: commands::SUBMISSIONS.take(trace),
        },
        names: NameTables {
            shader_samples: names::SHADER_SAMPLES.take(trace),
            application_events: names::APPLICATION_EVENTS.take(trace),
        },
        surroundings: SurroundingTables {
            machine: MachineTables::take(trace),
            counters: CounterTables {
                intervals: counters::COUNTER_INTERVALS.take(trace),
                values: counters::COUNTER_VALUES.take(trace),
                info: counters::COUNTER_INFO.take(trace),
            },
            cpu: cpu::CpuTable::take(trace),
            shader_list: names::SHADER_LIST.take(trace),
        },
    };
    Ok((recording, tables))
}

impl MachineTables {
    fn take(trace: &mut Trace) -> Self {
        Self {
            performance: machine::PERFORMANCE.take(trace),
            device: machine::DEVICE.take(trace),
            thermal: machine::THERMAL.take(trace),
            allocated: machine::ALLOCATED.take(trace),
            wired: machine::WIRED.take(trace),
            driver_intervals: machine::DRIVER_INTERVALS.take(trace),
            driver_events: machine::DRIVER_EVENTS.take(trace),
            shader_compiles: machine::SHADER_COMPILES.take(trace),
            hangs: machine::HANGS.take(trace),
            hang_risks: machine::HANG_RISKS.take(trace),
            buffer_errors: machine::BUFFER_ERRORS.take(trace),
            compositor: machine::COMPOSITOR.take(trace),
            vsyncs: machine::VSYNCS.take(trace),
            surfaces: machine::SURFACES.take(trace),
        }
    }
}
