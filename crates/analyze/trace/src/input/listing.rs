//! Lists the tables of an input without keeping any of them.

use super::list::{Document, Input};
use super::read::{LoadOptions, Meter, read_document};
use crate::error::Result;
use crate::partial_trace::PartialTrace;
use crate::select::Selection;
use crate::table::{Origin, Schema, Table};

/// A table of a document, or the error of the document.
#[derive(Debug)]
pub struct ListedDocument {
    /// Path of the document.
    pub file: String,
    /// Schema in the file name.
    pub named_schema: String,
    /// The table without its rows, or the error of the document.
    pub table: Result<CountedTable>,
}

/// A table whose rows were only counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedTable {
    /// Schema that the document declares.
    pub schema: Schema,
    /// Position of the table in the recording.
    pub origin: Origin,
    /// Number of rows.
    pub rows: usize,
    /// True if the document is cut off after these rows.
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
    /// Reads every document completely and returns its tables without their rows. A document that
    /// cannot be read does not stop the others.
    #[must_use]
    pub fn list(&self, options: LoadOptions<'_>) -> Vec<ListedDocument> {
        if let Some(bundle) = &self.bundle {
            return bundle.list();
        }
        let documents: Vec<&Document> = self.documents.iter().collect();
        let meter = Meter::new(&documents, options.progress);
        let listed = documents
            .into_iter()
            .flat_map(|document| list_document(document, options, &meter));
        listed.collect()
    }
}

/// Lists the tables of a document, or the reason why it cannot be read.
fn list_document(
    document: &Document,
    options: LoadOptions<'_>,
    meter: &Meter<'_>,
) -> Vec<ListedDocument> {
    let mut read = PartialTrace::default();
    let listed = |table| ListedDocument {
        file: document.name.clone(),
        named_schema: document.schema_from_name().to_owned(),
        table,
    };
    match read_document(document, &Selection::counts(), options, &mut read, meter) {
        Ok(()) => read
            .tables
            .into_iter()
            .map(|table| listed(Ok(table.into())))
            .collect(),
        Err(error) => vec![listed(Err(error))],
    }
}
