//! Makes the check run of a gate: its verdict, and an annotation for each limit that failed.

use std::path::Path;

use anyhow::Context;
use metalens_comparison::Comparison;
use metalens_github::{Annotation, CheckRun};
use metalens_render::comparison::{MissedLimit, gate_lines, is_gate_missed, missed_limits};
use metalens_text::shown;

use super::folder::PostedDocument;

/// The longest file of limits, in bytes.
const LONGEST_LIMITS: u64 = 1 << 20;

/// Returns the check run of a document with a gate; none without one. Annotations are on lines of
/// the file of limits, if there is one.
pub(super) fn check_run(
    document: &PostedDocument,
    key: &str,
    limits: Option<&Path>,
) -> anyhow::Result<Option<CheckRun>> {
    let gates = gates(document);
    if gates.is_empty() {
        return Ok(None);
    }
    let passes = !gates.iter().any(|gate| is_gate_missed(gate.compared));
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
                    line: line_of(&text, &limit),
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

/// A comparison with a gate.
struct Gate<'a> {
    /// Name of the variant; empty for a comparison on its own.
    name: &'a str,
    compared: &'a [Comparison],
}

fn gates(document: &PostedDocument) -> Vec<Gate<'_>> {
    let all: Vec<(&str, &Comparison)> = match document {
        PostedDocument::Report(_) => Vec::new(),
        PostedDocument::Comparison(comparison) => vec![("", comparison)],
        PostedDocument::Bench(bench) => {
            let pairs = bench.pairs.iter();
            pairs
                .map(|pair| (pair.new.as_str(), &pair.comparison))
                .collect()
        }
    };
    let all = all.into_iter();
    all.filter(|(_, compared)| compared.gate.is_some())
        .map(|(name, compared)| Gate {
            name,
            compared: std::slice::from_ref(compared),
        })
        .collect()
}

/// Returns the verdict of all gates in a line.
fn title(gates: &[Gate<'_>], lines: &[String]) -> String {
    let all = gates.len();
    let failed = gates.iter().filter(|gate| is_gate_missed(gate.compared));
    match (all, failed.count()) {
        (1, _) => lines.last().cloned().unwrap_or_default(),
        (_, 0) => format!("Gate passed: all {all} comparisons"),
        (_, failed) => format!("Gate failed: {failed} of {all} comparisons"),
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
        let lines = gate_lines(self.compared).into_iter();
        lines.map(|line| self.line(&line)).collect()
    }

    fn missed(&self) -> Vec<(MissedLimit, String)> {
        let limits = self.compared.iter().flat_map(missed_limits);
        limits
            .map(|limit| {
                let message = self.line(&limit.text);
                (limit, message)
            })
            .collect()
    }
}

/// Returns the line of a limit in its file, from 1: the line of its key, else that of the table it
/// would be in, because the key of a kernel may be a pattern.
fn line_of(file: &str, limit: &MissedLimit) -> usize {
    let starts = |line: &str, key: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    let quoted = [format!("\"{}\"", limit.what), format!("'{}'", limit.what)];
    let table = if limit.is_of_kernel {
        "[gate.kernels]"
    } else {
        "[gate.metrics]"
    };
    let at = |is: &dyn Fn(&str) -> bool| file.lines().position(is);
    let key =
        at(&|line| quoted.iter().any(|key| starts(line, key)) || starts(line, limit.what.as_str()));
    key.or_else(|| at(&|line| line.trim() == table))
        .map_or(1, |found| found + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_limit_is_found() {
        let file = "[gate.metrics]\n# \"window.span_ns\" = 1\n\"window.span_ns\" = { grow = \"5%\" }\n\
                    [gate.kernels]\n\"mat*\" = { grow = \"3%\" }\ncopy = { max = 3 }\n";
        let check = |what: &str, is_of_kernel: bool, expected: usize| {
            let limit = MissedLimit {
                what: what.to_owned(),
                is_of_kernel,
                is_failure: true,
                text: String::new(),
            };
            assert_eq!(line_of(file, &limit), expected, "{what}");
        };
        check("window.span_ns", false, 3);
        check("busy.busy_ns", false, 1);
        check("copy", true, 6);
        check("matmul", true, 4);
        check("cop", true, 4);
    }
}
