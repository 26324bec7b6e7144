//! Runs `metalens compare`: shows what changed between recordings, and whether that is noise.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::{Analysis, LONGEST_REPORT};
use metalens_comparison::{Baseline, CompareOptions, Comparison, Gate, Runs, compare_runs, judge};
use metalens_inputs::{middle_run, refuse_different, side};
use metalens_render::comparison;
use metalens_render::folder::{self, comparison as comparison_folder};
use metalens_text::shown;

use crate::analyzing::{Analyzing, is_standard};
use crate::args::comparing::{CompareArguments, PresetChoice};
use crate::exit::{self, Misuse};
use crate::out;
use crate::output_folder::refuse_recording;
use crate::view;

/// Name of the printed document in errors.
const COMPARISON: &str = "comparison";

pub(crate) fn run(arguments: &CompareArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let analyzing = arguments.analysis.analyzing()?;
    let sides = Sides::new(arguments)?;

    // Reading the runs may take long: check all other arguments before it.
    if let Some(folder) = &arguments.output {
        refuse_recording(folder)?;
        comparison_folder::check(folder, arguments.force)?;
    }
    let mut gate = arguments
        .gate
        .gate(arguments.analysis.measure.config.as_ref())?;
    if let Some(gate) = &mut gate {
        // Who names what stays the same says that the rest was meant to change.
        gate.may_change_work |= arguments.per.is_some() || arguments.preset.is_some();
    }

    // Only the folder has charts, which need whole analyses.
    let keep = arguments.output.is_some();
    let (base, base_run) = load_base(sides.base, &analyzing, keep, quiet)?;
    let loaded = analyzing.runs(sides.new, quiet)?;
    let comparison = compare(&base, &side(&loaded)?, arguments, gate.as_ref())?;
    let is_refused = comparison.is_refused();
    let comparison = if is_refused {
        comparison.refused()
    } else {
        comparison
    };
    let new_run = middle_run(loaded).filter(|_| keep && !is_refused);

    let is_complete = write_folder(&comparison, base_run.zip(new_run), arguments)?;
    refuse_different([&comparison], arguments.allow_different)?;
    show(&comparison, arguments)?;
    if let Some(folder) = &arguments.output {
        out::wrote_folder(folder, "comparison.html", quiet);
    }
    // The first screen has the limits that failed.
    let is_shown = !arguments.json && arguments.view.is_brief() && out::is_for_a_person();
    let gate = comparison.gate.iter().map(|gate| (None, gate));
    let code = exit::of_gates(gate, |gate| !is_shown && (gate.missed || !quiet));
    Ok(if is_complete {
        code
    } else {
        exit::some_failed()
    })
}

/// The inputs of both sides.
struct Sides<'a> {
    base: Base<'a>,
    new: &'a [PathBuf],
}

