//! Commits command buffers in order, and waits for each.

use metalens_text::number::whole;
use objc2::rc::autoreleasepool;
use objc2_metal::{MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandQueue};

use super::encode;
use super::errors::{missing, refused};
use super::gpu::Gpu;
use crate::error::Result;
use crate::plan::{Phase, WorkloadPlan};
use crate::run::BufferTime;
use crate::work::Dispatch;

/// The steps so far.
pub(super) struct Steps<'a> {
    gpu: &'a Gpu,
    plan: &'a WorkloadPlan,
    times: Vec<BufferTime>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(gpu: &'a Gpu, plan: &'a WorkloadPlan) -> Self {
        Self {
            gpu,
            plan,
            times: Vec::with_capacity(super::gpu::size(plan.command_buffers())),
        }
    }

    /// Runs a step.
    pub(super) fn step(&mut self, phase: Phase) -> Result<()> {
        for planned in &self.plan.step {
            // Release the temporary objects of each command buffer, or they pile up.
            let time = autoreleasepool(|_| self.run(phase, planned))?;
            self.times.push(time);
        }
        Ok(())
    }

    /// Encodes and commits a command buffer, waits for it, and returns its times.
    fn run(&self, phase: Phase, planned: &Dispatch) -> Result<BufferTime> {
        let buffer = self
            .gpu
            .queue
            .commandBuffer()
            .ok_or_else(|| missing("make a command buffer"))?;
        buffer.setLabel(Some(self.gpu.buffer_label(phase)));
        encode::encode(self.gpu, &buffer, planned)?;
        buffer.commit();
        buffer.waitUntilCompleted();
        if buffer.status() != MTLCommandBufferStatus::Completed {
            let what = "complete a command buffer";
            return Err(match buffer.error() {
                Some(error) => refused(what, &error),
                None => missing(what),
            });
        }
        Ok(BufferTime {
            phase,
            start_ns: nanoseconds(buffer.GPUStartTime()),
            end_ns: nanoseconds(buffer.GPUEndTime()),
        })
    }

    pub(super) fn into_times(self) -> Vec<BufferTime> {
        self.times
    }
}

/// Converts Metal's seconds since the machine started, which are exact to a nanosecond for
/// months.
fn nanoseconds(seconds: f64) -> u64 {
    whole((seconds * 1e9).round())
}
