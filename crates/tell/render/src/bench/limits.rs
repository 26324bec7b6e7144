//! Builds the tables of limits, with the first variant or the baseline as reference.

use metalens_analyzer::message::name;
use metalens_analyzer::{Message, message};
use metalens_bench::{Bench, PairResult};
use metalens_comparison::sentences::value;
use metalens_comparison::{Change, GateRow, GateVerdict, KernelFigure, Number, Unit};

use super::tables::ABSENT;
use crate::document::{Block, Column, Table};
use crate::gate;

/// Largest number of limits on a screen, and on a page.
const MOST: (usize, usize) = (12, 200);

/// Returns the table of the limits of the gates; nothing without a gate.
pub(super) fn limits(bench: &Bench) -> Option<Block> {
    let first = bench.pairs.first()?;
    let columns = vec![
        Column::name("variant"),
        Column::label("limit of"),
        Column::words("limit"),
        Column::number(message!("reference: {}", name(&first.base))).spare(2),
        Column::number("variant's").spare(1),
        Column::words(""),
    ];
    let caption = "Limits of the gate: the reference and the value of each variant, as medians";
    let rows = bench.pairs.iter().flat_map(|pair| {
        let gate = pair.comparison.gate.iter().flat_map(|gate| &gate.rows);
        gate.map(move |row| (pair, row))
    });
    let mut rows: Vec<_> = rows.collect();
    // A first screen has few rows: those that failed.
    rows.sort_by_key(|(_, row)| row.verdict == GateVerdict::Pass);
    let table = Table::new("limits", caption, columns);
    let mut table = table.limited(MOST.0, MOST.1).of(rows.len());
    table.rest = " more limits".into();
    for (pair, row) in rows.into_iter().take(MOST.1) {
        let (reference, own) = values(pair, row);
        table.row([
            name(&pair.new).into(),
            gate::plain_name(row).into(),
            gate::limit(row).into(),
            reference.into(),
            own.into(),
            gate::verdict(row),
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
            let kernel =
                kernels.find(|kernel| kernel.name == row.what && kernel.channel == row.channel);
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
