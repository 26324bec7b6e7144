//! Writes the rows of every table, through the function of each.

mod application;
mod counters;
mod driver;
mod engines;
mod gpu;
mod host;
mod machine;
mod objects;
mod shader;
mod submission;

pub(super) use submission::ACCELERATOR_ID;

use super::cells::Sheet;
use crate::error::Error;
use crate::scenario::engine::EngineKind;
use crate::scenario::table::Table;

/// Writes all rows of a table.
pub(super) fn write_rows<'a>(table: Table, sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
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
        Table::MetalCurrentAllocatedSize => machine::allocated_size(sheet),
        Table::MetalDriverEventIntervals => driver::events(sheet),
        Table::MetalResourceAllocations => machine::allocations(sheet),
        Table::MetalShaderProfilerShaderList => shader::list(sheet),
        Table::MetalShaderProfilerIntervals => shader::intervals(sheet),
        Table::GpuPerformanceStateIntervals => machine::performance_states(sheet),
        Table::DeviceThermalStateIntervals => machine::thermal_states(sheet),
        Table::ProcessInfo => machine::process_info(sheet),
        Table::MetalWiredSysmemLevelInterval => machine::wired(sheet),
        Table::MetalCommandBufferError => submission::errors(sheet),
        Table::GraphicsCompilerSpillEvents => submission::spills(sheet),
        Table::GpuCounterInfo => counters::info(sheet),
        Table::GpuCounterValue => counters::values(sheet),
        Table::MetalGpuCounterIntervals => counters::intervals(sheet),
        Table::OsSignpost => host::signposts(sheet),
        Table::TimeProfile => host::samples(sheet),
        Table::PotentialHangs => host::hangs(sheet),
        Table::MpsHwIntervals => engines::mps(sheet),
        Table::AneHwIntervals => engines::neural_engine(sheet, EngineKind::NeuralEngine),
        Table::AneHwIntervalsInternal => {
            engines::neural_engine(sheet, EngineKind::NeuralEngineInternal)
        }
        Table::CoremlOsSignpost => engines::core_ml(sheet),
        Table::CaClientBufferWaitInterval => engines::drawable_waits(sheet),
        Table::CaClientPresentRequest => engines::present_requests(sheet),
        Table::CaClientPresentedHandler => engines::presented(sheet),
    }
}
