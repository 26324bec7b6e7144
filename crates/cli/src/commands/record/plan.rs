//! What is to be run, worked out before anything is.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use metalens_recorder::{Patience, Request, template};
use metalens_xctrace::command::{Length, Record, Template};
use metalens_xctrace::{Surroundings, Tool};
use tempfile::NamedTempFile;

use super::shell::quoted;
use super::whom::{is_bundled, stdin, subject, target, workload};
use super::{provenance, simulated, work};
use crate::args::recording::{GpuClock, RecordingArguments};
use crate::exit::Misuse;
use crate::out;

/// A recording that can be made.
pub(crate) struct Plan {
    pub(crate) request: Request,
    /// What is recorded, in a word.
    pub(crate) subject: String,
    /// Why it may not go well.
    pub(crate) doubts: Vec<String>,
    /// Whether a simulator takes `xctrace`'s place.
    pub(crate) is_simulated: bool,
    /// Whether there must be work of the GPU's in it.
    pub(crate) is_about_gpu: bool,
    /// Whether a bundled workload tells how much it did.
    has_work: bool,
    /// Where it writes that until there is a bundle.
    work_draft: Option<work::Draft>,
    append_run: bool,
    /// Whether what the target prints goes to stderr.
    pub(crate) keeps_stdout: bool,
    /// Whether what the target prints goes nowhere.
    pub(crate) is_target_silent: bool,
    /// What the simulator shows; it is read while this is here.
    _scenario: Option<NamedTempFile>,
    /// The changed template, for as long as it is needed.
    changed_template: Option<template::Copy>,
}

impl Plan {
    /// What the arguments ask for.
    pub(crate) fn of(
        arguments: &RecordingArguments,
        output: PathBuf,
        force: bool,
        append_run: bool,
    ) -> anyhow::Result<Self> {
        let scenario = (arguments.simulate && is_bundled(arguments))
            .then(|| scenario(arguments))
            .transpose()?;
        let tool = tool(arguments, scenario.as_ref().map(NamedTempFile::path))?;
        let version = tool.version()?;
        let mut doubts = Vec::new();
        let work = work::beside(&output);
        if !arguments.dry_run {
            metalens_files::refuse_existing(&work, force || append_run)?;
            provenance::check(&output, force, append_run)?;
        }
        let work = is_bundled(arguments).then_some(work);
        let makes_draft = work.is_some() && !arguments.dry_run;
        let work_draft = makes_draft.then(work::Draft::new).transpose()?;
        let work_draft_file = work_draft.as_ref().map(work::Draft::file);
        let target = target(
            arguments,
            work_draft_file.as_deref().or(work.as_deref()),
            force || append_run,
            &mut doubts,
        )?;
        let mut instruments = arguments.instruments.clone();
        if arguments.cpu {
            instruments.push("Time Profiler".to_owned());
        }
        let changed_template = changed_template(arguments, &tool, append_run)?;
        let template = match &changed_template {
            Some(copy) => Template::File(copy.path().to_owned()),
            None => stock_template(&arguments.template),
        };
        let record = Record {
            template,
            instruments,
            output,
            append_run,
            run_name: arguments.run_name.clone(),
            time_limit: length("--time-limit", arguments.time_limit)?,
            window: length("--window", arguments.window)?,
            device: arguments.device.clone(),
            tracing_started: None,
            target,
        };
        Ok(Self {
            subject: subject(arguments),
            is_about_gpu: is_about_gpu(&arguments.template),
            is_simulated: arguments.simulate,
            doubts: doubts.into_iter().filter(|_| !arguments.simulate).collect(),
            has_work: work.is_some(),
            work_draft,
            append_run,
            keeps_stdout: false,
            is_target_silent: false,
            _scenario: scenario,
            changed_template,
            request: Request {
                tool,
                version,
                stdin: stdin(),
                record,
                force,
                patience: patience(arguments),
            },
        })
    }

