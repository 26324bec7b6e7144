//! The plan of a recording, worked out before anything is run.

use std::path::{Path, PathBuf};

use metalens_xctrace::command::{Length, Record, Template};
use metalens_xctrace::{Tool, ToolSource};

use crate::error::{Error, Result};
use crate::record_request::{RecordRequest, Recorder, Subject};
use crate::request::Request;
use crate::subject::target;
use crate::{provenance, template, work};

/// A recording that can be made.
#[derive(Debug)]
pub struct Plan {
    /// The request that it was made for.
    pub asked: RecordRequest,
    /// The recording to be made.
    pub request: Request,
    /// The reasons why it may not go well.
    pub doubts: Vec<String>,
    /// Whether there must be work of the GPU's in it.
    pub(crate) is_about_gpu: bool,
    /// Where a bundled workload tells how much it did, until there is a bundle.
    work_draft: Option<work::Draft>,
    /// The changed template, for as long as it is needed.
    changed_template: Option<template::Copy>,
}

impl Plan {
    /// Works out what is asked for.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded, or something is in the way.
    pub fn of(asked: RecordRequest) -> Result<Self> {
        let tool = match &asked.recorder {
            Recorder::Xctrace => Tool::find(&ToolSource::from_environment())?,
            Recorder::Simulator { tool, .. } => tool.clone(),
        };
        let version = tool.version()?;
        let may_replace = asked.may_replace();
        let work = work::beside(&asked.output);
        if !asked.dry_run {
            metalens_files::refuse_existing(&work, may_replace)?;
            provenance::check(&asked.output, asked.force, asked.append_run)?;
        }
        let is_bundled = matches!(asked.subject, Subject::Workload { .. });
        let makes_draft = is_bundled && !asked.dry_run;
        let work_draft = makes_draft.then(work::Draft::new).transpose()?;
        let work_file = work_draft.as_ref().map_or(work, work::Draft::file);

        let mut doubts = Vec::new();
        let target = target(&asked, &work_file, &mut doubts)?;
        let mut instruments = asked.instruments.clone();
        if asked.cpu {
            instruments.push("Time Profiler".to_owned());
        }
        let changed_template = changed_template(&asked, &tool)?;
        let template = match &changed_template {
            Some(copy) => Template::File(copy.path().to_owned()),
            None => stock_template(&asked.template),
        };
        let record = Record {
            template,
            instruments,
            output: asked.output.clone(),
            append_run: asked.append_run,
            run_name: asked.run_name.clone(),
            time_limit: length("--time-limit", asked.time_limit_ns)?,
            window: length("--window", asked.window_ns)?,
            device: asked.device.clone(),
            tracing_started: None,
            target,
        };
        if asked.is_simulated() {
            doubts.clear();
        }
        Ok(Self {
            is_about_gpu: is_about_gpu(&asked.template),
            doubts,
            work_draft,
            changed_template,
            request: Request {
                tool,
                version,
                stdin: asked.stdin,
                record,
                force: asked.force,
                patience: asked.patience,
            },
            asked,
        })
    }

    /// Returns whether it is recorded with a changed copy of a template, made for it alone.
    #[must_use]
    pub fn has_changed_template(&self) -> bool {
        self.changed_template.is_some()
    }

    /// Puts what a bundled workload wrote beside its bundle. A run that is
    /// appended leaves alone what tells of the others.
    pub(crate) fn keep_work(&self, bundle: &Path) -> Result<()> {
        if self.asked.append_run && self.work_draft.is_none() {
            return Ok(());
        }
        work::keep(self.work_draft.as_ref(), bundle, self.asked.may_replace())
    }

    /// Puts it beside a bundle that is whole, or may become so, in spite of an error.
    pub(crate) fn keep_work_of_failed(&self, why: &Error) -> Result<()> {
        let is_lacking = matches!(why, Error::NotWhole { .. } | Error::Empty { .. });
        match (&self.work_draft, why.bundle().filter(|_| !is_lacking)) {
            (Some(draft), Some(bundle)) => work::keep(Some(draft), bundle, false),
            _ => Ok(()),
        }
    }
}

/// Returns `bench.trace`, or the next of `bench-2.trace`, … that nothing has, and beside which
/// nothing lies of another.
#[must_use]
pub fn free_bundle(subject: &str) -> PathBuf {
    let beside = |bundle: &Path| [work::beside(bundle), provenance::beside(bundle)];
    first_free(subject, ".trace", beside)
}

/// Returns the first of `NAME`, `NAME-2`, … with this ending that nothing has.
#[must_use]
pub fn free(name: &str, ending: &str) -> PathBuf {
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
fn length(option: &'static str, time: Option<u64>) -> Result<Option<Length>> {
    let length = time.map(Length::from_nanoseconds);
    match length {
        Some(None) => Err(Error::NoLength(option)),
        found => Ok(found.flatten()),
    }
}

/// The changed copy that is recorded with, if something is to be changed. A
/// simulator has no template.
fn changed_template(asked: &RecordRequest, tool: &Tool) -> Result<Option<template::Copy>> {
    let shaders = asked
        .shader_timeline
        .then_some(template::Change::ShaderTimeline);
    let clock = asked.gpu_clock.map(template::Change::GpuClock);
    let changes: Vec<_> = shaders.into_iter().chain(clock).collect();
    if changes.is_empty() || asked.is_simulated() {
        return Ok(None);
    }
    if asked.append_run {
        return Err(Error::TemplateIsKept(if asked.shader_timeline {
            "--shader-timeline"
        } else {
            "--gpu-clock"
        }));
    }
    Ok(Some(template::Copy::of_template_of(
        &tool.program,
        &changes,
    )?))
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

#[cfg(test)]
impl Plan {
    /// Makes one that is never carried out.
    pub(crate) fn of_a_test(asked: RecordRequest) -> Self {
        Self {
            doubts: Vec::new(),
            is_about_gpu: true,
            work_draft: None,
            changed_template: None,
            request: Request {
                tool: Tool::at("xctrace".into()),
                version: metalens_xctrace::Version {
                    dotted: "26.0".to_owned(),
                    build: "17C529".to_owned(),
                },
                stdin: metalens_xctrace::Stdin::Nothing,
                force: false,
                patience: asked.patience,
                record: Record {
                    template: stock_template(&asked.template),
                    instruments: Vec::new(),
                    output: asked.output.clone(),
                    append_run: false,
                    run_name: None,
                    time_limit: None,
                    window: None,
                    device: None,
                    tracing_started: None,
                    target: metalens_xctrace::command::Target::AllProcesses,
                },
            },
            asked,
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
