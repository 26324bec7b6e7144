//! Reads plain rows on a fast path.
//!
//! quick-xml reads every document. This module takes nearly all of a document from it: complete
//! rows as xctrace writes them. It is not a second reader but a shortcut through the first:
//!
//! * It begins and ends between two rows, and leaves bytes, lines, ids, names and columns as the
//!   reader does.
//! * It knows only the form of a plain row. The same [`Cells`] and [`TableBuilder`] decide on ids,
//!   references, types, kinds and labels.
//! * It does not judge rows that are not plain, break a rule, or are cut off: it puts them back,
//!   and the reader reads them and reports errors.
//!
//! So the result of reading is the same as without this module, down to the text and the byte of
//! an error. `tests/suite/differential.rs` and the fuzz target `xml_differential` check that.
//!
//! ```text
//! input ─ windows that end with a row ─ tokenize ─ replay ─ columns
//!                                       bytes to   tokens to
//!                                       tokens     values
//! ```
//!
//! Tokenizing needs only the window and the names of the tags, and uses several threads for long
//! documents; one thread replays the tokens in order. See [`parallel`].
//!
//! Measured on a table of a million intervals (1.06 GB, the columns that an analysis reads), in
//! processor time on one thread: the bare event loop of quick-xml 2.0 s, all rows through
//! quick-xml 4.0 s, this fast path 1.2 s, and 1.2 s in total on two cores, in half the wall time;
//! at most 147 MB of memory, nearly all for columns and ids. `scripts/bench` repeats the
//! measurement.

mod parallel;
mod replay;
mod token;
mod tokenize;
mod window;

use std::io::Read;
use std::thread::available_parallelism;

use replay::replay;
use token::{Lexicon, PlainRows};
use tokenize::Tokenizer;
use window::cut_window;

use super::cells::Cells;
use super::guard::Guard;
use super::put_back::Block;
use super::rows::TableBuilder;

/// Settings of the fast path: size of a window and number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FastPath {
    /// Size of a window, in bytes; 0 leaves all rows to the reader.
    pub(crate) window: usize,
    /// Number of tokenizing threads, in addition to the two that read and replay; 0 does
    /// everything on one thread. None uses the cores of the machine for a long document.
    pub(crate) workers: Option<usize>,
}

impl FastPath {
    /// Leaves every row to the reader.
    pub(crate) const OFF: Self = Self {
        window: 0,
        workers: Some(0),
    };

    /// Reads as fast as this machine can.
    pub(crate) const ON: Self = Self {
        window: WINDOW_SIZE,
        workers: None,
    };

    /// Returns the number of tokenizing threads.
    fn workers(self) -> usize {
        self.workers.unwrap_or_else(|| {
            let cores = available_parallelism().map_or(1, usize::from);
            (cores - 1).min(MAX_WORKERS)
        })
    }
}

/// Size of a window, in bytes. A window and its tokens fit into the cache of a core.
const WINDOW_SIZE: usize = 256 << 10;

/// Size of the first window, and of the first one after a row that is not plain.
const FIRST_WINDOW_SIZE: usize = 16 << 10;

/// Maximum number of tokenizing threads. Replaying is not faster than this many.
const MAX_WORKERS: usize = 4;

/// Maximum number of rows left to the reader before the next attempt.
const MAX_SKIPPED_ROWS: usize = 1024;

/// Reads the plain rows of one node.
pub(crate) struct Plain {
    fast_path: FastPath,
    tokenizer: Tokenizer,
    lexicon: Option<Lexicon>,
    /// Number of rows still left to the reader, and of those after the next attempt.
    skipped_rows: usize,
    next_skipped_rows: usize,
    /// Reused buffers.
    window: Block,
    rows: PlainRows,
}

impl Plain {
    pub(crate) fn new(fast_path: FastPath) -> Self {
        Self {
            fast_path,
            tokenizer: Tokenizer::new(),
            lexicon: None,
            skipped_rows: 0,
            next_skipped_rows: 1,
            window: Block::default(),
            rows: PlainRows::default(),
        }
    }

    /// Reads the next plain rows, possibly none.
    pub(crate) fn take_rows<R: Read>(
        &mut self,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) {
        if self.fast_path.window == 0 {
            return;
        }
        if self.skipped_rows > 0 {
            self.skipped_rows -= 1;
            return;
        }
        let before = builder.rows();
        self.take_all(guard, cells, builder);

        // If few rows are plain, searching for them costs more time than it saves.
        self.next_skipped_rows = match builder.rows() - before {
            0..16 => (self.next_skipped_rows * 2).min(MAX_SKIPPED_ROWS),
            _ => 1,
        };
        self.skipped_rows = self.next_skipped_rows;
    }

    /// Reads growing windows one by one, and then with more threads.
    fn take_all<R: Read>(
        &mut self,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) {
        let window = self.fast_path.window;
        let mut size = window.min(FIRST_WINDOW_SIZE);
        while self.take_window(size, guard, cells, builder) {
            if size < window {
                size = (size * 2).min(window);
                continue;
            }
            let workers = self.fast_path.workers();
            self.fast_path.workers = Some(workers);
            if workers > 0 {
                let input = guard.raw_input();
                let Some(read) = parallel::read_rows(workers, window, input, cells, builder) else {
                    self.fast_path.workers = Some(0);
                    continue;
                };
                for block in read.left.into_iter().rev() {
                    input.put_back(block);
                }
                guard.passed(read.bytes, read.lines);
                return;
            }
        }
    }

    /// Reads one window. Returns true if all of it was plain.
    fn take_window<R: Read>(
        &mut self,
        size: usize,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) -> bool {
        let input = guard.raw_input();
        if !cut_window(input, &mut self.window, size) {
            return false;
        }
        if self.lexicon.as_ref().map(Lexicon::len) != Some(cells.tags.len()) {
            self.lexicon = None;
        }
        let lexicon = self
            .lexicon
            .get_or_insert_with(|| Lexicon::new(&cells.tags, builder.tags()));
        let bytes = self.window.bytes();
        self.tokenizer.tokenize(bytes, lexicon, &mut self.rows);
        let replayed = replay(bytes, &self.rows, cells, builder);
        self.window.skip(replayed.bytes);

        let is_all_plain = self.window.is_empty();
        if !is_all_plain {
            input.put_back(std::mem::take(&mut self.window));
        }
        guard.passed(replayed.bytes as u64, replayed.lines);
        is_all_plain
    }
}
