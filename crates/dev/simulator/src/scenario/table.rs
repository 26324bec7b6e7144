//! Lists the tables that a recording can have.

use serde::{Deserialize, Serialize};

use super::{Process, Scenario};
use crate::optional::EngineKind;

/// Declares the tables, and lists them.
macro_rules! tables {
    ($($name:ident,)*) => {
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
        }
    };
}

tables! {
    ProcessInfo,
    MetalApplicationEncodersList,
    MetalShaderProfilerIntervals,
    MetalObjectLabel,
    MetalGpuExecutionPoints,
    MetalGpuInfo,
    MetalDriverIntervals,
    MetalApplicationCommandBufferSubmissions,
    MetalCommandBufferCompleted,
    MetalCurrentAllocatedSize,
    MetalApplicationIntervals,
    GpuPerformanceStateIntervals,
    DeviceThermalStateIntervals,
    MetalShaderProfilerShaderList,
    MetalGpuStateIntervals,
    MetalCommandBufferToAcceleratorId,
    MetalGpuSubmissionToCommandBufferId,
    MetalGpuIntervals,
    MetalWiredSysmemLevelInterval,
    MetalResourceAllocations,
    MetalDriverEventIntervals,
    MetalCommandBufferError,
    GraphicsCompilerSpillEvents,
    GpuCounterInfo,
    GpuCounterValue,
    MetalGpuCounterIntervals,
    OsSignpost,
    TimeProfile,
    PotentialHangs,
    MpsHwIntervals,
    AneHwIntervals,
    AneHwIntervalsInternal,
    CoremlOsSignpost,
    CaClientBufferWaitInterval,
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
}
