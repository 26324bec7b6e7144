//! Exposes the readers of hostile bytes to the targets in `fuzz/`. This is not a public API and may
//! change at any time.

use std::collections::BTreeMap;
use std::io::Read;

use crate::bundle::{self, Bundle, Files};
use crate::error::Result;
use crate::names::Names;
use crate::note::TraceNote;
use crate::select::Selection;
use crate::table::Table;
use crate::xml;

/// All files of a bundle, by their paths inside it.
pub type Bundled = BTreeMap<String, Vec<u8>>;

/// Reads a keyed archive with every accessor.
pub fn keyed(bytes: &[u8]) {
    bundle::walk_archive(bytes);
}

/// Reads the layout of a store.
pub fn layout(schema: &[u8], descriptor: &[u8]) {
    let files = Files::memory(BTreeMap::from([
        ("store/schema.xml".to_owned(), schema.to_vec()),
        ("store/bulkstore_descriptor".to_owned(), descriptor.to_vec()),
    ]));
    drop(bundle::read_layout(&files, "store"));
}

/// Reads uniqued values and looks up every number, also beyond the last.
pub fn uniques(index: &[u8], data: &[u8], strings: &[u8], types: &[u8]) {
    let mut files = BTreeMap::new();
    for lists in ["arrayUniquer", "typedArrayUniquer"] {
        let folder = format!("core/uniquing/{lists}/integeruniquer");
        files.insert(format!("{folder}.index"), index.to_vec());
        files.insert(format!("{folder}.data"), data.to_vec());
    }
    files.insert("core/uniquing/strings".to_owned(), strings.to_vec());
    files.insert(
        "core/uniquing/EngineeringTypes.etypes".to_owned(),
        types.to_vec(),
    );
    bundle::look_up_all(&Files::memory(files), "core");
}

/// Opens, lists and loads a bundle in memory.
pub fn bundle(files: Bundled) {
    let Ok(bundle) = Bundle::open(Files::memory(files)) else {
        return;
    };
    let selection = Selection::everything().with_rendered_labels();
    drop(bundle.list(None));
    for (_, position) in bundle.toc().runs.iter().zip(1..) {
        drop(bundle.load(&selection, position, None));
    }
}

/// Reads the issues of a run: an SQLite database.
pub fn issues(bytes: &[u8]) {
    if let Ok(database) = bundle::Database::open(bytes) {
        drop(database.rows("ZISSUE", ["ZTYPE", "ZMESSAGE", "Z_PK"]));
    }
}

/// Reads a command-buffer log.
pub fn log(bytes: &[u8]) {
    let mut trace = crate::partial_trace::PartialTrace::default();
    let everything = Selection::everything();
    drop(crate::log::read(
        bytes,
        "fuzz",
        &everything,
        true,
        &mut trace,
    ));
}

/// Reads a table of contents.
pub fn toc(bytes: &[u8]) {
    drop(crate::toc::read(bytes, "fuzz"));
}

/// A method of reading the plain rows of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMethod {
    /// The reference reader reads every row.
    Reference,
    /// The fast path reads windows of a size in bytes with a number of additional threads; 0 uses
    /// one thread for everything.
    Windows(usize, usize),
    /// The fast path with the settings for users.
    Default,
}

/// Reads a query document with one of several methods, which must have equal results.
pub fn xml(
    bytes: impl Read,
    names: &mut Names,
    selection: &Selection,
    allow_truncated: bool,
    method: ReadMethod,
) -> Result<(Vec<Table>, Vec<TraceNote>)> {
    let fast_path = match method {
        ReadMethod::Reference => xml::FastPath::OFF,
        ReadMethod::Windows(window, workers) => xml::FastPath {
            window,
            workers: Some(workers),
        },
        ReadMethod::Default => xml::FastPath::ON,
    };
    let request = xml::ReadOptions {
        selection,
        allow_truncated,
        fast_path,
    };
    let document = xml::read(bytes, "document", names, request)?;
    Ok((document.tables, document.notes))
}
