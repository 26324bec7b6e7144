//! An input as a file, read as a user's is: opened, listed, and loaded whole.

use std::io::Write as _;

use metalens_trace::{Input, LoadOptions, Selection};

/// Everything that can be asked of an input.
pub fn read_all(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room in the temporary folder");
    let Ok(input) = Input::open(file.path()) else {
        return;
    };
    let options = LoadOptions {
        allow_truncated: true,
        ..LoadOptions::default()
    };
    let _ = input.list(options);
    let selection = Selection::everything().with_rendered_labels();
    let Ok(trace) = input.load(&selection, options) else {
        return;
    };
    for table in trace.tables() {
        let _ = trace.table(&table.schema.name);
    }
}
