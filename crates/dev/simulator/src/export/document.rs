//! Writes one query document: its head, its rows streamed to disk, its end.

use std::io::Write;
use std::path::PathBuf;

use metalens_files::{Draft, Folder};

use super::xml_cells::XmlCells;
use crate::MARK;
use crate::error::Error;
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::sheet::{Column, Schema, Sheet, Value};
use crate::values::kinds::Generation;

/// Number of bytes gathered before they go to disk.
const CHUNK_BYTES: usize = 1 << 20;

/// A document that is being written.
#[derive(Debug)]
pub(super) struct Document<'a> {
    plan: &'a Plan,
    columns: Vec<Column>,
    cells: XmlCells<'a>,
    file: Draft<'a>,
    path: PathBuf,
}

impl<'a> Document<'a> {
    /// Starts the document of one table of one run.
    pub(super) fn create(
        folder: &'a Folder,
        table: Table,
        scenario: &'a Scenario,
        plan: &'a Plan,
    ) -> Result<Self, Error> {
        let path = PathBuf::from(table.file_name(scenario, plan.run));
        let file = folder.draft(path.as_os_str())?;
        let (schema, position) = (table.form().schema, table.position(scenario));
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
        let columns: Vec<Column> = schema.columns_in(scenario.xcode).collect();
        cells.put(&schema_xml(&schema, &columns, scenario.xcode));

        Ok(Self {
            plan,
            columns,
            cells,
            file,
            path,
        })
    }

    /// Ends the document and gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.cells.put("</node></trace-query-result>\n");
        self.flush()?;
        Ok(self.file.finish(true)?)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.file().write_all(self.cells.bytes());
        written.map_err(Error::io("write", &self.path))?;
        self.cells.bytes().clear();
        Ok(())
    }
}

impl Sheet for Document<'_> {
    fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        self.cells.put("<row>");
        for (column, value) in self.columns.iter().zip(values) {
            self.cells
                .cell(column.kind, value.in_column(column.kind, self.plan));
        }
        self.cells.put("</row>\n");
        if self.cells.bytes().len() < CHUNK_BYTES {
            return Ok(());
        }
        self.flush()
    }
}

/// Returns the `<schema>` element with its columns.
fn schema_xml(schema: &Schema, columns: &[Column], generation: Generation) -> String {
    let mut xml = format!("<schema name=\"{}", schema.name);
    if generation == Generation::Xcode27 {
        xml += "\" documentation=\"";
        xml += schema.documentation;
    }
    xml += "\">";
    for column in columns {
        let (mnemonic, name, kind) = (column.mnemonic, column.name, column.kind.facts().xml_name);
        xml += &format!(
            "<col><mnemonic>{mnemonic}</mnemonic><name>{name}</name>\
             <engineering-type>{kind}</engineering-type></col>"
        );
    }
    xml + "</schema>"
}
