//! Lists command buffers and encoders for the tables that have rows of both.

use crate::plan::{Buffer, Encoder, Plan};

/// A command buffer, or one of its encoders.
pub(super) struct Object<'p> {
    pub(super) buffer: &'p Buffer,
    /// The encoder; `None` for the buffer itself.
    pub(super) encoder: Option<&'p Encoder>,
    /// Index of the encoder in its buffer, from 0; 0 for the buffer itself.
    pub(super) index: usize,
}

impl<'p> Object<'p> {
    /// Returns the time when its encoding started.
    pub(super) fn start_ns(&self, plan: &Plan) -> u64 {
        let first = || plan.encoder(self.buffer.first_encoder);
        self.encoder.unwrap_or_else(first).start_ns
    }

    /// Returns the depth at which Instruments draws it.
    pub(super) fn depth(&self) -> u32 {
        u32::from(self.encoder.is_some())
    }

    pub(super) fn id(&self) -> u64 {
        self.encoder.map_or(self.buffer.id, |encoder| encoder.id)
    }

    pub(super) fn label(&self, plan: &'p Plan) -> &'p str {
        let encoder = self.encoder.map(|encoder| encoder.label);
        plan.labels.text(encoder.unwrap_or(self.buffer.label))
    }
}

/// Returns a buffer, and then its encoders.
pub(super) fn objects<'p>(plan: &'p Plan, buffer: &'p Buffer) -> impl Iterator<Item = Object<'p>> {
    let encoders = plan.encoders_of(buffer).iter().enumerate();
    let encoders = encoders.map(move |(index, encoder)| (Some(encoder), index));
    let all = std::iter::once((None, 0)).chain(encoders);
    all.map(move |(encoder, index)| Object {
        buffer,
        encoder,
        index,
    })
}

/// Returns the buffers of the processes that the application tables cover.
pub(super) fn instrumented(plan: &Plan) -> impl Iterator<Item = &Buffer> {
    plan.buffers
        .iter()
        .filter(|buffer| plan.is_instrumented(buffer.process))
}
