//! The reader of `xctrace export`: one pass, strict, in bounded memory.
//!
//! ```text
//! bytes → guard → pull → document → rows → cells → columns
//!         lines,  tokens nodes,     one    values,
//!         limits    │    schemas    row    id and ref
//!           └───→ plain ─────────────┘
//!                 whole rows, by the window
//! ```
//!
//! quick-xml reads every document. Rows that are spelt as xctrace spells them,
//! which is nearly all of every export, are taken from under it by [`plain`],
//! several times as fast and by several threads, and by the same rules: whatever
//! is not plain, or wrong, is read by quick-xml as if nobody had looked. That
//! both ways give the same tables and the same errors is tested, not promised.
//!
//! What it relies on was measured on real exports of Instruments 26.0 (297,579
//! rows): as many cells as columns, each cell's tag its column's engineering
//! type or `<sentinel/>` (null), ids rising from 1 at every depth, references
//! only backwards and only to the same tag. Whatever breaks that is refused
//! with its place, since a reader that guesses gives wrong numbers.

mod ahead;
mod attributes;
mod cells;
mod document;
mod guard;
mod ids;
mod plain;
mod pull;
mod rows;
mod tags;
mod tree;
mod values;

pub(crate) use attributes::check as check_attributes;
pub(crate) use document::{Document, Header, Request, read, read_header};
pub(crate) use plain::Pace;
pub(crate) use pull::{Pull, Token};
pub(crate) use tree::{Element, read_tree};
