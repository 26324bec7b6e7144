//! For fuzzing only, and no API: ways into the readers of hostile bytes, used by
//! the targets in `fuzz/` and subject to change without a word.

use std::collections::BTreeMap;

use crate::bundle::{self, Bundle, Files};
use crate::select::Selection;

/// The files of a bundle, by their paths inside it.
pub type Bundled = BTreeMap<String, Vec<u8>>;

/// Walks a keyed archive through every accessor.
pub fn keyed(bytes: &[u8]) {
    bundle::walk_archive(bytes);
}

/// Reads a store's layout.
pub fn layout(schema: &[u8], descriptor: &[u8]) {
    let files = Files::memory(BTreeMap::from([
        ("store/schema.xml".to_owned(), schema.to_vec()),
        ("store/bulkstore_descriptor".to_owned(), descriptor.to_vec()),
    ]));
    drop(bundle::read_layout(&files, "store"));
}

/// Reads uniqued values and looks up every number, those behind the last, too.
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

/// Opens, lists and loads a bundle whose files are in memory.
pub fn bundle(files: Bundled) {
    let Ok(bundle) = Bundle::open(Files::memory(files)) else {
        return;
    };
    let selection = Selection::everything().with_rendered_labels();
    drop(bundle.list());
    for (_, position) in bundle.toc().runs.iter().zip(1..) {
        drop(bundle.load(&selection, position));
    }
}

/// Reads a table of contents.
pub fn toc(bytes: &[u8]) {
    drop(crate::toc::read(bytes, "fuzz"));
}