    /// Prints the command line, for people to read and for shells to run.
    pub(crate) fn show(&self) -> anyhow::Result<ExitCode> {
        let request = &self.request;
        let arguments = request.record.arguments(&request.version)?;
        let program = [request.tool.program.as_os_str()];
        let words = program
            .into_iter()
            .chain(request.tool.before.iter().map(OsString::as_os_str));
        let words = words.chain(arguments.iter().map(OsString::as_os_str));
        let line: Vec<Vec<u8>> = words.map(quoted).collect();
        let mut out = out::data();
        out.write_all(&line.join(b" ".as_slice()))?;
        writeln!(out)?;
        if self.changed_template.is_some() {
            let note =
                "note: that template is a changed copy, and is made anew for each recording\n";
            out::notes().write_all(note.as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Whether what belongs to an old bundle may be replaced.
    pub(super) fn may_replace(&self) -> bool {
        self.request.force || self.append_run
    }

    /// Puts what a bundled workload wrote beside its bundle. A run that is
    /// appended leaves alone what tells of the others.
    pub(crate) fn keep_work(&self, bundle: &Path) -> anyhow::Result<()> {
        match self.append_run && !self.has_work {
            true => Ok(()),
            false => work::keep(self.work_draft.as_ref(), bundle, self.may_replace()),
        }
    }

    /// Puts it beside a bundle that is whole, or may become so, in spite of an error.
    pub(crate) fn keep_work_of_failed(&self, why: &metalens_recorder::Error) -> anyhow::Result<()> {
        use metalens_recorder::Error;
        let is_lacking = matches!(why, Error::NotWhole { .. } | Error::Empty { .. });
        match (&self.work_draft, why.bundle().filter(|_| !is_lacking)) {
            (Some(draft), Some(bundle)) => work::keep(Some(draft), bundle, false),
            _ => Ok(()),
        }
    }
}

/// `bench.trace`, or the next of `bench-2.trace`, … that nothing has, and beside which
/// nothing lies of another.
pub(crate) fn free_bundle(subject: &str) -> PathBuf {
    let beside = |bundle: &Path| [work::beside(bundle), provenance::beside(bundle)];
    first_free(subject, ".trace", beside)
}

/// The first of `NAME`, `NAME-2`, … with this ending that nothing has.
pub(crate) fn free(name: &str, ending: &str) -> PathBuf {
    first_free(name, ending, |_| [])
}

fn first_free<const N: usize>(
    name: &str,
    ending: &str,
    beside: impl Fn(&Path) -> [PathBuf; N],
) -> PathBuf {
    let name: String = name
        .chars()
        .map(|one| if one == '/' { '-' } else { one })
        .collect();
    let all = (1..).map(|at: u32| match at {
        1 => PathBuf::from(format!("{name}{ending}")),
        _ => PathBuf::from(format!("{name}-{at}{ending}")),
    });
    let is_free = |path: &Path| path.symlink_metadata().is_err();
    let mut free = all.filter(|path| is_free(path) && beside(path).iter().all(|one| is_free(one)));
    free.next()
        .unwrap_or_else(|| PathBuf::from(format!("{name}{ending}")))
}

/// A length of time. One of nothing would be none at all.
fn length(option: &str, time: Option<u64>) -> anyhow::Result<Option<Length>> {
    let length = time.map(Length::of_nanoseconds);
    match length {
        Some(None) => Err(Misuse(format!("{option} must be longer than nothing")).into()),
        found => Ok(found.flatten()),
    }
}

fn patience(arguments: &RecordingArguments) -> Patience {
    let usual = Patience::default();
    let start = arguments.start_patience.map(Duration::from_nanos);
    let start = start.unwrap_or(usual.start);
    Patience {
        start,
        heed: usual.heed.min(start),
        save: Duration::from_nanos(arguments.patience),
        ..usual
    }
}

/// The workload's plan, as the simulator reads it.
fn scenario(arguments: &RecordingArguments) -> anyhow::Result<NamedTempFile> {
    let plan = metalens_workload::Plan::new(workload(arguments), &arguments.amount.settings())?;
    let text = simulated::scenario(&plan);
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    written.context("cannot write what is to be simulated")
}

/// Apple's, or metalens itself as a simulator of it.
fn tool(arguments: &RecordingArguments, scenario: Option<&Path>) -> anyhow::Result<Tool> {
    if !arguments.simulate {
        return Ok(Tool::find(&Surroundings::here())?);
    }
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    Ok(Tool {
        before: vec!["stand-in".into(), "--".into()],
        environment: scenario
            .map(|file| ("METALENS_STAND_IN_SCENARIO".into(), file.into()))
            .into_iter()
            .collect(),
        ..Tool::at(own)
    })
}

/// The changed copy that is recorded with, if something is to be changed. A
/// simulator has no template.
fn changed_template(
    arguments: &RecordingArguments,
    tool: &Tool,
    append_run: bool,
) -> anyhow::Result<Option<template::Copy>> {
    let shaders = arguments
        .shader_timeline
        .then_some(template::Change::ShaderTimeline);
    let clock = arguments
        .gpu_clock
        .map(|clock| template::Change::GpuClock(clock.into()));
    let changes: Vec<_> = shaders.into_iter().chain(clock).collect();
    if changes.is_empty() || arguments.simulate {
        return Ok(None);
    }
    anyhow::ensure!(
        !append_run,
        "{} does not go with --append-run: a bundle keeps its first template",
        match arguments.shader_timeline {
            true => "--shader-timeline",
            false => "--gpu-clock",
        }
    );
    Ok(Some(template::Copy::of_template_of(
        &tool.program,
        &changes,
    )?))
}

impl From<GpuClock> for template::Clock {
    fn from(clock: GpuClock) -> Self {
        match clock {
            GpuClock::Minimum => Self::Minimum,
            GpuClock::Medium => Self::Medium,
            GpuClock::Maximum => Self::Maximum,
            GpuClock::Default => Self::Default,
        }
    }
}

fn stock_template(name: &str) -> Template {
    match name.ends_with(".tracetemplate") {
        true => Template::File(name.into()),
        false => Template::Named(name.to_owned()),
    }
}

/// Whether a template is for the GPU, as far as its name tells.
fn is_about_gpu(template: &str) -> bool {
    ["Metal", "Game"].iter().any(|word| template.contains(word))
}

/// The bytes of a bundle's files.
pub(crate) fn size(bundle: &Path) -> u64 {
    metalens_recorder::size(bundle)
}

#[cfg(test)]
impl Plan {
    /// One that is never carried out.
    pub(super) fn of_a_test(arguments: &RecordingArguments, output: PathBuf) -> Self {
        Self {
            subject: subject(arguments),
            doubts: Vec::new(),
            is_simulated: arguments.simulate,
            is_about_gpu: true,
            has_work: false,
            work_draft: None,
            append_run: false,
            changed_template: None,
            is_target_silent: false,
            keeps_stdout: false,
            _scenario: None,
            request: Request {
                tool: Tool::at("xctrace".into()),
                version: metalens_xctrace::Version {
                    dotted: "26.0".to_owned(),
                    build: "17C529".to_owned(),
                },
                stdin: metalens_xctrace::Stdin::Nothing,
                force: false,
                patience: Patience::default(),
                record: Record {
                    template: stock_template(&arguments.template),
                    instruments: Vec::new(),
                    output,
                    append_run: false,
                    run_name: None,
                    time_limit: None,
                    window: None,
                    device: None,
                    tracing_started: None,
                    target: metalens_xctrace::command::Target::AllProcesses,
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_for_the_gpu() {
        assert!(is_about_gpu("Metal System Trace") && is_about_gpu("/a/My Metal.tracetemplate"));
        assert!(!is_about_gpu("Time Profiler"));
    }
}
