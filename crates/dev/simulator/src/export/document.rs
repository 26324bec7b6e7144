//! Writes one query document: its head, its rows streamed to disk, its end.

use super::cells::Sheet;
use super::folder::{AtomicFile, Folder};
use super::schema::Schema;
use super::xml_cells::XmlCells;
use crate::MARK;
use crate::error::Error;
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::scenario::kinds::Generation;
use crate::scenario::table::Table;

/// Number of bytes gathered before they go to disk.
const CHUNK_BYTES: usize = 1 << 20;

/// A document that is being written.
#[derive(Debug)]
pub(super) struct Document<'a> {
    plan: &'a Plan,
    generation: Generation,
    cells: XmlCells<'a>,
    file: AtomicFile,
}

impl<'a> Document<'a> {
    /// Starts the document of one table of one run.
    pub(super) fn create(
        folder: &mut Folder,
        table: Table,
        scenario: &'a Scenario,
        plan: &'a Plan,
    ) -> Result<Self, Error> {
        let file = folder.create(&table.file_name(scenario, plan.run))?;
        let position = table.position(scenario);
        Ok(Self::new(file, table.schema(), position, scenario, plan))
    }

    /// Starts the document of a table with a position in the table of contents, in its file.
    pub(super) fn new(
        file: AtomicFile,
        schema: Schema,
        position: usize,
        scenario: &'a Scenario,
        plan: &'a Plan,
    ) -> Self {
        let separator = if scenario.xcode == Generation::Xcode16 {
            ""
        } else {
            " "
        };
        let mut cells = XmlCells::new(plan, separator);
        let run = plan.run;
        cells.put("<?xml version=\"1.0\"?>\n");
        cells.put(&format!("<trace-query-result synthetic=\"{MARK}\">\n"));
        cells.put(&format!(
            "<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{position}]'>"
        ));
        schema.write(scenario.xcode, cells.bytes());

        Self {
            plan,
            generation: scenario.xcode,
            cells,
            file,
        }
    }

    /// Ends the document and gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.cells.put("</node></trace-query-result>\n");
        self.flush()?;
        self.file.finish()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.file.append(self.cells.bytes())?;
        self.cells.bytes().clear();
        Ok(())
    }
}

impl<'a> Sheet<'a> for Document<'a> {
    type Cells = XmlCells<'a>;

    fn plan(&self) -> &'a Plan {
        self.plan
    }

    fn generation(&self) -> Generation {
        self.generation
    }

    fn row(&mut self, fill: impl FnOnce(&mut XmlCells<'a>)) -> Result<(), Error> {
        self.cells.put("<row>");
        fill(&mut self.cells);
        self.cells.put("</row>\n");
        if self.cells.bytes().len() < CHUNK_BYTES {
            return Ok(());
        }
        self.flush()
    }
}
