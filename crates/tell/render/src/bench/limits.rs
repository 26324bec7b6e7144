//! Builds the tables of limits and thresholds, with the first variant or the baseline as reference.

use metalens_analyzer::message::{count, name};
use metalens_analyzer::{Message, Wanted, message};
use metalens_bench::{Bench, PairResult};
use metalens_comparison::sentences::value;
use metalens_comparison::{Change, GateRow, KernelFigure, Number, ThresholdComparison, Unit};

use super::tables::ABSENT;
use crate::comparison::{gate_limit, gate_name, gate_verdict};
use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::report::threshold_value;
use crate::wording::plain;

/// Largest number of limits on a screen, and on a page.
const MOST: (usize, usize) = (12, 200);

/// Returns the table of the limits of the gates; nothing without a gate.
pub(super) fn limits(bench: &Bench) -> Option<Block> {
    let first = bench.pairs.first()?;
    let columns = vec![
        Column::name("variant"),
        Column::label("limit of"),
        Column::words("limit"),
        Column::number(message!("reference: {}", name(&first.base))),
        Column::number("variant's"),
        Column::words(""),
    ];
    let caption = "Limits of the gate: the reference and the value of each variant, as medians";
    let rows = bench.pairs.iter().flat_map(|pair| {
        let gate = pair.comparison.gate.iter().flat_map(|gate| &gate.rows);
        gate.map(move |row| (pair, row))
    });
    let rows: Vec<_> = rows.collect();
    let table = Table::new("limits", caption, columns);
    let mut table = table.limited(MOST.0, MOST.1).of(rows.len());
    table.rest = " more limits".into();
    for (pair, row) in rows.into_iter().take(MOST.1) {
        let (reference, own) = values(pair, row);
        table.row([
            name(&pair.new).into(),
            gate_name(row).into(),
            gate_limit(row).into(),
            reference.into(),
            own.into(),
            gate_verdict(row),
        ]);
    }
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// Returns the medians of both sides for a limit.
fn values(pair: &PairResult, row: &GateRow) -> (Message, Message) {
    let comparison = &pair.comparison;
    let found: Option<(&Change, Unit)> = match row.of {
        None => {
            let mut metrics = comparison.metrics.iter();
            let metric = metrics.find(|metric| metric.id == row.what);
            metric.map(|metric| (&metric.change, metric.unit))
        }
        Some(figure) => {
            let mut kernels = comparison.kernels.iter();
            let kernel = kernels.find(|one| one.name == row.what && one.channel == row.channel);
            kernel.map(|kernel| match figure {
                KernelFigure::Total => (&kernel.total_ns, Unit::Ns),
                KernelFigure::Median => (&kernel.med_ns, Unit::Ns),
                KernelFigure::Instances => (&kernel.instances, Unit::Count),
            })
        }
    };
    let shown = |number: Option<Number>, unit: Unit| {
        number.map_or_else(|| ABSENT.into(), |number| value(number, unit))
    };
    found.map_or_else(
        || (ABSENT.into(), ABSENT.into()),
        |(change, unit)| {
            (
                shown(change.base.median, unit),
                shown(change.new.median, unit),
            )
        },
    )
}

/// Returns the thresholds that somebody set; nothing if none is set.
pub(super) fn thresholds(bench: &Bench) -> Option<Section> {
    let first = bench.pairs.first()?;
    let columns = vec![
        Column::name("variant"),
        Column::words("threshold"),
        Column::number("limit"),
        Column::number(message!("reference: {}", name(&first.base))),
        Column::number("variant's"),
        Column::words(""),
    ];
    let caption = "Thresholds: the reference and the value of each variant, as medians";
    let mut table = Table::new("variant-thresholds", caption, columns);
    for pair in &bench.pairs {
        for one in &pair.comparison.thresholds {
            let shown = |value: Option<Number>| {
                let text = |value: Number| threshold_value(value.get(), one.unit);
                value.map_or_else(|| ABSENT.into(), text)
            };
            let base = one.base.as_ref().and_then(|base| base.median);
            table.row([
                name(&pair.new).into(),
                plain(&one.id).into(),
                limit(one).into(),
                shown(base).into(),
                shown(one.new.median).into(),
                verdict(one),
            ]);
        }
    }
    let section = Section::new("thresholds", "Thresholds", 1);
    (!table.rows.is_empty()).then(|| section.with(Block::Table(table)))
}

fn limit(threshold: &ThresholdComparison) -> Message {
    let sign = match threshold.wanted {
        Wanted::Below => "<",
        Wanted::Above => ">",
    };
    let value = threshold_value(threshold.limit.get(), threshold.unit);
    message!("{} {}", sign, value)
}

fn verdict(threshold: &ThresholdComparison) -> Cell {
    let new = &threshold.new;
    if new.missed == 0 {
        Cell::verdict("PASS", Tone::Good)
    } else {
        let text = message!("FAIL in {} of {}", count(new.missed), count(new.runs));
        Cell::verdict(text, Tone::Bad)
    }
}
