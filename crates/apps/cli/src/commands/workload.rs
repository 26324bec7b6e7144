//! Runs a bundled workload in a process of its own, which metalens starts to record it, and lists
//! the workloads for `record --workload list`.

use std::process::ExitCode;

use metalens_workload::command::{self, Arguments};

use crate::out;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    command::run(arguments, &mut out::page())?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the bundled workloads.
pub(crate) fn list() -> anyhow::Result<ExitCode> {
    command::list(&mut out::page())?;
    Ok(ExitCode::SUCCESS)
}
