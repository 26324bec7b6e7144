//! Lists the tables of a recording: when it has them, their positions and documents, their columns and
//! who writes their rows.

mod application;
mod driver;
mod gpu;
mod machine;
mod objects;
mod submission;

use super::cells::Sheet;
use super::schema::Schema;
use crate::error::Error;
use crate::optional::{
    EngineKind, Optional, allocations, counters, engines, hangs, memory, samples, shaders,
    signposts, states, wiring,
};
use crate::scenario::table::Table;
use crate::scenario::{Process, Scenario};

/// Schemas of the tables that the table of contents lists first. They are not exported, except
/// signposts if there are any, and raw events if the scenario requests them.
pub(super) const UNEXPORTED: [&str; UNEXPORTED_COUNT] = [
    "tick",
    "kdebug",
    "kdebug-strings",
    "time-info",
    "os-signpost",
    "kdebug",
];

const UNEXPORTED_COUNT: usize = 6;
/// Position of `os-signpost` in [`UNEXPORTED`], from 1.
const SIGNPOST_POSITION: usize = 5;

impl Table {
    /// Returns the tables that a recording of the scenario has: those it chooses, or those of the
    /// stock template and others for which it has data.
    pub fn recorded(scenario: &Scenario) -> impl Iterator<Item = Self> {
        let chosen = scenario.tables.as_deref();
        Self::ALL.into_iter().filter(move |table| match chosen {
            Some(chosen) => chosen.contains(table),
            None => table.is_listed(scenario),
        })
    }

    /// Returns whether the table of contents lists the table. Tables that the stock template leaves
    /// empty are listed only if the scenario has data for them, or requests them.
    pub(super) fn is_listed(self, scenario: &Scenario) -> bool {
        let any = |has_data: fn(&Process) -> bool| scenario.process.iter().any(has_data);
        let has_work_of = |kind: EngineKind| {
            let mut work = scenario.process.iter().flat_map(|process| &process.engine);
            work.any(|work| work.kind == kind)
        };
        let has_data = match self {
            Self::MetalWiredSysmemLevelInterval => !scenario.recording.wired.is_empty(),
            Self::MetalResourceAllocations => any(|process| !process.allocation.is_empty()),
            Self::MetalDriverEventIntervals => any(|process| !process.wiring.is_empty()),
            Self::GpuCounterInfo | Self::GpuCounterValue => !scenario.recording.counter.is_empty(),
            Self::MetalGpuCounterIntervals => {
                scenario.recording.counter_intervals && !scenario.recording.counter.is_empty()
            }
            Self::OsSignpost => any(|process| !process.signpost.is_empty()),
            Self::TimeProfile => any(|process| process.samples.is_some()),
            Self::PotentialHangs => any(|process| !process.hang.is_empty()),
            Self::MetalCommandBufferError => any(|process| {
                let mut streams = process.stream.iter();
                streams.any(|stream| stream.oddities.error_every.is_some())
            }),
            Self::GraphicsCompilerSpillEvents => any(|process| {
                let mut streams = process.stream.iter();
                streams.any(|stream| stream.spill.is_some())
            }),
            Self::MpsHwIntervals => has_work_of(EngineKind::Mps),
            Self::AneHwIntervals => has_work_of(EngineKind::NeuralEngine),
            Self::AneHwIntervalsInternal => has_work_of(EngineKind::NeuralEngineInternal),
            Self::CoremlOsSignpost => has_work_of(EngineKind::CoreMl),
            Self::CaClientBufferWaitInterval => has_work_of(EngineKind::DrawableWait),
            _ => true,
        };

        has_data || scenario.tables.iter().flatten().any(|table| *table == self)
    }

