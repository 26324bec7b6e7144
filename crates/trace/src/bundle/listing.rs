//! The tables of a bundle, and what is wrong with each.

use super::load::{Bundle, Wanted, core};
use super::manager::Store;
use super::people::People;
use super::rows::Decoder;
use super::store::Rows;
use super::symbols::Symbols;
use super::types;
use super::uniquing::Uniques;
use crate::error::Result;
use crate::input::{CountedTable, ListedDocument};
use crate::names::Names;
use crate::select::Selection;

impl Bundle {
    /// Lists every table with its row count, or what is wrong with it: each is read to its
    /// last cell.
    pub(crate) fn list(&self) -> Vec<ListedDocument> {
        let runs = self.stores.iter().zip(&self.runs).zip(1..);
        let listed =
            runs.flat_map(|((stores, run), position)| self.list_run(stores, *run, position));
        listed.collect()
    }

    fn list_run(&self, stores: &[Store], run: u64, position: u64) -> Vec<ListedDocument> {
        let everything = Selection::everything().with_labels_unnumbered();
        self.read_stores(stores, &everything, position, |rows| {
            let uniques = Uniques::read(&self.files, &core(run));
            let people = uniques.as_ref().ok().map(|uniques| {
                People::read(&self.files, stores, uniques, &self.known_run(position))
            });
            let decoder = match (&uniques, &people) {
                (Ok(uniques), Some(Ok(people))) => {
                    let symbols = Symbols::none(&self.files, uniques);
                    Some(self.decoder(uniques, people, symbols, &everything))
                }
                _ => None,
            };
            let mut listed: Vec<ListedDocument> = rows
                .map(|(wanted, rows)| self.list_store(&wanted, rows, decoder.as_ref()))
                .collect();
            drop(decoder);
            // What all tables need is no table, but nothing can be read without it.
            listed.extend(uniques.err().map(|error| ListedDocument {
                file: error.place().file.clone(),
                promised: "(needed by all)".to_owned(),
                table: Err(error),
            }));
            listed
        })
    }

    fn list_store(
        &self,
        wanted: &Wanted<'_>,
        rows: Result<Rows>,
        decoder: Option<&Decoder<'_>>,
    ) -> ListedDocument {
        let counted = rows.and_then(|mut rows| {
            let (count, schema) = (
                rows.count(),
                rows.layout.declared(|id| types::of(id).0.to_owned()),
            );
            if let Some(decoder) = decoder {
                let mut names = Names::new();
                decoder.table(
                    wanted.store,
                    &mut rows,
                    wanted.origin,
                    wanted.columns,
                    &mut names,
                )?;
            }
            Ok(CountedTable {
                schema,
                origin: wanted.origin,
                rows: count,
                truncated: false,
            })
        });
        ListedDocument {
            file: self.files.shown(&wanted.store.path),
            promised: wanted.store.schema.clone(),
            table: counted,
        }
    }
}
