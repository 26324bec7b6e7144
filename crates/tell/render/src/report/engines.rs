//! The engines beside the GPU's channels: MPSGraph, Neural Engine, Core ML, and waits for a drawable.

use metalens_analyzer::{EngineId, Report};
use metalens_message::{count, percent, time};

use crate::document::{Block, Cell, Column, Section, Table};
use crate::wording::known;

/// How far these figures can be trusted.
const UNSEEN: &str = "but for MPSGraph, metalens was tested on synthetic rows of these tables only, \
                      because no real ones were available: compare with Instruments";

/// Returns the busy times of the other engines; nothing if the recording has no row of them.
pub(super) fn engines(report: &Report) -> Option<Section> {
    let engines = &report.engines;
    (!engines.is_empty()).then_some(())?;

    let columns = vec![
        Column::name("engine"),
        Column::number("intervals").spare(3),
        Column::number("busy"),
        Column::number("of window").spare(2),
        Column::number("GPU idle"),
        Column::words("work of").spare(1),
    ];
    let table = Table::new("engines", "Engines beside the GPU", columns);
    let mut table = table.sortable();
    for engine in engines {
        let whose = if engine.of_process {
            "the process"
        } else {
            "all processes"
        };
        table.row([
            Cell::from(engine.id.label()),
            Cell::from(count(engine.intervals)),
            Cell::from(time(engine.busy_ns)),
            Cell::from(known(engine.ratio, percent)),
            Cell::from(time(engine.while_gpu_idle_ns)),
            Cell::from(whose),
        ]);
    }

    let has_unseen = engines.iter().any(|engine| engine.id != EngineId::Mps);
    let section = Section::new("engines", "Engines beside the GPU", 4)
        .with(Block::Table(table))
        .with_some(has_unseen.then(|| Block::Remark(UNSEEN.into())));
    Some(section)
}