    /// Returns the table's name, which is also that of its schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.schema().name
    }

    /// Returns the table's position in the table of contents, from 1.
    pub(super) fn position(self, scenario: &Scenario) -> usize {
        if self == Self::OsSignpost {
            return SIGNPOST_POSITION;
        }
        let before = Self::ALL.into_iter().take_while(|table| *table != self);
        UNEXPORTED.len() + before.filter(|table| table.has_entry(scenario)).count() + 1
    }

    /// Returns whether the table has an entry of its own after [`UNEXPORTED`].
    pub(super) fn has_entry(self, scenario: &Scenario) -> bool {
        self != Self::OsSignpost && self.is_listed(scenario)
    }

    /// Returns the document's file name: `<schema>.xml`, or `<schema>.run-N.xml` for several runs.
    pub(super) fn file_name(self, scenario: &Scenario, run: u32) -> String {
        match scenario.runs {
            1 => format!("{}.xml", self.name()),
            _ => format!("{}.run-{run}.xml", self.name()),
        }
    }

    /// Returns every file name that a document of this table can have.
    pub(super) fn file_names(self) -> impl Iterator<Item = String> {
        let numbered =
            (1..=Scenario::RUNS_MAX).map(move |run| format!("{}.run-{run}.xml", self.name()));
        numbered.chain([format!("{}.xml", self.name())])
    }

    /// Returns whether the table of contents says which processes the table covers. That does not
    /// restrict the rows: `metal-gpu-intervals` says `SINGLE` and lists all processes.
    pub(super) const fn has_target_pid(self) -> bool {
        matches!(
            self,
            Self::MetalApplicationEncodersList
                | Self::MetalApplicationIntervals
                | Self::MetalApplicationCommandBufferSubmissions
                | Self::MetalDriverIntervals
                | Self::MetalDriverEventIntervals
                | Self::MetalGpuIntervals
                | Self::MetalCurrentAllocatedSize
                | Self::MetalResourceAllocations
                | Self::MetalShaderProfilerShaderList
                | Self::MetalShaderProfilerIntervals
        )
    }

    /// Returns the table's name and columns.
    pub(super) const fn schema(self) -> Schema {
        match self {
            Self::MetalApplicationEncodersList => application::ENCODERS_LIST,
            Self::MetalApplicationIntervals => application::APPLICATION_INTERVALS,
            Self::MetalApplicationCommandBufferSubmissions => application::SUBMISSIONS,
            Self::MetalCommandBufferCompleted => submission::COMPLETED,
            Self::MetalObjectLabel => submission::OBJECT_LABEL,
            Self::MetalDriverIntervals => driver::DRIVER_INTERVALS,
            Self::MetalCommandBufferToAcceleratorId => driver::BUFFER_TO_ACCELERATOR,
            Self::MetalGpuSubmissionToCommandBufferId => submission::SUBMISSION_TO_BUFFER,
            Self::MetalGpuExecutionPoints => gpu::EXECUTION_POINTS,
            Self::MetalGpuIntervals => gpu::GPU_INTERVALS,
            Self::MetalGpuStateIntervals => gpu::GPU_STATES,
            Self::MetalGpuInfo => machine::GPU_INFO,
            Self::MetalCurrentAllocatedSize => memory::ALLOCATED_SIZE,
            Self::MetalResourceAllocations => allocations::SCHEMA,
            Self::MetalDriverEventIntervals => wiring::SCHEMA,
            Self::MetalShaderProfilerShaderList => shaders::SHADER_LIST,
            Self::MetalShaderProfilerIntervals => shaders::SHADER_INTERVALS,
            Self::GpuPerformanceStateIntervals => states::PERFORMANCE_STATES,
            Self::DeviceThermalStateIntervals => states::THERMAL_STATES,
            Self::ProcessInfo => machine::PROCESS_INFO,
            Self::MetalWiredSysmemLevelInterval => memory::WIRED_MEMORY,
            Self::MetalCommandBufferError => submission::BUFFER_ERROR,
            Self::GraphicsCompilerSpillEvents => submission::SPILL_EVENTS,
            Self::GpuCounterInfo => counters::COUNTER_INFO,
            Self::GpuCounterValue => counters::COUNTER_VALUE,
            Self::MetalGpuCounterIntervals => counters::COUNTER_INTERVALS,
            Self::OsSignpost => signposts::SCHEMA,
            Self::TimeProfile => samples::SCHEMA,
            Self::PotentialHangs => hangs::SCHEMA,
            Self::MpsHwIntervals => engines::MPS_INTERVALS,
            Self::AneHwIntervals => engines::ANE_INTERVALS,
            Self::AneHwIntervalsInternal => engines::ANE_INTERVALS_INTERNAL,
            Self::CoremlOsSignpost => engines::COREML_SIGNPOST,
            Self::CaClientBufferWaitInterval => engines::BUFFER_WAIT,
        }
    }
}

