//! Lists the tables that a recording can have.

use serde::{Deserialize, Serialize};

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
