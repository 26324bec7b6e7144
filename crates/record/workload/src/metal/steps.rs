//! Commits command buffers in order, keeps a limited number in flight, and waits for each.

use std::collections::VecDeque;

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandQueue};

use super::counters::Sampler;
use super::encode;
use super::errors::{missing, refused};
use super::gpu::Gpu;
use crate::error::Result;
use crate::plan::{Phase, WorkloadPlan};
use crate::run::BufferTime;
use crate::work::CommandBuffer;

/// The steps so far, with the command buffers that are still in flight.
pub(super) struct Steps<'a> {
    gpu: &'a Gpu,
    plan: &'a WorkloadPlan,
    in_flight: VecDeque<(Phase, Retained<ProtocolObject<dyn MTLCommandBuffer>>)>,
    times: Vec<BufferTime>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(gpu: &'a Gpu, plan: &'a WorkloadPlan) -> Self {
        Self {
            gpu,
            plan,
            in_flight: VecDeque::new(),
            times: Vec::with_capacity(super::gpu::size(plan.total().command_buffers)),
        }
    }

    /// Encodes and commits a step. If the plan allows one command buffer in flight, none is when
    /// this returns.
    pub(super) fn step(&mut self, phase: Phase, sampler: Option<&Sampler>) -> Result<()> {
        let mut first_encoder = 0;
        for planned in &self.plan.step {
            // Release the temporary objects of each command buffer, or they pile up.
            autoreleasepool(|_| self.commit(phase, planned, first_encoder, sampler))?;
            first_encoder += planned.encoders.len();
            while self.in_flight.len() as u64 >= self.plan.in_flight {
                self.finish_oldest()?;
            }
        }
        Ok(())
    }

    /// Encodes and commits a command buffer.
    fn commit(
        &mut self,
        phase: Phase,
        planned: &CommandBuffer,
        first_encoder: usize,
        sampler: Option<&Sampler>,
    ) -> Result<()> {
        let buffer = self
            .gpu
            .queue
            .commandBuffer()
            .ok_or_else(|| missing("make a command buffer"))?;
        buffer.setLabel(Some(self.gpu.buffer_label(phase)));

        for (number, encoder) in (first_encoder..).zip(&planned.encoders) {
            let samples = sampler.map(|sampler| sampler.samples_of(number));
            encode::encode(self.gpu, &buffer, encoder, samples)?;
        }

        buffer.commit();
        self.in_flight.push_back((phase, buffer));
        Ok(())
    }

    /// Waits for all command buffers in flight.
    pub(super) fn drain(&mut self) -> Result<()> {
        while !self.in_flight.is_empty() {
            self.finish_oldest()?;
        }
        Ok(())
    }

    /// Waits for the oldest command buffer in flight, and keeps its times.
    fn finish_oldest(&mut self) -> Result<()> {
        let Some((phase, buffer)) = self.in_flight.pop_front() else {
            return Ok(());
        };
        buffer.waitUntilCompleted();
        if buffer.status() != MTLCommandBufferStatus::Completed {
            let what = "complete a command buffer";
            return Err(match buffer.error() {
                Some(error) => refused(what, &error),
                None => missing(what),
            });
        }

        self.times.push(BufferTime {
            phase,
            start_ns: nanoseconds(buffer.GPUStartTime()),
            end_ns: nanoseconds(buffer.GPUEndTime()),
        });
        Ok(())
    }

    pub(super) fn into_times(self) -> Vec<BufferTime> {
        self.times
    }
}

/// Converts Metal's seconds since the machine started, which are exact to a nanosecond for
/// months.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and no time is negative"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
