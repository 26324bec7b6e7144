//! Builds the table with two axes of a benchmark with two parameters, or with several commands and one.

use metalens_bench::{Bench, Parameter, VariantResult};
use metalens_message::{Message, message, name};

use super::tables::time;
use crate::document::{Block, Cell, Column, Section, Table};

/// Heading of the row that names the fastest row of each column.
const FASTEST: &str = "fastest";
/// Text where the runs vary too much.
const NOT_TOLD: &str = "unclear";

/// Name of the rows of a benchmark with several commands.
const COMMAND: &str = "command";

/// The variants of a benchmark with two axes: two parameters, or commands and a parameter.
pub(super) struct Matrix<'a> {
    /// Names of the rows.
    pub(super) rows: MatrixAxis<'a>,
    /// Names of the columns.
    pub(super) columns: MatrixAxis<'a>,
    /// Variants of each row. None if there is no run of it.
    pub(super) cells: Vec<Vec<Option<&'a VariantResult>>>,
}

/// An axis of a matrix: a parameter with its values, or the commands.
pub(super) struct MatrixAxis<'a> {
    /// Name of the parameter, or `command`.
    pub(super) name: &'a str,
    /// Values of the parameter, or the commands before it is filled in.
    pub(super) values: Vec<&'a str>,
}

impl<'a> MatrixAxis<'a> {
    fn of_parameter(parameter: &'a Parameter) -> Self {
        Self {
            name: &parameter.name,
            values: parameter.values.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the axis of the commands; none for a single one.
    fn of_commands(bench: &'a Bench) -> Option<Self> {
        let mut values: Vec<&str> = Vec::new();
        for variant in &bench.variants {
            if !values.contains(&&*variant.template) {
                values.push(&variant.template);
            }
        }
        (values.len() > 1).then_some(Self {
            name: COMMAND,
            values,
        })
    }
}

impl<'a> Matrix<'a> {
    /// Returns the matrix of a benchmark with two parameters and one command, or with one parameter
    /// and several commands.
    pub(super) fn from_bench(bench: &'a Bench) -> Option<Self> {
        let (rows, columns) = match bench.parameters.as_slice() {
            [rows, columns] => (
                MatrixAxis::of_parameter(rows),
                MatrixAxis::of_parameter(columns),
            ),
            [columns] => (
                MatrixAxis::of_commands(bench)?,
                MatrixAxis::of_parameter(columns),
            ),
            _ => return None,
        };

        let is_at = |variant: &&VariantResult, row: &str, column: &str| {
            let parameters = variant.parameters.iter();
            let values = parameters.map(|parameter| parameter.value.as_str());
            let values: Vec<&str> = values.collect();
            match *values {
                [first, second] => (first, second) == (row, column),
                [only] => (&*variant.template, only) == (row, column),
                _ => false,
            }
        };
        let mut cells = Vec::new();
        for row in &rows.values {
            let mut line = Vec::new();
            for column in &columns.values {
                let variants = bench.variants.iter();
                let mut found = variants.filter(|variant| is_at(variant, row, column));
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

    /// Returns what the table shows.
    fn title(&self, bench: &Bench) -> Message {
        message!(
            "Wall time{} by {} and {}",
            bench.basis.per(),
            name(self.rows.name),
            name(self.columns.name)
        )
    }
}

impl Matrix<'_> {
    /// Returns the row that is fastest in each column, by its value; none where the runs vary too much.
    fn fastest(&self, bench: &Bench) -> Vec<Option<&str>> {
        let columns = 0..self.columns.values.len();
        let fastest = columns.map(|column| {
            let rows = self.rows.values.iter().zip(&self.cells);
            let cells = rows.filter_map(|(row, line)| Some((*row, (*line.get(column)?)?)));
            let (rows, variants): (Vec<&str>, Vec<&VariantResult>) = cells.unzip();
            let standing = bench.standing_of(&variants)?;
            let best = rows.get(standing.best)?;
            standing.wins.then_some(*best)
        });
        fastest.collect()
    }
}

/// Returns the section with the table; nothing without two axes.
pub(super) fn section(bench: &Bench) -> Option<Section> {
    let matrix = Matrix::from_bench(bench)?;
    let corner = message!(
        "{} \\ {}",
        name(matrix.rows.name),
        name(matrix.columns.name)
    );
    let mut columns = vec![Column::name(corner)];
    let headings = matrix.columns.values.iter();
    columns.extend(headings.map(|value| Column::number(name(value))));
    let caption = "Median wall time of each variant, by row and column";
    let mut table = Table::new("matrix", caption, columns);
    for (row, line) in matrix.rows.values.iter().zip(&matrix.cells) {
        let cells = line
            .iter()
            .map(|cell| Cell::from(time(cell.and_then(|variant| variant.wall.median))));
        table.row([Cell::from(name(row))].into_iter().chain(cells));
    }

    let fastest = matrix.fastest(bench).into_iter();
    let fastest = fastest.map(|row| Cell::from(row.map_or_else(|| NOT_TOLD.into(), name)));
    table.row([Cell::from(FASTEST)].into_iter().chain(fastest));

    let section = Section::new("matrix", matrix.title(bench), 1);
    Some(section.with(Block::Table(table)))
}
