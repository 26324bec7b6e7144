//! Answers what users ask of a recording: each file is a question, and runs the stages that it needs.

pub(crate) mod analyze;
pub(crate) mod cpu_stacks;
mod idle_stacks;
pub(crate) mod measure;
mod what_if;
mod without_gpu;

pub use analyze::analyze;
pub use cpu_stacks::{CpuStacks, cpu_stacks};
pub use idle_stacks::{IdleStacks, idle_stacks};
pub use what_if::{ProgramChange, what_if};
