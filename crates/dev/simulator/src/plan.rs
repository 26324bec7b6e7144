//! Defines the plan of a run: every kick, encoding and command buffer, in integer nanoseconds, and what
//! follows from it. All tables and the truth are written from the plan.

mod model;
pub(crate) mod names;
pub(crate) mod shaders;
pub(crate) mod states;
pub(crate) mod sweep;

pub(crate) use model::{
    Activity, ActivityKind, Buffer, BufferIndex, Encoder, EncoderIndex, Kick, NameIndex,
    PER_OBJECT_NS, Plan, PlannedProcess, ProcessIndex,
};
