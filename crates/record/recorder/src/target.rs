//! Resolves the subject of a request into the target that `xctrace` starts or attaches to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metalens_doctor::guarded;
use metalens_xctrace::command::{Launch, Target};
use metalens_xctrace::{FoundProgram, Stdin, resolve};

use crate::cargo::CargoBuild;
use crate::error::{Error, Result, file};
use crate::record_request::{RecordRequest, RecordingSubject};
use crate::running::RunningProcesses;
use crate::signing::sign_for_tracing;

/// Files through which a bundled workload and the recorder talk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkloadFiles<'a> {
    /// File in which the workload describes its work.
    pub(crate) work: &'a Path,
    /// File that appears when the recording has begun.
    pub(crate) started: Option<&'a Path>,
}

/// Returns the target for `xctrace`. Adds to `warnings` what may prevent the recording.
pub(crate) fn target(
    request: &RecordRequest,
    files: WorkloadFiles<'_>,
    running: Option<&RunningProcesses>,
    warnings: &mut Vec<String>,
) -> Result<Target> {
    let (program, arguments) = match &request.subject {
        RecordingSubject::Everyone => return Ok(Target::AllProcesses),
        RecordingSubject::Process(process) => {
            return Ok(Target::Attach(process_id(process, running)?));
        }
        RecordingSubject::Cargo { build, arguments } => (alone(built(build)?), arguments.clone()),
        RecordingSubject::Program(command) => named(command)?,
        RecordingSubject::Workload { command, .. } => workload(command, files, request)?,
    };
    if !request.is_simulated() {
        warnings.extend(in_guarded_folders(&program, request)?);
    }
    warnings.extend(program.doubt);
    let program = program.path;

    Ok(Target::Launch(Launch {
        program,
        arguments,
        environment: environment(&request.environment, std::env::vars_os()),
        reads_stdin: request.stdin == Stdin::Ours,
        stdout: None,
    }))
}

/// Returns the variables that the program gets: the requested ones, and those of the dynamic linker.
/// The program inherits all others, but macOS takes these from Apple's programs, as `xctrace` is.
fn environment(
    requested: &[(String, String)],
    inherited: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_requested = |name: &OsString| requested.iter().any(|(other, _)| name == other.as_str());
    let mut linker: Vec<_> = inherited
        .filter(|(name, _)| name.as_encoded_bytes().starts_with(b"DYLD_") && !is_requested(name))
        .collect();
    linker.sort();
    let requested = requested
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    requested.chain(linker).collect()
}

/// Returns the id of the process to attach to. Versions of `xctrace` disagree about names: some look for
/// that of the program, others for the one that is displayed. A name that no program has is left to it.
fn process_id(process: &str, running: Option<&RunningProcesses>) -> Result<String> {
    let is_id = process.parse::<u32>().is_ok();
    let Some(running) = running.filter(|_| !is_id) else {
        return Ok(process.to_owned());
    };
    match running.named(process) {
        Ok(pid) => Ok(pid.map_or_else(|| process.to_owned(), |pid| pid.to_string())),
        Err(pids) => Err(Error::Ambiguous {
            name: process.to_owned(),
            pids,
        }),
    }
}

/// Finds the file of a program that was named.
fn named(command: &[OsString]) -> Result<(FoundProgram, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
    let found = resolve(program, std::env::var_os("PATH").as_deref(), &folder)?;
    Ok((found, arguments.to_vec()))
}

/// Returns a program that needs no interpreter.
fn alone(path: PathBuf) -> FoundProgram {
    FoundProgram {
        path,
        first_line: Vec::new(),
        doubt: None,
    }
}

/// Returns the warning of what the recording uses in folders that macOS guards.
fn in_guarded_folders(program: &FoundProgram, request: &RecordRequest) -> Result<Option<String>> {
    let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
    let mut paths: Vec<(&str, &Path)> = vec![("the program", &program.path)];
    paths.extend(program.interpreter().map(|path| ("its interpreter", path)));
    paths.push(("the current folder", &folder));
    paths.push(("the recording", metalens_files::parent(&request.output)));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Ok(guarded(&paths, home.as_deref()).map(|text| {
        format!("{text}. Move it, or start the program yourself and record it with --attach")
    }))
}

/// Returns the command of a bundled workload.
fn workload(
    command: &[OsString],
    files: WorkloadFiles<'_>,
    request: &RecordRequest,
) -> Result<(FoundProgram, Vec<OsString>)> {
    let (program, arguments) = split(command)?;
    let mut arguments = arguments.to_vec();

    let work = std::path::absolute(files.work).map_err(file("find", files.work))?;
    arguments.extend(["--output".into(), work.into()]);
    if let Some(started) = files.started {
        arguments.extend(["--wait-for".into(), started.into()]);
    }

    if request.force {
        arguments.push("--force".into());
    }
    if request.is_synthetic() {
        arguments.push("--simulated".into());
    }
    Ok((alone(program.into()), arguments))
}

fn split(command: &[OsString]) -> Result<(&OsString, &[OsString])> {
    command
        .split_first()
        .ok_or_else(|| Error::Target("no program was given".to_owned()))
}

/// Builds a program. On a Mac, signs it so that it can be traced.
fn built(build: &CargoBuild) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = build.run(&cargo)?;
    if cfg!(target_os = "macos") {
        sign_for_tracing(Path::new("/usr/bin/codesign"), &program)?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_linker_are_passed_on() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let inherited = [
            pair("PATH", "/bin"),
            pair("DYLD_LIBRARY_PATH", "/opt"),
            pair("DYLD_FRAMEWORK_PATH", "/frameworks"),
            pair("MY_DYLD_X", "x"),
        ];
        let requested = [("DYLD_LIBRARY_PATH", "/mine"), ("A", "b")];
        let requested = requested.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = [
            pair("DYLD_LIBRARY_PATH", "/mine"),
            pair("A", "b"),
            pair("DYLD_FRAMEWORK_PATH", "/frameworks"),
        ];
        assert_eq!(environment(&requested, inherited.into_iter()), expected);
    }
}
