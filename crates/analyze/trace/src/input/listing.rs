//! Lists the tables of an input without keeping any of them.

use super::list::{Document, Input};
use super::read::{LoadOptions, Meter, read_document};
use crate::partial_trace::PartialTrace;
use crate::select::Selection;
use crate::table::ListedDocument;

impl Input {
    /// Reads every document completely and returns its tables without their rows. A document that
    /// cannot be read does not stop the others.
    pub fn list(&self, options: LoadOptions<'_>) -> Vec<ListedDocument> {
        if let Some(bundle) = &self.bundle {
            return bundle.list(options.progress);
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
            .map(|table| listed(Ok(table)))
            .collect(),
        Err(error) => vec![listed(Err(error))],
    }
}