enum Base<'a> {
    Runs(&'a [PathBuf]),
    Baseline(&'a Path),
}

impl<'a> Sides<'a> {
    fn new(arguments: &'a CompareArguments) -> Result<Self, Misuse> {
        let CompareArguments {
            runs,
            base,
            new,
            baseline,
            ..
        } = arguments;
        let inputs = runs.iter().chain(base).chain(new);
        if let Some(settings) = inputs.clone().find(|input| is_settings(input)) {
            let shown = settings.display();
            return Err(Misuse(format!(
                "{shown} is a settings file, not a recording: write --gate={shown}"
            )));
        }
        let sides = match (baseline, base.as_slice(), new.as_slice(), runs.as_slice()) {
            (Some(file), [], [], runs @ [_, ..]) | (Some(file), [], runs @ [_, ..], []) => Self {
                base: Base::Baseline(file),
                new: runs,
            },
            (None, base @ [_, ..], new @ [_, ..], []) => Self {
                base: Base::Runs(base),
                new,
            },
            (None, [], [], [base, new]) => Self {
                base: Base::Runs(std::slice::from_ref(base)),
                new: std::slice::from_ref(new),
            },
            _ => {
                let message = "give two sides: BASE NEW, or --base A B C --new D E F, or \
                               --baseline FILE D E F";
                return Err(Misuse(message.to_owned()));
            }
        };

        if inputs.filter(|input| is_standard(input)).count() > 1 {
            let message = "standard input has only one recording: give files for the others";
            return Err(Misuse(message.to_owned()));
        }
        Ok(sides)
    }
}

/// Returns whether somebody meant a file of limits: `--gate FILE` without `=`.
fn is_settings(input: &Path) -> bool {
    input.extension().is_some_and(|ending| ending == "toml") && !input.is_dir()
}

/// Loads the base, and the run of it to draw if `keep` is set.
fn load_base(
    base: Base<'_>,
    analyzing: &Analyzing,
    keep: bool,
    quiet: bool,
) -> anyhow::Result<(Runs, Option<Box<Analysis>>)> {
    match base {
        Base::Runs(inputs) => {
            let loaded = analyzing.runs(inputs, quiet)?;
            Ok((side(&loaded)?, middle_run(loaded).filter(|_| keep)))
        }
        Base::Baseline(file) => Ok((read_baseline(file)?.runs, None)),
    }
}

/// Reads a file that `metalens baseline save` wrote.
pub(super) fn read_baseline(file: &Path) -> anyhow::Result<Baseline> {
    let shown = file.display().to_string();
    anyhow::ensure!(
        !file.is_dir(),
        "{shown} is a folder, not a baseline: `metalens baseline save` makes one from three or more \
         runs"
    );
    let text = metalens_files::read_text(file, LONGEST_REPORT)
        .with_context(|| format!("cannot read {shown}"))?;
    Baseline::parse(&text).context(shown)
}

/// Compares a side with the base, and judges the result.
fn compare(
    base: &Runs,
    new: &Runs,
    arguments: &CompareArguments,
    gate: Option<&Gate>,
) -> Result<Comparison, Misuse> {
    let options = CompareOptions {
        taken_as_same: arguments.preset == Some(PresetChoice::Fusion),
        per: arguments.per.clone(),
        allow_different: arguments.allow_different,
    };

    let mut comparison = compare_runs(base, new, &options);
    if let (true, Some(unit)) = (options.per.is_some(), comparison.missing_unit()) {
        return Err(Misuse(format!(
            "--per: a run has fewer than two to compare: {}",
            shown(&unit.text)
        )));
    }
    comparison.gate = gate.map(|gate| judge(&comparison, gate));
    Ok(comparison)
}

/// Writes the folder of a comparison. Returns whether it is complete; prints an error for each
/// file that is not there.
fn write_folder(
    comparison: &Comparison,
    middle_runs: Option<(Box<Analysis>, Box<Analysis>)>,
    arguments: &CompareArguments,
) -> anyhow::Result<bool> {
    let Some(folder) = &arguments.output else {
        return Ok(true);
    };
    let choices = folder::Choices {
        force: arguments.force,
        show_names: arguments.show_names,
        charts: true,
    };
    let problems = comparison_folder::write(comparison, middle_runs, folder, choices)?;
    for problem in &problems {
        exit::print_error(&anyhow::anyhow!("{}", problem.text()));
    }
    Ok(problems.is_empty())
}

/// Prints the comparison as JSON, Markdown or text.
fn show(comparison: &Comparison, arguments: &CompareArguments) -> anyhow::Result<()> {
    if arguments.json {
        return view::print_json(comparison);
    }

    let view = &arguments.view;
    if view.is_csv() {
        return view.print_csv(comparison::document(comparison, true), COMPARISON);
    }
    let mut document = if arguments.markdown {
        comparison::document(comparison, arguments.show_names)
    } else if view.is_brief() {
        comparison::brief(comparison)
    } else {
        comparison::document(comparison, true)
    };
    view.choose(&mut document, COMPARISON)?;
    view::print(&document, arguments.markdown)
}
