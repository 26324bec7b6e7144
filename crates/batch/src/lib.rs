//! Many inputs → a report for each, once, and an index of them all. This crate decides what is
//! to be done, when, and how many at once; whoever it works for analyzes and writes
//! ([`Reports`]), and is told how it goes ([`Watcher`]). It prints nothing.
//!
//! ```text
//! PATH… → find → entries ─ done before? ─┬─ yes ───────────────────────┬→ rows → index
//!                                        └─ no → analyze, write (pool) ┘
//! ```
//!
//! # Laws
//!
//! * A folder of a trace has what [`Reports`] writes of it, to the byte, and `batch.json`.
//! * One that fails costs no other.
//! * Run again on the same, it makes nothing.
//! * The index is of what was named this time; other reports in the folder stay.

mod budget;
mod entry;
mod error;
mod find;
mod identity;
mod index;
mod lock;
mod pool;
mod reports;
mod request;
mod slugs;
mod state;
mod work;

pub use budget::usual_memory;
pub use error::{Error, Result};
pub use find::{Found, Refused, Search, find};
pub use index::{Failed, Index, SCHEMA, json_schema};
pub use lock::Lock;
pub use reports::{Problem, Reports, Written};
pub use request::Request;
pub use slugs::slugs;
pub use work::{Outcome, Watcher, run};
