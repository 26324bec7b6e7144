//! Builds the section on the program's CPU time, from samples.

use metalens_analyzer::{CpuHost, Report};
use metalens_message::{count, counted, function, message, path, percent, table};

use crate::document::{Block, Column, Fact, Section, Table};
use crate::wording::known;

/// Largest number of functions that are shown; the report has the others.
const FRAMES: usize = 10;

/// Returns the CPU samples of the program; `None` without samples.
pub(super) fn cpu(report: &Report) -> Option<Section> {
    let cpu = report.cpu.as_ref()?;
    let samples = message!(
        "{} of the process, from {}",
        count(cpu.samples),
        table(&cpu.table)
    );
    let mut facts = vec![Fact::new("samples", samples)];
    if let Some(host) = &cpu.host {
        let unknown = (host.unknown > 0)
            .then(|| message!("; {} do not tell, without a name", count(host.unknown)));
        let text = message!(
            "{} in {} while the GPU waited for the program: {} running and {} waiting, {} of them \
             in a call that waits{}",
            counted(host.samples, "sample"),
            host.host_ns,
            count(host.running),
            count(host.waiting),
            count(host.in_waiting_calls),
            unknown,
        );
        facts.push(Fact::new("host time", text));
    }

    let frames = cpu
        .host
        .as_ref()
        .filter(|host| !host.self_frames.is_empty());
    let section = Section::new("cpu", "The program on the CPU", 6)
        .with(Block::Facts(facts))
        .with_some(frames.map(frame_table));
    Some(section)
}

/// Returns the table of the functions that ran while the GPU waited for the program.
fn frame_table(host: &CpuHost) -> Block {
    let columns = vec![
        Column::number("share"),
        Column::number("samples"),
        Column::name("function, while the GPU waited"),
        Column::label("binary"),
    ];
    let table = Table::new(
        "cpu",
        "Functions of the program while the GPU waited",
        columns,
    );
    let mut table = table.sortable();
    for frame in host.self_frames.iter().take(FRAMES) {
        table.row([
            known(frame.share, percent),
            count(frame.samples),
            function(frame.function.as_deref().unwrap_or("(no symbol)")),
            path(frame.binary.as_deref().unwrap_or("?")),
        ]);
    }
    Block::Table(table)
}
