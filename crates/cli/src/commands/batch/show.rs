//! What a batch says on the terminal.

use std::io::Write;

use metalens_analyzer::Note;
use metalens_analyzer::units::{count, counted};
use metalens_batch::{Index, Search};
use metalens_render::folder::FILE_MISSING;
use metalens_render::terminal::{self, style};
use metalens_render::{index, json};
use metalens_text::{shown, shown_message};

use crate::out;

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
pub(super) fn index(found: &Index, as_json: bool) -> anyhow::Result<()> {
    match as_json {
        true => out::json().write_all(json::document(found)?.as_bytes())?,
        false => out::page().write_all(table(found).as_bytes())?,
    }
    Ok(())
}

/// The sections of an index that a terminal shows on standard output: failures go to standard
/// error, with what to do about them.
fn table(index: &Index) -> String {
    let mut document = index::document(index, &[], true);
    let is_told_elsewhere = |id: &str| ["verdict", "failed", "problems"].contains(&id);
    document
        .sections
        .retain(|section| !is_told_elsewhere(section.id));
    terminal::text(&document, out::width())
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
