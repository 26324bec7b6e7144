//! Lists the tables of a bundle with their errors.

use super::load::{Bundle, WantedStore, core, wanted};
use super::manager::Store;
use super::process_names::ProcessNames;
use super::rows::Decoder;
use super::store::Rows;
use super::symbols::Symbols;
use super::types;
use super::uniquing::Uniques;
use crate::error::Result;
use crate::names::Names;
use crate::progress::Progress;
use crate::select::Selection;
use crate::table::{ListedDocument, Table};

impl Bundle {
    /// Returns every table with its row count or its error. Each is read completely.
    pub(crate) fn list(&self, tell: Option<&dyn Fn(Progress)>) -> Vec<ListedDocument> {
        let runs = self.stores.iter().zip(&self.runs).zip(1..);
        let listed =
            runs.flat_map(|((stores, run), position)| self.list_run(stores, *run, position, tell));
        listed.collect()
    }

    /// Lists the tables of a run. Reads them completely, so that a damaged one is found.
    fn list_run(
        &self,
        stores: &[Store],
        run: u64,
        position: u64,
        tell: Option<&dyn Fn(Progress)>,
    ) -> Vec<ListedDocument> {
        let everything = Selection::everything().with_labels_unnumbered();
        let wanted = wanted(stores, &everything, position);
        self.read_stores(&wanted, tell, |rows| {
            let uniques = Uniques::read(&self.files, &core(run));
            let process_names = uniques.as_ref().ok().map(|uniques| {
                ProcessNames::read(&self.files, stores, uniques, &self.known_run(position))
            });
            let decoder = match (&uniques, &process_names) {
                (Ok(uniques), Some(Ok(process_names))) => {
                    let symbols = Symbols::none(&self.files, uniques);
                    Some(self.decoder(uniques, process_names, symbols, &everything))
                }
                _ => None,
            };
            let mut listed: Vec<ListedDocument> = rows
                .map(|(wanted, rows)| self.list_store(&wanted, rows, decoder.as_ref()))
                .collect();
            drop(decoder);
            // A file that all tables need is listed too, since nothing can be read without it.
            listed.extend(uniques.err().map(|error| ListedDocument {
                file: error.place().file.clone(),
                named_schema: "(needed by all)".to_owned(),
                table: Err(error),
            }));
            listed
        })
    }

    /// Lists a store: the number of its rows, or the reason why they cannot be read.
    fn list_store(
        &self,
        wanted: &WantedStore<'_>,
        rows: Result<Rows>,
        decoder: Option<&Decoder<'_>>,
    ) -> ListedDocument {
        let (store, origin) = (wanted.store, wanted.origin);
        let file = self.files.shown(&store.path);
        let table = rows.and_then(|mut rows| match decoder {
            // Only decoding tells which columns stay raw numbers.
            Some(decoder) => {
                decoder.table(store, &mut rows, origin, wanted.columns, &mut Names::new())
            }
            None => Ok(Table {
                schema: rows.layout.declared(|id| types::lookup(id).0.to_owned()),
                origin,
                file: file.clone(),
                truncated: false,
                synthetic: false,
                rows: rows.count(),
                columns: Vec::new(),
            }),
        });

        let columns = Vec::new();
        ListedDocument {
            file,
            named_schema: store.schema.clone(),
            table: table.map(|table| Table { columns, ..table }),
        }
    }
}
