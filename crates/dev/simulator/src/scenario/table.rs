//! Lists the tables that a recording can have.

use serde::{Deserialize, Serialize};

/// A table of a Metal System Trace that this crate writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the schema's own documentation describes each")]
pub enum Table {
    MetalApplicationEncodersList,
    MetalApplicationIntervals,
    MetalApplicationCommandBufferSubmissions,
    MetalCommandBufferCompleted,
    MetalObjectLabel,
    MetalDriverIntervals,
    MetalCommandBufferToAcceleratorId,
    MetalGpuSubmissionToCommandBufferId,
    MetalGpuExecutionPoints,
    MetalGpuIntervals,
    MetalGpuStateIntervals,
    MetalGpuInfo,
    MetalCurrentAllocatedSize,
    MetalResourceAllocations,
    MetalShaderProfilerShaderList,
    MetalShaderProfilerIntervals,
    GpuPerformanceStateIntervals,
    DeviceThermalStateIntervals,
    ProcessInfo,
    MetalWiredSysmemLevelInterval,
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
    CaClientPresentRequest,
    CaClientPresentedHandler,
}
