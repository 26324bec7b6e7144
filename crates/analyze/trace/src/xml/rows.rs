//! Checks each cell of a row against the schema and appends it to its column.

use std::io::Read;

use super::cells::{Cells, unexpected_text};
use super::details;
use super::ids::TagId;
use super::pull::{Pull, Token};
use super::tags::Tags;
use super::values::{CellValue, bits, symbol_of};
use crate::error::{Error, Problem, Result};
use crate::kind::Kind;
use crate::names::{LabelId, ProcessId, StackId, ThreadId};
use crate::place::Place;
use crate::select::Columns;
use crate::table::{Column, Table};

/// A table while it is read.
pub(crate) struct TableBuilder {
    table: Table,
    /// Tag that the cells of each column must have.
    tags: Vec<TagId>,
    /// Positions of the columns `start` and `duration`, if there are both.
    interval: Option<(usize, usize)>,
}

impl TableBuilder {
    /// Prepares the columns of a table: selected ones are kept, others only checked.
    pub(crate) fn new(table: Table, columns: &Columns, tags: &mut Tags) -> Result<Self, Problem> {
        let mut table = table;
        let mut numbers = Vec::new();
        for spec in &table.schema.columns {
            let kept = columns.contains(&spec.mnemonic);
            let column = match Kind::from_type(&spec.engineering_type) {
                kind if kept => Column::empty(kind),
                _ => Column::Dropped,
            };
            table.columns.push(column);
            numbers.push(tags.number(&spec.engineering_type)?);
        }

        let of_numbers = |mnemonic| {
            let at = table.schema.position(mnemonic)?;
            let spec = table.schema.columns.get(at)?;
            (Kind::from_type(&spec.engineering_type) == Kind::Integer).then_some(at)
        };

        let interval = of_numbers("start").zip(of_numbers("duration"));
        Ok(Self {
            table,
            tags: numbers,
            interval,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.table.schema.name
    }

    pub(crate) fn rows(&self) -> usize {
        self.table.rows
    }

    /// Returns the table with all complete rows.
    pub(crate) fn finish(mut self) -> Table {
        self.undo_row();
        self.table
    }

    /// Reads the row whose tag was just opened. A row with an error does not count.
    pub(crate) fn read_row<R: Read>(
        &mut self,
        pull: &mut Pull<R>,
        cells: &mut Cells<'_>,
        empty: bool,
    ) -> Result<()> {
        let mut row = Row::default();
        cells.start_row();
        if !empty {
            self.read_cells(pull, cells, &mut row)?;
        }
        self.end_row(&row)
            .map_err(|problem| self.at_row(pull.error(problem), None))
    }

    /// Reads a row of a detail, whose cells are attributes.
    pub(crate) fn read_attributes(
        &mut self,
        attributes: &[(String, String)],
        cells: &mut Cells<'_>,
    ) -> Result<(), Problem> {
        let values = details::cells(&self.table.schema, attributes, |text| cells.symbol(text))?;
        let mut row = Row::default();
        for value in values {
            self.append(&mut row, value);
        }
        self.end_row(&row)
    }

    /// Returns the tags that cells must have, in the order of the columns.
    pub(crate) fn tags(&self) -> &[TagId] {
        &self.tags
    }

    /// Returns the tag that the next cell must have; `found` is its actual name, for the error.
    #[inline]
    pub(crate) fn expected(&self, row: &Row, found: &str) -> Result<TagId, Problem> {
        let expected = self.tags.get(row.cells).copied();
        expected.ok_or_else(|| {
            let columns = self.tags.len();
            Problem::Unexpected(format!(
                "unexpected <{found}>: the row has more cells than the schema's {columns} columns"
            ))
        })
    }

    /// Checks that a row is complete, and counts it.
    pub(crate) fn end_row(&mut self, row: &Row) -> Result<(), Problem> {
        self.check_whole(row)?;
        self.table.rows += 1;
        Ok(())
    }

    /// Removes the cells of an unfinished row.
    pub(crate) fn undo_row(&mut self) {
        let rows = self.table.rows;
        for column in &mut self.table.columns {
            column.truncate(rows);
        }
    }

    /// Reads all cells of a row, up to its end.
    fn read_cells<R: Read>(
        &mut self,
        pull: &mut Pull<R>,
        cells: &mut Cells<'_>,
        row: &mut Row,
    ) -> Result<()> {
        loop {
            let step = match pull.next() {
                Ok(Token::Close) if !cells.is_open() => return Ok(()),
                Ok(token) => self.cell_step(&token, cells, row),
                Err(error) => return Err(self.at_row(error, Some(row.cells))),
            };
            match step {
                Ok(None) => {}
                Ok(Some(value)) => self.append(row, value),
                Err(problem) => return Err(self.at_row(pull.error(problem), Some(row.cells))),
            }
        }
    }

    /// Reads one token inside a row. Returns a value if it completes a cell.
    fn cell_step(
        &self,
        token: &Token<'_>,
        cells: &mut Cells<'_>,
        row: &Row,
    ) -> Result<Option<CellValue>, Problem> {
        match token {
            Token::Open { tag, empty } => {
                let name = tag.name();
                let expected = if cells.is_open() {
                    None
                } else {
                    Some(self.expected(row, name.as_ref())?)
                };
                cells.open(name.as_ref(), tag.attributes_raw(), expected)?;
                if *empty { cells.close() } else { Ok(None) }
            }
            Token::Text(text) if cells.is_open() => cells.text(text).map(|()| None),
            Token::Text(text) if text.trim().is_empty() => Ok(None),
            Token::Text(text) => Err(unexpected_text(text)),
            Token::Close => cells.close(),
            Token::Nothing => Ok(None),
            Token::End => Err(Problem::Truncated { whole_rows: 0 }),
        }
    }

    /// Appends the next cell of a row.
    #[inline]
    pub(crate) fn append(&mut self, row: &mut Row, value: CellValue) {
        if let Some((start, duration)) = self.interval {
            if row.cells == start {
                row.start_ns = value;
            } else if row.cells == duration {
                row.duration_ns = value;
            }
        }
        let name = value.map_or(0, bits);
        match self.table.columns.get_mut(row.cells) {
            Some(Column::Integers(values)) => values.push(value),
            Some(Column::Texts(values)) => values.push(symbol_of(value)),
            Some(Column::Processes(values)) => values.push(ProcessId::from_bits(name)),
            Some(Column::Threads(values)) => values.push(ThreadId::from_bits(name)),
            Some(Column::Labels(values)) => values.push(LabelId::from_bits(name)),
            Some(Column::Stacks(values)) => values.push(StackId::from_bits(name)),
            Some(Column::Dropped) | None => {}
        }
        row.cells += 1;
    }

    /// Checks that the row has all cells, and that its end fits into 64 bits.
    fn check_whole(&self, row: &Row) -> Result<(), Problem> {
        if row.cells < self.tags.len() {
            let (found, expected) = (row.cells, self.tags.len());
            let detail = format!("the row has {found} cells; the schema has {expected} columns");
            return Err(Problem::Unexpected(detail));
        }
        match (row.start_ns, row.duration_ns) {
            (Some(start_ns), Some(duration_ns)) if start_ns.checked_add(duration_ns).is_none() => {
                Err(Problem::Unexpected(format!(
                    "start {start_ns} + duration {duration_ns} does not fit into 64 bits"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Adds the row and the column to the place of an error.
    pub(crate) fn at_row(&self, error: Error, column: Option<usize>) -> Error {
        let column = column.and_then(|at| self.table.schema.columns.get(at));
        let place = Place {
            row: Some(self.table.rows as u64 + 1),
            column: column.map(|spec| spec.mnemonic.clone()),
            ..error.place().clone()
        };
        Error::new(error.into_problem(), place)
    }
}

/// The row that is being read.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Number of cells so far.
    cells: usize,
    start_ns: CellValue,
    duration_ns: CellValue,
}
