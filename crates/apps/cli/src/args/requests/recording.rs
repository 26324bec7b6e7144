//! Requests to record.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use metalens_recorder::{
    CargoBuild, Probe, RecordRequest, RecordTimeouts, Recorder, RecordingSubject,
};
use metalens_text::shown_message;
use metalens_workload::{Workload, WorkloadPlan};
use metalens_xctrace::{Stdin, Tool, ToolSource};

use crate::args::recording::{RecorderArguments, Recorders, RecordingArguments};
use crate::exit::Misuse;
use crate::out;

/// The bundled workload that is recorded unless another is named.
const WORKLOAD: &str = "eager";

impl RecordingArguments {
    /// Returns what is to be recorded.
    pub(crate) fn subject(&self) -> anyhow::Result<RecordingSubject> {
        if let Some(options) = &self.cargo {
            let options = shlex::split(options)
                .ok_or_else(|| Misuse("--cargo: a quotation mark is not closed".to_owned()))?;
            return Ok(RecordingSubject::Cargo {
                build: CargoBuild { options },
                arguments: self.command.clone(),
            });
        }
        if !self.command.is_empty() {
            return Ok(RecordingSubject::Program(self.command.clone()));
        }
        match &self.attach {
            Some(whom) => Ok(RecordingSubject::Process(whom.clone())),
            None if self.all_processes => Ok(RecordingSubject::Everyone),
            None => workload(self.workload(), self.count),
        }
    }

    /// Returns who records.
    pub(crate) fn recorders(&self) -> anyhow::Result<Recorders> {
        self.recorder.chosen(self.simulate)
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
            simulator(&subject, self.count, run)?
        } else {
            Recorder::Xctrace
        };
        // Without `..`: a new option has to be passed on.
        let RecorderArguments {
            who: _,
            template,
            instruments,
            cpu,
            counters,
            no_signposts,
            shader_timeline,
            time_limit,
            window,
            env,
            keep_log,
            start_patience,
            save_patience,
        } = self.recorder.clone();
        let stdin = match subject {
            // A workload reads nothing.
            RecordingSubject::Workload { .. } => Stdin::Nothing,
            _ => stdin(),
        };
        Ok(RecordRequest {
            dry_run: self.dry_run,
            template,
            instruments,
            cpu,
            counters,
            signposts: !no_signposts,
            shader_timeline,
            time_limit_ns: time_limit,
            window_ns: window,
            environment: env,
            stdin,
            timeouts: timeouts(start_patience, save_patience),
            log: keep_log,
            ..RecordRequest::new(recorder, subject, output)
        })
    }
}

impl RecorderArguments {
    /// Returns who records. Without xctrace, the probe does where it can.
    pub(crate) fn chosen(&self, simulate: bool) -> anyhow::Result<Recorders> {
        match self.who {
            Some(Recorders::Probe | Recorders::Both) if simulate => {
                let text =
                    "--simulate needs --recorder xctrace: the probe writes what a GPU really did";
                Err(Misuse(text.to_owned()).into())
            }
            Some(who) => Ok(who),
            None if simulate || !cfg!(target_os = "macos") => Ok(Recorders::Xctrace),
            None => match Tool::find(&ToolSource::from_environment()) {
                Err(error) if Probe::is_built_in() => {
                    // Never in silence: the recording has less, and Xcode may be there.
                    out::note(&format!(
                        "warning: the probe records, since {}",
                        shown_message(&error.to_string())
                    ));
                    Ok(Recorders::Probe)
                }
                _ => Ok(Recorders::Xctrace),
            },
        }
    }
}

/// Returns how long to wait for the recorder, in nanoseconds: for its start, and for its save.
fn timeouts(start: Option<u64>, save: Option<u64>) -> RecordTimeouts {
    let usual = RecordTimeouts::default();
    let start = start.map_or(usual.start, Duration::from_nanos);
    RecordTimeouts {
        start,
        stop_response: usual.stop_response.min(start),
        save: save.map_or(usual.save, Duration::from_nanos),
        ..usual
    }
}

/// A bundled workload: metalens runs it itself.
fn workload(name: &str, count: Option<u64>) -> anyhow::Result<RecordingSubject> {
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    let mut command = vec![own.into(), "workload".into(), name.into()];
    if let Some(count) = count {
        command.extend(["--count".into(), count.to_string().into()]);
    }
    Ok(RecordingSubject::Workload {
        name: name.to_owned(),
        command,
    })
}

/// Refuses a simulation by a program that was built without the simulator.
pub(crate) fn require_simulator() -> anyhow::Result<()> {
    if cfg!(feature = "simulate") {
        Ok(())
    } else {
        Err(Misuse("this metalens was built without its simulator".to_owned()).into())
    }
}

/// metalens itself as a simulator of Apple's xctrace. It shows the plan of a workload.
/// Each run has times of its own.
fn simulator(
    subject: &RecordingSubject,
    count: Option<u64>,
    run: Option<u32>,
) -> anyhow::Result<Recorder> {
    let scenario = match subject {
        RecordingSubject::Workload { name, .. } => {
            let plan = WorkloadPlan::new(Workload::from_name(name)?, count)?;
            Some(metalens_workload::scenario(&plan))
        }
        _ => None,
    };
    require_simulator()?;
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    Recorder::simulator(own, scenario.as_deref(), run)
        .context("cannot write the scenario of the simulation")
}

/// Returns the target's standard input: ours, if it is a file or a pipe. Programs in a group of their own
/// may not read from a terminal, and nobody means a socket or a device, as under ssh, cron and CI.
fn stdin() -> Stdin {
    let facts = std::io::stdin().as_fd().try_clone_to_owned();
    let facts = facts.and_then(|stdin| fs::File::from(stdin).metadata());
    let has_input = facts.is_ok_and(|facts| {
        let kind = facts.file_type();
        kind.is_file() || kind.is_fifo()
    });
    if has_input {
        Stdin::Ours
    } else {
        Stdin::Nothing
    }
}
