//! Requests to record.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use metalens_recorder::{
    CargoBuild, RecordRequest, RecordTimeouts, Recorder, RecordingSubject, template,
};
use metalens_workload::WorkloadSettings;
use metalens_xctrace::{Stdin, Tool};
use tempfile::NamedTempFile;

use crate::args::recording::{
    AmountArguments, CalibrateArguments, CargoArguments, GpuClock, RecorderArguments,
    RecordingArguments,
};

/// The bundled workload that is recorded unless another is named.
const WORKLOAD: &str = "eager";

impl RecordingArguments {
    /// Returns what is to be recorded.
    pub(crate) fn subject(&self) -> anyhow::Result<RecordingSubject> {
        if self.cargo.cargo {
            return Ok(RecordingSubject::Cargo {
                build: self.cargo.build(),
                arguments: self.command.clone(),
            });
        }
        if !self.command.is_empty() {
            return Ok(RecordingSubject::Program(self.command.clone()));
        }
        match &self.attach {
            Some(whom) => Ok(RecordingSubject::Process(whom.clone())),
            None if self.all_processes => Ok(RecordingSubject::Everyone),
            None => workload(self.workload(), &self.amount.settings()),
        }
    }

    fn workload(&self) -> &str {
        self.workload.as_deref().unwrap_or(WORKLOAD)
    }

    /// Returns what is asked of a recording of that into a bundle that is not there.
    pub(crate) fn request(
        &self,
        subject: RecordingSubject,
        output: PathBuf,
    ) -> anyhow::Result<RecordRequest> {
        self.request_of_run(subject, output, None)
    }

    /// Returns what is asked of one of several recordings. Simulated ones differ by their number, as
    /// real ones do by chance.
    pub(crate) fn request_of_run(
        &self,
        subject: RecordingSubject,
        output: PathBuf,
        run: Option<u32>,
    ) -> anyhow::Result<RecordRequest> {
        let recorder = if self.simulate {
            simulator(&subject, &self.amount.settings(), run)?
        } else {
            Recorder::Xctrace
        };
        let options = &self.recorder;
        Ok(RecordRequest {
            dry_run: self.dry_run,
            template: options.template.clone(),
            instruments: options.instruments.clone(),
            cpu: options.cpu,
            counters: options.counters,
            signposts: !options.no_signposts,
            shader_timeline: options.shader_timeline,
            gpu_clock: options.gpu_clock.map(Into::into),
            time_limit_ns: options.time_limit,
            window_ns: options.window,
            environment: options.env.clone(),
            run_name: options.run_name.clone(),
            device: options.device.clone(),
            stdin: stdin(),
            timeouts: options.timeouts(),
            ..RecordRequest::new(recorder, subject, output)
        })
    }
}

impl RecorderArguments {
    fn timeouts(&self) -> RecordTimeouts {
        let usual = RecordTimeouts::default();
        let start = self.start_patience.map(Duration::from_nanos);
        let start = start.unwrap_or(usual.start);
        RecordTimeouts {
            start,
            stop_response: usual.stop_response.min(start),
            save: Duration::from_nanos(self.patience),
            ..usual
        }
    }
}

impl CalibrateArguments {
    /// Returns how much of the workload is run.
    pub(crate) fn settings(&self) -> WorkloadSettings {
        WorkloadSettings {
            size: self.size,
            count: self.count,
            warm_up: self.warm_up,
        }
    }

    /// Returns what is asked of a recording of the workload.
    pub(crate) fn request(&self, output: PathBuf) -> anyhow::Result<RecordRequest> {
        let settings = self.settings();
        let subject = workload(&self.workload, &settings)?;
        let recorder = if self.simulate {
            simulator(&subject, &settings, None)?
        } else {
            Recorder::Xctrace
        };
        Ok(RecordRequest {
            force: self.force,
            gpu_clock: self.gpu_clock.map(Into::into),
            stdin: stdin(),
            ..RecordRequest::new(recorder, subject, output)
        })
    }
}

impl AmountArguments {
    fn settings(&self) -> WorkloadSettings {
        WorkloadSettings {
            size: self.size,
            count: self.count,
            warm_up: self.warm_up,
        }
    }
}

impl CargoArguments {
    fn build(&self) -> CargoBuild {
        CargoBuild {
            package: self.package.clone(),
            bin: self.bin.clone(),
            example: self.example.clone(),
            bench: self.bench.clone(),
            release: self.release,
            profile: self.profile.clone(),
            features: self.features.clone(),
            no_default_features: self.no_default_features,
        }
    }
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

/// A bundled workload: metalens runs it itself.
fn workload(name: &str, settings: &WorkloadSettings) -> anyhow::Result<RecordingSubject> {
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    Ok(RecordingSubject::Workload {
        name: name.to_owned(),
        command: vec![own.into(), "workload".into(), "run".into(), name.into()],
        amount: amount(settings),
    })
}

/// Returns how much of a workload is run, as words of its command line.
pub(crate) fn amount(settings: &WorkloadSettings) -> Vec<OsString> {
    let all = [
        ("--size", settings.size),
        ("--count", settings.count),
        ("--warm-up", settings.warm_up),
    ];
    let given = all
        .into_iter()
        .filter_map(|(word, value)| Some((word, value?)));
    given
        .flat_map(|(word, value)| [word.into(), value.to_string().into()])
        .collect()
}

/// metalens itself as a simulator of Apple's xctrace. It shows the plan of a workload.
/// Each run has times of its own.
fn simulator(
    subject: &RecordingSubject,
    settings: &WorkloadSettings,
    run: Option<u32>,
) -> anyhow::Result<Recorder> {
    let scenario = match subject {
        RecordingSubject::Workload { name, .. } => Some(scenario(name, settings)?),
        _ => None,
    };
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    let file = scenario.as_ref().map(NamedTempFile::path);
    let seed = |run: u32| {
        let seed = OsString::from(run.to_string());
        ("METALENS_FAKE_XCTRACE_SEED".into(), seed)
    };
    let variable = |file: &Path| ("METALENS_FAKE_XCTRACE_SCENARIO".into(), file.into());
    let tool = Tool {
        before: vec!["fake-xctrace".into(), "--".into()],
        environment: file
            .map(variable)
            .into_iter()
            .chain(run.map(seed))
            .collect(),
        ..Tool::at(own)
    };
    Ok(Recorder::Simulator { tool, scenario })
}

fn scenario(workload: &str, settings: &WorkloadSettings) -> anyhow::Result<NamedTempFile> {
    let plan = metalens_workload::WorkloadPlan::new(workload, settings)?;
    let text = metalens_workload::scenario(&plan);
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
    written.context("cannot write what is to be simulated")
}

/// Returns the target's standard input: ours, unless that is a terminal, which programs in a
/// group of their own may not read.
fn stdin() -> Stdin {
    if std::io::stdin().is_terminal() {
        Stdin::Nothing
    } else {
        Stdin::Ours
    }
}
