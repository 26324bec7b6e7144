//! The first screen of a report: at most forty lines with what people ask first.

use metalens_analyzer::{Report, Severity};
use metalens_message::{Message, Ns, counted, message, time};

use super::document;
use super::kernels::noun;
use crate::document::{Block, Cell, Document, Drawing, FindingEntry, Section};
use crate::first_screen::{keep_columns, keep_rows, more};
use crate::wording::{plain, sentence, share};

/// Findings of the first screen.
const FINDINGS: usize = 3;
/// Causes of idle time on the first screen; the others are in one row.
const CAUSES: usize = 3;
/// Kernels of the first screen. One fewer leaves room for the line on what to record next.
const KERNELS: usize = 4;
/// Columns of the first screen's kernels.
const KERNEL_COLUMNS: [&str; 6] = ["time", "total", "instances", "med", "name", "channel"];
/// The way to a page with pictures.
const PAGE: &str = "--html FILE writes a page with a timeline";
/// Sections of the first screen.
const SECTIONS: [&str; 7] = [
    "verdict", "gate", "step", "timeline", "idle", "findings", "kernels",
];

/// Returns the first screen of a report: the verdict, the idle time by cause, the first findings
/// and kernels, and the names of what it leaves out.
pub fn brief(report: &Report) -> Document {
    let mut whole = document(report);
    let sections = std::mem::take(&mut whole.sections).into_iter();
    let (shown, left_out): (Vec<Section>, Vec<Section>) =
        sections.partition(|section| SECTIONS.contains(&section.id));
    whole.sections = shown;
    for section in &mut whole.sections {
        shorten(section, report);
    }

    let findings = report.findings.iter();
    let findings = findings.filter(|finding| finding.severity != Severity::Caveat);
    let findings = findings.count().saturating_sub(findings_shown(report));
    let kernels = report.kernels.len().saturating_sub(kernels_shown(report));
    let hidden = [(findings, "finding"), (kernels, noun(report))];
    whole.sections.push(more(hidden, &left_out, PAGE));
    whole
}

/// Leaves the part of a section that the first screen has room for.
fn shorten(section: &mut Section, report: &Report) {
    match section.id {
        "verdict" => shorten_verdict(section, report),
        "step" => {
            let table = |block: &Block| matches!(block, Block::Table(_));
            let first = section.blocks.iter().position(table);
            section.blocks.truncate(first.unwrap_or(usize::MAX));
        }
        "timeline" => shorten_timeline(section),
        "idle" => shorten_idle(section, report),
        "findings" => shorten_findings(section, findings_shown(report)),
        "kernels" => shorten_kernels(section, kernels_shown(report)),
        _ => {}
    }
}

/// Leaves the idle time to its table, if there is one.
fn shorten_verdict(section: &mut Section, report: &Report) {
    let has_table = report.idle.total_ns > Ns(0) && !report.steps.is_empty();
    section
        .blocks
        .retain(|block| !(has_table && matches!(block, Block::Text(_))));
    for block in &mut section.blocks {
        if let Block::Text(text) = block {
            *text = sentence(report.summary.idle.clone());
        }
    }
}

/// Puts the scale into the heading.
fn shorten_timeline(section: &mut Section) {
    for block in &mut section.blocks {
        if let Block::Chart(chart) = block
            && let Drawing::Lines(_, legend) = &mut chart.drawing
            && !legend.is_empty()
        {
            section.title = message!(
                "{}: {}",
                section.title.clone(),
                plain(std::mem::take(legend))
            );
        }
    }
}

/// Leaves the table, with the smallest causes in one row.
fn shorten_idle(section: &mut Section, report: &Report) {
    section
        .blocks
        .retain(|block| matches!(block, Block::Table(_)));

    let parts = report.idle.parts.largest_first();
    let Some(others) = parts.get(CAUSES..).filter(|others| others.len() > 1) else {
        return;
    };
    let (total_ns, rest_ns) = (
        report.idle.total_ns,
        others.iter().map(|&(_, ns)| ns).sum::<Ns>(),
    );
    for table in section.tables_mut() {
        table.rows.truncate(CAUSES);
        table.total = CAUSES;
        table.row([
            Cell::from(counted(others.len() as u64, "other cause")),
            Cell::from(time(rest_ns)),
            Cell::from(share(rest_ns, total_ns)),
            Cell::bar(rest_ns, total_ns),
            Cell::from("see section idle"),
        ]);
    }
}

/// Returns the number of findings that there is room for: slow steps take that of one, and a warning.
fn findings_shown(report: &Report) -> usize {
    let summary = &report.summary;
    let taken = usize::from(summary.slow.is_some()) + usize::from(summary.warning.is_some());
    FINDINGS.saturating_sub(taken).max(1)
}

/// Leaves the first findings that are no caveats, and one line for those.
fn shorten_findings(section: &mut Section, most: usize) {
    section
        .blocks
        .retain(|block| !matches!(block, Block::Remark(_)));
    let mut caveats = Vec::new();
    for block in &mut section.blocks {
        if let Block::Findings(findings) = block {
            let is_caveat = |finding: &FindingEntry| finding.severity == Severity::Caveat;
            let (doubts, mut rest): (Vec<_>, Vec<_>) =
                std::mem::take(findings).into_iter().partition(is_caveat);
            rest.truncate(most);
            caveats.extend(doubts.into_iter().map(|finding| finding.title));
            *block = Block::FirstSteps(rest);
        }
    }
    if !caveats.is_empty() {
        let caveats = Message::joined(caveats, "; ");
        section
            .blocks
            .push(Block::Text(message!("Caveats: {}", caveats)));
    }
}

fn kernels_shown(report: &Report) -> usize {
    // A loud note takes two lines, and there is room for one.
    let notes = report.loud_notes().count().saturating_sub(1);
    let lines = usize::from(report.summary.next.is_some()) + 2 * notes;
    KERNELS.saturating_sub(lines).max(1)
}

fn shorten_kernels(section: &mut Section, rows: usize) {
    for table in section.tables_mut() {
        keep_columns(table, &KERNEL_COLUMNS);
        // What is left out is said once, below all.
        keep_rows(table, rows);
    }
}
