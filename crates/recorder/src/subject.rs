//! The target of a recording: started, or found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metalens_xctrace::command::{Launch, Target};
use metalens_xctrace::{Stdin, resolve};

use crate::cargo::Build;
use crate::error::{Error, Result, file};
use crate::record_request::{RecordRequest, Subject};
use crate::signing::sign_for_tracing;

/// Returns whom `xctrace` is to record. What may be in its way is added to `doubts`.
pub(crate) fn target(
    asked: &RecordRequest,
    work: &Path,
    doubts: &mut Vec<String>,
) -> Result<Target> {
    let (program, arguments) = match &asked.subject {
        Subject::Everyone => return Ok(Target::AllProcesses),
        Subject::Process(whom) => return Ok(Target::Attach(whom.clone())),
        Subject::Cargo { build, arguments } => (built(build)?, arguments.clone()),
        Subject::Program(command) => named(command, doubts)?,
        Subject::Workload {
            command, amount, ..
        } => workload(command, amount, work, asked)?,
    };
    let environment = asked.environment.iter();
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    Ok(Target::Launch(Launch {
        program,
        arguments,
        environment: environment.collect(),
        reads_stdin: asked.stdin == Stdin::Ours,
        stdout: None,
    }))
}

/// Finds a program that was named.
fn named(command: &[OsString], doubts: &mut Vec<String>) -> Result<(PathBuf, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
    let found = resolve(program, std::env::var_os("PATH").as_deref(), &folder)?;
    doubts.extend(found.doubt);
    Ok((found.path, arguments.to_vec()))
}

/// The command of a bundled workload, which tells in a file how much it did.
fn workload(
    command: &[OsString],
    amount: &[OsString],
    work: &Path,
    asked: &RecordRequest,
) -> Result<(PathBuf, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let mut arguments = arguments.to_vec();
    let work = std::path::absolute(work).map_err(file("find", work))?;
    arguments.extend(["--output".into(), work.into()]);
    arguments.extend_from_slice(amount);
    if asked.may_replace() {
        arguments.push("--force".into());
    }
    if asked.is_simulated() {
        arguments.push("--simulated".into());
    }
    Ok((program.into(), arguments))
}

fn split(command: &[OsString]) -> Result<(&OsString, &[OsString])> {
    command
        .split_first()
        .ok_or_else(|| Error::Target("there is no program to start".to_owned()))
}

/// Builds a program, and signs it on a Mac so that it can be traced.
fn built(build: &Build) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = build.run(Path::new(&cargo))?;
    if cfg!(target_os = "macos") {
        sign_for_tracing(Path::new("/usr/bin/codesign"), &program)?;
    }
    Ok(program)
}
