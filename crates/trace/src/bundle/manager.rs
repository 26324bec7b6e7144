//! Which tables a run has, and in which stores.

use std::collections::BTreeMap;

use super::files::{Files, SMALL};
use super::keyed::{Keyed, Object};
use crate::error::{Problem, Result};

/// A store that a run's table manager names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Store {
    /// `corespace/run1/core/stores/indexed-store-77`.
    pub(crate) path: String,
    /// K of `indexed-store-K`.
    pub(crate) number: u64,
    pub(crate) schema: String,
    /// `target-pid`, `codes`, …
    pub(crate) attributes: Vec<(String, String)>,
    /// The kernel's events that were asked for: `0x1f,0x05`.
    pub(crate) codes: Vec<String>,
}

/// The stores of a run, by number. Each table has two sides in one store.
pub(crate) fn stores(files: &Files, run: u64) -> Result<Vec<Store>> {
    let path = format!("corespace/run{run}/core/table-manager/tables.plist");
    let unsupported = |detail: &str| {
        let detail = detail.to_owned();
        files.error(&path, Problem::UnsupportedBundle { detail })
    };
    let bytes = files.read(&path, SMALL)?;
    let archive = Keyed::parse(bytes).ok_or_else(|| unsupported(Keyed::NONE))?;
    let details = archive.root().and_then(|root| root.get("tableDetails"));
    let details = details.ok_or_else(|| unsupported("it lists no tables"))?;
    let mut stores: BTreeMap<u64, Store> = BTreeMap::new();
    for (_, table) in details.numbered_entries() {
        let store = store_of(table, run).ok_or_else(|| unsupported("a table has no store"))?;
        match stores.get(&store.number) {
            Some(known) if known.schema != store.schema => {
                return Err(unsupported("one store has two schemas"));
            }
            Some(known) if known.attributes.len() >= store.attributes.len() => {}
            _ => drop(stores.insert(store.number, store)),
        }
    }
    if archive.exhausted() {
        return Err(unsupported(Keyed::ENDLESS));
    }
    Ok(stores.into_values().collect())
}

fn store_of(table: Object<'_>, run: u64) -> Option<Store> {
    let inside = table.get("storeSubpath")?.text()?;
    // Exactly this form: what a bundle names must lie in its own run.
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
