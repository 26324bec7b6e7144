//! `metalens analyze`: one report per input.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use metalens_analyzer::{Report, Request, analyze, selection};
use metalens_trace::LoadOptions;

use crate::args::AnalyzeArguments;
use crate::exit;
use crate::screen::{progress, report};

pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if let (Some(from), Some(to)) = (arguments.from, arguments.to) {
        anyhow::ensure!(from < to, "--from must lie before --to");
    }
    match arguments.inputs.as_slice() {
        [only] => {
            let report = one(only, arguments, quiet)?;
            show(&[report], arguments, false)?;
            Ok(ExitCode::SUCCESS)
        }
        several => run_several(several, arguments, quiet),
    }
}

/// A failed input does not stop the others; all that succeeded are shown.
fn run_several<P: AsRef<Path>>(
    inputs: &[P],
    arguments: &AnalyzeArguments,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let mut reports = Vec::new();
    for input in inputs {
        match one(input.as_ref(), arguments, quiet) {
            Ok(report) => reports.push(report),
            Err(error) => exit::tell(&error),
        }
    }
    show(&reports, arguments, true)?;
    match reports.len() == inputs.len() {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(exit::some_failed()),
    }
}

fn one(input: &Path, arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<Report> {
    let request = Request {
        processes: arguments.processes.clone(),
        from_ns: arguments.from,
        to_ns: arguments.to,
    };
    let input = super::open(input, arguments.reading)?;
    let load = |options: LoadOptions<'_>| input.load(&selection(), options);
    let trace = progress::reading(arguments.reading, quiet, load)?;
    Ok(analyze(trace, &request)?)
}

fn show(reports: &[Report], arguments: &AnalyzeArguments, several: bool) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let json = match reports {
            [only] if !several => serde_json::to_string_pretty(only)?,
            _ => serde_json::to_string_pretty(reports)?,
        };
        writeln!(out, "{json}")?;
        return Ok(());
    }
    for (at, one) in reports.iter().enumerate() {
        if at > 0 {
            writeln!(out, "\n")?;
        }
        out.write_all(report::render(one).as_bytes())?;
    }
    Ok(())
}
