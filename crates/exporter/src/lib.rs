//! A `.trace` bundle → a folder of export XML, or streams of it, by `xctrace
//! export`. Resumable, and each table whole or marked. Never looks at rows:
//! what they mean is the reader's.
//!
//! ```text
//! bundle → contents → jobs ─┬─ one table per call → X.export/<schema>.xml + export.json
//!                           └─ opened when wanted → bytes, nothing on disk
//! ```
//!
//! # What is known, and how
//!
//! As in `metalens_xctrace`: from what others published, not from a Mac at hand.
//! Of it this crate makes these rules:
//!
//! * A document is judged by its end, not by the exit code: tables were cut off
//!   by crashes that said nothing, and code 10 came and went.
//! * One table per call: documents of several lacked all schemas but the first.
//! * One call at a time: nobody has said what several at once do to one bundle.
//! * The file that is named to it is one that does not exist: what it does with
//!   one that does, nobody has said either.

mod basis;
mod call;
mod contents;
mod document;
mod drafts;
mod error;
mod export;
mod folder;
mod job;
mod manifest;
mod request;
mod stream;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metalens_xctrace::{Tool, Version};

pub use error::{Error, Result};
pub use manifest::{MANIFEST, Manifest, State, TableFile};
pub use metalens_xctrace::command::Part;
pub use request::{Exported, Failure, Request, Wanted};
pub use stream::{TableStream, TableStreams};

/// What drives `xctrace export`.
#[derive(Debug, Clone)]
pub struct Exporter {
    pub(crate) tool: Tool,
    pub(crate) version: Version,
    pub(crate) cancelled: Arc<AtomicBool>,
}

impl Exporter {
    /// With this tool, until `cancelled` becomes true.
    ///
    /// # Errors
    ///
    /// If the tool does not say its version.
    pub fn new(tool: Tool, cancelled: Arc<AtomicBool>) -> Result<Self> {
        let version = tool.version()?;
        Ok(Self {
            tool,
            version,
            cancelled,
        })
    }
}

/// How far an export has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The table of contents is asked for.
    Contents,
    /// A table is asked for.
    Table {
        /// Its schema.
        schema: &'a str,
        /// Its number among those that are missing, from 1.
        number: usize,
        /// How many are missing.
        of: usize,
    },
    /// So much of it is written.
    Written(u64),
    /// Something that its user should know.
    Note(&'a str),
}

/// Is told how far an export has come.
pub type Tell<'a> = &'a dyn Fn(Event<'_>);
