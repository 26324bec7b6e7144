//! Prepares the device for a plan: queue, pipelines, arrays and labels.
#![expect(unsafe_code, reason = "shares memory with the GPU")]

use std::collections::BTreeMap;

use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBuffer, MTLCommandQueue, MTLComputePipelineState, MTLCreateSystemDefaultDevice, MTLDevice,
    MTLLibrary, MTLResource, MTLResourceOptions,
};

use super::errors::{missing, refused};
use crate::error::{Error, Result};
use crate::kernel::{ELEMENT_BYTES, KERNELS_SOURCE, Kernel};
use crate::plan::{Phase, WorkloadPlan};
use crate::work::Array;

// MTLCreateSystemDefaultDevice finds no device in a program that is not linked with this
// framework.
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}

/// The system's device, prepared for a plan.
pub(super) struct Gpu {
    device: Retained<ProtocolObject<dyn MTLDevice>>,
    pub(super) queue: Retained<ProtocolObject<dyn MTLCommandQueue>>,
    pipelines: BTreeMap<Kernel, Retained<ProtocolObject<dyn MTLComputePipelineState>>>,
    arrays: Vec<Retained<ProtocolObject<dyn MTLBuffer>>>,
    /// Labels as Metal strings, so that encoding does not create them.
    encoder_labels: BTreeMap<Kernel, Retained<NSString>>,
    buffer_labels: [Retained<NSString>; 2],
}

impl Gpu {
    /// Compiles the kernels and fills the arrays.
    pub(super) fn new(plan: &WorkloadPlan) -> Result<Self> {
        let device = MTLCreateSystemDefaultDevice().ok_or(Error::NoDevice)?;
        let queue = device
            .newCommandQueue()
            .ok_or_else(|| missing("make a command queue"))?;
        let name = plan.workload.name();
        queue.setLabel(Some(&NSString::from_str(&format!("metalens {name}"))));

        let kernels = || plan.step.iter().map(|dispatch| dispatch.kernel);
        let arrays = plan.arrays.iter().map(|array| filled(&device, array));
        Ok(Self {
            pipelines: pipelines(&device, kernels())?,
            arrays: arrays.collect::<Result<_>>()?,
            encoder_labels: kernels()
                .map(|kernel| (kernel, NSString::from_str(kernel.name())))
                .collect(),
            buffer_labels: [Phase::WarmUp, Phase::Measured]
                .map(|phase| NSString::from_str(&plan.command_buffer_label(phase))),
            device,
            queue,
        })
    }

    /// Returns the name of the GPU.
    pub(super) fn name(&self) -> String {
        self.device.name().to_string()
    }

    pub(super) fn has_unified_memory(&self) -> bool {
        self.device.hasUnifiedMemory()
    }

    /// Returns the pipeline of a kernel, which was compiled before the run.
    pub(super) fn pipeline(
        &self,
        kernel: Kernel,
    ) -> Result<&ProtocolObject<dyn MTLComputePipelineState>> {
        self.pipelines
            .get(&kernel)
            .map(|pipeline| &**pipeline)
            .ok_or_else(|| missing("find the pipeline of a kernel"))
    }

    pub(super) fn array(&self, index: usize) -> Result<&ProtocolObject<dyn MTLBuffer>> {
        self.arrays
            .get(index)
            .map(|buffer| &**buffer)
            .ok_or_else(|| missing("find an array"))
    }

    pub(super) fn encoder_label(&self, kernel: Kernel) -> Option<&NSString> {
        self.encoder_labels.get(&kernel).map(|label| &**label)
    }

    pub(super) fn buffer_label(&self, phase: Phase) -> &NSString {
        let [warm_up, measured] = &self.buffer_labels;
        match phase {
            Phase::WarmUp => warm_up,
            Phase::Measured => measured,
        }
    }

    /// Returns a copy of an array. It is complete only after the GPU has finished.
    pub(super) fn elements(&self, index: usize) -> Vec<f32> {
        let Some(buffer) = self.arrays.get(index) else {
            return Vec::new();
        };

        let elements = buffer.length() / size_of::<f32>();
        let first = buffer.contents().cast::<f32>();
        let mut copy = Vec::with_capacity(elements);

        // SAFETY: the buffer is shared memory of `length` bytes, aligned to a page; any bits
        // are an f32. Volatile reads, element by element, make values old but not undefined
        // even while a GPU is still writing.
        copy.extend((0..elements).map(|element| unsafe { first.add(element).read_volatile() }));
        copy
    }
}

/// Compiles the kernels and makes a pipeline for each.
fn pipelines(
    device: &ProtocolObject<dyn MTLDevice>,
    kernels: impl Iterator<Item = Kernel>,
) -> Result<BTreeMap<Kernel, Retained<ProtocolObject<dyn MTLComputePipelineState>>>> {
    let source = NSString::from_str(KERNELS_SOURCE);
    let library = device
        .newLibraryWithSource_options_error(&source, None)
        .map_err(|error| refused("compile the kernels", &error))?;

    let mut pipelines = BTreeMap::new();
    for kernel in kernels {
        let name = kernel.name();
        let function = library
            .newFunctionWithName(&NSString::from_str(name))
            .ok_or_else(|| missing(&format!("find the kernel `{name}`")))?;
        let pipeline = device
            .newComputePipelineStateWithFunction_error(&function)
            .map_err(|error| refused(format!("build the kernel `{name}`"), &error))?;
        let (width, height) = kernel.group();
        if pipeline.maxTotalThreadsPerThreadgroup() < size(width * height) {
            return Err(Error::Metal {
                what: format!("run the kernel `{name}`"),
                why: "its threadgroups are too large for this GPU".to_owned(),
            });
        }
        pipelines.insert(kernel, pipeline);
    }
    Ok(pipelines)
}

/// Returns an array in shared memory, filled with its initial content.
fn filled(
    device: &ProtocolObject<dyn MTLDevice>,
    array: &Array,
) -> Result<Retained<ProtocolObject<dyn MTLBuffer>>> {
    let bytes = size(array.elements.saturating_mul(ELEMENT_BYTES));
    let buffer = device
        .newBufferWithLength_options(bytes, MTLResourceOptions::StorageModeShared)
        .ok_or_else(|| missing(&format!("allocate {bytes} bytes for `{}`", array.name)))?;
    buffer.setLabel(Some(&NSString::from_str(array.name)));

    let first = buffer.contents().cast::<f32>();
    for index in 0..array.elements {
        // SAFETY: the buffer is new, so that nothing else refers to it, and it has room for
        // all elements, aligned to a page.
        unsafe { first.add(size(index)).write(array.fill.at(index)) };
    }
    Ok(buffer)
}

/// Converts a size. The plan bounds all sizes, and a `usize` on a Mac has 64 bits.
pub(super) fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
