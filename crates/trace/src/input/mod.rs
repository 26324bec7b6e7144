//! An input as its user gives it, and the trace that is read from it.
//!
//! ```text
//! folder ┐
//! .zip   ├─ list of documents ─ headers ─┬─ table of contents
//! file   │  (.xml, .gz, .zst)            └─ the tables that are wanted
//! -      ┘
//! ```

mod archive;
mod bytes;
mod likeness;
mod list;
mod listing;
mod load;
mod read;
mod sniff;
mod zstd;

pub(crate) use archive::{Archive, Entry};
pub use bytes::Opener;
pub(crate) use bytes::{Decoding, compression_problem};
pub use likeness::{Likeness, likeness};
pub use list::{Input, InputKind, Source};
pub use listing::{CountedTable, ListedDocument};
pub(crate) use load::Reading;
pub use read::{LoadOptions, Progress};
