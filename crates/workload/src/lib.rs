//! The bundled Metal program, whose work is known before it runs: for trying out,
//! demonstrating and calibrating a profiler. It knows no other crate of this
//! project, starts no process, and neither prints nor exits.
//!
//! ```
//! use metalens_workload::{Plan, Settings, workloads};
//!
//! # fn main() -> Result<(), metalens_workload::Error> {
//! let settings = Settings { count: Some(10), ..Settings::default() };
//! let eager = Plan::new("eager", &settings)?;
//! let fused = Plan::new("fused", &settings)?;
//! // The same chain over the same data: four kernels a step, or one.
//! assert_eq!(eager.measured().dispatches, 4 * fused.measured().dispatches);
//! assert_eq!(workloads().count(), 9);
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! name, settings -> Plan (pure, anywhere) -> run (Metal, macOS) -> Run -> work.json
//! ```
//!
//! [`Plan`] says which command buffers, encoders and dispatches there will be, what they are
//! called and how many bytes and operations they are. [`run`] issues exactly those, checks the
//! results against the CPU, and says what Metal said of their times. Where there is no Metal it
//! is an error that says so.
//!
//! # What a recording shows
//!
//! Every object is labelled, with few and stable labels: a command buffer is `eager step` (or
//! `eager warm-up`), an encoder is called as the kernel that it runs. All encoders of a label do
//! the same work. The measured steps lie in an `os_signpost` interval called `measured`
//! (subsystem `metalens`, category Points of Interest); warm-up steps come before it. There are
//! no other command buffers: arrays are in shared memory, and the CPU fills them.

mod capture;
#[cfg_attr(
    not(any(test, target_os = "macos")),
    expect(dead_code, reason = "only results of a GPU are compared")
)]
mod check;
pub mod command;
mod data;
mod error;
mod kernel;
#[cfg(target_os = "macos")]
mod metal;
mod output;
mod plan;
mod recipes;
mod run;
mod simulated;
mod words;

pub use capture::CAPTURED_STEPS;
pub use error::{Error, Result};
pub use kernel::{KERNELS_SOURCE, Kernel};
pub use output::{Document, SIMULATED, WorkFile};
pub use plan::{
    Amounts, Array, CommandBuffer, Encoder, LabelWork, Phase, Plan, Settings, Task, Totals,
};
pub use recipes::{Workload, workloads};
pub use run::{BufferTime, Checked, ClockPair, CounterSample, Options, Run, run};
pub use simulated::scenario;
