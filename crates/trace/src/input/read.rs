//! Reading one document, and telling how far the reading has come.

use std::cell::Cell;

use super::list::Document;
use crate::error::Result;
use crate::names::Names;
use crate::select::Selection;
use crate::xml::{self, FastPath, ReadOptions};

/// How to read a trace.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// The run's number; the last run if not given.
    pub run: Option<u64>,
    /// Use the whole rows of documents that break off, with a note, instead of refusing them.
    pub allow_truncated: bool,
    /// Told again and again how far the reading has come.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

/// How far a reading has come, in bytes as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read.
    pub done: u64,
    /// Bytes to read; `None` of standard input.
    pub total: Option<u64>,
}

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
    document.stored.with(name, &count, read)
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
            total: documents.iter().map(|one| one.stored.size()).sum(),
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
