//! Plain rows, read fast.
//!
//! quick-xml reads every document; this takes from under it what nearly all of a
//! document is: whole rows as xctrace writes them. It is no second reader but a
//! shortcut through the first:
//!
//! * it begins and ends between two rows, and leaves bytes, lines, ids, names and
//!   columns as the reader would have left them;
//! * it knows how a plain row is spelt, and nothing else. Ids, references, types,
//!   kinds, labels are decided by the same [`Cells`] and [`TableBuilder`];
//! * what is not plain, or breaks a rule, or is cut off, it does not judge: the
//!   row goes back, and the reader reads it and says what is to be said.
//!
//! So a document is accepted, refused (in the same words, at the same byte) or
//! cut short just as if this were not here. `tests/suite/differential.rs` and
//! the fuzz target `xml_differential` hold it to that.
//!
//! ```text
//! input ─ windows that end with a row ─ tokenise ─ replay ─ columns
//!                                       bytes to   tokens to
//!                                       tokens     values
//! ```
//!
//! Tokenising needs nothing but the window and the tags' names, and is done by
//! several threads once a document turns out long; replaying is done in order by
//! one. See [`crew`].
//!
//! Measured on a table of a million intervals (1.06 GB, the columns that an
//! analysis reads), in processor time on one thread: quick-xml's bare event loop
//! 2.0 s, every row by way of quick-xml 4.0 s, this 1.2 s, and 1.2 s together on
//! two cores, half of it beside the other half; 147 MB at most, nearly all of it
//! columns and ids. `scripts/bench` measures it anew.

mod crew;
mod replay;
mod token;
mod tokenise;
mod window;

use std::io::Read;
use std::thread::available_parallelism;

use replay::replay;
use token::{Lexicon, Rows};
use tokenise::Tokeniser;
use window::cut_window;

use super::ahead::Block;
use super::cells::Cells;
use super::guard::Guard;
use super::rows::TableBuilder;

/// How plain rows are taken: how much at once, and by how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Bytes of a window; 0 leaves all rows to the reader.
    pub(crate) window: usize,
    /// Threads that tokenise, besides the two that read and replay; 0 does all on
    /// one. If it is not said, the machine is asked once a document is long.
    pub(crate) workers: Option<usize>,
}

impl Pace {
    /// Every row by the reader.
    pub(crate) const SLOW: Self = Self {
        window: 0,
        workers: Some(0),
    };

    /// As fast as this machine can.
    pub(crate) const FULL: Self = Self {
        window: WINDOW,
        workers: None,
    };

    /// How many threads to hire.
    fn workers(self) -> usize {
        self.workers.unwrap_or_else(|| {
            let cores = available_parallelism().map_or(1, usize::from);
            (cores - 1).min(MOST_WORKERS)
        })
    }
}

/// A window and its tokens fit into a core's own cache.
const WINDOW: usize = 256 << 10;

/// The first window, and the first behind a row that was not plain.
const FIRST_WINDOW: usize = 16 << 10;

/// Replaying keeps up with no more.
const MOST_WORKERS: usize = 4;

/// Rows left to the reader before plain ones are looked for again.
const MOST_PATIENCE: usize = 1024;

/// Takes the plain rows of one node.
pub(crate) struct Plain {
    pace: Pace,
    tokeniser: Tokeniser,
    lexicon: Option<Lexicon>,
    /// Rows that are still left to the reader, and how many will be the next time.
    leave: usize,
    patience: usize,
    /// What is used again and again.
    window: Block,
    rows: Rows,
}

impl Plain {
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            tokeniser: Tokeniser::new(),
            lexicon: None,
            leave: 0,
            patience: 1,
            window: Block::default(),
            rows: Rows::default(),
        }
    }

    /// Takes plain rows, as many as come next; perhaps none.
    pub(crate) fn take_rows<R: Read>(
        &mut self,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) {
        if self.pace.window == 0 {
            return;
        }
        if self.leave > 0 {
            self.leave -= 1;
            return;
        }
        let before = builder.rows();
        self.take_all(guard, cells, builder);
        // Where few rows are plain, looking for them costs more than it brings.
        self.patience = match builder.rows() - before {
            0..16 => (self.patience * 2).min(MOST_PATIENCE),
            _ => 1,
        };
        self.leave = self.patience;
    }

    /// Takes windows one by one while they grow, and then with more hands.
    fn take_all<R: Read>(
        &mut self,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) {
        let window = self.pace.window;
        let mut size = window.min(FIRST_WINDOW);
        while self.take_window(size, guard, cells, builder) {
            if size < window {
                size = (size * 2).min(window);
                continue;
            }
            let workers = self.pace.workers();
            self.pace.workers = Some(workers);
            if workers > 0 {
                let ahead = guard.ahead();
                let Some(run) = crew::run(workers, window, ahead, cells, builder) else {
                    self.pace.workers = Some(0);
                    continue;
                };
                for block in run.left.into_iter().rev() {
                    ahead.give_back(block);
                }
                guard.passed(run.bytes, run.lines);
                return;
            }
        }
    }

    /// Takes one window. Whether all of it was plain.
    fn take_window<R: Read>(
        &mut self,
        size: usize,
        guard: &mut Guard<R>,
        cells: &mut Cells<'_>,
        builder: &mut TableBuilder,
    ) -> bool {
        let ahead = guard.ahead();
        if !cut_window(ahead, &mut self.window, size) {
            return false;
        }
        if self.lexicon.as_ref().map(Lexicon::len) != Some(cells.tags.len()) {
            self.lexicon = None;
        }
        let lexicon = self
            .lexicon
            .get_or_insert_with(|| Lexicon::new(&cells.tags, builder.tags()));
        let bytes = self.window.bytes();
        self.tokeniser.tokenise(bytes, lexicon, &mut self.rows);
        let taken = replay(bytes, &self.rows, cells, builder);
        self.window.skip(taken.bytes);
        let whole = self.window.is_empty();
        if !whole {
            ahead.give_back(std::mem::take(&mut self.window));
        }
        guard.passed(taken.bytes as u64, taken.lines);
        whole
    }
}
