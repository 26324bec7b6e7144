//! Records and analyzes the runs of a benchmark.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use metalens_bench::{
    BenchFolder, BenchOptions, BenchOutcome, BenchPlan, RunEnd, RunRecord, Turn, Variant,
    VariantRunner, is_decided,
};
use metalens_comparison::LEAST_RUNS;
use metalens_files::Folder;
use metalens_recorder::{
    MachineSnapshot, Probe, ProbePlan, ProgramEnd, RecordRequest, RecordingPlan, RecordingSubject,
    StoppedBy,
};
use metalens_render::folder;
use metalens_text::shown;

use crate::analyzing::Analyzing;
use crate::args::bench::BenchArguments;
use crate::args::recording::Recorders;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::commands::record::{Interrupts, ProgramOutput, carry_out};
use crate::exit;
use crate::interrupt::Listening;
use crate::out;

/// Returns the name of the recording in the folder of a run.
fn file_name(by: Recorders) -> String {
    format!("run.{}", by.ending())
}

/// The place of the recordings.
pub(super) enum RunPlace {
    /// The folder that the user named.
    Kept(BenchFolder),
    Temporary(tempfile::TempDir),
}

/// Records with `xctrace`, or its simulator.
pub(super) struct BenchRunner<'a> {
    arguments: &'a BenchArguments,
    by: Recorders,
    plan: &'a BenchPlan,
    options: &'a BenchOptions,
    begun: Instant,
    place: RunPlace,
    analyzing: Analyzing,
    interrupts: Listening,
    quiet: bool,
    /// Warnings that were printed.
    said: Vec<String>,
}

impl<'a> BenchRunner<'a> {
    /// Starts to listen for Ctrl-C.
    pub(super) fn new(
        arguments: &'a BenchArguments,
        plan: &'a BenchPlan,
        options: &'a BenchOptions,
        place: RunPlace,
        analyzing: Analyzing,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            arguments,
            by: arguments.recorders()?,
            plan,
            options,
            begun: Instant::now(),
            place,
            analyzing,
            interrupts: Listening::begin()?,
            quiet,
            said: Vec::new(),
        })
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            out::note(&shown(text));
        }
    }

    /// Records a variant into a folder, once more if the recording is empty: `xctrace` now and then records
    /// nothing.
    fn recorded(
        &mut self,
        variant: &Variant,
        folder: &Path,
        seed: u32,
        analyzer: &mut BundleAnalyzer,
    ) -> anyhow::Result<Option<(PathBuf, RunEnd)>> {
        let first = self.recorded_once(variant, folder, seed, analyzer);
        let is_empty = first.as_ref().err().is_some_and(|error| {
            let error = error.downcast_ref::<metalens_recorder::Error>();
            matches!(error, Some(metalens_recorder::Error::Empty { .. }))
        });
        if !is_empty {
            return first;
        }
        self.note("trying again: the recording has no GPU work of the program");
        self.recorded_once(variant, folder, seed, analyzer)
    }

    /// Records a variant into a folder. Returns the bundle and the end of the run; none if it was
    /// interrupted.
    fn recorded_once(
        &mut self,
        variant: &Variant,
        folder: &Path,
        seed: u32,
        analyzer: &mut BundleAnalyzer,
    ) -> anyhow::Result<Option<(PathBuf, RunEnd)>> {
        Folder::make(folder)?;
        let path = folder.join(file_name(self.by));
        let request = self.arguments.recording_of(variant, path, seed)?;
        if self.by == Recorders::Probe {
            return self.recorded_by_probe(request);
        }
        let plan = RecordingPlan::new(request)?;
        let snapshot = MachineSnapshot::take(&plan.request);
        let warnings = snapshot.iter().flat_map(|snapshot| &snapshot.warnings);
        for warning in plan.warnings.iter().chain(warnings) {
            if !self.said.contains(warning) {
                self.note(&format!("warning: {warning}"));
                self.said.push(warning.clone());
            }
        }

        let output = ProgramOutput::Stderr;
        let outcome = carry_out(&plan, snapshot, analyzer, output, &self.interrupts, true);
        if self.is_stopped() {
            // What was recorded until then would look like a faster run.
            return Ok(None);
        }
        let outcome = outcome?;
        for trouble in outcome.troubles {
            exit::print_error(&trouble.into());
        }
        let end = self.end_of_run(outcome.program_end, outcome.recording.stopped_by)?;
        Ok(Some((outcome.recording.bundle, end)))
    }

    /// Records a run with the probe.
    fn recorded_by_probe(
        &self,
        request: RecordRequest,
    ) -> anyhow::Result<Option<(PathBuf, RunEnd)>> {
        let plan = ProbePlan::new(request, Probe::unpack()?)?;
        let output = out::stderr_of_child()?;
        let recorded = plan.carry_out(output, &mut Interrupts(&self.interrupts));
        if self.is_stopped() {
            return Ok(None);
        }
        let recorded = recorded?;
        let end = self.end_of_run(recorded.program_end, recorded.stopped_by)?;
        Ok(Some((recorded.log, end)))
    }

    /// Returns how a run ended. Refuses a failure that nobody asked to ignore.
    fn end_of_run(
        &self,
        program_end: Option<ProgramEnd>,
        stopped_by: StoppedBy,
    ) -> anyhow::Result<RunEnd> {
        let is_cut = stopped_by == StoppedBy::TimeLimit;
        let failure = program_end
            .filter(|_| !is_cut)
            .and_then(|end| end.message(stopped_by));
        if let Some(failure) = failure.as_ref().filter(|_| !self.arguments.ignore_failure) {
            bail!("{failure}; --ignore-failure measures it anyway");
        }
        Ok(RunEnd { is_cut, failure })
    }

    /// Analyzes a recording, and writes its report if the folder is kept.
    fn analyzed(
        &self,
        turn: Turn,
        bundle: &Path,
        end: RunEnd,
        analyzer: &mut BundleAnalyzer,
    ) -> anyhow::Result<RunRecord> {
        let analyzing = &self.analyzing;
        let mut analysis = analyzing.analysis_of_recording(bundle, analyzer, true)?;
        let mut inner = None;
        if let RunPlace::Kept(folder) = &self.place {
            let choices = folder::Choices {
                force: true,
                show_names: self.arguments.show_names,
                charts: false,
            };
            for problem in folder::write(&mut analysis, &folder.run(turn)?, choices)? {
                exit::print_error(&anyhow::anyhow!("{}", problem.text()));
            }
            if self.arguments.drop_recordings {
                folder.remove(turn, &file_name(self.by))?;
            }
            folder.complete(turn, &end)?;
            inner = Some(folder.inner(turn));
        }
        Ok(RunRecord {
            turn,
            end,
            report: analysis.report,
            folder: inner,
        })
    }
}

