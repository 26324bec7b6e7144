//! Lists the tables of a recording: their positions and documents, and their forms.

mod application;
mod driver;
mod gpu;
mod machine;
mod objects;
mod submission;

use crate::optional::{
    Optional, allocations, counters, engines, hangs, memory, samples, shaders, signposts, states,
    wiring,
};
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::sheet::Form;

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
    /// Returns the table's name, which is also that of its schema.
    pub fn name(self) -> &'static str {
        self.form().schema.name
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

    /// Returns the table's columns and rows.
    pub(super) const fn form(self) -> &'static Form<Optional> {
        match self {
            Self::MetalApplicationEncodersList => &application::ENCODERS_LIST,
            Self::MetalApplicationIntervals => &application::APPLICATION_INTERVALS,
            Self::MetalApplicationCommandBufferSubmissions => &application::SUBMISSIONS,
            Self::MetalCommandBufferCompleted => &submission::COMPLETED,
            Self::MetalObjectLabel => &submission::OBJECT_LABEL,
            Self::MetalDriverIntervals => &driver::DRIVER_INTERVALS,
            Self::MetalCommandBufferToAcceleratorId => &driver::BUFFER_TO_ACCELERATOR,
            Self::MetalGpuSubmissionToCommandBufferId => &submission::SUBMISSION_TO_BUFFER,
            Self::MetalGpuExecutionPoints => &gpu::EXECUTION_POINTS,
            Self::MetalGpuIntervals => &gpu::GPU_INTERVALS,
            Self::MetalGpuStateIntervals => &gpu::GPU_STATES,
            Self::MetalGpuInfo => &machine::GPU_INFO,
            Self::MetalCurrentAllocatedSize => &memory::ALLOCATED_SIZE,
            Self::MetalResourceAllocations => &allocations::ALLOCATIONS,
            Self::MetalDriverEventIntervals => &wiring::WIRING,
            Self::MetalShaderProfilerShaderList => &shaders::SHADER_LIST,
            Self::MetalShaderProfilerIntervals => &shaders::SHADER_INTERVALS,
            Self::GpuPerformanceStateIntervals => &states::PERFORMANCE_STATES,
            Self::DeviceThermalStateIntervals => &states::THERMAL_STATES,
            Self::ProcessInfo => &machine::PROCESS_INFO,
            Self::MetalWiredSysmemLevelInterval => &memory::WIRED,
            Self::MetalCommandBufferError => &submission::BUFFER_ERROR,
            Self::GraphicsCompilerSpillEvents => &submission::SPILL_EVENTS,
            Self::GpuCounterInfo => &counters::COUNTER_INFO,
            Self::GpuCounterValue => &counters::COUNTER_VALUE,
            Self::MetalGpuCounterIntervals => &counters::COUNTER_INTERVALS,
            Self::OsSignpost => &signposts::SIGNPOSTS,
            Self::TimeProfile => &samples::TIME_PROFILE,
            Self::PotentialHangs => &hangs::HANGS,
            Self::MpsHwIntervals => &engines::MPS_INTERVALS,
            Self::AneHwIntervals => &engines::ANE_INTERVALS,
            Self::AneHwIntervalsInternal => &engines::ANE_INTERVALS_INTERNAL,
            Self::CoremlOsSignpost => &engines::COREML_SIGNPOST,
            Self::CaClientBufferWaitInterval => &engines::BUFFER_WAIT,
        }
    }
}
