//! Lists command buffers and encoders for the tables that have rows of both.

use crate::plan::{Buffer, Encoder, Plan};

/// An encoder with its buffer and its index there.
pub(super) struct Encoding<'p> {
    pub(super) encoder: &'p Encoder,
    pub(super) buffer: &'p Buffer,
    /// Index of the encoder in its buffer, from 0.
    pub(super) index: usize,
}

/// A command buffer, or one of its encoders.
pub(super) enum Object<'p> {
    Buffer(&'p Buffer),
    Encoder(Encoding<'p>),
}

/// Returns the encoders of a buffer with their indices.
pub(super) fn encodings<'p>(
    plan: &'p Plan,
    buffer: &'p Buffer,
) -> impl Iterator<Item = Encoding<'p>> {
    let encoders = plan.encoders_of(buffer).iter().enumerate();
    encoders.map(move |(index, encoder)| Encoding {
        encoder,
        buffer,
        index,
    })
}

/// Returns the buffers of the processes that the application tables cover.
pub(super) fn instrumented(plan: &Plan) -> impl Iterator<Item = &Buffer> {
    plan.buffers
        .iter()
        .filter(|buffer| plan.is_instrumented(buffer.process))
}

/// Returns the time when the encoding of a buffer started.
pub(super) fn encoding_start_ns(plan: &Plan, buffer: &Buffer) -> u64 {
    plan.encoder(buffer.first_encoder).start_ns
}
