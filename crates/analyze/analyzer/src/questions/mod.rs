//! Answers what users ask of a recording: each file is a question, and runs the stages that it needs.

pub(crate) mod analyze;
mod idle_stacks;
pub(crate) mod measure;
pub(crate) mod profile;
mod what_if;

pub use analyze::analyze;
pub use idle_stacks::{IdleStacks, idle_stacks};
pub use profile::{collapsed_stacks, profile};
pub use what_if::{ProgramChange, what_if};
