//! Windows: stretches of the input that end where a row ends.

use std::io::Read;

use crate::xml::ahead::{Ahead, Block};

/// A row longer than this is not waited for.
const LONGEST: usize = 1 << 20;

const END_OF_ROW: &[u8] = b"</row>";

/// Fills a window with about so many bytes, up to the end of a row. `false` if
/// no row ends in what comes next; then nothing was taken.
///
/// What looks like the end of a row may be none, such as in a comment. Then the
/// row before it is not plain, and the window is not taken that far.
pub(super) fn cut_window<R: Read>(ahead: &mut Ahead<R>, window: &mut Block, size: usize) -> bool {
    window.clear();
    let mut wanted = size;
    loop {
        let before = window.len();
        ahead.fill(window, wanted);
        if let Some(at) = memchr::memmem::rfind(window.bytes(), END_OF_ROW) {
            ahead.give_back_from(window, at + END_OF_ROW.len());
            return true;
        }
        if window.len() == before || wanted >= LONGEST {
            ahead.give_back_from(window, 0);
            return false;
        }
        wanted *= 2;
    }
}