impl VariantRunner for BenchRunner<'_> {
    type Error = anyhow::Error;

    /// Looks after each round at first, and then the less often the more rounds there are, so that all looks
    /// together take time that grows with the rounds.
    fn is_enough(&self, outcome: &BenchOutcome) -> bool {
        let variants = self.plan.variants.len();
        let rounds = outcome.runs.len() / variants;
        let is_whole = outcome.runs.len() == rounds * variants;
        let least = self.options.gate.as_ref().and_then(|gate| gate.runs);
        if !self.arguments.until_decided || !is_whole || rounds < least.unwrap_or(LEAST_RUNS) {
            return false;
        }
        let within = self.arguments.within.map(Duration::from_nanos);
        if within.is_some_and(|within| self.begun.elapsed() >= within) {
            return true;
        }
        rounds.is_multiple_of((rounds / 8).max(1)) && is_decided(self.plan, outcome, self.options)
    }

    fn is_stopped(&self) -> bool {
        self.interrupts.times() > 0
    }

    fn run_hook(&mut self, variant: &Variant, command: &str) -> anyhow::Result<()> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null());
        let ended = shell
            .output()
            .with_context(|| format!("cannot start a shell for `{command}`"))?;
        if ended.status.success() || self.is_stopped() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        bail!(
            "`{command}` of {} failed ({}): {}",
            variant.name,
            ended.status,
            said.trim()
        )
    }

    fn warm_up(&mut self, variant: &Variant, number: u32) -> anyhow::Result<()> {
        let warm_ups = self.arguments.warmup;
        self.note(&format!("warm-up {number} of {warm_ups}: {}", variant.name));
        let folder = tempfile::Builder::new()
            .prefix("metalens-warmup-")
            .tempdir()
            .context("cannot make a temporary folder")?;
        let analyzer = &mut BundleAnalyzer::default();
        let recorded = self.recorded(variant, folder.path(), number, analyzer);
        recorded.with_context(|| format!("{}, warm-up {number}", variant.name))?;
        Ok(())
    }

    fn record(&mut self, turn: Turn, variant: &Variant) -> anyhow::Result<Option<RunRecord>> {
        let rounds = self.arguments.rounds();
        self.note(&format!(
            "round {} of {rounds}: {}",
            turn.round, variant.name
        ));
        let folder = match &self.place {
            RunPlace::Kept(folder) => folder.begin(turn)?,
            RunPlace::Temporary(folder) => folder
                .path()
                .join(format!("{}-{}", turn.variant, turn.round)),
        };

        let seed =
            turn.round * u32::try_from(self.plan.variants.len())? + u32::try_from(turn.variant)?;
        let name = || format!("{}, round {}", variant.name, turn.round);
        let analyzer = &mut BundleAnalyzer::default();
        let recorded = self.recorded(variant, &folder, seed, analyzer);
        let run = match recorded.with_context(name)? {
            Some((bundle, end)) => {
                let run = self.analyzed(turn, &bundle, end, analyzer);
                Some(run.with_context(name)?)
            }
            None => None,
        };
        if matches!(self.place, RunPlace::Temporary(_)) {
            let _ = fs::remove_dir_all(&folder);
        }
        Ok(run)
    }
}

/// Refuses variants that no recorder can record. Recording takes long.
pub(super) fn check_variants(arguments: &BenchArguments, plan: &BenchPlan) -> anyhow::Result<()> {
    for variant in &plan.variants {
        let request = arguments.recording_of(variant, file_name(Recorders::Xctrace).into(), 0)?;
        if let RecordingSubject::Workload { name, .. } = &request.subject {
            metalens_workload::Workload::from_name(name)?;
        }
    }
    Ok(())
}
