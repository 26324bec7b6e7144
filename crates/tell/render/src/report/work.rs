//! Builds the section on the throughput of known work, and the roof of a step.

use metalens_analyzer::{
    ChipFacts, ChipLimits, Report, RoofLimit, ShareRange, StepParts, StepRoof,
};
use metalens_message::{Message, Quantity, Value, message, name, number, percent, time};
use metalens_text::number::Float;

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
                bandwidth(format!("{rate:.1} GB/s"), rate)
            }),
            known(rates.tflop_per_s, |rate| {
                throughput(format!("{rate:.3} TFLOP/s"), rate)
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
    let memory = chip
        .bandwidth_gb_s
        .map(|limits| between(limits, "GB/s", bandwidth));
    let peak = chip.peak_tflops;
    let peak = peak.map(|limits| between(limits, "TFLOP/s", throughput));
    let facts = Message::joined([memory, peak].into_iter().flatten(), ", ");
    message!("{}: {}", name(&chip.name), facts)
}

fn between(limits: ChipLimits, unit: &str, said: fn(String, f64) -> Message) -> Message {
    let most = said(format!("{:.2} {unit}", limits.max), limits.max);
    if limits.min == limits.max {
        most
    } else {
        let least = said(format!("{:.2}", limits.min), limits.min);
        message!("{} to {}", least, most)
    }
}

/// Returns a memory bandwidth with this text.
fn bandwidth(text: String, gb_per_s: f64) -> Message {
    number(text, gb_per_s, |gb_per_s| Value::Bandwidth { gb_per_s })
}

/// Returns a rate of arithmetic with this text.
fn throughput(text: String, tflop_per_s: f64) -> Message {
    number(text, tflop_per_s, |tflop_per_s| Value::Throughput {
        tflop_per_s,
    })
}

/// Returns the time of a step by the roof: at it, above it, and idle; or why it is unknown.
pub(super) fn roof(report: &Report, typical: Option<&StepParts>) -> Option<Fact> {
    let work = report.work.as_ref()?;
    let told = work.step.zip(typical).zip(work.chip.as_ref());
    let told = told.and_then(|((roof, typical), chip)| {
        let parts = roof.above_ns.map(|above_ns| {
            let idle_ns = typical.idle.total_ns();
            message!(", then {} above it and {} idle", above_ns, idle_ns)
        });
        Some(message!(
            "{} take {}{}",
            work_at_limit(&roof, chip)?,
            roof.roof_ns,
            parts
        ))
    });
    let why = work.why_no_roof().cloned();
    let texts: Vec<Message> = told.into_iter().chain(why).collect();
    (!texts.is_empty()).then(|| Fact::new("roof", Message::joined(texts, "; ")))
}

/// Returns the work of a step, and the limit of the chip that it reaches last.
fn work_at_limit(roof: &StepRoof, chip: &ChipFacts) -> Option<Message> {
    let (amount, limit) = match roof.limit {
        RoofLimit::Memory => {
            let most = chip.bandwidth_gb_s?.max;
            let amount = scaled(roof.bytes?.number(), "B");
            (amount, bandwidth(format!("{most} GB/s"), most))
        }
        RoofLimit::Arithmetic => {
            let most = chip.peak_tflops?.max;
            let amount = scaled(roof.flops?.float(), "FLOP");
            (amount, throughput(format!("{most:.1} TFLOP/s"), most))
        }
    };
    Some(message!("{} at {}", amount, limit))
}

/// Returns an amount of work with a decimal prefix, as those of rates: `16.50 GB`.
fn scaled(amount: f64, unit: &str) -> Message {
    let (shown, prefix) = match amount {
        some if some < 1e9 => (some / 1e6, "M"),
        some if some < 1e12 => (some / 1e9, "G"),
        many => (many / 1e12, "T"),
    };
    let text = format!("{shown:.2} {prefix}{unit}");
    number(text, amount, |number| Value::Number { number })
}
