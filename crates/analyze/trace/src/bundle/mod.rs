//! Reads the stores of a `.trace` bundle without Xcode.
//!
//! ```text
//! X.trace/corespace/runN/core/
//!   table-manager/tables.plist ── list of tables ─────────┐
//!   stores/indexed-store-K/schema.xml           columns   │
//!                         /bulkstore_descriptor row layout├─ table → columns
//!                         /bulkstore            the rows  │
//!   uniquing/strings, arrayUniquer, typedArrayUniquer ────┘ values of the numbers
//! X.trace/symbols/stores ── names of functions
//! X.trace/form.template ── process, device and settings
//! ```
//!
//! The format is Apple's and undocumented. It was inferred from bundles of Instruments 26.0 and
//! compared with `xctrace export`. Anything else is refused, table by table, with a command that
//! works. A type that was never compared is read as Apple's reference of types classes it; values of any
//! other are returned as raw numbers and marked, never as a guessed text. `metalens verify --compare`
//! compares a bundle with its own export.

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
mod little_endian;
mod load;
mod manager;
mod process_names;
mod read_ahead;
mod reference;
mod rows;
mod run_issues;
mod sqlite;
mod store;
mod symbols;
mod typed_lists;
mod types;
mod uniquing;
mod xml_list;

pub(crate) use files::Files;
pub(crate) use keyed::walk_archive;
pub(crate) use layout::read as read_layout;
pub(crate) use load::Bundle;
pub(crate) use sqlite::Database;
pub(crate) use uniquing::look_up_all;
