//! Builds the document of a baseline.

use metalens_comparison::sentences::value;
use metalens_comparison::{
    Baseline, CompareOptions, Comparison, KernelChange, Number, SideValues, Unit, compare_runs,
};
use metalens_message::{Message, counted, kernel, message};

use crate::document::{Block, Column, Document, Fact, Section, Table};
use crate::wording::plain;

/// Largest number of kernels that are shown.
const KERNELS: usize = 20;

/// Returns the document of a baseline.
pub fn document(baseline: &Baseline) -> Document {
    let runs = &baseline.runs;
    let mut processes = runs.processes.clone();
    processes.dedup();
    let headline = message!(
        "{} of {}, saved by metalens {}",
        counted(runs.count() as u64, "run"),
        plain(processes.join(", ")),
        plain(&baseline.metalens),
    );

    let circumstances = runs.circumstances.iter().map(|fact| {
        let value = fact.values.iter().flatten().next();
        Fact::new(
            &fact.what,
            plain(value.map_or("not recorded", String::as_str)),
        )
    });
    let circumstances = Block::Facts(circumstances.collect());
    // Against itself: nothing changes, and everything is there with its name and unit.
    let itself = compare_runs(runs, runs, &CompareOptions::default());
    let sections = [
        Some(Section::new("verdict", "", 0).with(Block::Lead(headline))),
        Some(Section::new("circumstances", "Circumstances", 1).with(circumstances)),
        Some(figures(&itself)),
        kernels(&itself),
    ];
    Document {
        title: "Baseline".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: Message::default(),
    }
}

fn columns(first: &'static str) -> Vec<Column> {
    vec![
        Column::name(first),
        Column::number("median"),
        Column::number("min"),
        Column::number("max"),
    ]
}

fn cells(name: Message, side: &SideValues, unit: Unit) -> [Message; 4] {
    let said =
        |known: Option<Number>| known.map_or_else(|| "unknown".into(), |known| value(known, unit));
    [name, said(side.median), said(side.min), said(side.max)]
}

fn figures(itself: &Comparison) -> Section {
    let mut table = Table::new("figures", "Figures of the baseline", columns("figure"));
    for metric in &itself.metrics {
        let name = plain(&metric.name);
        table.row(cells(name, &metric.change.base, metric.unit));
    }
    Section::new("figures", "Figures", 2).with(Block::Table(table))
}

fn kernels(itself: &Comparison) -> Option<Section> {
    let mut kernels: Vec<&KernelChange> = itself.kernels.iter().collect();
    let total = |kernel: &KernelChange| kernel.total_ns.base.median.map_or(0.0, Number::get);
    kernels.sort_by(|a, b| total(b).total_cmp(&total(a)));
    if kernels.is_empty() {
        return None;
    }
    let table = Table::new("kernels", "Total time of kernels", columns("kernel"));
    let mut table = table.of(kernels.len());
    for listed in kernels.into_iter().take(KERNELS) {
        table.row(cells(kernel(&listed.name), &listed.total_ns.base, Unit::Ns));
    }
    let section = Section::new("kernels", "Kernels: total time", 3);
    Some(section.with(Block::Table(table)))
}
