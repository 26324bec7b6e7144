//! `metalens workload`: the bundled Metal programs, as their own binary has them.

use std::process::ExitCode;

use metalens_workload::command::execute;

use crate::args::recording::WorkloadArguments;

pub(crate) fn run(arguments: &WorkloadArguments) -> anyhow::Result<ExitCode> {
    execute(&arguments.command, &mut std::io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}
