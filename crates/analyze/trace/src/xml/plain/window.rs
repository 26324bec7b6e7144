//! Cuts the input into windows that end at the end of a row.

use std::io::Read;

use crate::xml::put_back::{Block, PutBackReader};

/// Maximum size of a window while searching for the end of a row, in bytes.
const MAX_SIZE: usize = 1 << 20;

const START_OF_ROW: &[u8] = b"<row>";
const END_OF_ROW: &[u8] = b"</row>";

/// Fills a window with about `size` bytes, up to the end of a row. Returns false if no row begins
/// here, or if the next bytes contain no end of one; then nothing was read.
///
/// Text that looks like the end of a row may be something else, such as part of a comment. Then
/// the row before it is not plain, and the window is not used that far.
pub(super) fn cut_window<R: Read>(
    input: &mut PutBackReader<R>,
    window: &mut Block,
    size: usize,
) -> bool {
    window.clear();
    let mut wanted = size;
    loop {
        let before = window.len();
        input.fill(window, wanted);
        // The search for the end reads far ahead, which a document with thousands of tables without
        // rows must not cause for each of them.
        let start = window.bytes().trim_ascii_start();
        let start = start.get(..START_OF_ROW.len()).unwrap_or(start);
        if !START_OF_ROW.starts_with(start) {
            input.put_back_from(window, 0);
            return false;
        }
        if let Some(at) = memchr::memmem::rfind(window.bytes(), END_OF_ROW) {
            input.put_back_from(window, at + END_OF_ROW.len());
            return true;
        }
        if window.len() == before || wanted >= MAX_SIZE {
            input.put_back_from(window, 0);
            return false;
        }
        wanted *= 2;
    }
}
