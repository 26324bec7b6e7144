//! Runs `metalens bench`: records several commands alternately, and says which one is fastest and why.

mod runner;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::Report;
use metalens_batch::FolderLock;
use metalens_bench::{
    Bench, BenchFolder, BenchOptions, BenchOutcome, BenchPlan, RunRecord, carry_out,
};
use metalens_comparison::{Baseline, Gate, LEAST_RUNS};
use metalens_files::Folder;
use metalens_recorder::Probe;
use metalens_render::bench;
use metalens_render::folder::bench as bench_folder;
use metalens_text::{in_json, shown};
use metalens_xctrace::{Tool, ToolSource};

use super::compare::read_baseline;
use crate::args::bench::BenchArguments;
use crate::args::recording::Recorders;
use crate::exit::{self, Interrupted, Misuse};
use crate::output_folder::refuse_recording;
use crate::{opening, out, view};

use runner::{BenchRunner, RunPlace};

/// Name of the printed document in errors.
const BENCH: &str = "benchmark";

pub(crate) fn run(arguments: &BenchArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let result = measure(arguments, quiet);
    if arguments.until_decided {
        return Ok(exit::decided(exit::code(result)));
    }
    result
}

fn measure(arguments: &BenchArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    // Recording takes long: check all arguments before it.
    let plan = BenchPlan::new(&arguments.request()?, &metalens_recorder::redactor())?;
    let analyzing = arguments.analyzing()?;
    let options = options(arguments, &plan)?;
    if let Some(file) = &arguments.save_baseline {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    if let Some(folder) = &arguments.output {
        refuse_recording(folder)?;
    }
    runner::check_variants(arguments, &plan)?;
    match arguments.recorders()? {
        _ if arguments.simulate => {}
        Recorders::Probe => drop(Probe::unpack()?),
        Recorders::Xctrace | Recorders::Both => drop(Tool::find(&ToolSource::from_environment())?),
    }

    // No other benchmark writes to the folder until this one ends.
    let _lock = arguments.output.as_deref().map(locked).transpose()?;
    let place = match &arguments.output {
        Some(path) => RunPlace::Kept(BenchFolder::open(
            path,
            &plan,
            arguments.fingerprint(),
            arguments.force,
        )?),
        None => RunPlace::Temporary(
            tempfile::Builder::new()
                .prefix("metalens-bench-")
                .tempdir()
                .context("cannot make a temporary folder")?,
        ),
    };
    let stored = match &place {
        RunPlace::Kept(folder) => folder.stored(arguments.rounds())?,
        RunPlace::Temporary(_) => Vec::new(),
    };
    let outcome = record_all(arguments, &plan, &options, place, analyzing, stored, quiet)?;
    let result = Bench::new(&plan, arguments.rounds(), &outcome, &options);
    finish(arguments, &plan, &result, &outcome, quiet)
}

fn locked(path: &Path) -> anyhow::Result<FolderLock> {
    Folder::make(path).with_context(|| format!("cannot write into {}", path.display()))?;
    Ok(FolderLock::take(path)?)
}

/// Records the runs that are missing.
fn record_all(
    arguments: &BenchArguments,
    plan: &BenchPlan,
    options: &BenchOptions,
    place: RunPlace,
    analyzing: crate::analyzing::Analyzing,
    stored: Vec<RunRecord>,
    quiet: bool,
) -> anyhow::Result<BenchOutcome> {
    let is_kept = matches!(place, RunPlace::Kept(_));
    let mut runner = BenchRunner::new(arguments, plan, options, place, analyzing, quiet)?;
    if !stored.is_empty() && !quiet {
        let recordings = arguments.rounds() as usize * plan.variants.len();
        out::note(&format!(
            "{} of {recordings} runs are already in the folder",
            stored.len()
        ));
    }

    let (rounds, warm_ups) = (arguments.rounds(), arguments.warmup);
    let outcome = carry_out(plan, rounds, warm_ups, stored, &mut runner).inspect_err(|_| {
        if is_kept && !quiet {
            out::note("the complete runs are kept; run the same command again for the others");
        }
    })?;
    if outcome.runs.is_empty() {
        return Err(Interrupted("interrupted before the first run was complete").into());
    }
    Ok(outcome)
}

/// Returns the options of the result.
fn options(arguments: &BenchArguments, plan: &BenchPlan) -> anyhow::Result<BenchOptions> {
    let baseline = arguments
        .baseline
        .as_deref()
        .map(read_baseline)
        .transpose()?;
    let gate = arguments.gate.gate(arguments.measure.config.as_ref())?;
    let gate = gate.map(|gate| Gate {
        until_decided: arguments.until_decided,
        ..gate
    });

    if gate.is_some() && baseline.is_none() && plan.variants.len() < 2 {
        let message = "--gate has nothing to compare: add a second command, or --baseline FILE";
        return Err(Misuse(message.to_owned()).into());
    }
    if arguments.save_baseline.is_some() && (arguments.rounds() as usize) < LEAST_RUNS {
        let message =
            format!("a baseline needs at least {LEAST_RUNS} runs: use --runs {LEAST_RUNS}");
        return Err(Misuse(message).into());
    }

    Ok(BenchOptions {
        per: arguments.unit(),
        baseline,
        gate,
    })
}

/// Writes and prints the result. Returns the exit code.
fn finish(
    arguments: &BenchArguments,
    plan: &BenchPlan,
    result: &Bench,
    outcome: &BenchOutcome,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &arguments.output {
        bench_folder::write(result, folder)
            .with_context(|| format!("cannot write the result into {}", folder.display()))?;
    }
    // A section that the result does not have must not cost the baseline.
    let printed = show(arguments, result);
    if outcome.is_complete {
        save_baseline(arguments, plan, outcome, quiet)?;
    }
    let mut is_open = true;
    if let Some(folder) = &arguments.output {
        out::wrote_folder(folder, bench_folder::PAGE, quiet);
        if arguments.open {
            is_open = opening::open(&folder.join(bench_folder::PAGE), quiet)?;
        }
    }
    printed?;
    refuse_different(arguments, result)?;

    // The first screen has the limits that failed.
    let is_shown = !arguments.json && arguments.view.is_brief() && out::is_for_a_person();
    let gates = result.pairs.iter();
    let gates =
        gates.filter_map(|pair| Some((Some(pair.new.as_str()), pair.comparison.gate.as_ref()?)));
    let code = exit::of_gates(gates, |gate| !is_shown && gate.missed);
    Ok(if !outcome.is_complete {
        exit::interrupted()
    } else if code == ExitCode::SUCCESS && !is_open {
        exit::unavailable()
    } else {
        code
    })
}

fn show(arguments: &BenchArguments, result: &Bench) -> anyhow::Result<()> {
    if arguments.json {
        return view::print_json(result);
    }
    let view = &arguments.view;
    if view.is_csv() {
        return view.print_csv(bench::screen(result), BENCH);
    }
    let mut document = if view.is_brief() {
        bench::brief(result)
    } else {
        bench::screen(result)
    };
    // The runs took long: they are shown even if the options do not fit them.
    let chosen = view.choose(&mut document, BENCH);
    view::print(&document, false)?;
    Ok(chosen?)
}

/// Saves the runs of the first variant as a baseline.
fn save_baseline(
    arguments: &BenchArguments,
    plan: &BenchPlan,
    outcome: &BenchOutcome,
    quiet: bool,
) -> anyhow::Result<()> {
    let Some(file) = &arguments.save_baseline else {
        return Ok(());
    };
    let first = outcome.runs.iter().filter(|run| run.turn.variant == 0);
    let reports: Vec<Report> = first.map(|run| run.report.clone()).collect();
    let name = plan
        .variants
        .first()
        .map_or("", |variant| variant.name.as_str());
    let baseline = Baseline::from_reports(&reports)
        .with_context(|| format!("cannot save {name} as a baseline"))?;
    if let Some(doubt) = baseline.doubt() {
        out::note(&format!(
            "warning: the baseline hides slower runs: {}",
            shown(&doubt.text)
        ));
    }
    let text = baseline.text().context("cannot write the baseline")?;
    let text = in_json(&text);
    metalens_files::write_bytes(file, arguments.force, text.as_bytes())?;
    out::wrote(file, quiet);
    Ok(())
}

/// Refuses a baseline that was recorded differently. Variants of one benchmark only get a warning:
/// they were recorded alternately on one machine.
fn refuse_different(arguments: &BenchArguments, result: &Bench) -> metalens_inputs::Result<()> {
    let is_allowed = arguments.baseline.is_none() || arguments.allow_different;
    let compared = result.pairs.iter().map(|pair| &pair.comparison);
    metalens_inputs::refuse_different(compared, is_allowed)
}
