//! The first screen of a comparison: at most forty lines with what changed.

use metalens_comparison::Comparison;

use super::circumstances::{fusion, loud_notes, runs, unknown};
use super::{document, figures, headline, kernels};
use crate::document::{Block, Document, Section};
use crate::first_screen::{keep_columns, keep_rows, more};
use crate::gate;

/// Rows of the limits that the gate did not pass.
const LIMITS: usize = 3;
/// Columns of these limits; the reasons are on standard error, too.
const LIMIT_COLUMNS: [&str; 5] = ["limit of", "limit", "found", "missed by", "verdict"];
/// Rows of figures, causes of idle time and kernels: alone, and beside one or both of the gate and the
/// answer of a preset.
const ROWS: [[usize; 3]; 3] = [[6, 3, 5], [5, 2, 3], [3, 0, 2]];
/// Columns of the causes of idle time.
const CAUSE_COLUMNS: [&str; 5] = ["figure", "base", "new", "change", "verdict"];
/// Columns of the kernels.
const KERNEL_COLUMNS: [&str; 7] = [
    "kernel",
    "base",
    "new",
    "change",
    "verdict",
    "instances",
    "channel",
];
/// Sections that the first screen shows, or says in other words.
const SECTIONS: [&str; 5] = ["verdict", "gate", "per-unit", "kernels", "idle"];
/// The way to a page with pictures.
const PAGE: &str = "-o DIR writes pages with a picture";

/// Returns the verdict, the limits that failed, what changed, and the names of what is left out.
pub fn brief(comparison: &Comparison) -> Document {
    let mut whole = document(comparison, true);
    let sections = std::mem::take(&mut whole.sections).into_iter();
    let is_passed = comparison.gate.as_ref().is_some_and(|gate| !gate.missed);
    let left_out = sections
        .filter(|section| !SECTIONS.contains(&section.id) || is_passed && section.id == "gate");
    let left_out: Vec<Section> = left_out.collect();

    let (opening, hidden_notes) = opening(comparison);
    let limits = limits(comparison);
    let beside = usize::from(limits.is_some()) + usize::from(comparison.fusion.is_some());
    let [figures, causes, kernels] = ROWS[beside];

    let mut changed = figures::changed(comparison);
    let mut causes_moved = figures::idle_changed(comparison);
    let mut kernels_moved = kernels::changed(comparison);
    let hidden = [
        (shorten(&mut changed, figures, &[]), "changed figure"),
        (
            shorten(&mut causes_moved, causes, &CAUSE_COLUMNS),
            "idle cause",
        ),
        (
            shorten(&mut kernels_moved, kernels, &KERNEL_COLUMNS),
            "changed kernel",
        ),
        (hidden_notes, "note"),
    ];

    let moved = [changed, causes_moved, kernels_moved];
    let moved = moved.into_iter().flatten();
    let moved = moved.filter(|section| section.tables().any(|table| !table.rows.is_empty()));
    let before = [Some(opening), limits].into_iter().flatten();
    whole.sections = before.chain(moved).collect();
    whole.sections.push(more(hidden, &left_out, PAGE));
    whole
}

/// Returns the verdict without the notes that may be left out, and their number.
fn opening(comparison: &Comparison) -> (Section, usize) {
    let (notes, hidden) = loud_notes(comparison);
    let section = Section::new("verdict", "", 0)
        .with_some(comparison.gate.as_ref().map(gate::verdict_line))
        .with_all(headline(comparison))
        .with_some(fusion(comparison).into_iter().next())
        .with_all(notes.into_iter().map(Block::Warning))
        .with_all(differences(comparison))
        .with_some(unknown(comparison))
        .with(runs(comparison));
    (section, hidden)
}

/// Returns what differs between the sides without making them incomparable, such as the names of
/// programs.
fn differences(comparison: &Comparison) -> Vec<Block> {
    let notes = comparison.comparable.notes.iter().cloned();
    notes.map(Block::Remark).collect()
}

/// Returns the limits that the gate did not pass; none if it passed: the verdict counts the warnings.
fn limits(comparison: &Comparison) -> Option<Section> {
    let gate = comparison.gate.as_ref().filter(|gate| gate.missed)?;
    let mut section = gate::section(gate);
    section
        .blocks
        .retain(|block| matches!(block, Block::Table(_)));
    for table in section.tables_mut() {
        keep_columns(table, &LIMIT_COLUMNS);
        // The rows beyond these are counted below the table: a limit that failed is not passed over.
        table.short = LIMITS;
    }
    (!section.blocks.is_empty()).then_some(section)
}

/// Leaves the first rows of a section's tables, and these columns; all if there are none named.
/// Returns the number of the other rows.
fn shorten(section: &mut Option<Section>, rows: usize, columns: &[&str]) -> usize {
    let mut hidden = 0;
    for table in section.iter_mut().flat_map(Section::tables_mut) {
        hidden += keep_rows(table, rows);
        if !columns.is_empty() {
            keep_columns(table, columns);
        }
    }
    hidden
}
