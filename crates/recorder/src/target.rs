//! Resolves the subject of a request into the target that `xctrace` starts or attaches to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metalens_doctor::guarded;
use metalens_xctrace::command::{Launch, Target};
use metalens_xctrace::{Stdin, resolve};

use crate::cargo::Build;
use crate::error::{Error, Result, file};
use crate::record_request::{RecordRequest, RecordingSubject};
use crate::signing::sign_for_tracing;

/// Returns the target for `xctrace`. Adds to `warnings` what may prevent the recording.
pub(crate) fn target(
    request: &RecordRequest,
    work: &Path,
    warnings: &mut Vec<String>,
) -> Result<Target> {
    let (program, arguments) = match &request.subject {
        RecordingSubject::Everyone => return Ok(Target::AllProcesses),
        RecordingSubject::Process(process) => return Ok(Target::Attach(process.clone())),
        RecordingSubject::Cargo { build, arguments } => (built(build)?, arguments.clone()),
        RecordingSubject::Program(command) => named(command, request, warnings)?,
        RecordingSubject::Workload {
            command, amount, ..
        } => workload(command, amount, work, request)?,
    };

    let environment = request.environment.iter();
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    Ok(Target::Launch(Launch {
        program,
        arguments,
        environment: environment.collect(),
        reads_stdin: request.stdin == Stdin::Ours,
        stdout: None,
    }))
}

/// Finds the file of a program that was named.
fn named(
    command: &[OsString],
    request: &RecordRequest,
    warnings: &mut Vec<String>,
) -> Result<(PathBuf, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
    let found = resolve(program, std::env::var_os("PATH").as_deref(), &folder)?;
    let mut paths: Vec<(&str, &Path)> = vec![("the program", &found.path)];
    paths.extend(
        found
            .interpreter
            .as_deref()
            .map(|path| ("its interpreter", path)),
    );
    paths.push(("the current folder", &folder));
    paths.push(("the recording", metalens_files::parent(&request.output)));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    warnings.extend(guarded(&paths, home.as_deref()).map(|text| {
        format!("{text}: move it, or start the program yourself and record it with --attach")
    }));
    warnings.extend(found.doubt.clone());
    Ok((found.path, arguments.to_vec()))
}

/// Returns the command of a bundled workload, which describes its work in the file `work`.
fn workload(
    command: &[OsString],
    amount: &[OsString],
    work: &Path,
    request: &RecordRequest,
) -> Result<(PathBuf, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let mut arguments = arguments.to_vec();

    let work = std::path::absolute(work).map_err(file("find", work))?;
    arguments.extend(["--output".into(), work.into()]);
    arguments.extend_from_slice(amount);

    if request.may_replace() {
        arguments.push("--force".into());
    }
    if request.is_simulated() {
        arguments.push("--simulated".into());
    }
    Ok((program.into(), arguments))
}

fn split(command: &[OsString]) -> Result<(&OsString, &[OsString])> {
    command
        .split_first()
        .ok_or_else(|| Error::Target("no program was named".to_owned()))
}

/// Builds a program. On a Mac, signs it so that it can be traced.
fn built(build: &Build) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = build.run(&cargo)?;
    if cfg!(target_os = "macos") {
        sign_for_tracing(Path::new("/usr/bin/codesign"), &program)?;
    }
    Ok(program)
}
