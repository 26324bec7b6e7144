//! Writes gaps and indexes as CSV, for spreadsheets and scripts.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, Cause};
use metalens_batch::Index;
use metalens_comparison::many::IndexRow;
use metalens_comparison::{Number, metrics};
use metalens_message::Value;
use metalens_text::csv;

use crate::document::{Cell, Column, ColumnKind, Table};
use crate::index::{missed_figures, reason};

/// Writes a heading, and a line per gap; the parts of each sum to its length.
pub fn gaps(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    let parts = Cause::ALL.map(Cause::column);
    let before = ["start_ns", "duration_ns", "cause"].into_iter();
    csv.texts(before.chain(parts).chain(["serialized", "before", "after"]))?;
    for gap in analysis.gaps() {
        csv.value(gap.start_ns)?;
        csv.value(gap.duration_ns)?;
        csv.text(gap.cause.name())?;
        for (_, ns) in gap.parts.by_cause() {
            csv.value(ns.0)?;
        }
        csv.optional(gap.serialized)?;
        csv.text(gap.before)?;
        csv.text(gap.after)?;
        csv.end()?;
    }
    Ok(())
}

/// Writes a table with exact values: times in nanoseconds, and shares of 1. Bars are left out.
pub fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = table.columns.iter().enumerate();
    let shown = shown.filter(|(_, column)| column.kind != ColumnKind::Bar);
    let shown: Vec<(usize, &Column)> = shown.collect();

    let mut csv = csv::Writer::new(out);
    for &(at, column) in &shown {
        let cells = table.rows.iter().filter_map(|row| row.get(at));
        let has_times = cells.filter_map(number).any(|(_, is_time)| is_time);
        if has_times {
            csv.text(format!("{} (ns)", column.key).as_str())?;
        } else {
            csv.text(column.key.as_str())?;
        }
    }
    csv.end()?;

    for row in table.rows.iter().take(table.long) {
        for cell in shown.iter().filter_map(|&(at, _)| row.get(at)) {
            match number(cell) {
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
fn number(cell: &Cell) -> Option<(String, bool)> {
    match *cell.only_value()? {
        Value::Time { ns } | Value::Moment { ns } => Some((ns.to_string(), true)),
        Value::SignedTime { ns } => Some((ns.to_string(), true)),
        Value::Count { count } => Some((count.to_string(), false)),
        Value::Bytes { bytes } => Some((bytes.to_string(), false)),
        _ => cell.sort_value().map(|number| (number.to_string(), false)),
    }
}

type WriteCell = fn(&IndexRow, &mut csv::Writer<&mut dyn Write>) -> io::Result<()>;

/// The columns of an index before the figures. The table is formatted by hand: a column is a line.
#[rustfmt::skip]
const INDEX_COLUMNS: [(&str, WriteCell); 17] = [
    ("name", |row, csv| csv.text(row.name.as_str())),
    ("report", |row, csv| csv.text(row.report.as_str())),
    ("date", |row, csv| csv.text(row.of.date.as_deref())),
    ("process", |row, csv| csv.text(row.of.process.as_str())),
    ("model", |row, csv| csv.text(row.of.circumstance("model"))),
    ("os", |row, csv| csv.text(row.of.circumstance("system"))),
    ("gpu", |row, csv| csv.text(row.of.gpu())),
    ("synthetic", |row, csv| csv.value(row.of.is_synthetic())),
    ("idle_cause", |row, csv| csv.text(row.idle.as_ref().map(|idle| idle.cause.name()))),
    ("idle_cause_share", |row, csv| csv.optional(row.idle.as_ref().map(|idle| idle.share.0))),
    ("top_kernel", |row, csv| csv.text(row.top_kernel.as_ref().map(|kernel| kernel.name.as_str()))),
    ("top_kernel_pct", |row, csv| csv.optional(row.top_kernel.as_ref().map(|kernel| kernel.time_pct))),
    ("findings", |row, csv| csv.value(row.findings.len())),
    ("top_finding", |row, csv| csv.text(row.findings.first().map(|finding| finding.id.as_str()))),
    ("missed_limits", |row, csv| csv.text(missed_figures(row).as_str())),
    ("problems", |row, csv| csv.value(row.problems.len())),
    ("same_as", |row, csv| csv.text(row.same_as.as_deref())),
];

/// Writes the index as CSV: a heading, and a line for each trace; those that failed come
/// last, with their reason.
pub fn index(index: &Index, show_names: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    let ids: Vec<&str> = metrics().map(|metric| metric.id).collect();
    let headings = INDEX_COLUMNS.iter().map(|(heading, _)| *heading);
    csv.texts(headings.chain(ids.iter().copied()).chain(["error"]))?;
    for row in &index.rows {
        for (_, write) in &INDEX_COLUMNS {
            write(row, &mut csv)?;
        }
        for id in &ids {
            csv.optional(row.of.figure(id).map(Number::get))?;
        }
        csv.text(None)?;
        csv.end()?;
    }
    for refused in &index.failed {
        let name = if show_names {
            &refused.input
        } else {
            &refused.name
        };
        csv.text(name.as_str())?;
        for _ in 1..INDEX_COLUMNS.len() + ids.len() {
            csv.text(None)?;
        }
        csv.text(reason(refused, show_names).0.as_str())?;
        csv.end()?;
    }
    Ok(())
}
