//! Defines the exporter, and the events in the progress of an export.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use metalens_xctrace::{Tool, Version};

use super::error::Result;

/// Exports tables of bundles with one installation of `xctrace`.
#[derive(Debug, Clone)]
pub struct Exporter {
    pub(crate) tool: Tool,
    pub(crate) version: Version,
    pub(crate) canceled: Arc<AtomicBool>,
}

impl Exporter {
    /// Returns an exporter that uses a tool, and stops when `canceled` becomes true.
    ///
    /// # Errors
    ///
    /// Fails if the tool does not print its version.
    pub fn new(tool: Tool, canceled: Arc<AtomicBool>) -> Result<Self> {
        let version = tool.version()?;
        Ok(Self {
            tool,
            version,
            canceled,
        })
    }
}

/// An event in the progress of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportEvent<'a> {
    /// The export of the table of contents begins.
    Contents,
    /// The export of a table begins.
    Table {
        /// Schema of the table.
        schema: &'a str,
        /// Number of the table, from 1.
        number: usize,
        /// Number of tables.
        of: usize,
    },
    /// Number of bytes of the table written so far.
    Written(u64),
    /// A message for the user.
    Note(&'a str),
}

/// A function that receives the events of an export.
pub type Tell<'a> = &'a dyn Fn(ExportEvent<'_>);
