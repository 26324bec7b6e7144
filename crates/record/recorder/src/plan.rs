//! Plans a recording before anything is run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use metalens_doctor::SystemCommands;
use metalens_xctrace::command::{Length, Record, Target, Template};
use metalens_xctrace::{Feature, Tool, ToolSource, Version};

use crate::error::{Error, Result, file};
use crate::promote::{first_free, is_unused};
use crate::reached::PROBE;
use crate::record_request::{RecordRequest, Recorder, RecordingSubject};
use crate::request::{OutputRoute, XctraceRequest};
use crate::running::RunningProcesses;
use crate::target::{WorkloadFiles, target};
use crate::work_file::WorkFileDraft;
use crate::{password, provenance, template, work_file};

/// A recording that is ready to be carried out.
#[derive(Debug)]
pub struct RecordingPlan {
    /// The request of the user.
    pub request: RecordRequest,
    /// The run of `xctrace` that fulfills it.
    pub xctrace_request: XctraceRequest,
    /// Reasons why the recording may fail.
    pub warnings: Vec<String>,
    /// True if the recording must contain work of the GPU.
    pub(crate) is_about_gpu: bool,
    /// File in which a bundled workload describes its work, until there is a bundle.
    work_draft: Option<WorkFileDraft>,
    /// The copy of a template, which is removed when the plan is dropped.
    copied_template: Option<template::Copy>,
}

impl RecordingPlan {
    /// Plans the recording that a user requests.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded, or an existing file is in the way.
    pub fn new(request: RecordRequest) -> Result<Self> {
        let mut tool = match &request.recorder {
            Recorder::Xctrace => Tool::find(&ToolSource::from_environment())?,
            Recorder::Simulator { tool, .. } | Recorder::SimulatorAsXctrace(tool) => tool.clone(),
        };
        let version = tool.version()?;

        let work = work_file::beside(&request.output);
        if !request.dry_run {
            metalens_files::refuse_existing(&work, request.force)?;
            let provenance = provenance::beside(&request.output);
            metalens_files::refuse_existing(&provenance, request.force)?;
        }
        let is_bundled = matches!(request.subject, RecordingSubject::Workload { .. });
        let makes_draft = is_bundled && !request.dry_run;
        let work_draft = makes_draft.then(WorkFileDraft::new).transpose()?;
        let work_path = work_draft.as_ref().map_or(work, WorkFileDraft::file);

        let mut warnings = Vec::new();
        let started_file = work_draft.as_ref().map(WorkFileDraft::started_file);
        let workload = WorkloadFiles {
            work: &work_path,
            started: started_file.as_deref(),
        };
        let observes = !request.dry_run && !request.is_simulated();
        let running_before = (!request.is_simulated())
            .then(|| RunningProcesses::list(&SystemCommands::default()))
            .flatten();
        let target = target(&request, workload, running_before.as_ref(), &mut warnings)?;
        let copied_template = copied_template(&request, &tool)?;
        let template = match &copied_template {
            Some(copy) => Template::File(copy.path().to_owned()),
            None => stock_template(&request.template),
        };
        let tracing_started = work_draft.as_ref().map(WorkFileDraft::notification);
        let record = Record {
            tracing_started: tracing_started.filter(|_| version.has(Feature::TracingStarted)),
            ..record(&request, &version, template, target)?
        };

        warnings.extend(tool.unselected().map(|folder| {
            let folder = folder.display();
            format!(
                "the selected tools have no xctrace, so that of {folder} is used; `sudo xcode-select -s \
                 {folder}` selects it"
            )
        }));
        warnings.extend(long_recording(&request));
        if request.is_simulated() {
            warnings = ignored_options(&request).into_iter().collect();
        }
        if is_bundled && observes {
            let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
            tool.environment.push((PROBE.into(), folder.into()));
        }
        warnings.extend(without_gpu(&request.template));
        let mut timeouts = request.timeouts;
        let is_root = rustix::process::geteuid().is_root();
        let asks = observes.then(|| password::warning(&SystemCommands::default(), is_root));
        if let Some(warning) = asks.flatten() {
            warnings.push(warning);
            timeouts.start = timeouts.start.max(password::PATIENCE);
        }

        let copy = copied_template.as_ref();
        Ok(Self {
            is_about_gpu: is_about_gpu(&request.template)
                || copy.is_some_and(template::Copy::is_about_gpu),
            warnings,
            work_draft,
            copied_template,
            xctrace_request: XctraceRequest {
                tool,
                version,
                stdin: request.stdin,
                record,
                program_output: program_output(&request),
                started_file,
                force: request.force,
                timeouts,
                running_before,
                log: request.log.clone(),
            },
            request,
        })
    }

