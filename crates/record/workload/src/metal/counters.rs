//! Takes GPU timestamps inside a step: around each dispatch if the GPU can, else around each
//! encoder.
#![expect(
    unsafe_code,
    reason = "Metal may not check indices of samples; they are assigned here"
)]

use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSRange, NSString};
use objc2_metal::{
    MTLBlitPassDescriptor, MTLCommonCounterSetTimestamp, MTLComputeCommandEncoder,
    MTLComputePassDescriptor, MTLCounterErrorValue, MTLCounterSampleBuffer,
    MTLCounterSampleBufferDescriptor, MTLCounterSamplingPoint, MTLCounterSet, MTLDevice,
    MTLStorageMode,
};

use super::gpu::Gpu;
use crate::plan::WorkloadPlan;
use crate::run::CounterSample;
use crate::work::{Encoder, Task};

/// Size of a timestamp (`MTLCounterResultTimestamp`), in bytes.
const SAMPLE_BYTES: usize = 8;
/// Largest number of pairs in a sample buffer. A buffer may have 32 KiB (Apple, *Metal Feature
/// Set Tables*); half of that is enough here.
const MAX_PAIRS: usize = 1_024;

/// The sample buffer of a step, with the meaning of each pair of samples.
pub(super) struct Sampler {
    buffer: Retained<ProtocolObject<dyn MTLCounterSampleBuffer>>,
    at_dispatches: bool,
    slots: Vec<Slot>,
    left_out: usize,
}

/// The work that a pair of samples is around. Slot `n` has the samples `2 n` and `2 n + 1`.
#[derive(Clone, Copy)]
struct Slot {
    encoder: usize,
    label: &'static str,
    dispatch: Option<u64>,
}

/// The samples of one encoder.
#[derive(Clone, Copy)]
pub(super) struct EncoderSamples<'a> {
    sampler: &'a Sampler,
    encoder: usize,
}

/// The two samples around one dispatch or one encoder.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    buffer: &'a ProtocolObject<dyn MTLCounterSampleBuffer>,
    first: usize,
}

impl Sampler {
    /// Returns a sampler for a step of the plan, or a note on why there is none.
    pub(super) fn new(gpu: &Gpu, plan: &WorkloadPlan) -> Result<Self, String> {
        let supports = |point| gpu.device.supportsCounterSampling(point);
        let at_dispatches = supports(MTLCounterSamplingPoint::AtDispatchBoundary);
        if !at_dispatches && !supports(MTLCounterSamplingPoint::AtStageBoundary) {
            return Err(
                "no GPU timestamps: this GPU takes none at dispatch or encoder boundaries"
                    .to_owned(),
            );
        }

        let mut slots = slots(plan, at_dispatches);
        let left_out = slots.len().saturating_sub(MAX_PAIRS);
        slots.truncate(MAX_PAIRS);
        if slots.is_empty() {
            return Err("no GPU timestamps: this GPU takes none around copies".to_owned());
        }

        let set = timestamps(gpu).ok_or("no GPU timestamps: this GPU has no timestamp counters")?;
        let descriptor = MTLCounterSampleBufferDescriptor::new();
        descriptor.setCounterSet(Some(&set));
        descriptor.setLabel(&NSString::from_str("metalens timestamps"));
        descriptor.setStorageMode(MTLStorageMode::Shared);
        // SAFETY: every GPU has room for this number of samples.
        unsafe { descriptor.setSampleCount(2 * slots.len()) };
        let buffer = gpu
            .device
            .newCounterSampleBufferWithDescriptor_error(&descriptor)
            .map_err(|error| format!("no GPU timestamps: {}", error.localizedDescription()))?;
        Ok(Self {
            buffer,
            at_dispatches,
            slots,
            left_out,
        })
    }

    /// Returns a note for the reader of the samples, if one is needed.
    pub(super) fn note(&self) -> Option<String> {
        if !self.at_dispatches {
            return Some(
                "GPU timestamps are per encoder: this GPU takes none between dispatches, like all \
                Apple silicon"
                    .to_owned(),
            );
        }

        let left_out = self.left_out;
        (left_out > 0).then(|| format!("the last {left_out} dispatches have no GPU timestamps"))
    }

