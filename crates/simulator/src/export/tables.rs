//! The rows of every table.

mod application;
mod driver;
mod gpu;
mod machine;
mod submission;

use super::document::Document;
use super::table::Table;
use crate::error::Error;
use crate::plan::{Buffer, Encoder, Plan};

/// Writes all rows of a table.
pub(super) fn write_rows(table: Table, document: &mut Document<'_>) -> Result<(), Error> {
    match table {
        Table::MetalApplicationEncodersList => application::encoders_list(document),
        Table::MetalApplicationIntervals => application::intervals(document),
        Table::MetalApplicationCommandBufferSubmissions => application::submissions(document),
        Table::MetalCommandBufferCompleted => submission::completed(document),
        Table::MetalObjectLabel => submission::object_labels(document),
        Table::MetalDriverIntervals => driver::intervals(document),
        Table::MetalGpuSubmissionToCommandBufferId => submission::submission_to_buffer(document),
        Table::MetalGpuExecutionPoints => gpu::execution_points(document),
        Table::MetalGpuIntervals => gpu::intervals(document),
        Table::MetalGpuStateIntervals => gpu::states(document),
        Table::MetalGpuInfo => machine::gpu_info(document),
        Table::MetalCurrentAllocatedSize => machine::allocated_size(document),
        Table::MetalShaderProfilerShaderList => machine::shader_list(document),
        // The stock template records none: the shader timeline is off.
        Table::MetalShaderProfilerIntervals => Ok(()),
        Table::GpuPerformanceStateIntervals => machine::performance_states(document),
        Table::DeviceThermalStateIntervals => machine::thermal_states(document),
        Table::ProcessInfo => machine::process_info(document),
    }
}

/// An encoder with what the tables say beside it.
struct Encoding<'p> {
    encoder: &'p Encoder,
    buffer: &'p Buffer,
    /// Its place in the buffer.
    place: usize,
}

/// A command buffer, or one of its encoders.
enum Object<'p> {
    Buffer(&'p Buffer),
    Encoder(Encoding<'p>),
}

/// The encoders of a buffer with their places.
fn encodings<'p>(plan: &'p Plan, buffer: &'p Buffer) -> impl Iterator<Item = Encoding<'p>> {
    let encoders = plan.encoders_of(buffer).iter().enumerate();
    encoders.map(move |(place, encoder)| Encoding {
        encoder,
        buffer,
        place,
    })
}

/// The buffers of the processes the application tables cover.
fn instrumented(plan: &Plan) -> impl Iterator<Item = &Buffer> {
    plan.buffers
        .iter()
        .filter(|buffer| plan.is_instrumented(buffer.process))
}

/// When the encoding of a buffer started.
fn encoding_start_ns(plan: &Plan, buffer: &Buffer) -> u64 {
    plan.encoder(buffer.first_encoder).start_ns
}
