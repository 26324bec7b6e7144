//! Runs a bundled workload in a process of its own, which metalens starts to record it, and lists
//! the workloads for `record --workload list`.

use std::process::ExitCode;

use metalens_workload::command::{Command, execute};

use crate::args::recording::WorkloadArguments;
use crate::out;

pub(crate) fn run(arguments: &WorkloadArguments) -> anyhow::Result<ExitCode> {
    execute(&arguments.command, &mut out::page())?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the bundled workloads.
pub(crate) fn list() -> anyhow::Result<ExitCode> {
    execute(&Command::List, &mut out::page())?;
    Ok(ExitCode::SUCCESS)
}
