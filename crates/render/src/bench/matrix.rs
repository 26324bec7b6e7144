//! Builds the table with two axes of a benchmark with two parameters.

use metalens_analyzer::Message;
use metalens_analyzer::message;
use metalens_analyzer::message::name;
use metalens_bench::{Bench, Parameter, VariantResult};
use metalens_charts::HeatMapView;
use metalens_comparison::sentences::value;
use metalens_comparison::{Number, Unit};

use super::tables::time;
use crate::document::{Block, Cell, Chart, Column, Drawing, Section, Table};

/// Name of the heat map.
pub const HEAT_MAP: &str = "heatmap";
/// Heading of the row that names the fastest row of each column.
pub(crate) const FASTEST: &str = "fastest";
/// Text where the runs vary too much.
pub(crate) const NOT_TOLD: &str = "unclear";

/// The variants of a benchmark with two parameters, by both.
pub struct Matrix<'a> {
    /// Parameter whose values are the rows.
    pub rows: &'a Parameter,
    /// Parameter whose values are the columns.
    pub columns: &'a Parameter,
    /// Variants of each row. None if there is no run of it.
    pub cells: Vec<Vec<Option<&'a VariantResult>>>,
}

impl<'a> Matrix<'a> {
    /// Returns the matrix of a benchmark with two parameters and one command.
    #[must_use]
    pub fn from_bench(bench: &'a Bench) -> Option<Self> {
        let [rows, columns] = bench.parameters.as_slice() else {
            return None;
        };
        let is_at = |variant: &&VariantResult, row: &str, column: &str| {
            let values = variant.parameters.iter().map(|one| one.value.as_str());
            values.eq([row, column])
        };
        let mut cells = Vec::new();
        for row in &rows.values {
            let mut line = Vec::new();
            for column in &columns.values {
                let mut found = bench.variants.iter().filter(|one| is_at(one, row, column));
                line.push(found.next());
                if found.next().is_some() {
                    // Several commands have this place.
                    return None;
                }
            }
            cells.push(line);
        }

        Some(Self {
            rows,
            columns,
            cells,
        })
    }
}

impl Matrix<'_> {
    /// Returns the row that is fastest in each column, by its value; none where the runs vary too much.
    #[must_use]
    pub fn fastest(&self, bench: &Bench) -> Vec<Option<&str>> {
        let columns = 0..self.columns.values.len();
        let fastest = columns.map(|column| {
            let rows = self.rows.values.iter().zip(&self.cells);
            let cells = rows.filter_map(|(row, line)| Some((row, (*line.get(column)?)?)));
            let (rows, variants): (Vec<&String>, Vec<&VariantResult>) = cells.unzip();
            let standing = bench.standing_of(&variants)?;
            let best = rows.get(standing.best)?;
            standing.wins.then_some(best.as_str())
        });
        fastest.collect()
    }
}

/// Returns the section with the table and the heat map; nothing without two parameters.
pub(super) fn section(bench: &Bench) -> Option<Section> {
    let matrix = Matrix::from_bench(bench)?;
    let corner = message!(
        "{} \\ {}",
        name(&matrix.rows.name),
        name(&matrix.columns.name)
    );
    let mut columns = vec![Column::name(corner)];
    let headings = matrix.columns.values.iter();
    columns.extend(headings.map(|value| Column::number(name(value))));
    let caption = "Median wall time for each pair of parameter values";
    let mut table = Table::new("matrix", caption, columns);
    for (row, line) in matrix.rows.values.iter().zip(&matrix.cells) {
        let cells = line
            .iter()
            .map(|cell| Cell::from(time(cell.and_then(|one| one.wall.median))));
        table.row([Cell::from(name(row))].into_iter().chain(cells));
    }

    let fastest = matrix.fastest(bench).into_iter();
    let fastest = fastest.map(|row| Cell::from(row.map_or_else(|| NOT_TOLD.into(), name)));
    table.row([Cell::from(FASTEST)].into_iter().chain(fastest));

    let chart = Block::Chart(Chart {
        id: HEAT_MAP.to_owned(),
        drawing: Drawing::None,
    });
    let title = message!(
        "Wall time{} by {} and {}",
        bench.basis.per(),
        name(&matrix.rows.name),
        name(&matrix.columns.name)
    );
    let section = Section::new("matrix", title, 1).with(chart);
    Some(section.with(Block::Table(table)))
}

fn whole(bench: &Bench) -> &'static str {
    match bench.basis.per() {
        "" => " those of whole runs",
        per => per,
    }
}

/// Returns the contents of the heat map; none without two parameters.
#[must_use]
pub fn heat_map(bench: &Bench) -> Option<HeatMapView> {
    let matrix = Matrix::from_bench(bench)?;
    let text = |ns: Number| value(ns, Unit::Ns).text;
    let cells = matrix.cells.iter().map(|line| {
        let line = line.iter().map(|cell| {
            let median = cell.as_ref()?.wall.median?;
            Some((median.get(), text(median)))
        });
        line.collect()
    });

    let headline = message!(
        "Wall time{} by {} and {}",
        bench.basis.per(),
        name(&matrix.rows.name),
        name(&matrix.columns.name)
    );
    let lines: Vec<Message> = vec![bench.verdict.message()];
    let loud = bench
        .synthetic
        .then(|| "SYNTHETIC: a simulator made these recordings; no GPU ran".to_owned());
    let work = bench
        .work
        .as_ref()
        .map(|_| format!("The amounts of work differ; times are{}", whole(bench)));
    Some(HeatMapView {
        headline: headline.text,
        lines: lines.into_iter().map(|line| line.text).collect(),
        loud: loud.into_iter().chain(work).collect(),
        row_name: matrix.rows.name.clone(),
        column_name: matrix.columns.name.clone(),
        rows: matrix.rows.values.clone(),
        columns: matrix.columns.values.clone(),
        cells: cells.collect(),
    })
}
