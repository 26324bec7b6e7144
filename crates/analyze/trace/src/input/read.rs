//! Reads one document and reports the progress.

use std::cell::Cell;

use super::bytes::detect;
use super::list::Document;
use super::sniff::FileFormat;
use crate::error::Result;
use crate::log;
use crate::partial_trace::PartialTrace;
use crate::progress::Progress;
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

/// Reads one document of an input into a trace, and reports the progress.
pub(crate) fn read_document(
    document: &Document,
    selection: &Selection,
    options: LoadOptions<'_>,
    loaded: &mut PartialTrace,
    meter: &Meter<'_>,
) -> Result<()> {
    let request = ReadOptions {
        selection,
        allow_truncated: options.allow_truncated,
        fast_path: FastPath::ON,
    };
    let name = &document.name;
    let count = |bytes| meter.add(bytes);
    document.source.with(name, &count, |bytes| {
        let (format, bytes) = detect(bytes, name)?;
        if let FileFormat::Log = format {
            return log::read(bytes, name, selection, options.allow_truncated, loaded);
        }
        let read = xml::read(bytes, name, &mut loaded.names, request)?;
        loaded.tables.extend(read.tables);
        loaded.notes.extend(read.notes);
        Ok(())
    })
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
