//! What a batch says on the terminal.

use std::io::Write;

use metalens_analyzer::units::{count, counted, percent, short_time};
use metalens_analyzer::{Note, Severity};
use metalens_batch::{Index, Search};
use metalens_comparison::many::TraceRow;
use metalens_text::{shown, shown_message};

use crate::report_folder::FILE_MISSING;
use crate::screen::columns::{Align, Columns, shorten, wrap};
use crate::screen::style;
use crate::{json, out, unbroken};

/// Where there is no terminal, and where it is wider than anybody reads.
const WIDTH: usize = 100;
/// Outliers and trends beyond this many are counted.
const TOLD: usize = 10;

/// What was looked at and is no trace.
pub(super) fn search(search: &Search) -> std::io::Result<()> {
    let mut said = Vec::new();
    if search.skipped > 0 {
        let files = counted(search.skipped as u64, "file");
        said.push(format!("skipped {files} that are no traces"));
    }
    if search.twice > 0 {
        let times = counted(search.twice as u64, "input");
        said.push(format!("{times} named more than once: done once"));
    }
    said.iter()
        .try_for_each(|one| writeln!(out::notes(), "note: {one}"))
}

/// The index: as a table, or as it is on disk.
pub(super) fn index(index: &Index, as_json: bool) -> anyhow::Result<()> {
    match as_json {
        true => out::json().write_all(json::document(index)?.as_bytes())?,
        false => out::page().write_all(table(index).as_bytes())?,
    }
    Ok(())
}

fn table(index: &Index) -> String {
    let index = &unbroken::index(index);
    let mut text = String::new();
    if !index.rows.is_empty() {
        for line in columns(&index.rows, width()).lines() {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let outliers = index.outliers.iter().map(|one| one.says.as_str());
    section(
        &mut text,
        "Unlike the others",
        &outliers.collect::<Vec<_>>(),
    );
    let trends = index.trends.iter().filter(|one| one.is_trend);
    let trends: Vec<&str> = trends.map(|one| one.says.as_str()).collect();
    section(&mut text, "Over time", &trends);
    text
}

/// The terminal's width, if there is one.
fn width() -> usize {
    out::width().map_or(WIDTH, |width| width.max(60))
}

fn columns(rows: &[TraceRow], width: usize) -> Columns {
    const NAME: usize = 26;
    let mut columns = Columns::new(&[
        ("trace", Align::Left),
        ("busy", Align::Right),
        ("window", Align::Right),
        ("intervals", Align::Right),
        ("mean gap", Align::Right),
        ("most idle by", Align::Left),
        ("missed", Align::Right),
        ("finding", Align::Left),
    ]);
    for row in rows {
        let idle = row.idle.as_ref();
        let idle = idle.map(|idle| format!("{} {}", idle.cause.name(), percent(idle.share)));
        columns.row([
            shorten(&shown(&row.name), NAME),
            row.busy_ratio.map_or_else(nothing, percent),
            short_time(row.span_ns),
            count(row.intervals),
            row.gaps.mean_ns.map_or_else(nothing, short_time),
            idle.unwrap_or_else(nothing),
            match row.missed.len() {
                0 => nothing(),
                missed => format!("{missed} of {}", missed + met(row)),
            },
            finding(row),
        ]);
    }
    columns.spare(width, "intervals").fit(width)
}

fn nothing() -> String {
    "-".to_owned()
}

/// Targets that were measured and met.
fn met(row: &TraceRow) -> usize {
    const TARGETS: usize = 3;
    TARGETS.saturating_sub(row.missed.len() + row.not_measurable.len())
}

fn finding(row: &TraceRow) -> String {
    row.finding.as_ref().map_or_else(nothing, |finding| {
        let word = match finding.severity {
            Severity::High => "HIGH",
            Severity::Medium => "MEDIUM",
            Severity::Low => "LOW",
            Severity::Caveat => "CAVEAT",
        };
        shown(&format!("{word} {}", finding.id)).into_owned()
    })
}

fn section(text: &mut String, title: &str, sentences: &[&str]) {
    if sentences.is_empty() {
        return;
    }
    let bold = style::TITLE;
    text.push_str(&format!("\n{bold}{title}{bold:#}\n"));
    for one in sentences.iter().take(TOLD) {
        for line in wrap(&shown(one), WIDTH - 2) {
            let line = line.replace(unbroken::NO_BREAK, " ");
            text.push_str(&format!("  {line}\n"));
        }
    }
    if let Some(more) = sentences.len().checked_sub(TOLD).filter(|&more| more > 0) {
        text.push_str(&format!("  {} more are in the index\n", count(more as u64)));
    }
}

/// What failed and why, and what a reader should know: on stderr, at the end.
pub(super) fn failures(index: &Index, quiet: bool) -> std::io::Result<()> {
    let mut out = out::notes();
    if !quiet {
        for note in &index.notes {
            writeln!(out, "note: {}", shown(note))?;
        }
    }
    let missing = index.rows.iter().flat_map(|row| {
        let problems = Note::joined(&row.problems, &row.problem_details);
        let lacking = problems.filter(|one| one.detail.id == FILE_MISSING);
        lacking.map(|problem| format!("{}: {}", row.name, problem.text))
    });
    let error = style::ERROR;
    for one in missing {
        writeln!(out, "{error}error:{error:#} {}", shown(&one))?;
    }
    for one in &index.failed {
        let why = shown_message(&one.why);
        match one.why.starts_with(&one.input) {
            true => writeln!(out, "{error}error:{error:#} {why}")?,
            false => writeln!(out, "{error}error:{error:#} {}: {why}", shown(&one.input))?,
        }
        if let Some(hint) = &one.hint {
            let style = style::HINT;
            writeln!(out, "{style}hint:{style:#} {}", shown(hint))?;
        }
    }
    if !index.failed.is_empty() {
        let all = (index.rows.len() + index.failed.len()) as u64;
        let failed = count(index.failed.len() as u64);
        writeln!(
            out,
            "{failed} of {} failed; the others are done",
            counted(all, "input")
        )?;
    }
    Ok(())
}
