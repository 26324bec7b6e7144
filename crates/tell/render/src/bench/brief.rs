//! The first screen of a benchmark: at most forty lines with who wins, and why.

use metalens_bench::Bench;

use super::{opening, screen};
use crate::document::{Block, Document, Section};
use crate::first_screen::{keep_rows, more};

/// Comparisons behind the verdict, and causes of the differences.
const TOLD: (usize, usize) = (2, 1);
/// Lines of the gate, and warnings.
const LINES: usize = 3;
/// Rows of all variants.
const VARIANTS: usize = 8;
/// Rows of the idle time by cause.
const IDLE: usize = 4;
/// Rows of the kernels.
const KERNELS: usize = 3;
/// Largest number of variants beside which the kernels have room.
const FEW: usize = 4;
/// The way to a page with pictures.
const PAGE: &str = "-o DIR writes a page with pictures";

/// Returns the first screen: the verdict, the variants, why the GPU was idle, and the names of what
/// is left out.
pub fn brief(bench: &Bench) -> Document {
    let mut whole = screen(bench);
    let variants = bench.variants.len();
    let is_shown = |id: &str| match id {
        "verdict" | "gate" | "warnings" | "idle" | "variants" => true,
        "kernels" => variants <= FEW,
        _ => false,
    };

    let sections = std::mem::take(&mut whole.sections).into_iter();
    let (shown, left_out): (Vec<Section>, Vec<Section>) =
        sections.partition(|section| is_shown(section.id));
    whole.sections = shown;
    let mut hidden = 0;
    for section in &mut whole.sections {
        if section.id == "verdict" {
            *section = opening(bench, TOLD.0, TOLD.1);
        }
        hidden += shorten(section);
    }
    let more = more([(hidden, "row")], &left_out, PAGE);
    whole.sections.push(more);
    whole
}

/// Leaves the first rows and lines of a section. Returns the number of the others.
fn shorten(section: &mut Section) -> usize {
    let rows = match section.id {
        "verdict" => return 0,
        "idle" => IDLE,
        "kernels" => KERNELS,
        "gate" | "warnings" => LINES,
        _ => VARIANTS,
    };

    // The limits that failed are on standard error in words.
    if section.id == "gate" && section.tables().next().is_some() {
        section
            .blocks
            .retain(|block| matches!(block, Block::Table(_)));
    }

    let mut hidden = 0;
    for block in &mut section.blocks {
        match block {
            Block::Table(table) => hidden += keep_rows(table, rows),
            Block::List(items) => {
                hidden += items.len().saturating_sub(rows);
                items.truncate(rows);
            }
            _ => {}
        }
    }
    hidden
}
