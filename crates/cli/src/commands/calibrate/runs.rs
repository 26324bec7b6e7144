//! Runs the workload once, without or with the recorder. Both runs have the same command line; only
//! the process that starts it differs.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use metalens_analyzer::Request;
use metalens_comparison::calibration::{ProgramRun, RecordedWork};
use metalens_inputs::read_work;
use metalens_recorder::RecordingPlan;
use metalens_render::json;

use crate::analyzing::analysis;
use crate::args::recording::CalibrateArguments;
use crate::atomic_file;
use crate::commands::record::{ProgramOutput, record};
use crate::exit::Interrupted;
use crate::interrupt::Listening;
use crate::reading::Reading;

/// Runs the workload of the arguments, and writes its files into a folder.
pub(super) struct CalibrationRunner<'a> {
    arguments: &'a CalibrateArguments,
    folder: &'a Path,
    interrupts: Listening,
}

impl<'a> CalibrationRunner<'a> {
    /// Starts to listen for Ctrl-C, so that files can be cleaned up.
    pub(super) fn new(arguments: &'a CalibrateArguments, folder: &'a Path) -> anyhow::Result<Self> {
        Ok(Self {
            arguments,
            folder,
            interrupts: Listening::begin()?,
        })
    }

    /// Returns an error after Ctrl-C: a part of a calibration has no result.
    fn check_interrupt(&self) -> Result<(), Interrupted> {
        match self.interrupts.times() {
            0 => Ok(()),
            _ => Err(Interrupted("interrupted; the calibration has no result")),
        }
    }

    /// Runs the workload without the recorder.
    pub(super) fn without(&self, number: u64) -> anyhow::Result<ProgramRun> {
        let work = self.folder.join(format!("pair-{number}.without.work.json"));
        let own = std::env::current_exe().context("cannot find the program metalens")?;

        let mut command = Command::new(own);
        command.args(["workload", "run", &self.arguments.workload, "--output"]);
        command.arg(&work).args(self.arguments.settings().words());
        command.args(self.arguments.force.then_some("--force"));
        command.args(self.arguments.simulate.then_some("--simulated"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let ended = command.output().context("cannot start the workload")?;

        // Ctrl-C ends the workload too: report the interrupt, not its failure.
        self.check_interrupt()?;
        if !ended.status.success() {
            let message = String::from_utf8_lossy(&ended.stderr);
            let message = message.trim().trim_start_matches("error: ");
            bail!("the workload failed ({}): {message}", ended.status);
        }
        Ok(ProgramRun::from_sidecar(&read_work(&work)?)?)
    }

    /// Records the workload as `metalens record` does, and analyzes the recording as
    /// `metalens analyze` does.
    pub(super) fn with(&self, number: u64) -> anyhow::Result<(ProgramRun, RecordedWork)> {
        let bundle = self.folder.join(format!("pair-{number}.trace"));
        let plan = RecordingPlan::new(self.arguments.request(bundle)?)?;
        let (recorded, _) = record(&plan, ProgramOutput::Stderr, false, true)?;
        self.check_interrupt()?;

        let work = read_work(&recorded.bundle.with_extension("work.json"))?;
        let run = ProgramRun::from_sidecar(&work)?;
        let request = Request {
            work: Some(work),
            ..Request::default()
        };
        let analysis = analysis(&recorded.bundle, Reading::default(), &request, true)?;

        let file = recorded.bundle.with_extension("report.json");
        atomic_file::write(&file, self.arguments.force, |out| {
            Ok(out.write_all(json::document(&analysis.report)?.as_bytes())?)
        })?;
        self.check_interrupt()?;
        Ok((run, RecordedWork::from_analysis(&analysis)))
    }
}
