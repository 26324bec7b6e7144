//! Builds the section on the throughput of known work.

use metalens_analyzer::{ChipFacts, ChipLimits, Report, ShareRange};
use metalens_message::{Message, Value, message, name, number, percent, time};

use crate::document::{Block, Column, Fact, Section, Table};
use crate::wording::known;

/// Largest numbers of rows on pages, and on interactive pages.
const ROWS: (usize, usize) = (20, 50);

/// Returns the throughput of known work; `None` without a work file.
pub(super) fn work(report: &Report) -> Option<Section> {
    let work = report.work.as_ref()?;
    let (short, long) = ROWS;
    let has_rows = !work.rows.is_empty();
    let columns = vec![
        Column::name("work"),
        Column::number("bandwidth"),
        Column::number("arithmetic"),
        Column::number("operations/s").spare(1),
        Column::number("of the chip's bandwidth"),
        Column::number("of its peak"),
        Column::number("GPU time"),
    ];
    let table = Table::new("work", "Work rate", columns);
    let mut table = table.sortable().limited(short, long);
    for row in &work.rows {
        let rates = &row.gpu_time;
        table.row([
            name(&row.label),
            known(rates.gb_per_s, |rate| {
                let text = format!("{rate:.1} GB/s");
                number(text, rate, |gb_per_s| Value::Bandwidth { gb_per_s })
            }),
            known(rates.tflop_per_s, |rate| {
                let text = format!("{rate:.3} TFLOP/s");
                number(text, rate, |tflop_per_s| Value::Throughput { tflop_per_s })
            }),
            known(rates.operations_per_s, |rate| {
                let text = format!("{rate:.0}");
                number(text, rate, |number| Value::Number { number })
            }),
            known(row.bandwidth_share, of_chip),
            known(row.peak_share, of_chip),
            time(row.total_ns),
        ]);
    }

    let chip = work.chip.as_ref();
    let chip = chip.map(|found| Block::Facts(vec![Fact::new("chip", chip_facts(found))]));
    let notes = work.notes.iter();
    let notes = notes.map(|note| note.message.clone());
    let section = Section::new("work", "Work rate", 7)
        .with_some(chip)
        .with_some(has_rows.then_some(Block::Table(table)))
        .with_some(Block::list(notes));
    Some(section)
}

fn of_chip(share: ShareRange) -> Message {
    percent(share.at_least)
}

fn chip_facts(chip: &ChipFacts) -> Message {
    let bandwidth = chip
        .bandwidth_gb_s
        .map(|limits| between(limits, "GB/s", |gb_per_s| Value::Bandwidth { gb_per_s }));
    let peak = chip.peak_tflops.map(|limits| {
        let value = |tflop_per_s| Value::Throughput { tflop_per_s };
        between(limits, "TFLOP/s", value)
    });
    let facts = Message::joined([bandwidth, peak].into_iter().flatten(), ", ");
    message!("{}: {}", name(&chip.name), facts)
}

fn between(limits: ChipLimits, unit: &str, value: fn(f64) -> Value) -> Message {
    let most = number(format!("{:.2} {unit}", limits.max), limits.max, value);
    if limits.min == limits.max {
        most
    } else {
        let least = number(format!("{:.2}", limits.min), limits.min, value);
        message!("{} to {}", least, most)
    }
}
