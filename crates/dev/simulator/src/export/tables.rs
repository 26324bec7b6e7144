//! Lists the tables that a recording can have: when it has them, and their forms, positions and
//! documents.

mod application;
mod driver;
mod gpu;
mod machine;
mod objects;
mod submission;

use serde::{Deserialize, Serialize};

use crate::optional::{
    EngineKind, Optional, allocations, counters, engines, hangs, memory, samples, shaders,
    signposts, states, wiring,
};
use crate::scenario::{Process, Scenario};
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

/// Declares the tables with their forms, and lists them.
macro_rules! tables {
    ($($name:ident $form:path,)*) => {
        /// A table of a Metal System Trace that this crate writes, in the order of the table of contents.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "the schema's own documentation describes each")]
        pub enum Table {
            $($name,)*
        }

        impl Table {
            /// All tables.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Returns the table's columns and rows.
            pub(crate) const fn form(self) -> &'static Form<Optional> {
                match self { $(Self::$name => &$form),* }
            }
        }
    };
}

tables! {
    ProcessInfo machine::PROCESS_INFO,
    MetalApplicationEncodersList application::ENCODERS_LIST,
    MetalShaderProfilerIntervals shaders::SHADER_INTERVALS,
    MetalObjectLabel submission::OBJECT_LABEL,
    MetalGpuExecutionPoints gpu::EXECUTION_POINTS,
    MetalGpuInfo machine::GPU_INFO,
    MetalDriverIntervals driver::DRIVER_INTERVALS,
    MetalApplicationCommandBufferSubmissions application::SUBMISSIONS,
    MetalCommandBufferCompleted submission::COMPLETED,
    MetalCurrentAllocatedSize memory::ALLOCATED_SIZE,
    MetalApplicationIntervals application::APPLICATION_INTERVALS,
    GpuPerformanceStateIntervals states::PERFORMANCE_STATES,
    DeviceThermalStateIntervals states::THERMAL_STATES,
    MetalShaderProfilerShaderList shaders::SHADER_LIST,
    MetalGpuStateIntervals gpu::GPU_STATES,
    MetalCommandBufferToAcceleratorId driver::BUFFER_TO_ACCELERATOR,
    MetalGpuSubmissionToCommandBufferId submission::SUBMISSION_TO_BUFFER,
    MetalGpuIntervals gpu::GPU_INTERVALS,
    MetalWiredSysmemLevelInterval memory::WIRED,
    MetalResourceAllocations allocations::ALLOCATIONS,
    MetalDriverEventIntervals wiring::WIRING,
    MetalCommandBufferError submission::BUFFER_ERROR,
    GraphicsCompilerSpillEvents submission::SPILL_EVENTS,
    GpuCounterInfo counters::COUNTER_INFO,
    GpuCounterValue counters::COUNTER_VALUE,
    MetalGpuCounterIntervals counters::COUNTER_INTERVALS,
    OsSignpost signposts::SIGNPOSTS,
    TimeProfile samples::TIME_PROFILE,
    PotentialHangs hangs::HANGS,
    MpsHwIntervals engines::MPS_INTERVALS,
    AneHwIntervals engines::ANE_INTERVALS,
    AneHwIntervalsInternal engines::ANE_INTERVALS_INTERNAL,
    CoremlOsSignpost engines::COREML_SIGNPOST,
    CaClientBufferWaitInterval engines::BUFFER_WAIT,
}

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
    pub(crate) fn is_listed(self, scenario: &Scenario) -> bool {
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
}
