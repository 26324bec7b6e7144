//! Encodes one planned encoder into a command buffer.
#![expect(
    unsafe_code,
    reason = "Metal may not check indices, offsets and sizes; the plan bounds them"
)]

use std::ptr::NonNull;

use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBlitCommandEncoder, MTLBlitPassDescriptor, MTLCommandBuffer, MTLCommandEncoder,
    MTLComputeCommandEncoder, MTLComputePassDescriptor, MTLSize,
};

use super::counters::EncoderSamples;
use super::errors::missing;
use super::gpu::Gpu;
use super::gpu::size;
use crate::error::Result;
use crate::kernel::{ELEMENT_BYTES, Kernel};
use crate::work::{Encoder, Task};

/// Encodes a planned encoder with all of its dispatches.
pub(super) fn encode(
    gpu: &Gpu,
    buffer: &ProtocolObject<dyn MTLCommandBuffer>,
    planned: &Encoder,
    samples: Option<EncoderSamples<'_>>,
) -> Result<()> {
    match planned.task {
        Task::Kernel(kernel) => compute(gpu, buffer, planned, kernel, samples),
        Task::Copy => copy(gpu, buffer, planned, samples),
    }
}

/// Encodes a compute encoder.
fn compute(
    gpu: &Gpu,
    buffer: &ProtocolObject<dyn MTLCommandBuffer>,
    planned: &Encoder,
    kernel: Kernel,
    samples: Option<EncoderSamples<'_>>,
) -> Result<()> {
    let encoder = match samples.and_then(EncoderSamples::around_encoder) {
        Some(pair) => {
            let pass = MTLComputePassDescriptor::computePassDescriptor();
            pair.attach_to_compute(&pass);
            buffer.computeCommandEncoderWithDescriptor(&pass)
        }
        None => buffer.computeCommandEncoder(),
    };
    let encoder = encoder.ok_or_else(|| missing("make a compute encoder"))?;
    encoder.setLabel(gpu.encoder_label(planned.task));

    let encoded = dispatches(gpu, &encoder, planned, kernel, samples);
    // This applies after a failure too: Metal aborts if an open encoder is dropped.
    encoder.endEncoding();
    encoded
}

/// Encodes the dispatches of a compute encoder.
fn dispatches(
    gpu: &Gpu,
    encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>,
    planned: &Encoder,
    kernel: Kernel,
    samples: Option<EncoderSamples<'_>>,
) -> Result<()> {
    encoder.setComputePipelineState(gpu.pipeline(kernel)?);
    for (index, &array) in planned.reads.iter().chain([&planned.writes]).enumerate() {
        // SAFETY: the kernel has an array at this index (a test compares the source with the
        // plan), and the array has at least the `size` elements that are passed below; the
        // command buffer retains it.
        unsafe { encoder.setBuffer_offset_atIndex(Some(gpu.array(array)?), 0, index) };
    }

    // Every size fits: `Workload::max_size`.
    let count = u32::try_from(planned.size).unwrap_or(u32::MAX);
    // SAFETY: the kernel takes a `uint` after its arrays; its bytes are copied.
    unsafe {
        encoder.setBytes_length_atIndex(
            NonNull::from(&count).cast(),
            size_of::<u32>(),
            planned.reads.len() + 1,
        );
    }

    let (groups, group) = (flat(kernel.groups(planned.size)), flat(kernel.group()));
    for dispatch in 0..planned.dispatches {
        let pair = samples.and_then(|samples| samples.around_dispatch(dispatch));
        if let Some(pair) = pair {
            pair.before(encoder);
        }
        encoder.dispatchThreadgroups_threadsPerThreadgroup(groups, group);
        if let Some(pair) = pair {
            pair.after(encoder);
        }
    }
    Ok(())
}

/// Encodes a blit encoder, which copies one array to another.
fn copy(
    gpu: &Gpu,
    buffer: &ProtocolObject<dyn MTLCommandBuffer>,
    planned: &Encoder,
    samples: Option<EncoderSamples<'_>>,
) -> Result<()> {
    let from = planned.reads.first().copied().unwrap_or(usize::MAX);
    let (from, to) = (gpu.array(from)?, gpu.array(planned.writes)?);

    let encoder = match samples.and_then(EncoderSamples::around_encoder) {
        Some(pair) => {
            let pass = MTLBlitPassDescriptor::blitPassDescriptor();
            pair.attach_to_blit(&pass);
            buffer.blitCommandEncoderWithDescriptor(&pass)
        }
        None => buffer.blitCommandEncoder(),
    };
    let encoder = encoder.ok_or_else(|| missing("make a blit encoder"))?;
    encoder.setLabel(gpu.encoder_label(planned.task));

    let bytes = size(planned.size * ELEMENT_BYTES);
    for part in 0..planned.dispatches {
        let offset = size(part) * bytes;
        // SAFETY: both arrays have as many elements as all parts together, and the command
        // buffer retains them.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                from, offset, to, offset, bytes,
            );
        }
    }

    encoder.endEncoding();
    Ok(())
}

fn flat(area: (u64, u64)) -> MTLSize {
    let (width, height) = area;
    MTLSize {
        width: size(width),
        height: size(height),
        depth: 1,
    }
}
