//! Builds the section on the idle time of the GPU by cause.

use metalens_analyzer::Report;
use metalens_message::{Message, Ns, count, counted, message, time};

use crate::document::{Block, Cell, Chart, Column, Drawing, Section, Table};
use crate::wording::share;

/// Returns the idle time by cause; `None` if the GPU was never idle.
pub(super) fn idle(report: &Report) -> Option<Section> {
    let idle = &report.idle;
    if idle.total_ns == Ns(0) {
        return None;
    }
    let parts = idle.parts.largest_first();
    let mut table = Table::new(
        "idle",
        "Idle time by cause",
        vec![
            Column::name("cause"),
            Column::number("time"),
            Column::number("share"),
            Column::bar(""),
            Column::sentence("meaning"),
        ],
    )
    .sortable();

    for &(cause, ns) in &parts {
        table.row([
            Cell::cause(cause),
            Cell::from(time(ns)),
            Cell::from(share(ns, idle.total_ns)),
            Cell::bar_of_cause(cause, ns, idle.total_ns),
            Cell::from(cause.explanation()),
        ]);
    }

    let chart = Chart {
        id: "idle".to_owned(),
        drawing: Drawing::Parts(parts),
    };
    let section = Section::new("idle", "Idle time by cause", 3)
        .with(Block::Chart(chart))
        .with(Block::Table(table))
        .with(Block::Remark(pairs(report)));
    Some(section)
}

/// Returns the number of gaps whose cause is known, and of those that are serialized.
fn pairs(report: &Report) -> Message {
    let idle = &report.idle;
    let mut said = vec![message!(
        "{} of {} in {}",
        idle.total_ns,
        report.window.span_ns,
        counted(report.gaps.count, "gap"),
    )];
    said.push(match idle.joinable {
        0 => "no gap has both its completion and its encoding recorded".into(),
        joinable => message!(
            "completion and encoding are recorded for {} of {}; {} are serialized: the program \
             encoded the next work only after the last work completed",
            count(joinable),
            counted(idle.pairs, "gap"),
            count(idle.serialized),
        ),
    });

    let inside = &report.shape.command_buffers;
    if inside.gaps_inside > 0 {
        said.push(message!(
            "{} within command buffers ({})",
            counted(inside.gaps_inside, "gap"),
            inside.gaps_inside_ns,
        ));
    }

    if let Some(recovered) = idle.recovered {
        let found = recovered.from_intervals + recovered.from_submissions;
        said.push(message!(
            "{} that the encoder list lost were found in other tables",
            counted(found, "encoding")
        ));
    }
    Message::joined(said, "; ")
}