    /// Returns whether the recording uses a copy of a template, made for it alone.
    pub fn has_copied_template(&self) -> bool {
        self.copied_template.is_some()
    }

    /// Moves the work file of a bundled workload beside its bundle.
    pub(crate) fn keep_work(&self, bundle: &Path) -> Result<()> {
        work_file::keep(self.work_draft.as_ref(), bundle, self.request.force)
    }

    /// Moves the work file beside a bundle that is complete, or may become so, after an error.
    pub(crate) fn keep_work_of_failed(&self, why: &Error) -> Result<()> {
        let is_lacking = matches!(
            why,
            Error::Incomplete { .. } | Error::Empty { .. } | Error::Raw { .. }
        );
        match (&self.work_draft, why.bundle().filter(|_| !is_lacking)) {
            (Some(draft), Some(bundle)) => work_file::keep(Some(draft), bundle, false),
            _ => Ok(()),
        }
    }
}

/// Returns what `xctrace` is asked for, apart from a signal when it begins.
fn record(
    request: &RecordRequest,
    version: &Version,
    template: Template,
    target: Target,
) -> Result<Record> {
    Ok(Record {
        instruments: instruments(request, version),
        time_limit: length("--time-limit", request.time_limit_ns)?,
        window: length("--window", request.window_ns)?,
        ..Record::new(template, request.output.clone(), target)
    })
}

/// Returns where the output of the program goes.
fn program_output(request: &RecordRequest) -> OutputRoute {
    // One project got no samples of shaders while the output went to a file.
    if request.shader_timeline {
        OutputRoute::Shared
    } else if request.discards_output {
        OutputRoute::Discarded
    } else {
        OutputRoute::File
    }
}

/// Returns `bench.trace`, or the next of `bench-2.trace`, … that does not exist and has no
/// files of another bundle beside it.
pub fn unused_bundle_path(subject: &str) -> PathBuf {
    first_free(&stem(subject), ".trace", |bundle| {
        let beside = [work_file::beside(bundle), provenance::beside(bundle)];
        is_unused(bundle) && beside.iter().all(|path| is_unused(path))
    })
}

/// Returns the first of `NAME`, `NAME-2`, … with this ending that does not exist.
pub fn unused_path(name: &str, ending: &str) -> PathBuf {
    first_free(&stem(name), ending, is_unused)
}

/// Returns a name as one of a file.
fn stem(name: &str) -> PathBuf {
    name.replace('/', "-").into()
}

/// Instrument that records `os_signpost` of the category `PointsOfInterest`. Apple's template of the
/// GPU lacks it, in the recordings that the authors know.
pub(crate) const SIGNPOSTS: &str = "Points of Interest";

/// Returns the instruments that are added to the template: those that were named, and those that
/// options ask for.
fn instruments(request: &RecordRequest, version: &Version) -> Vec<String> {
    let mut instruments = request.instruments.clone();
    if request.cpu && !samples_cpu(&request.template, version) {
        instruments.push("Time Profiler".to_owned());
    }
    if request.counters {
        instruments.push("Metal GPU Counters".to_owned());
    }
    if wants_signposts(request, version) && !instruments.iter().any(|name| name == SIGNPOSTS) {
        instruments.push(SIGNPOSTS.to_owned());
    }
    instruments
}

/// Returns whether signposts are added. Other templates are taken as they are.
fn wants_signposts(request: &RecordRequest, version: &Version) -> bool {
    request.signposts
        && request.template == RecordRequest::TEMPLATE
        && version.has(Feature::Instruments)
}

/// Returns whether a template samples the CPU by itself, so that another instrument would do it twice.
/// Recordings of Xcode 26 and 27 with Apple's template have the tables.
fn samples_cpu(template: &str, version: &Version) -> bool {
    template == RecordRequest::TEMPLATE && version.xcode().is_some_and(|xcode| xcode >= 26)
}

