//! Runs `metalens workload`: the bundled Metal programs, with the arguments of their own program.

use std::process::ExitCode;

use metalens_workload::command::execute;

use crate::args::recording::WorkloadArguments;
use crate::out;

pub(crate) fn run(arguments: &WorkloadArguments) -> anyhow::Result<ExitCode> {
    execute(&arguments.command, &mut out::page())?;
    Ok(ExitCode::SUCCESS)
}
