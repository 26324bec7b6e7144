//! Defines the runs of a comparison: analyzed now, or stored as a report.

use std::path::{Path, PathBuf};

use metalens_analyzer::{Analysis, LONGEST_REPORT, Report, SCHEMA};
use metalens_comparison::{Comparison, Runs};

use crate::error::{Error, Result, cannot_read};

/// A run, with its whole analysis if it was analyzed now.
pub enum AnyRun {
    /// An input that was read and analyzed.
    Analyzed(Box<Analysis>),
    /// A report that an earlier `analyze` wrote.
    Stored(Box<Report>),
}

impl AnyRun {
    /// Returns the report of the run.
    pub fn report(&self) -> &Report {
        match self {
            Self::Analyzed(analysis) => &analysis.report,
            Self::Stored(report) => report,
        }
    }
}

/// Reads the stored report that an input is: a JSON file, or the one in the folder of `analyze -o`.
/// Returns `None` for any other input.
///
/// # Errors
///
/// Fails if the file cannot be read, or is not a report of this version.
pub fn stored_report(input: &Path) -> Result<Option<AnyRun>> {
    let Some(file) = report_file(input) else {
        return Ok(None);
    };
    Ok(Some(AnyRun::Stored(Box::new(read_report(&file)?))))
}

/// Returns the path of the report that an input is, or has.
fn report_file(input: &Path) -> Option<PathBuf> {
    if input.extension().is_some_and(|ending| ending == "json") {
        return Some(input.to_path_buf());
    }

    let inside = input.join("report.json");
    let is_absent = metalens_files::is_absent;
    let is_folder_of_report = !is_absent(&inside) && is_absent(&input.join("toc.xml"));
    is_folder_of_report.then_some(inside)
}

/// Parses the JSON text of a report.
///
/// All callers use this function: the parser is a quarter of the code of the analyzer, and each crate
/// that parsed reports would compile it again.
///
/// # Errors
///
/// Fails if the text is something else.
pub fn parse_report(text: &str) -> serde_json::Result<Report> {
    serde_json::from_str(text)
}

/// The field with the name of the format, which all JSON files of metalens have.
#[derive(serde::Deserialize)]
struct SchemaOnly {
    schema: String,
}

/// Reads a report. Refuses a baseline, and a report of another version.
fn read_report(path: &Path) -> Result<Report> {
    let file = path.display().to_string();
    let text = metalens_files::read_text(path, LONGEST_REPORT).map_err(cannot_read(path))?;

    // Parsing a baseline as a report would complain about fields, which would confuse the user.
    let schema = serde_json::from_str::<SchemaOnly>(&text);
    if schema.is_ok_and(|file| file.schema.starts_with("metalens.baseline/")) {
        return Err(Error::Baseline { file });
    }

    let report = match parse_report(&text) {
        Ok(report) => report,
        Err(cause) => return Err(Error::NoReport { file, cause }),
    };
    if report.schema != SCHEMA {
        let schema = report.schema;
        return Err(Error::OtherReport {
            file,
            found: schema,
        });
    }
    Ok(report)
}

/// Returns the runs of one side of a comparison.
///
/// # Errors
///
/// Fails if the side has the same run twice.
pub fn side(loaded: &[AnyRun]) -> Result<Runs> {
    let reports: Vec<Report> = loaded.iter().map(|run| run.report().clone()).collect();
    let runs = Runs::from_reports(&reports);

    match runs.repeated() {
        Some(repeated) => Err(Error::Repeated(repeated.to_string())),
        None => Ok(runs),
    }
}

/// Returns the run in the middle by its length, the shorter one of two: charts show a real run for the
/// whole side, while figures are medians. `None` if a run was loaded from a stored report, which has
/// no intervals to draw.
pub fn middle_run(mut loaded: Vec<AnyRun>) -> Option<Box<Analysis>> {
    loaded.sort_by_key(|run| run.report().window.span_ns);

    let middle = loaded.len().div_ceil(2).checked_sub(1)?;
    if !loaded.iter().all(|run| matches!(run, AnyRun::Analyzed(_))) {
        return None;
    }
    match loaded.swap_remove(middle) {
        AnyRun::Analyzed(analysis) => Some(analysis),
        AnyRun::Stored(_) => None,
    }
}

/// Refuses sides that were recorded differently, unless the user allows that.
///
/// # Errors
///
/// Fails with all differences.
pub fn refuse_different<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
    allow_different: bool,
) -> Result<()> {
    let differ = comparisons
        .into_iter()
        .flat_map(|comparison| &comparison.comparable.differ);
    let mut reasons: Vec<String> = Vec::new();
    for reason in differ.map(ToString::to_string) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    if reasons.is_empty() || allow_different {
        Ok(())
    } else {
        Err(Error::NotComparable(reasons))
    }
}
