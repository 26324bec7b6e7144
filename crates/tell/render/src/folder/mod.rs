//! Writes the folder of `analyze -o`: the report in every form, its charts, and a manifest of them.
//!
//! All of it is made before any of it is written, so that what cannot be made
//! costs no old file. Each file is written whole or not at all; the manifest
//! goes first and comes last, so that a folder with a manifest is a whole one.

pub mod bench;
pub mod comparison;
mod content;
pub mod index;
mod manifest;
mod pictures;
mod read;
mod store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, Note};

use crate::error::Result;
use crate::{html, markdown, redact, report};
use content::FileContent;
pub use content::{Choices, FOLDER_OF_CHARTS};
use manifest::Problem;
pub use manifest::{File, Kind, MANIFEST, Manifest, Picture};
pub use read::{ReadError, WrittenDocument, WrittenFolder};

const JSON: &str = "report.json";
const MARKDOWN: &str = "report.md";
const HTML: &str = "report.html";

/// Writes the folder, and returns the files that should be in it and are missing.
pub fn write(analysis: &mut Analysis, folder: &Path, choices: Choices) -> Result<Vec<Note>> {
    write_drawn_by(&pictures::drawn, analysis, folder, choices)
}

/// Returns the paths of all files that may be written, including the manifest.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let themes = [metalens_charts::Theme::Light, metalens_charts::Theme::Dark];
    let charts = themes.into_iter().flat_map(|theme| {
        let charts = metalens_charts::Chart::ALL.into_iter();
        charts.map(move |chart| pictures::path(chart.name(), theme))
    });
    let named = [MANIFEST, JSON, MARKDOWN, HTML].map(str::to_owned);
    named
        .into_iter()
        .chain(charts)
        .map(|path| folder.join(path))
        .collect()
}

/// Refuses a folder whose files exist, unless `force`, or that cannot be written. Callers check
/// before they spend time on reading.
pub fn check(folder: &Path, force: bool) -> Result<()> {
    store::check_place(folder)?;
    for file in files(folder) {
        metalens_files::refuse_existing(&file, force)?;
    }
    Ok(())
}

fn write_drawn_by(
    draw: &pictures::DrawChart<'_>,
    analysis: &mut Analysis,
    folder: &Path,
    choices: Choices,
) -> Result<Vec<Note>> {
    // Charts and pages are posted: they are made from what may be said.
    let whole = (!choices.show_names).then(|| {
        let redacted = redact::redacted(&analysis.report);
        std::mem::replace(&mut analysis.report, redacted)
    });
    let (charts, problems) = charts(draw, analysis, choices);
    let pages = pages(analysis, &charts, choices);
    if let Some(whole) = whole {
        analysis.report = whole;
    }

    let mut contents = vec![FileContent::json(JSON, &analysis.report)?];
    contents.extend(pages?);
    contents.extend(charts);
    let told = problems.iter().map(Problem::note).collect();
    let manifest = content::manifest(&analysis.report.schema, &contents, problems);
    store::write(folder, &contents, &manifest, choices.force)?;
    Ok(told)
}

/// Returns the charts of the analysis, if the folder gets any, and those that cannot be drawn.
fn charts(
    draw: &pictures::DrawChart<'_>,
    analysis: &Analysis,
    choices: Choices,
) -> (Vec<FileContent>, Vec<Problem>) {
    if !choices.charts {
        return (Vec::new(), Vec::new());
    }
    let (mut charts, problems) = pictures::pictures(analysis, draw);
    for chart in &mut charts {
        chart.redacted = !choices.show_names;
    }
    (charts, problems)
}

/// Returns the pages of the report.
fn pages(
    analysis: &Analysis,
    charts: &[FileContent],
    choices: Choices,
) -> Result<[FileContent; 2]> {
    let report = &analysis.report;
    let light: Vec<_> = charts.iter().filter_map(FileContent::shown).collect();
    let markdown = markdown::page(&report::document(report), &light);
    let html = html::report_page(analysis, report)?;
    let redacted = !choices.show_names;
    Ok([
        FileContent::page(MARKDOWN, "text/markdown", markdown, redacted),
        FileContent::page(HTML, "text/html", html, redacted),
    ])
}