/// Writes all rows of a table.
pub(super) fn write_rows<'a>(
    table: Table,
    optional: &Optional,
    sheet: &mut impl Sheet<'a>,
) -> Result<(), Error> {
    let work = &optional.engines;
    match table {
        Table::MetalApplicationEncodersList => application::encoders_list(sheet),
        Table::MetalApplicationIntervals => application::intervals(sheet),
        Table::MetalApplicationCommandBufferSubmissions => application::submissions(sheet),
        Table::MetalCommandBufferCompleted => submission::completed(sheet),
        Table::MetalObjectLabel => submission::object_labels(sheet),
        Table::MetalDriverIntervals => driver::intervals(sheet),
        Table::MetalCommandBufferToAcceleratorId => driver::begins(sheet),
        Table::MetalGpuSubmissionToCommandBufferId => submission::submission_to_buffer(sheet),
        Table::MetalGpuExecutionPoints => gpu::execution_points(sheet),
        Table::MetalGpuIntervals => gpu::intervals(sheet),
        Table::MetalGpuStateIntervals => gpu::states(sheet),
        Table::MetalGpuInfo => machine::gpu_info(sheet),
        Table::MetalCurrentAllocatedSize => memory::write_allocated(&optional.memory, sheet),
        Table::MetalDriverEventIntervals => wiring::write(&optional.wiring, sheet),
        Table::MetalResourceAllocations => allocations::write(&optional.allocations, sheet),
        Table::MetalShaderProfilerShaderList => shaders::write_list(sheet),
        Table::MetalShaderProfilerIntervals => shaders::write_intervals(sheet),
        Table::GpuPerformanceStateIntervals => {
            states::write_performance(&optional.performance, sheet)
        }
        Table::DeviceThermalStateIntervals => states::write_thermal(&optional.thermal, sheet),
        Table::ProcessInfo => machine::process_info(sheet),
        Table::MetalWiredSysmemLevelInterval => memory::write_wired(&optional.wired, sheet),
        Table::MetalCommandBufferError => submission::errors(sheet),
        Table::GraphicsCompilerSpillEvents => submission::spills(sheet),
        Table::GpuCounterInfo => counters::write_info(&optional.counters, sheet),
        Table::GpuCounterValue => counters::write_values(&optional.counters, sheet),
        Table::MetalGpuCounterIntervals => counters::write_intervals(&optional.counters, sheet),
        Table::OsSignpost => signposts::write(&optional.signposts, sheet),
        Table::TimeProfile => samples::write(&optional.samples, sheet),
        Table::PotentialHangs => hangs::write(&optional.hangs, sheet),
        Table::MpsHwIntervals => engines::write_mps(work, sheet),
        Table::AneHwIntervals => {
            engines::write_neural_engine(work, sheet, EngineKind::NeuralEngine)
        }
        Table::AneHwIntervalsInternal => {
            engines::write_neural_engine(work, sheet, EngineKind::NeuralEngineInternal)
        }
        Table::CoremlOsSignpost => engines::write_core_ml(work, sheet),
        Table::CaClientBufferWaitInterval => engines::write_drawable_waits(work, sheet),
    }
}
