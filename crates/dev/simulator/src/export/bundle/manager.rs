//! Writes the table manager's two archives: the tables of a run, and their stores.

use std::path::Path;

use super::archive::{self, Node};
use super::file::{compressed, create_dir};
use super::spec::Spec;
use super::store;
use crate::error::Error;
use crate::plan::Plan;

/// A table of the table manager: its id, and the side of a store that it reads or writes.
struct Entry<'s> {
    id: u64,
    /// Number of the store in its run, from 0.
    store: usize,
    /// Side of the store: 0 for readers (modelers and screens), 1 for the writer of rows.
    side: u64,
    spec: &'s Spec,
}

/// Writes `tables.plist` and `exposedTableInfo.plist` of a run whose stores have these tables.
pub(super) fn write(core: &Path, plan: &Plan, specs: &[Spec]) -> Result<(), Error> {
    let entries = entries(specs);
    let manager = create_dir(core.join("table-manager"))?;
    compressed(&manager.join("tables.plist"), |out| {
        archive::write(tables(plan.run, specs.len(), &entries), out)
    })?;
    let config = create_dir(core.join("core-config"))?;
    compressed(&config.join("exposedTableInfo.plist"), |out| {
        archive::write(exposed(plan, &entries), out)
    })
}

/// Returns a write and a read entry for every store, and a second read entry for each third.
fn entries(specs: &[Spec]) -> Vec<Entry<'_>> {
    let stores = || specs.iter().enumerate();
    let read_twice = stores().filter(|(number, _)| number % 3 == 0);
    let sides = stores()
        .map(|store| (0, store))
        .chain(read_twice.map(|store| (0, store)))
        .chain(stores().rev().map(|store| (1, store)));
    (0..)
        .zip(sides)
        .map(|(id, (side, (store, spec)))| Entry {
            id,
            store,
            side,
            spec,
        })
        .collect()
}

/// Returns the list of all tables with their stores.
fn tables(run: u32, stores: usize, entries: &[Entry<'_>]) -> Node {
    let detail = |entry: &Entry<'_>| {
        let detail = Node::dict([
            ("storeSubpath", Node::text(store::subpath(run, entry.store))),
            ("side", Node::int(entry.side)),
            ("spec", entry.spec.node()),
        ]);
        (entry.id, detail)
    };
    // A dictionary has no order, and real ones are not sorted by id.
    let details = entries.iter().rev().map(detail).collect();
    Node::dict([
        ("lastStoreIdx", Node::int(stores as u64)),
        ("nextTableID", Node::int(entries.len() as u64)),
        ("tableDetails", Node::int_keyed(details)),
    ])
}

/// Returns the list of the tables that Instruments shows.
fn exposed(plan: &Plan, entries: &[Entry<'_>]) -> Node {
    let inputs = entries
        .iter()
        .filter(|entry| entry.side == 1 && entry.spec.input);
    let shown = entries.iter().filter(|entry| entry.side == 0);
    let specs = shown.map(|entry| (entry.id, entry.spec.node())).collect();
    let target = plan.recorded_target().map(|target| {
        let pid = plan.process(target).pid;
        ("target-pid", Node::int(u64::from(pid)))
    });
    Node::dict([
        ("biproductTableIDs", Node::mutable_set([])),
        (
            "inputTableIDs",
            Node::mutable_set(inputs.map(|entry| Node::int(entry.id))),
        ),
        ("readOnlySpecsByID", Node::int_keyed(specs)),
        // The setup of the recorder, which no reader looks at.
        ("bindingParameters", Node::dict([])),
        ("modelingParameters", Node::dict(target)),
    ])
}
