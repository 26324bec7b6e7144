//! Runs `metalens view`: opens the page of a recording in the browser.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_render::{for_page, html};

use crate::args::bench::ViewArguments;
use crate::{atomic_file, exit, opening, out};

/// Pages of the folders that metalens writes.
const PAGES: [&str; 3] = ["bench.html", "index.html", "report.html"];

pub(crate) fn run(arguments: &ViewArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let page = match existing(&arguments.input).filter(|_| arguments.output.is_none()) {
        Some(page) => page,
        None => write(arguments, quiet)?,
    };
    Ok(if opening::open(&page, quiet)? {
        ExitCode::SUCCESS
    } else {
        exit::unavailable()
    })
}

/// Returns the page that the input is, or has.
fn existing(input: &Path) -> Option<PathBuf> {
    if input.extension().is_some_and(|ending| ending == "html") && input.is_file() {
        return Some(input.to_owned());
    }
    let is_bundle = input.extension().is_some_and(|ending| ending == "trace");
    let mut pages = PAGES.iter().map(|page| input.join(page));
    pages.find(|page| !is_bundle && page.is_file())
}

/// Writes the page of a recording.
fn write(arguments: &ViewArguments, quiet: bool) -> anyhow::Result<PathBuf> {
    let analyzing = arguments.analysis.analyzing(false)?;
    if let Some(file) = &arguments.output {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    let analysis = analyzing.noted_analysis(&arguments.input, quiet)?;
    let shown = for_page(&analysis.report, arguments.show_names);
    let page = html::report_page(&analysis, &shown)?;

    if let Some(file) = &arguments.output {
        atomic_file::write(file, arguments.force, |out| {
            Ok(out.write_all(page.as_bytes())?)
        })?;
        out::wrote(file, quiet);
        return Ok(file.clone());
    }
    let mut file = tempfile::Builder::new()
        .prefix("metalens-")
        .suffix(".html")
        .tempfile()
        .context("cannot make a temporary file")?;
    file.write_all(page.as_bytes())
        .context("cannot write a temporary file")?;
    // The browser reads it after metalens has ended.
    let (_, path) = file.keep().context("cannot keep a temporary file")?;
    Ok(path)
}
