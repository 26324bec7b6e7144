//! Tests inputs that the reader must accept or refuse, and compares it with second readers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is the failure report, in the helpers too"
)]

mod archives;
mod column_types;
mod corpus;
mod damaged_tables;
mod differential;
mod elements;
mod hostile;
mod inputs;
mod issues;
mod judge;
mod mini_bundle;
mod mutation;
mod named_faults;
mod real_bundles;
mod refused_bundles;
mod second_bundle_reader;
mod second_reader;
mod special_files;
mod torture;
mod torture_bundle;

/// A small export of one table, with three rows and every kind of cell.
///
/// ```text
/// sin  0├──100──┤         refers to nothing before it
/// cos         120├─50─┤   refers to cells and to a process inside a label
/// n/a                 200├┤   a null process, and no label words
/// ```
const GOOD: &str = include_str!("good.xml");

/// A document with every valid form of cells, rows and content between rows: frames, entities,
/// self-closed cells, comments, both quotes, two nodes.
const EVERYTHING: &str = include_str!("everything.xml");
