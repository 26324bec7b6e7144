//! Reads the list of tables of a run, with their stores.

use std::collections::BTreeMap;

use super::files::{Files, SMALL};
use super::keyed::{Keyed, Object};
use crate::error::Result;

/// A store that the table manager of a run lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Store {
    /// Path of the store, such as `corespace/run1/core/stores/indexed-store-77`.
    pub(crate) path: String,
    /// Number of the store: K of `indexed-store-K`.
    pub(crate) number: u64,
    pub(crate) schema: String,
    /// Attributes of the table, such as `target-pid` and `codes`.
    pub(crate) attributes: Vec<(String, String)>,
    /// Codes of the recorded kernel events, such as `0x1f,0x05`.
    pub(crate) codes: Vec<String>,
}

/// Returns the stores of a run, by number. Each table has two sides in one store.
pub(crate) fn stores(files: &Files, run: u64) -> Result<Vec<Store>> {
    let path = format!("corespace/run{run}/core/table-manager/tables.plist");
    let unsupported = |detail: &str| files.unsupported(&path, detail);

    let bytes = files.read(&path, SMALL)?;
    let archive = Keyed::parse(bytes).ok_or_else(|| unsupported(Keyed::INVALID))?;
    let details = archive.root().and_then(|root| root.get("tableDetails"));
    let details = details.ok_or_else(|| unsupported("it lists no tables"))?;
    let mut stores: BTreeMap<u64, Store> = BTreeMap::new();
    for (_, table) in details.numbered_entries() {
        let store = parse_store(table, run).ok_or_else(|| unsupported("a table has no store"))?;
        match stores.get(&store.number) {
            Some(known) if known.schema != store.schema => {
                return Err(unsupported("one store has two schemas"));
            }
            Some(known) if known.attributes.len() >= store.attributes.len() => {}
            _ => drop(stores.insert(store.number, store)),
        }
    }

    if archive.exhausted() {
        return Err(unsupported(Keyed::EXHAUSTED));
    }
    Ok(stores.into_values().collect())
}

/// Parses an entry of the table manager. `None` if it does not name a store of this run.
fn parse_store(table: Object<'_>, run: u64) -> Option<Store> {
    let inside = table.get("storeSubpath")?.text()?;
    // Only this form is allowed, since a path must not lead out of the run.
    let number = inside.strip_prefix(&format!("run{run}/core/stores/indexed-store-"))?;
    let number: u64 = number.parse().ok()?;
    let spec = table.get("spec")?;
    let attributes = spec.get("attributes");
    let codes = attributes.and_then(|attributes| attributes.get("codes"));
    let codes = codes.into_iter().flat_map(Object::items);
    let codes = codes.filter_map(|code| code.text().map(str::to_owned));
    let attributes = attributes.into_iter().flat_map(Object::entries);
    let attributes = attributes.filter_map(|(key, value)| {
        let value = match (value.text(), value.integer()) {
            (Some(text), _) => text.to_owned(),
            (None, Some(number)) => number.to_string(),
            (None, None) => return None,
        };
        Some((key.text()?.to_owned(), value))
    });

    Some(Store {
        path: format!("corespace/run{run}/core/stores/indexed-store-{number}"),
        number,
        schema: spec.get("schemaName")?.text()?.to_owned(),
        attributes: attributes.collect(),
        codes: codes.collect(),
    })
}
