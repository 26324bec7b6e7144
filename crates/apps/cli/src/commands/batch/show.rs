//! Prints the notes, the index and the failures of a batch.

use std::io::Write;

use metalens_batch::{Index, Search};
use metalens_render::document::{Block, Document};
use metalens_render::index::{self, FILE_MISSING};
use metalens_render::terminal::style;
use metalens_text::units::{count, counted};
use metalens_text::{shown, shown_message};

use crate::{out, view};

/// Largest number of failed inputs whose hints are printed, too.
const MOST_HINTS: usize = 5;

/// Prints how many files were skipped, and how many inputs were named twice.
pub(super) fn search(search: &Search) -> std::io::Result<()> {
    let mut out = out::notes();
    if search.skipped > 0 {
        let files = count(search.skipped as u64);
        writeln!(
            out,
            "note: files skipped because they are not recordings: {files}"
        )?;
    }
    if search.twice > 0 {
        let inputs = counted(search.twice as u64, "input");
        writeln!(out, "note: {inputs} named more than once: analyzed once")?;
    }
    Ok(())
}

/// Prints the index as a table, or as JSON.
pub(super) fn index(index: &Index, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        view::print_json(index)
    } else {
        view::print(&table(index), false)
    }
}

/// Returns the sections of an index for standard output, without failures, which go to standard
/// error with their hints, and without what only pages keep. Of the sentences at the top, only the
/// warnings are left.
fn table(index: &Index) -> Document {
    let mut document = index::document(index, true);
    for section in &mut document.sections {
        if section.id == "verdict" {
            let is_warning = |block: &Block| matches!(block, Block::Warning(_));
            section.blocks.retain(is_warning);
        }
    }
    let elsewhere = ["failed", "problems", "findings", "environment"];
    let is_shown_elsewhere = |id: &str| elsewhere.contains(&id);
    document
        .sections
        .retain(|section| !is_shown_elsewhere(section.id));
    document
}

/// Prints notes and failed inputs on stderr.
pub(super) fn failures(index: &Index, quiet: bool) -> std::io::Result<()> {
    let mut out = out::notes();
    if !quiet {
        for note in &index.notes {
            writeln!(out, "note: {}", shown(note))?;
        }
    }

    let missing_files = index.rows.iter().flat_map(|row| {
        let problems = row.problems.iter();
        let missing = problems.filter(|problem| problem.id == FILE_MISSING);
        missing.map(|problem| format!("{}: {}", row.name, problem.text()))
    });
    let error = style::ERROR;
    for problem in missing_files {
        writeln!(out, "{error}error:{error:#} {}", shown(&problem))?;
    }

    // Of many, the page has the hints.
    let has_few = index.failed.len() <= MOST_HINTS || index.rows.is_empty();
    for failed in &index.failed {
        let why = shown_message(&failed.why);
        if failed.why.starts_with(&failed.input) {
            writeln!(out, "{error}error:{error:#} {why}")?;
        } else {
            let input = shown(&failed.input);
            writeln!(out, "{error}error:{error:#} {input}: {why}")?;
        }
        if let Some(hint) = failed.hint.as_ref().filter(|_| has_few) {
            let style = style::HINT;
            writeln!(out, "{style}hint:{style:#} {}", shown(hint))?;
        }
    }

    if !index.failed.is_empty() {
        let all = (index.rows.len() + index.failed.len()) as u64;
        let failed = count(index.failed.len() as u64);
        let others = if index.rows.is_empty() {
            ""
        } else {
            "; the others succeeded"
        };
        let hints = if has_few {
            ""
        } else {
            "; index.html says what to do about each"
        };
        writeln!(
            out,
            "{failed} of {} failed{others}{hints}",
            counted(all, "input")
        )?;
    }
    Ok(())
}
