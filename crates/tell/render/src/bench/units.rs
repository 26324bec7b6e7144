//! Builds the table of the units of work that the variants repeat: iterations and phases.

use metalens_analyzer::message::name;
use metalens_bench::{Bench, VariantResult, WorkUnit};
use metalens_comparison::Unit;
use metalens_comparison::sentences::value;

use super::tables::{ABSENT, time};
use crate::document::{Block, Column, Section, Table};

/// Largest number of rows on a screen, and on a page.
const ROWS: (usize, usize) = (12, 100);

/// Returns the table; nothing if no variant repeats a unit of work.
pub(super) fn section(bench: &Bench) -> Option<Section> {
    let mut phases: Vec<Option<&str>> = Vec::new();
    for unit in bench.variants.iter().flat_map(|variant| &variant.units) {
        let phase = unit.phase.as_deref();
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    // The same unit of all variants, one below the other.
    let rows = phases.iter().flat_map(|phase| {
        let of = |variant: &VariantResult| {
            let mut units = variant.units.iter();
            units.find(|unit| unit.phase.as_deref() == *phase).cloned()
        };
        let found = bench.variants.iter();
        found.filter_map(move |variant| Some((variant, of(variant)?)))
    });
    let rows: Vec<(&VariantResult, WorkUnit)> = rows.collect();
    if rows.is_empty() {
        return None;
    }

    let columns = vec![
        Column::name("unit"),
        Column::name("variant"),
        Column::number("count"),
        Column::number("time of one"),
        Column::number("GPU busy in one"),
    ];
    let caption = "Iterations and phases of each variant: medians of its runs";
    let mut table = Table::new("units", caption, columns)
        .limited(ROWS.0, ROWS.1)
        .of(rows.len());
    for (variant, unit) in rows.iter().take(ROWS.1) {
        let count = unit.count.median;
        table.row([
            unit.phase
                .as_deref()
                .map_or_else(|| "iteration".into(), name),
            name(&variant.name),
            count.map_or_else(|| ABSENT.into(), |count| value(count, Unit::Count)),
            time(unit.each_ns.median),
            time(unit.busy_ns.median),
        ]);
    }
    let title = "Per iteration and phase: medians of the runs";
    Some(Section::new("units", title, 1).with(Block::Table(table)))
}
