//! Encodes one planned dispatch into a command buffer.
#![expect(
    unsafe_code,
    reason = "Metal may not check indices, offsets and sizes; the plan bounds them"
)]

use std::ptr::NonNull;

use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLCommandBuffer, MTLCommandEncoder, MTLComputeCommandEncoder, MTLSize};

use super::errors::missing;
use super::gpu::Gpu;
use super::gpu::size;
use crate::error::Result;
use crate::work::Dispatch;

/// Encodes a planned dispatch with an encoder of its own.
pub(super) fn encode(
    gpu: &Gpu,
    buffer: &ProtocolObject<dyn MTLCommandBuffer>,
    planned: &Dispatch,
) -> Result<()> {
    let encoder = buffer
        .computeCommandEncoder()
        .ok_or_else(|| missing("make a compute encoder"))?;
    encoder.setLabel(gpu.encoder_label(planned.kernel));

    let encoded = dispatch(gpu, &encoder, planned);
    // This applies after a failure too: Metal aborts if an open encoder is dropped.
    encoder.endEncoding();
    encoded
}

/// Encodes the dispatch of a compute encoder.
fn dispatch(
    gpu: &Gpu,
    encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>,
    planned: &Dispatch,
) -> Result<()> {
    let kernel = planned.kernel;
    encoder.setComputePipelineState(gpu.pipeline(kernel)?);
    for (index, &array) in planned.reads.iter().chain([&planned.writes]).enumerate() {
        // SAFETY: the kernel has an array at this index (a test compares the source with the
        // plan), and the array has at least the `size` elements that are passed below; the
        // command buffer retains it.
        unsafe { encoder.setBuffer_offset_atIndex(Some(gpu.array(array)?), 0, index) };
    }

    // Every size of a workload fits.
    let count = u32::try_from(planned.size).unwrap_or(u32::MAX);
    // SAFETY: the kernel takes a `uint` after its arrays; its bytes are copied.
    unsafe {
        encoder.setBytes_length_atIndex(
            NonNull::from(&count).cast(),
            size_of::<u32>(),
            planned.reads.len() + 1,
        );
    }
    encoder.dispatchThreadgroups_threadsPerThreadgroup(
        flat(kernel.groups(planned.size)),
        flat(kernel.group()),
    );
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