/// Returns the warning of a recording that is planned to be long.
fn long_recording(request: &RecordRequest) -> Option<String> {
    let limit = request.time_limit_ns.map(Duration::from_nanos)?;
    let is_long = limit > request.timeouts.long && request.window_ns.is_none();
    is_long.then(|| {
        format!(
            "{} s is long: {LONG_RECORDINGS}. Consider --window 10s, which keeps the end",
            limit.as_secs()
        )
    })
}

/// Reports of others about long recordings.
pub(crate) const LONG_RECORDINGS: &str = "one project saw xctrace fail after 90 s and save nothing, and another could not export recordings \
     of more than 2 GB";

/// Returns a duration for `xctrace`. Zero is an error, since it would mean no limit.
fn length(option: &'static str, time: Option<u64>) -> Result<Option<Length>> {
    match time.map(Length::from_nanoseconds) {
        Some(None) => Err(Error::ZeroLength(option)),
        length => Ok(length.flatten()),
    }
}

/// Returns the warning of options that have no effect on a simulated recording.
fn ignored_options(request: &RecordRequest) -> Option<String> {
    let ignored = request.ignored_by_simulator();
    let (last, others) = ignored.split_last()?;
    let named = match others {
        [] => (*last).to_owned(),
        others => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("a simulated recording ignores {named}"))
}

/// Makes the copy of a template, if the request needs one: that of a bundle, or a changed one. A
/// simulator has no template.
fn copied_template(request: &RecordRequest, tool: &Tool) -> Result<Option<template::Copy>> {
    if request.template.trim_end_matches('/').ends_with(".trace") && !request.is_simulated() {
        return template::Copy::of_bundle(Path::new(&request.template)).map(Some);
    }
    if !request.shader_timeline || request.is_simulated() {
        return Ok(None);
    }
    template::Copy::with_shader_timeline(&tool.program).map(Some)
}

fn stock_template(name: &str) -> Template {
    if name.ends_with(".tracetemplate") {
        Template::File(name.into())
    } else {
        Template::Named(name.to_owned())
    }
}

/// Returns the warning of a template for memory, which has no GPU work to report on.
fn without_gpu(template: &str) -> Option<String> {
    ["Allocations", "Leaks"].contains(&template).then(|| {
        format!(
            "{template} records no GPU work, so that metalens cannot report on it alone. `metalens \
             export` writes its lists of allocations, leaks and VM regions; `metalens analyze` sums \
             them up beside GPU work, such as that of `--instrument {template}` with Metal System \
             Trace (not tried on a Mac)"
        )
    })
}

/// Returns whether a template is for the GPU, as far as its name says.
fn is_about_gpu(template: &str) -> bool {
    ["Metal", "Game"].iter().any(|word| template.contains(word))
}

#[cfg(test)]
impl RecordingPlan {
    /// Returns a plan that is never carried out.
    pub(crate) fn for_test(request: RecordRequest) -> Self {
        Self {
            warnings: Vec::new(),
            is_about_gpu: true,
            work_draft: None,
            copied_template: None,
            xctrace_request: XctraceRequest {
                tool: Tool::at("xctrace".into()),
                version: Version {
                    dotted: "26.0".to_owned(),
                    build: "17C529".to_owned(),
                },
                stdin: metalens_xctrace::Stdin::Nothing,
                force: false,
                program_output: OutputRoute::File,
                started_file: None,
                timeouts: request.timeouts,
                running_before: None,
                log: None,
                record: Record::new(
                    stock_template(&request.template),
                    request.output.clone(),
                    Target::AllProcesses,
                ),
            },
            request,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_for_the_gpu_are_known_by_name() {
        assert!(is_about_gpu("Metal System Trace") && is_about_gpu("/a/My Metal.tracetemplate"));
        assert!(!is_about_gpu("Time Profiler"));
    }

    #[test]
    fn templates_for_memory_have_a_warning() {
        let warning = without_gpu("Leaks").unwrap();
        assert!(
            warning.starts_with("Leaks records no GPU work"),
            "{warning}"
        );
        assert_eq!(without_gpu("Metal System Trace"), None);
    }
}
