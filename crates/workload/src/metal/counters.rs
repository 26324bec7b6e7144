//! GPU timestamps inside a step: around each dispatch where the GPU can take them
//! there, else around each encoder.
#![expect(
    unsafe_code,
    reason = "Metal may not check the places of samples; they are given out here"
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
use crate::plan::{Encoder, Plan, Task};
use crate::run::CounterSample;

/// Bytes of a timestamp, `MTLCounterResultTimestamp`.
const SAMPLE_BYTES: usize = 8;
/// A sample buffer may have 32 KiB (Apple, *Metal Feature Set Tables*); half is
/// enough here.
const MOST_PAIRS: usize = 1_024;

/// Where the samples of a step go.
pub(super) struct Sampler {
    buffer: Retained<ProtocolObject<dyn MTLCounterSampleBuffer>>,
    at_dispatches: bool,
    slots: Vec<Slot>,
    left_out: usize,
}

/// Two places in the sample buffer: twice this one's own place, and the next.
#[derive(Clone, Copy)]
struct Slot {
    encoder: usize,
    label: &'static str,
    dispatch: Option<u64>,
}

/// The places of one encoder.
#[derive(Clone, Copy)]
pub(super) struct EncoderSamples<'a> {
    sampler: &'a Sampler,
    encoder: usize,
}

/// The places of one dispatch or one whole encoder.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    buffer: &'a ProtocolObject<dyn MTLCounterSampleBuffer>,
    first: usize,
}

impl Sampler {
    /// Ready for a step of the plan; else a line on why not.
    pub(super) fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, String> {
        let supports = |point| gpu.device.supportsCounterSampling(point);
        let at_dispatches = supports(MTLCounterSamplingPoint::AtDispatchBoundary);
        if !at_dispatches && !supports(MTLCounterSamplingPoint::AtStageBoundary) {
            return Err(
                "no GPU timestamps: this GPU takes none at dispatch or encoder boundaries"
                    .to_owned(),
            );
        }
        let mut slots = slots(plan, at_dispatches);
        let left_out = slots.len().saturating_sub(MOST_PAIRS);
        slots.truncate(MOST_PAIRS);
        if slots.is_empty() {
            return Err("no GPU timestamps: this GPU takes none around copies".to_owned());
        }
        let set = timestamps(gpu).ok_or("no GPU timestamps: this GPU has no such counter set")?;
        let descriptor = MTLCounterSampleBufferDescriptor::new();
        descriptor.setCounterSet(Some(&set));
        descriptor.setLabel(&NSString::from_str("metalens timestamps"));
        descriptor.setStorageMode(MTLStorageMode::Shared);
        // SAFETY: a number of samples that every GPU has room for.
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

    /// What the reader should know of the samples.
    pub(super) fn note(&self) -> Option<String> {
        if !self.at_dispatches {
            return Some(
                "GPU timestamps are of whole encoders: this GPU takes none between dispatches, as \
                 no Apple silicon does"
                    .to_owned(),
            );
        }
        let left_out = self.left_out;
        (left_out > 0).then(|| format!("no GPU timestamps of the last {left_out} dispatches"))
    }

    pub(super) fn of(&self, encoder: usize) -> EncoderSamples<'_> {
        EncoderSamples {
            sampler: self,
            encoder,
        }
    }

    /// What was sampled, once the step is complete.
    pub(super) fn samples(&self) -> Vec<CounterSample> {
        let range = NSRange::new(0, 2 * self.slots.len());
        // SAFETY: as many as the buffer was made for.
        let data = unsafe { self.buffer.resolveCounterRange(range) };
        let bytes = data.map(|data| data.to_vec()).unwrap_or_default();
        let values = bytes.chunks_exact(SAMPLE_BYTES);
        let values: Vec<u64> = values
            .map(|value| u64::from_ne_bytes(value.try_into().unwrap_or_default()))
            .collect();
        let pairs = self.slots.iter().zip(values.chunks_exact(2));
        let taken = |value: u64| value != MTLCounterErrorValue && value != 0;
        let sample = |(slot, pair): (&Slot, &[u64])| match *pair {
            [start, end] if taken(start) && taken(end) => Some(CounterSample {
                encoder: slot.encoder as u64,
                label: slot.label,
                dispatch: slot.dispatch,
                start,
                end,
            }),
            _ => None,
        };
        pairs.filter_map(sample).collect()
    }

    fn pair(&self, encoder: usize, dispatch: Option<u64>) -> Option<Pair<'_>> {
        let wanted = |slot: &Slot| slot.encoder == encoder && slot.dispatch == dispatch;
        let at = self.slots.iter().position(wanted)?;
        Some(Pair {
            buffer: &self.buffer,
            first: 2 * at,
        })
    }
}

fn slots(plan: &Plan, at_dispatches: bool) -> Vec<Slot> {
    let encoders = plan.step.iter().flat_map(|buffer| &buffer.encoders);
    let mut slots = Vec::new();
    for (at, encoder) in encoders.enumerate() {
        let slot = |dispatch| Slot {
            encoder: at,
            label: encoder.task.label(),
            dispatch,
        };
        match at_dispatches {
            true => slots.extend((0..dispatches(encoder)).map(|at| slot(Some(at)))),
            false => slots.push(slot(None)),
        }
    }
    slots
}

/// Copies have boundaries of another kind, which are not sampled.
fn dispatches(encoder: &Encoder) -> u64 {
    match encoder.task {
        Task::Kernel(_) => encoder.dispatches,
        Task::Copy => 0,
    }
}

fn timestamps(gpu: &Gpu) -> Option<Retained<ProtocolObject<dyn MTLCounterSet>>> {
    // SAFETY: a constant of the framework.
    let wanted = unsafe { MTLCommonCounterSetTimestamp };
    let sets = gpu.device.counterSets()?;
    sets.iter().find(|set| &*set.name() == wanted)
}

impl<'a> EncoderSamples<'a> {
    /// Around the encoder.
    pub(super) fn whole(self) -> Option<Pair<'a>> {
        self.sampler.pair(self.encoder, None)
    }

    /// Around one of its dispatches.
    pub(super) fn dispatch(self, dispatch: u64) -> Option<Pair<'a>> {
        self.sampler.pair(self.encoder, Some(dispatch))
    }
}

impl Pair<'_> {
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

    pub(super) fn attach_to_blit(self, pass: &MTLBlitPassDescriptor) {
        // SAFETY: as above.
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

    fn take(self, encoder: &ProtocolObject<dyn MTLComputeCommandEncoder>, at: usize) {
        // SAFETY: the sample buffer has room for it, and this GPU samples here.
        unsafe { encoder.sampleCountersInBuffer_atSampleIndex_withBarrier(self.buffer, at, true) };
    }
}
