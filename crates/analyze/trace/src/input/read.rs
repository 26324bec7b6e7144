//! Reads one document and reports the progress.

use std::cell::Cell;

use super::list::Document;
use crate::error::Result;
use crate::names::Names;
use crate::select::Selection;
use crate::xml::{self, FastPath, ReadOptions};

/// Options for reading a recording.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// Number of the run; None for the last run.
    pub run: Option<u64>,
    /// True if the complete rows of documents that are cut off are used, with a note.
    pub allow_truncated: bool,
    /// A function that is called again and again with the progress.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

/// The progress of reading, in stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of bytes read so far.
    pub done: u64,
    /// Total number of bytes; `None` for standard input.
    pub total: Option<u64>,
}

/// Reads one document of an input, and reports the progress.
pub(crate) fn read_document(
    document: &Document,
    selection: &Selection,
    options: LoadOptions<'_>,
    names: &mut Names,
    meter: &Meter<'_>,
) -> Result<xml::Document> {
    let request = ReadOptions {
        selection,
        allow_truncated: options.allow_truncated,
        fast_path: FastPath::ON,
    };
    let name = &document.name;
    let count = |bytes| meter.add(bytes);
    let read = |bytes: &mut dyn std::io::Read| xml::read(bytes, name, names, request);
    document.source.with(name, &count, read)
}

/// Counts the stored bytes of all documents together.
pub(crate) struct Meter<'a> {
    done: Cell<u64>,
    total: Option<u64>,
    tell: Option<&'a dyn Fn(Progress)>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(documents: &[&Document], tell: Option<&'a dyn Fn(Progress)>) -> Self {
        Self {
            done: Cell::new(0),
            total: documents
                .iter()
                .map(|document| document.source.size())
                .sum(),
            tell,
        }
    }

    fn add(&self, bytes: u64) {
        self.done.set(self.done.get() + bytes);
        if let Some(tell) = self.tell {
            tell(Progress {
                done: self.done.get(),
                total: self.total,
            });
        }
    }
}
