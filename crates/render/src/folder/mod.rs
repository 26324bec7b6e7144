//! The folder that `analyze -o` writes: the report in every form, its charts, and a manifest of
//! them.
//!
//! All of it is made before any of it is written, so that what cannot be made
//! costs no old file. Each file is written whole or not at all; the manifest
//! goes first and comes last, so that a folder with a manifest is a whole one.

pub mod comparison;
mod content;
mod manifest;
mod pictures;
mod store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, Note};

use crate::error::Result;
use crate::{html, markdown, redact, report};
use content::Content;
pub use content::{Choices, FOLDER_OF_CHARTS};
use manifest::Problem;
pub use manifest::{
    FILE_MISSING, File, Kind, LONGEST_REPORT, MANIFEST, Manifest, Picture,
    SCHEMA as MANIFEST_SCHEMA, json_schema,
};

const REPORTS: [&str; 3] = ["report.json", "report.md", "report.html"];

/// Writes the folder. Returns what should be in it and is not.
pub fn write(analysis: &mut Analysis, folder: &Path, choices: Choices) -> Result<Vec<Note>> {
    write_drawn_by(&pictures::drawn, analysis, folder, choices)
}

/// Returns every file that may be written; the manifest is among them.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let themes = [metalens_charts::Theme::Light, metalens_charts::Theme::Dark];
    let charts = themes.into_iter().flat_map(|theme| {
        let paths = pictures::CHARTS.iter();
        paths.map(move |&(_, name)| pictures::path(name, theme))
    });
    let named = [MANIFEST].into_iter().chain(REPORTS).map(str::to_owned);
    named.chain(charts).map(|path| folder.join(path)).collect()
}

/// Refuses what exists, and where nothing can be written: better now than after
/// a long reading.
pub fn check(folder: &Path, force: bool) -> Result<()> {
    store::check_place(folder)?;
    for file in files(folder) {
        metalens_files::refuse_existing(&file, force)?;
    }
    Ok(())
}

fn write_drawn_by(
    draw: &pictures::Draw<'_>,
    analysis: &mut Analysis,
    folder: &Path,
    choices: Choices,
) -> Result<Vec<Note>> {
    let (charts, problems) = redacted_charts(draw, analysis, choices);
    let mut contents = reports(analysis, &charts, choices)?;
    contents.extend(charts);
    let entries = contents.iter().map(Content::entry).collect();
    let told = problems.iter().map(Problem::note).collect();
    let redacted = !choices.show_names;
    let manifest = Manifest::of(&analysis.report, redacted, entries, problems);
    store::write(folder, &contents, &manifest, choices.force)?;
    Ok(told)
}

/// Charts are posted: they are drawn from what may be said.
fn redacted_charts(
    draw: &pictures::Draw<'_>,
    analysis: &mut Analysis,
    choices: Choices,
) -> (Vec<Content>, Vec<Problem>) {
    if choices.show_names {
        let (mut charts, problems) = pictures::pictures(analysis, draw);
        for chart in &mut charts {
            chart.redacted = false;
        }
        return (charts, problems);
    }
    let redacted = redact::redacted(&analysis.report);
    let whole = std::mem::replace(&mut analysis.report, redacted);
    let drawn = pictures::pictures(analysis, draw);
    analysis.report = whole;
    drawn
}

/// The report in every form.
fn reports(analysis: &Analysis, charts: &[Content], choices: Choices) -> Result<Vec<Content>> {
    let report = &analysis.report;
    let light: Vec<_> = charts.iter().filter_map(Content::shown).collect();
    let shown = (!choices.show_names).then(|| redact::redacted(report));
    let shown = report::document(shown.as_ref().unwrap_or(report));
    let markdown = markdown::page(&shown, &light);
    let html = html::report_page(analysis, choices.show_names)?;
    let [for_programs, page, interactive] = REPORTS;
    let redacted = !choices.show_names;
    Ok(vec![
        Content::json(for_programs, report)?,
        Content::page(page, "text/markdown", markdown, redacted),
        Content::page(interactive, "text/html", html, redacted),
    ])
}
