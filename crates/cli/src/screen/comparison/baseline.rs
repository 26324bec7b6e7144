//! A baseline on the terminal.

use metalens_analyzer::units::counted;
use metalens_comparison::{
    Baseline, CompareOptions, Comparison, Number, Unit, compare_runs, format,
};
use metalens_text::shown;

use super::Lines;
use crate::screen::columns::{Align, Columns, shorten};

/// Kernels beyond this many are counted.
const KERNELS: usize = 20;

/// What it holds, styled; ends with a newline.
pub(crate) fn render(baseline: &Baseline) -> String {
    let runs = &baseline.runs;
    let mut lines = Lines::default();
    let mut targets = runs.processes.clone();
    targets.dedup();
    lines.verdict(&format!(
        "{} of {}, as metalens {} kept them",
        counted(runs.count() as u64, "run"),
        targets.join(", "),
        baseline.metalens
    ));
    lines.section("Circumstances");
    for fact in &runs.circumstances {
        let value = fact.values.iter().flatten().next();
        let value = value.map_or("not known", String::as_str);
        lines.fact("", &format!("{}: {value}", fact.what));
    }
    // Against itself: nothing moves, and everything is there with its name and unit.
    let itself = compare_runs(runs, runs, &CompareOptions::default());
    figures(&itself, &mut lines);
    kernels(&itself, &mut lines);
    lines.text
}

fn headings(first: &str) -> Columns {
    Columns::new(&[
        (first, Align::Left),
        ("median", Align::Right),
        ("least", Align::Right),
        ("most", Align::Right),
    ])
}

fn row(name: String, side: &metalens_comparison::Side, unit: Unit) -> [String; 4] {
    let said = |value: Option<Number>| {
        value.map_or_else(|| "unknown".to_owned(), |value| format::value(value, unit))
    };
    [name, said(side.median), said(side.min), said(side.max)]
}

fn figures(itself: &Comparison, lines: &mut Lines) {
    lines.section("Figures");
    let mut columns = headings("");
    for metric in &itself.metrics {
        columns.row(row(metric.name.clone(), &metric.change.base, metric.unit));
    }
    lines.columns(&columns);
}

fn kernels(itself: &Comparison, lines: &mut Lines) {
    if itself.kernels.is_empty() {
        return;
    }
    let mut kernels: Vec<_> = itself.kernels.iter().collect();
    let total = |side: &metalens_comparison::Side| side.median.map_or(0.0, Number::get);
    kernels.sort_by(|one, other| total(&other.total_ns.base).total_cmp(&total(&one.total_ns.base)));
    lines.section("Kernels: total time");
    let mut columns = headings("");
    for kernel in kernels.iter().take(KERNELS) {
        let name = shorten(&shown(&kernel.name), 40);
        columns.row(row(name, &kernel.total_ns.base, Unit::Ns));
    }
    lines.columns(&columns);
    if let more @ 1.. = kernels.len().saturating_sub(KERNELS) {
        lines.line(format!("  … and {more} more"));
    }
}
