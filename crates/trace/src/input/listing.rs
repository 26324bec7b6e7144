//! What tables an input has, without keeping any of them.

use super::list::{Document, Input};
use super::read::{LoadOptions, Meter, read_document};
use crate::error::Result;
use crate::names::Names;
use crate::select::Selection;
use crate::table::{Origin, Schema, Table};

/// One table of a document, or why the document could not be read.
#[derive(Debug)]
pub struct ListedDocument {
    /// The document.
    pub file: String,
    /// The table that the file's name promises.
    pub promised: String,
    /// The table without its rows, or what is wrong with the document.
    pub table: Result<CountedTable>,
}

/// A table of which only the rows were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedTable {
    /// What the document declared.
    pub schema: Schema,
    /// Where it stands in the trace.
    pub origin: Origin,
    /// How many rows it has.
    pub rows: usize,
    /// Whether the document broke off after them.
    pub truncated: bool,
}

impl From<Table> for CountedTable {
    fn from(table: Table) -> Self {
        Self {
            schema: table.schema,
            origin: table.origin,
            rows: table.rows,
            truncated: table.truncated,
        }
    }
}

impl Input {
    /// Reads every document to its end, keeping only what each one is. A
    /// document that cannot be read does not stop the others.
    #[must_use]
    pub fn list(&self, options: LoadOptions<'_>) -> Vec<ListedDocument> {
        if let Some(bundle) = &self.bundle {
            return bundle.list();
        }
        let documents: Vec<&Document> = self.documents.iter().collect();
        let meter = Meter::new(&documents, options.progress);
        let listed = documents
            .into_iter()
            .flat_map(|one| list_document(one, options, &meter));
        listed.collect()
    }
}

fn list_document(
    document: &Document,
    options: LoadOptions<'_>,
    meter: &Meter<'_>,
) -> Vec<ListedDocument> {
    let mut names = Names::new();
    let listed = |table| ListedDocument {
        file: document.name.clone(),
        promised: document.promised_schema().to_owned(),
        table,
    };
    match read_document(document, &Selection::counts(), options, &mut names, meter) {
        Ok(read) => read
            .tables
            .into_iter()
            .map(|table| listed(Ok(table.into())))
            .collect(),
        Err(error) => vec![listed(Err(error))],
    }
}
