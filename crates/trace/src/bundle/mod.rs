//! The native reader: a `.trace` bundle's own stores, without Xcode.
//!
//! ```text
//! X.trace/corespace/runN/core/
//!   table-manager/tables.plist ── which tables there are ─┐
//!   stores/indexed-store-K/schema.xml           columns   │
//!                         /bulkstore_descriptor row layout├─ table → columns
//!                         /bulkstore            the rows  │
//!   uniquing/strings, arrayUniquer, typedArrayUniquer ────┘ what the numbers stand for
//! X.trace/symbols/stores ── what functions are called
//! X.trace/form.template ── what was recorded, of whom, on what
//! ```
//!
//! The format is Apple's and undocumented. What is read here was worked out on
//! bundles of Instruments 26.0 and compared with `xctrace export`; anything
//! outside that is refused, table by table, with the command that would work.
//! Values of types that were never compared come out as raw numbers and are
//! marked so, never as a guessed text. `metalens selfcheck` compares a bundle
//! with its own export.

mod ahead;
mod arrays;
mod bplist;
mod display;
mod facts;
mod files;
mod inferred;
mod keyed;
mod labels;
mod layout;
mod listing;
mod lists;
mod load;
mod manager;
mod people;
mod rows;
mod store;
mod symbols;
mod types;
mod uniquing;
mod xml_list;

pub(crate) use files::Files;
pub(crate) use keyed::walk_archive;
pub(crate) use layout::read as read_layout;
pub(crate) use load::Bundle;
pub(crate) use symbols::is_mangled;
pub(crate) use uniquing::look_up_all;
