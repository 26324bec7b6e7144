//! Whom a recording is of: what it is called, and how it is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_recorder::{Build, resolve, sign_for_tracing};
use metalens_xctrace::Stdin;
use metalens_xctrace::command::{Launch, Target};

use crate::args::recording::{CargoArguments, RecordingArguments};

/// What is recorded, in a word.
pub(crate) fn subject(arguments: &RecordingArguments) -> String {
    if arguments.cargo.cargo {
        let cargo = &arguments.cargo;
        let named = [&cargo.bin, &cargo.example, &cargo.bench, &cargo.package];
        let named = named.into_iter().flatten().next();
        return named.cloned().unwrap_or_else(|| "program".to_owned());
    }
    let program = arguments.command.first().map(Path::new);
    let name = program
        .and_then(Path::file_stem)
        .map(|name| name.to_string_lossy().into_owned());
    match (name, &arguments.attach) {
        (Some(name), _) => name,
        (None, Some(whom)) => whom.clone(),
        (None, None) if arguments.all_processes => "everyone".to_owned(),
        (None, None) => workload(arguments).to_owned(),
    }
}

/// Whether it is a program of metalens's own.
pub(super) fn is_bundled(arguments: &RecordingArguments) -> bool {
    let is_other = arguments.attach.is_some() || arguments.all_processes || arguments.cargo.cargo;
    arguments.command.is_empty() && !is_other
}

/// Whom `xctrace` is to record. What may be in its way is added to `doubts`.
pub(super) fn target(
    arguments: &RecordingArguments,
    work: Option<&Path>,
    force: bool,
    doubts: &mut Vec<String>,
) -> anyhow::Result<Target> {
    if arguments.all_processes {
        return Ok(Target::AllProcesses);
    }
    if let Some(whom) = &arguments.attach {
        return Ok(Target::Attach(whom.clone()));
    }
    let (program, rest) = program(arguments, work, force, doubts)?;
    let environment = arguments
        .env
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    Ok(Target::Launch(Launch {
        program,
        arguments: rest,
        environment: environment.collect(),
        reads_stdin: stdin() == Stdin::Ours,
        stdout: None,
    }))
}

/// What is started: what cargo builds, what was named, or a bundled workload.
fn program(
    arguments: &RecordingArguments,
    work: Option<&Path>,
    force: bool,
    doubts: &mut Vec<String>,
) -> anyhow::Result<(PathBuf, Vec<OsString>)> {
    if arguments.cargo.cargo {
        return Ok((built(&arguments.cargo)?, arguments.command.clone()));
    }
    if let Some((program, rest)) = arguments.command.split_first() {
        let folder = std::env::current_dir().context("cannot find the current folder")?;
        let found = resolve(program, std::env::var_os("PATH").as_deref(), &folder)?;
        doubts.extend(found.doubt);
        return Ok((found.path, rest.to_vec()));
    }
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    let mut rest: Vec<OsString> =
        ["workload".into(), "run".into(), workload(arguments).into()].into();
    if let Some(work) = work {
        let work = std::path::absolute(work)?;
        rest.extend(["--output".into(), work.into()]);
    }
    rest.extend(arguments.amount.words());
    if force {
        rest.push("--force".into());
    }
    if arguments.simulate {
        rest.push("--simulated".into());
    }
    Ok((own, rest))
}

/// Built, and on a Mac signed so that it can be traced.
fn built(arguments: &CargoArguments) -> anyhow::Result<PathBuf> {
    let build = Build {
        package: arguments.package.clone(),
        bin: arguments.bin.clone(),
        example: arguments.example.clone(),
        bench: arguments.bench.clone(),
        release: arguments.release,
        profile: arguments.profile.clone(),
        features: arguments.features.clone(),
        no_default_features: arguments.no_default_features,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = build.run(Path::new(&cargo))?;
    if cfg!(target_os = "macos") {
        sign_for_tracing(Path::new("/usr/bin/codesign"), &program)?;
    }
    Ok(program)
}

/// The bundled workload that is meant.
pub(crate) fn workload(arguments: &RecordingArguments) -> &str {
    arguments.workload.as_deref().unwrap_or("eager")
}

/// What the target reads: ours, unless that is a terminal, which programs in a
/// group of their own may not read.
pub(super) fn stdin() -> Stdin {
    use std::io::IsTerminal;
    match std::io::stdin().is_terminal() {
        true => Stdin::Nothing,
        false => Stdin::Ours,
    }
}
