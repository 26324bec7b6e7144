//! Writes gaps and indexes as CSV, for spreadsheets and scripts.

use std::io::{self, Write};

use metalens_analyzer::Analysis;
use metalens_analyzer::message::Value;
use metalens_batch::Index;
use metalens_comparison::many::IndexRow;
use metalens_text::csv;

use crate::document::{Cell, Column, ColumnKind, ShownUnit, Table};
use crate::index::reason;

const GAP_HEADINGS: [&str; 16] = [
    "start_ns",
    "duration_ns",
    "cause",
    "completion_ns",
    "host_ns",
    "encoding_ns",
    "driver_wait_ns",
    "driver_ns",
    "start_latency_ns",
    "submission_ns",
    "queued_ns",
    "contention_ns",
    "unknown_ns",
    "serialized",
    "before",
    "after",
];

/// Writes a heading, and a line per gap; the parts of each sum to its length.
pub fn gaps(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    csv.texts(GAP_HEADINGS)?;
    for gap in analysis.gaps() {
        csv.value(gap.start_ns)?;
        csv.value(gap.duration_ns)?;
        csv.text(gap.cause.name())?;
        for (_, ns) in gap.parts.by_cause() {
            csv.value(ns)?;
        }
        csv.optional(gap.serialized)?;
        csv.text(gap.before)?;
        csv.text(gap.after)?;
        csv.end()?;
    }
    Ok(())
}

/// Writes a table with exact values: times in one unit, which the headings name, and shares of 1.
/// Bars are left out.
pub fn table(table: &Table, unit: ShownUnit, out: &mut dyn Write) -> io::Result<()> {
    let shown = table.columns.iter().enumerate();
    let shown = shown.filter(|(_, column)| column.kind != ColumnKind::Bar);
    let shown: Vec<(usize, &Column)> = shown.collect();

    let mut csv = csv::Writer::new(out);
    for &(at, column) in &shown {
        let cells = table.rows.iter().filter_map(|row| row.get(at));
        let has_times = cells
            .filter_map(|cell| number(cell, unit))
            .any(|(_, is_time)| is_time);
        let heading = match (column.heading.text.as_str(), column.kind) {
            ("", ColumnKind::Number) => "share",
            ("", ColumnKind::Words) => "verdict",
            (heading, _) => heading,
        };
        if has_times {
            csv.text(format!("{heading} ({})", unit.ascii()).as_str())?;
        } else {
            csv.text(heading)?;
        }
    }
    csv.end()?;

    for row in table.rows.iter().take(table.long) {
        for cell in shown.iter().filter_map(|&(at, _)| row.get(at)) {
            match number(cell, unit) {
                Some((number, _)) => csv.value(number)?,
                // Tables show a dash for what is unknown.
                None if cell.text.text == "-" => csv.text(None)?,
                None => csv.text(cell.text.text.as_str())?,
            }
        }
        csv.end()?;
    }
    Ok(())
}

/// Returns the number of a cell that is a number alone, and whether it is a time.
fn number(cell: &Cell, unit: ShownUnit) -> Option<(String, bool)> {
    match *cell.only_value()? {
        Value::Time { ns } | Value::Moment { ns } => Some((unit.exact(ns.into()), true)),
        Value::SignedTime { ns } => Some((unit.exact(ns.into()), true)),
        Value::Count { count } => Some((count.to_string(), false)),
        Value::Bytes { bytes } => Some((bytes.to_string(), false)),
        _ => cell.sort_value().map(|number| (number.to_string(), false)),
    }
}

const INDEX_HEADINGS: [&str; 34] = [
    "name",
    "report",
    "date",
    "process",
    "model",
    "os",
    "gpu",
    "synthetic",
    "span_ns",
    "busy_ns",
    "busy_ratio",
    "machine_busy_ns",
    "machine_busy_ratio",
    "intervals",
    "command_buffers",
    "kernels",
    "gaps",
    "idle_ns",
    "mean_gap_ns",
    "median_gap_ns",
    "p95_gap_ns",
    "idle_cause",
    "idle_cause_share",
    "top_kernel",
    "top_kernel_pct",
    "findings_high",
    "findings_medium",
    "findings_low",
    "findings_caveat",
    "top_finding",
    "missed_thresholds",
    "problems",
    "same_as",
    "error",
];

/// Writes the index as CSV: a heading, and a line for each trace; those that failed come
/// last, with their reason.
pub fn index(index: &Index, show_names: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    csv.texts(INDEX_HEADINGS)?;
    for row in &index.rows {
        line(row, &mut csv)?;
    }
    for one in &index.failed {
        let name = if show_names { &one.input } else { &one.name };
        csv.text(name.as_str())?;
        for _ in 2..INDEX_HEADINGS.len() {
            csv.text(None)?;
        }
        csv.text(reason(one, show_names).0.as_str())?;
        csv.end()?;
    }
    Ok(())
}

fn line(row: &IndexRow, csv: &mut csv::Writer<&mut dyn Write>) -> io::Result<()> {
    let (idle, kernel) = (row.idle.as_ref(), row.top_kernel.as_ref());
    let (gaps, findings) = (&row.gaps, &row.findings);

    csv.text(row.name.as_str())?;
    csv.text(row.report.as_str())?;
    csv.text(row.date.as_deref())?;
    csv.text(row.process.as_str())?;
    csv.text(row.model.as_deref())?;
    csv.text(row.os.as_deref())?;
    csv.text(row.gpu.as_deref())?;
    csv.value(row.synthetic)?;

    csv.value(row.span_ns)?;
    csv.value(row.busy_ns)?;
    csv.optional(row.busy_ratio)?;
    csv.value(row.machine_busy_ns)?;
    csv.optional(row.machine_busy_ratio)?;
    csv.value(row.intervals)?;
    csv.optional(row.command_buffers)?;
    csv.value(row.kernels)?;

    csv.value(gaps.count)?;
    csv.value(gaps.total_ns)?;
    csv.optional(gaps.mean_ns)?;
    csv.optional(gaps.median_ns)?;
    csv.optional(gaps.p95_ns)?;
    csv.text(idle.map(|idle| idle.cause.name()))?;
    csv.optional(idle.map(|idle| idle.share))?;
    csv.text(kernel.map(|kernel| kernel.name.as_str()))?;
    csv.optional(kernel.map(|kernel| kernel.time_pct))?;

    csv.value(findings.high)?;
    csv.value(findings.medium)?;
    csv.value(findings.low)?;
    csv.value(findings.caveat)?;
    csv.text(row.finding.as_ref().map(|finding| finding.id.as_str()))?;
    csv.text(row.missed.join(" ").as_str())?;
    csv.value(row.problems.len())?;
    csv.text(row.same_as.as_deref())?;
    csv.text(None)?;
    csv.end()
}
