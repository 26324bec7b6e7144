//! Makes the check run of a gate: its verdict, and an annotation for each limit that failed.

use std::path::Path;

use anyhow::Context;
use metalens_comparison::{GateResult, line_of_limit};
use metalens_github::{Annotation, CheckRun};
use metalens_render::folder::WrittenDocument;
use metalens_render::gate::{self, MissedLimit};
use metalens_text::shown;

/// The longest file of limits, in bytes.
const LONGEST_LIMITS: u64 = 1 << 20;

/// Returns the check run of a document with a gate; none without one. Annotations are on lines of
/// the file of limits, if there is one.
pub(super) fn check_run(
    document: &WrittenDocument,
    key: &str,
    limits: Option<&Path>,
) -> anyhow::Result<Option<CheckRun>> {
    let gates = gates(document);
    if gates.is_empty() {
        return Ok(None);
    }
    let passes = !has_failed(document);
    let lines: Vec<String> = gates.iter().flat_map(Gate::lines).collect();
    let annotations = match limits {
        Some(file) => {
            let read = metalens_files::read(file, LONGEST_LIMITS);
            let bytes = read.with_context(|| format!("cannot read {}", file.display()))?;
            let text = String::from_utf8_lossy(&bytes);
            let missed = gates.iter().flat_map(Gate::missed);
            missed
                .map(|(limit, message)| Annotation {
                    path: file.display().to_string(),
                    line: line_of_limit(&text, &limit.what, limit.is_of_kernel),
                    is_failure: limit.is_failure,
                    message,
                })
                .collect()
        }
        None => Vec::new(),
    };

    // Lines with four spaces are shown as they are, whatever a name has in it.
    let summary = lines.iter().map(|line| format!("    {line}\n"));
    Ok(Some(CheckRun {
        name: format!("metalens {key}"),
        passes,
        title: title(&gates, &lines),
        summary: summary.collect(),
        annotations,
    }))
}

/// Returns whether a gate of the document failed.
pub(super) fn has_failed(document: &WrittenDocument) -> bool {
    gates(document).iter().any(|gate| gate.result.missed)
}

/// The gate of a report or a comparison.
struct Gate<'a> {
    /// Name of the variant; empty for a document with one gate.
    name: &'a str,
    result: &'a GateResult,
}

fn gates(document: &WrittenDocument) -> Vec<Gate<'_>> {
    let results: Vec<(&str, Option<&GateResult>)> = match document {
        WrittenDocument::Report(report) => vec![("", report.gate.as_ref())],
        WrittenDocument::Comparison(comparison) => vec![("", comparison.gate.as_ref())],
        WrittenDocument::Bench(bench) => bench
            .pairs
            .iter()
            .map(|pair| (pair.new.as_str(), pair.comparison.gate.as_ref()))
            .collect(),
    };
    let results = results.into_iter();
    results
        .filter_map(|(name, result)| result.map(|result| Gate { name, result }))
        .collect()
}

/// Returns the verdict of all gates in a line.
fn title(gates: &[Gate<'_>], lines: &[String]) -> String {
    let count = gates.len();
    let missed = gates.iter().filter(|gate| gate.result.missed);
    let word = gate::word(gates.iter().map(|gate| gate.result));
    match (count, missed.count()) {
        (1, _) => lines.last().cloned().unwrap_or_default(),
        (_, 0) => format!("Gate {word}: all {count} comparisons"),
        (_, missed) => format!("Gate {word}: {missed} of {count} comparisons"),
    }
}

impl Gate<'_> {
    /// Returns a line, behind the name of the variant.
    fn line(&self, line: &str) -> String {
        if self.name.is_empty() {
            shown(line).into_owned()
        } else {
            shown(&format!("{}: {line}", self.name)).into_owned()
        }
    }

    fn lines(&self) -> Vec<String> {
        let lines = gate::lines_of(self.result).into_iter();
        lines.map(|line| self.line(&line)).collect()
    }

    fn missed(&self) -> Vec<(MissedLimit, String)> {
        gate::missed_limits(self.result)
            .map(|limit| {
                let message = self.line(&limit.text);
                (limit, message)
            })
            .collect()
    }
}