    pub(super) fn samples_of(&self, encoder: usize) -> EncoderSamples<'_> {
        EncoderSamples {
            sampler: self,
            encoder,
        }
    }

    /// Returns the samples that were taken, once the step is complete.
    pub(super) fn samples(&self) -> Vec<CounterSample> {
        let range = NSRange::new(0, 2 * self.slots.len());
        // SAFETY: the range is that of the buffer.
        let data = unsafe { self.buffer.resolveCounterRange(range) };
        let bytes = data.map(|data| data.to_vec()).unwrap_or_default();
        let values: Vec<u64> = bytes
            .chunks_exact(SAMPLE_BYTES)
            .map(|value| u64::from_ne_bytes(value.try_into().unwrap_or_default()))
            .collect();

        let pairs = self.slots.iter().zip(values.chunks_exact(2));
        let taken = |value: u64| value != MTLCounterErrorValue && value != 0;
        pairs
            .filter_map(|(slot, pair)| match *pair {
                [start, end] if taken(start) && taken(end) => Some(CounterSample {
                    encoder: slot.encoder as u64,
                    label: slot.label,
                    dispatch: slot.dispatch,
                    start,
                    end,
                }),
                _ => None,
            })
            .collect()
    }

    fn pair(&self, encoder: usize, dispatch: Option<u64>) -> Option<Pair<'_>> {
        let is_slot = |slot: &Slot| slot.encoder == encoder && slot.dispatch == dispatch;
        let first = self.slots.iter().position(is_slot)?;
        Some(Pair {
            buffer: &self.buffer,
            first: 2 * first,
        })
    }
}

/// Returns the places to sample: each encoder, or its first dispatches.
fn slots(plan: &WorkloadPlan, at_dispatches: bool) -> Vec<Slot> {
    let encoders = plan.step.iter().flat_map(|buffer| &buffer.encoders);
    let mut slots = Vec::new();
    for (index, encoder) in encoders.enumerate() {
        let slot = |dispatch| Slot {
            encoder: index,
            label: encoder.task.label(),
            dispatch,
        };
        if at_dispatches {
            slots.extend((0..sampled_dispatches(encoder)).map(|dispatch| slot(Some(dispatch))));
        } else {
            slots.push(slot(None));
        }
    }
    slots
}

/// Returns the number of dispatches to sample. Copies have boundaries of another kind, which
/// are not sampled.
fn sampled_dispatches(encoder: &Encoder) -> u64 {
    match encoder.task {
        Task::Kernel(_) => encoder.dispatches,
        Task::Copy => 0,
    }
}

fn timestamps(gpu: &Gpu) -> Option<Retained<ProtocolObject<dyn MTLCounterSet>>> {
    // SAFETY: reads a constant of the framework.
    let wanted = unsafe { MTLCommonCounterSetTimestamp };
    let sets = gpu.device.counterSets()?;
    sets.iter().find(|set| &*set.name() == wanted)
}

impl<'a> EncoderSamples<'a> {
    /// Returns the samples around the encoder.
    pub(super) fn around_encoder(self) -> Option<Pair<'a>> {
        self.sampler.pair(self.encoder, None)
    }

    /// Returns the samples around one of its dispatches.
    pub(super) fn around_dispatch(self, dispatch: u64) -> Option<Pair<'a>> {
        self.sampler.pair(self.encoder, Some(dispatch))
    }
}

impl Pair<'_> {
    /// Samples the counters at the start and the end of a compute pass.
    pub(super) fn attach_to_compute(self, pass: &MTLComputePassDescriptor) {
        // SAFETY: every pass has a first attachment, and the sample buffer has
        // room for both samples.
        unsafe {
            let attachment = pass.sampleBufferAttachments().objectAtIndexedSubscript(0);
            attachment.setSampleBuffer(Some(self.buffer));
            attachment.setStartOfEncoderSampleIndex(self.first);
            attachment.setEndOfEncoderSampleIndex(self.first + 1);
        }
    }

    /// Samples the counters at the start and the end of a blit pass.
    pub(super) fn attach_to_blit(self, pass: &MTLBlitPassDescriptor) {
        // SAFETY: as in `attach_to_compute`.
        unsafe {
            let attachment = pass.sampleBufferAttachments().objectAtIndexedSubscript(0);
            attachment.setSampleBuffer(Some(self.buffer));
            attachment.setStartOfEncoderSampleIndex(self.first);
            attachment.setEndOfEncoderSampleIndex(self.first + 1);
        }
    }

    pub(super) fn before(self, encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>) {
        self.take(encoder, self.first);
    }

    pub(super) fn after(self, encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>) {
        self.take(encoder, self.first + 1);
    }

    fn take(self, encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>, index: usize) {
        // SAFETY: the sample buffer has room for this sample, and the GPU can take it here.
        unsafe {
            encoder.sampleCountersInBuffer_atSampleIndex_withBarrier(self.buffer, index, true);
        }
    }
}
