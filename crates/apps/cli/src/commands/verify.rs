//! Runs `metalens verify`: carries out experiments with `xctrace`, prints the answers, and writes the evidence.

mod pair;
mod read;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use metalens_files::Folder;
use metalens_message::{count, counted, message, path};
use metalens_render::document::{Block, Document, Fact, Section};
use metalens_render::json;
use metalens_render::terminal::style::{BAD, FAINT, GOOD};
use metalens_text::{shown, shown_message};
use metalens_verify::{
    Answer, EXPERIMENTS, EvidenceFile, ExperimentVerdict, FakeTools, Recorders, Setup, VerifyEvent,
    verify,
};
use metalens_workload::{Workload, WorkloadPlan};
use metalens_xctrace::{Tool, ToolSource};
use tempfile::TempDir;

use crate::args::requests::require_simulator;
use crate::args::verify::VerifyArguments;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit::{self, Interrupted, Unavailable};
use crate::interrupt::Listening;
use crate::output_folder::refuse_recording;
use crate::{exporting, out, view};

/// Name of the file with the answers.
const FILE: &str = "evidence.json";
/// The bundled workload that is recorded, and its steps: enough for seconds of work.
const WORKLOAD: Workload = Workload::Eager;
const STEPS: u64 = 60;

pub(crate) fn run(arguments: &VerifyArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if arguments.list {
        view::print(&list(), false)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some([bundle, export]) = arguments.compare.as_deref() {
        return pair::run(bundle, export);
    }
    if let Some(files) = &arguments.read {
        read::run(files, arguments.markdown)?;
        return Ok(ExitCode::SUCCESS);
    }
    check_machine(arguments)?;
    refuse_recording(&arguments.output)?;
    let file = arguments.output.join(FILE);
    metalens_files::refuse_existing(&file, arguments.force)?;

    let recorders = if arguments.simulate {
        Recorders::Fake(Box::new(fake_tools()?))
    } else {
        Recorders::Xctrace(Tool::find(&ToolSource::from_environment()))
    };

    let (evidence, recordings) = run_experiments(arguments, recorders, quiet)?;
    let is_untold = |answer: &Answer| answer.judgment.verdict == ExperimentVerdict::CouldNotTell;
    let text = json::document(&evidence)?;
    metalens_files::write_bytes(&file, arguments.force, text.as_bytes())?;
    if is_still_saving(&evidence) {
        let kept = recordings.keep();
        let kept = shown(&kept.display().to_string()).into_owned();
        out::note(&format!(
            "xctrace may still be saving; the recordings are in {kept}"
        ));
    }
    let summary = summary(&evidence, &file.display().to_string());
    view::print(&summary, false)?;

    if evidence.stopped {
        return Err(Interrupted("interrupted; the answers so far are written").into());
    }
    Ok(if evidence.number_of(ExperimentVerdict::Otherwise) > 0 {
        exit::missed()
    } else if evidence.answers.iter().all(is_untold) {
        exit::unavailable()
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes fakes of Apple's tools, which show the workload.
fn fake_tools() -> anyhow::Result<FakeTools> {
    require_simulator()?;
    let own = std::env::current_exe().context("cannot find metalens itself")?;
    let plan = WorkloadPlan::new(WORKLOAD, Some(STEPS))?;
    let scenario = metalens_workload::scenario(&plan);
    FakeTools::new(&own, &scenario).context("cannot write the fake xctrace")
}

/// Runs the experiments. Returns the evidence, and the folder with the recordings, which is removed
/// when it is dropped.
fn run_experiments(
    arguments: &VerifyArguments,
    recorders: Recorders,
    quiet: bool,
) -> anyhow::Result<(EvidenceFile, TempDir)> {
    Folder::make(&arguments.output)?;
    let interrupts = Listening::begin()?;
    let recordings = tempfile::Builder::new()
        .prefix("recordings-")
        .tempdir_in(&arguments.output)
        .context("cannot make a folder for the recordings")?;
    let setup = Setup {
        program: std::env::current_exe().context("cannot find metalens itself")?,
        workload: WORKLOAD.name().to_owned(),
        steps: STEPS,
        recorders,
        folder: std::path::absolute(recordings.path())?,
        time_limit: Duration::from_nanos(arguments.time_limit),
        only: arguments.only.clone(),
        default_tables: exporting::default_tables(),
        read: &|bundle, depth| BundleAnalyzer::default().read(bundle, depth),
        stops: &|| interrupts.times(),
        is_stopped: interrupts.heard(),
    };

    let evidence = verify(setup, &mut |event| show(&event, quiet));
    Ok((evidence, recordings))
}

/// Refuses a machine that is no Mac.
fn check_machine(arguments: &VerifyArguments) -> anyhow::Result<()> {
    let source = ToolSource::from_environment();
    if arguments.simulate || source.is_mac || source.named.is_some() {
        return Ok(());
    }
    Err(anyhow::Error::new(Unavailable(
        "the experiments need a Mac with Xcode, because they are about Apple's xctrace; --simulate tries \
         them with a fake xctrace on any machine",
    )))
}

/// Returns whether `xctrace` may write a recording after the end.
fn is_still_saving(evidence: &EvidenceFile) -> bool {
    let mut recordings = evidence.recordings.iter();
    recordings.any(|recording| recording.result == "still saving")
}

/// Returns the experiments, for `--list`.
fn list() -> Document {
    let sections = EXPERIMENTS.iter().map(|experiment| {
        let facts = vec![
            Fact::new("does", experiment.does),
            Fact::new("expected", experiment.expected),
        ];
        Section::new(experiment.id, experiment.id, 0)
            .with(Block::Text(experiment.question.into()))
            .with(Block::Facts(facts))
    });
    Document {
        sections: sections.collect(),
        ..Document::default()
    }
}

/// Prints an event of the experiments.
fn show(event: &VerifyEvent<'_>, quiet: bool) {
    match event {
        VerifyEvent::NoXctrace(why) => {
            out::note(&format!("no xctrace: {}", shown_message(why)));
        }
        VerifyEvent::Recording(_) if quiet => {}
        VerifyEvent::Recording(purpose) => out::note(&format!("recording: {purpose}")),
        VerifyEvent::Answered(answer) => {
            // The evidence is written even if nobody reads this.
            let _ = out::page().write_all(line(answer).as_bytes());
            if let Some(private) = answer.judgment.private.as_ref().filter(|_| !quiet) {
                out::note(&format!("  {}: {}", answer.id, shown_message(private)));
            }
        }
    }
}

/// Formats the verdict of an answer as a line.
fn line(answer: &Answer) -> String {
    let style = match answer.judgment.verdict {
        ExperimentVerdict::AsExpected => GOOD,
        ExperimentVerdict::Otherwise => BAD,
        ExperimentVerdict::CouldNotTell => FAINT,
    };
    let words = answer.judgment.verdict.words();
    format!(
        "{style}{words:<15}{style:#} {:<13} {}\n",
        answer.id, answer.judgment.why
    )
}

/// Returns the numbers of verdicts, and what to do with the evidence.
fn summary(evidence: &EvidenceFile, file: &str) -> Document {
    let number = |verdict| count(evidence.number_of(verdict) as u64);
    let as_expected = evidence.number_of(ExperimentVerdict::AsExpected) as u64;
    let result = message!(
        "{} as expected, {} not as expected, {} could not tell. {} has the answers, the versions \
         of macOS and Xcode, the chip, the tables that were seen, and what xctrace printed, without \
         your names, folders or environment. Attach it to a bug report.",
        counted(as_expected, "answer"),
        number(ExperimentVerdict::Otherwise),
        number(ExperimentVerdict::CouldNotTell),
        path(file),
    );
    let fake = "SIMULATED: a fake xctrace answered; this says nothing about Apple's";
    let fake = evidence.synthetic.then(|| Block::Warning(fake.into()));
    let said = Section::new("summary", "", 0).with_some(fake);
    Document {
        sections: vec![said.with(Block::Text(result))],
        ..Document::default()
    }
}
