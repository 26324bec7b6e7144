//! One run of the workload, without the recorder or with it. The same command
//! line in both: what differs is who starts it.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use metalens_analyzer::Request;
use metalens_comparison::calibration::{ProgramRun, RecordedWork};
use metalens_recorder::RecordingPlan;
use metalens_render::json;

use crate::analyzing::{analysis, sidecar};
use crate::args::recording::CalibrateArguments;
use crate::args::requests::amount;
use crate::commands::record::{TargetOutput, record};
use crate::exit::Interrupted;
use crate::interrupt::Listening;
use crate::reading::Reading;
use crate::whole;

/// Runs what the arguments ask for; its files go into a folder.
pub(super) struct Runner<'a> {
    arguments: &'a CalibrateArguments,
    folder: &'a Path,
    interrupts: Listening,
}

impl<'a> Runner<'a> {
    /// From now on Ctrl-C is heard, so that what is left behind can be cleaned up.
    pub(super) fn of(arguments: &'a CalibrateArguments, folder: &'a Path) -> anyhow::Result<Self> {
        Ok(Self {
            arguments,
            folder,
            interrupts: Listening::begin()?,
        })
    }

    /// Ends on Ctrl-C: half a calibration tells nothing.
    fn go_on(&self) -> Result<(), Interrupted> {
        match self.interrupts.times() {
            0 => Ok(()),
            _ => Err(Interrupted("interrupted: there is no calibration")),
        }
    }

    /// As the program is when nobody looks.
    pub(super) fn without(&self, number: u64) -> anyhow::Result<ProgramRun> {
        let work = self.folder.join(format!("pair-{number}.without.work.json"));
        let own = std::env::current_exe().context("cannot find metalens itself")?;
        let mut command = Command::new(own);
        command.args(["workload", "run", &self.arguments.workload, "--output"]);
        command.arg(&work).args(amount(&self.arguments.settings()));
        command.args(self.arguments.force.then_some("--force"));
        command.args(self.arguments.simulate.then_some("--simulated"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let ended = command.output().context("cannot start the workload")?;
        // It hears Ctrl-C, too.
        self.go_on()?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            let said = said.trim().trim_start_matches("error: ");
            bail!("the workload failed ({}): {said}", ended.status);
        }
        Ok(ProgramRun::from_sidecar(&sidecar(&work)?)?)
    }

    /// As `metalens record` records it, and what `metalens analyze` finds in that.
    pub(super) fn with(&self, number: u64) -> anyhow::Result<(ProgramRun, RecordedWork)> {
        let bundle = self.folder.join(format!("pair-{number}.trace"));
        let plan = RecordingPlan::new(self.arguments.request(bundle)?)?;
        let (recorded, _) = record(&plan, TargetOutput::Dropped, true)?;
        self.go_on()?;
        let work = sidecar(&recorded.bundle.with_extension("work.json"))?;
        let told = ProgramRun::from_sidecar(&work)?;
        let request = Request {
            work: Some(work),
            ..Request::default()
        };
        let analysis = analysis(&recorded.bundle, Reading::default(), &request, true)?;
        let file = recorded.bundle.with_extension("report.json");
        whole::write(&file, self.arguments.force, |out| {
            Ok(out.write_all(json::document(&analysis.report)?.as_bytes())?)
        })?;
        self.go_on()?;
        Ok((told, RecordedWork::from_analysis(&analysis)))
    }
}
