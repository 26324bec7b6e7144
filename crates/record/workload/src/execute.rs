//! Runs a plan on this machine's GPU.

use crate::error::Result;
use crate::plan::WorkloadPlan;
use crate::run::WorkloadRun;

/// Runs a plan on this machine's GPU. Commits all command buffers of the plan, and no other.
#[cfg(target_os = "macos")]
pub fn run(plan: &WorkloadPlan) -> Result<WorkloadRun> {
    crate::metal::run(plan)
}

/// Returns an error, because this system has no Metal.
#[cfg(not(target_os = "macos"))]
pub fn run(_: &WorkloadPlan) -> Result<WorkloadRun> {
    Err(crate::Error::NoMetal {
        system: match std::env::consts::OS {
            "linux" => "Linux",
            "windows" => "Windows",
            other => other,
        },
    })
}
