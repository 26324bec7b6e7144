//! Exports a `.trace` bundle with `xctrace export`, into a folder of XML files or as streams. An
//! export can be resumed, and each table is complete or marked as cut off. This crate does not
//! interpret rows.
//!
//! ```text
//! bundle → contents → jobs ─┬─ one table per call → X.export/<schema>.xml + export.json
//!                           └─ opened when wanted → bytes, nothing on disk
//! ```
//!
//! # Sources
//!
//! As in `metalens_xctrace`, the knowledge comes from publications of others, not from a Mac.
//! This crate follows these rules:
//!
//! * The end of a document decides whether it is complete, not the exit code: crashes without a
//!   message cut off tables, and code 10 was sometimes temporary.
//! * One table per call: documents with several tables lacked all schemas except the first.
//! * One call at a time: the effect of several calls on one bundle is not published.
//! * The output file must not exist: the effect on an existing file is not published.

mod basis;
mod call;
mod changed_template;
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
pub use manifest::{MANIFEST, Manifest, TableFile, TableState};
pub use metalens_xctrace::command::TimeRange;
pub use request::{Exported, Request, TableFailure, TableSelection};
pub use stream::{TableStream, TableStreams};

/// Exports tables of bundles with one installation of `xctrace`.
#[derive(Debug, Clone)]
pub struct Exporter {
    pub(crate) tool: Tool,
    pub(crate) version: Version,
    pub(crate) cancelled: Arc<AtomicBool>,
}

impl Exporter {
    /// Returns an exporter that uses a tool, and stops when `cancelled` becomes true.
    ///
    /// # Errors
    ///
    /// Fails if the tool does not print its version.
    pub fn new(tool: Tool, cancelled: Arc<AtomicBool>) -> Result<Self> {
        let version = tool.version()?;
        Ok(Self {
            tool,
            version,
            cancelled,
        })
    }
}

/// An event in the progress of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The export of the table of contents begins.
    Contents,
    /// The export of a table begins.
    Table {
        /// Schema of the table.
        schema: &'a str,
        /// Number of the table among the missing ones, from 1.
        number: usize,
        /// Number of missing tables.
        of: usize,
    },
    /// Number of bytes of the table written so far.
    Written(u64),
    /// A message for the user.
    Note(&'a str),
}

/// A function that receives the events of an export.
pub type Tell<'a> = &'a dyn Fn(Event<'_>);
