//! Provides the bundled Metal workloads, whose amount of work is known before they run: for
//! trying out, demonstrating and verifying a profiler. The crate depends on no other profiling
//! crate of this project, starts no process, and neither prints nor exits.
//!
//! ```
//! use metalens_workload::{Workload, WorkloadPlan};
//!
//! # fn main() -> Result<(), metalens_workload::Error> {
//! let eager = WorkloadPlan::new(Workload::Eager, Some(10))?;
//! let fused = WorkloadPlan::new(Workload::Fused, Some(10))?;
//! // The same chain over the same data: four kernels a step, or one.
//! assert_eq!(eager.command_buffers(), 4 * fused.command_buffers());
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! name, number of steps -> Plan (pure, on any machine) -> run (Metal, macOS) -> Run -> work.json
//! ```
//!
//! [`WorkloadPlan`] lists the dispatches with their labels, bytes and operations. Each has an encoder
//! and a command buffer of its own, and the program waits for each. [`run`] issues exactly those,
//! compares the results with the CPU, and returns the times that Metal reports. It returns an error
//! on systems without Metal.
//!
//! # What a recording shows
//!
//! Every object is labeled, with few and stable labels: a command buffer is `eager step` (or
//! `eager warm-up`), and an encoder has the name of the kernel that it runs. All encoders of a
//! label do the same work. The measured steps lie in an `os_signpost` interval called `measured`
//! (subsystem `metalens`, category Points of Interest); warm-up steps come before it. There are
//! no other command buffers: arrays are in shared memory, and the CPU fills them.

#[cfg_attr(
    not(any(test, target_os = "macos")),
    expect(dead_code, reason = "only results of a GPU are checked")
)]
mod check;
pub mod command;
mod data;
mod error;
mod execute;
mod expected;
mod kernel;
#[cfg(target_os = "macos")]
mod metal;
mod output;
mod plan;
mod run;
mod simulated;
mod work;
mod workloads;

pub use check::CheckedArray;
pub use error::{Error, Result};
pub use execute::run;
pub use kernel::{Amounts, KERNELS_SOURCE, Kernel};
pub use output::{SIMULATED, WorkFile};
pub use plan::{Phase, WorkloadPlan};
pub use run::{BufferTime, WorkloadRun};
pub use simulated::scenario;
pub use work::{Array, Dispatch};
pub use workloads::{Workload, workloads};
