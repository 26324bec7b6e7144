//! Builds the section on phases that programs named.

use metalens_analyzer::{Phases, Report};
use metalens_message::{Share, count, counted, kernel, message, name, percent, process, time};

use crate::document::{Block, Column, Section, Table};
use crate::wording::known;

/// Largest numbers of named phases on screens and pages, and on interactive pages.
const NAMED: (usize, usize) = (10, 50);

/// Largest number of kernels of each phase.
const KERNELS: usize = 8;
/// Largest numbers of kernels of all phases on screens and pages, and on interactive pages.
const PHASE_KERNELS: (usize, usize) = (24, 200);

/// Returns the phases; `None` if there are none.
pub(super) fn phases(report: &Report) -> Option<Section> {
    let phases = &report.phases;
    let named = (!phases.signposts.is_empty()).then(|| Block::Table(named(phases)))?;
    let kernels = kernels(phases).map(Block::Table);
    let unplaced = (kernels.is_some() && phases.unplaced > 0).then(|| {
        Block::Remark(message!(
            "{} in no phase: the recording lacks their encoding and their commit",
            counted(phases.unplaced, "GPU interval")
        ))
    });
    let heading = kernels
        .is_some()
        .then_some(Block::Heading("Kernels by the phase that encoded them"));
    let section = Section::new("phases", "Phases", 7);
    let section = section.with(named);
    let section = section.with_some(heading).with_some(kernels);
    Some(section.with_some(unplaced))
}

/// Returns the kernels of each phase of the process, the most time first; nothing if there are
/// none.
fn kernels(phases: &Phases) -> Option<Table> {
    let columns = vec![
        Column::label("phase"),
        Column::number("time"),
        Column::number("total"),
        Column::number("instances"),
        Column::name("kernel"),
        Column::label("channel").spare(2),
    ];
    let caption = "Kernels by the phase that encoded them";
    let mut table = Table::new("phase-kernels", caption, columns);
    let mut total = 0;
    for phase in phases.signposts.iter().filter(|phase| phase.is_analyzed) {
        let Some(encoded) = &phase.encoded else {
            continue;
        };
        total += encoded.kernels_count;
        for listed in encoded.kernels.iter().take(KERNELS) {
            table.row([
                name(&phase.name),
                percent(Share(listed.time_pct / 100.0)),
                time(listed.total_ns),
                count(listed.instances),
                kernel(&listed.name),
                known(listed.channel.as_deref(), name),
            ]);
        }
    }

    let (short, long) = PHASE_KERNELS;
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let table = table.sortable().limited(short, long).of(total);
    (!table.rows.is_empty()).then_some(table)
}

fn named(phases: &Phases) -> Table {
    let (short, long) = NAMED;
    let columns = vec![
        Column::name("phase"),
        Column::number("count"),
        Column::number("total"),
        Column::number("med"),
        Column::number("GPU busy"),
        Column::label("process").spare(1),
    ];
    let table = Table::new("signposts", "Phases that programs named", columns);
    let mut table = table.sortable().limited(short, long);
    for phase in &phases.signposts {
        let owner = phase.process.as_deref().unwrap_or("-");
        table.row([
            name(&phase.name),
            count(phase.count),
            time(phase.total_ns),
            known(phase.median_ns, time),
            known(phase.ratio, percent),
            process(owner, phase.is_analyzed),
        ]);
    }
    table
}
