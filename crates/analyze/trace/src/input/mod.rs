//! Opens an input in any form, and loads a recording from it.
//!
//! ```text
//! folder ┐
//! .zip   ├─ list of documents ─ headers ─┬─ table of contents
//! file   │  (.xml, .gz)                  └─ selected tables
//! -      ┘
//! ```

mod bytes;
mod list;
mod listing;
mod load;
mod mistaken;
mod path_kind;
mod read;
mod sniff;

pub use list::Input;
pub use path_kind::{PathKind, may_have_gpu_work, path_kind};
pub use read::LoadOptions;
