//! Tokenizes windows on several threads, and replays them in order on one.
//!
//! ```text
//! the caller: reads and cuts ─ windows ─┬─ tokenize ─┬─ in order ─ replay
//!        ▲                              ├─ tokenize ─┤                │
//!        └──────────────── reused buffers ─────────────────────────────┘
//! ```
//!
//! Only the caller reads the input: it decompresses, or waits for a pipe, while the other threads
//! work. The number of buffers is fixed, so memory does not grow with the document. Only the
//! replaying thread changes names, ids and columns, window by window, so the result is the same as
//! that of one thread.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use super::replay::replay;
use super::token::{Lexicon, PlainRows};
use super::tokenize::Tokenizer;
use super::window::cut_window;
use crate::xml::cells::Cells;
use crate::xml::put_back::{Block, PutBackReader};
use crate::xml::rows::TableBuilder;

/// Number of buffers for each tokenizing thread, since one is being filled and one replayed.
const BUFFERS_PER_WORKER: usize = 3;

/// Maximum number of times that new tags are sent to all threads.
const MAX_UPDATES: usize = 32;

/// A window with its tokens.
#[derive(Debug, Default)]
struct WindowJob {
    number: usize,
    window: Block,
    rows: PlainRows,
}

/// The result of reading windows in parallel.
#[derive(Debug, Default)]
pub(super) struct ParallelRead {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// Unused blocks, in the order of the input.
    pub(super) left: Vec<Block>,
}

/// Reads plain rows with a number of threads in addition to this one and the replaying one. `None`
/// if the system provides no threads; then nothing was read.
pub(super) fn read_rows<R: Read>(
    workers: usize,
    size: usize,
    input: &mut PutBackReader<R>,
    cells: &mut Cells<'_>,
    builder: &mut TableBuilder,
) -> Option<ParallelRead> {
    let lexicon = Mutex::new(Arc::new(Lexicon::new(&cells.tags, builder.tags())));
    let (jobs, queue) = channel();
    let (done, results) = channel();
    let (spare, spares) = channel();
    for _ in 0..(workers + 1) * BUFFERS_PER_WORKER {
        spare.send(WindowJob::default()).ok()?;
    }

    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        let started =
            (0..workers).map_while(|_| spawn_worker(scope, &queue, done.clone(), &lexicon));
        if started.count() == 0 {
            return None;
        }
        drop(done);
        let replay = || Replayer::new(cells, builder, &lexicon).replay_all(results, spare);
        let replaying = Builder::new().spawn_scoped(scope, replay).ok()?;
        feed(input, size, &jobs, &spares);
        drop(jobs);
        match replaying.join() {
            Ok(read) => Some(read),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Starts a thread that splits windows into tokens. Returns `None` if the system refuses a thread.
fn spawn_worker<'scope>(
    scope: &'scope Scope<'scope, '_>,
    queue: &'scope Mutex<Receiver<WindowJob>>,
    done: Sender<WindowJob>,
    lexicon: &'scope Mutex<Arc<Lexicon>>,
) -> Option<()> {
    let work = move || {
        let mut tokenizer = Tokenizer::new();
        // The lock may be held while waiting for a job: the other threads would wait too.
        while let Ok(mut job) = locked(queue, |queue| queue.recv()) {
            let lexicon = locked(lexicon, |lexicon| Arc::clone(lexicon));
            tokenizer.tokenize(job.window.bytes(), &lexicon, &mut job.rows);
            if done.send(job).is_err() {
                return;
            }
        }
    };
    Builder::new().spawn_scoped(scope, work).ok().map(drop)
}

/// Cuts windows until there are no more rows, or the replaying thread has stopped.
fn feed<R: Read>(
    input: &mut PutBackReader<R>,
    size: usize,
    jobs: &Sender<WindowJob>,
    spares: &Receiver<WindowJob>,
) {
    for number in 0.. {
        let Ok(mut job) = spares.recv() else { return };
        job.number = number;
        if !cut_window(input, &mut job.window, size) || jobs.send(job).is_err() {
            return;
        }
    }
}

fn locked<T, U>(shared: &Mutex<T>, with: impl FnOnce(&mut T) -> U) -> U {
    with(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Sorts the windows into their order, and appends their rows to the table.
struct Replayer<'a, 'n> {
    cells: &'a mut Cells<'n>,
    builder: &'a mut TableBuilder,
    lexicon: &'a Mutex<Arc<Lexicon>>,
    known_tags: usize,
    updates: usize,
}

impl<'a, 'n> Replayer<'a, 'n> {
    fn new(
        cells: &'a mut Cells<'n>,
        builder: &'a mut TableBuilder,
        lexicon: &'a Mutex<Arc<Lexicon>>,
    ) -> Self {
        Self {
            known_tags: cells.tags.len(),
            cells,
            builder,
            lexicon,
            updates: 0,
        }
    }

    /// Replays the finished windows in the order of the document.
    fn replay_all(
        mut self,
        results: Receiver<WindowJob>,
        spare: Sender<WindowJob>,
    ) -> ParallelRead {
        let mut read = ParallelRead::default();
        // Dropping the sender when the replaying stops also stops the feeding.
        let mut spare = Some(spare);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for job in results {
            waiting.insert(job.number, job);
            while let Some(mut job) = waiting.remove(&next) {
                next += 1;
                let Some(spares) = &spare else {
                    read.left.push(job.window);
                    continue;
                };
                let replayed = replay(job.window.bytes(), &job.rows, self.cells, self.builder);
                read.bytes += replayed.bytes as u64;
                read.lines += replayed.lines;
                job.window.skip(replayed.bytes);
                if job.window.is_empty() {
                    // The receiver is gone when there are no more rows.
                    spares.send(job).ok();
                    self.publish();
                } else {
                    read.left.push(job.window);
                    spare = None;
                }
            }
        }

        read
    }

    /// Sends new tags to all threads.
    fn publish(&mut self) {
        let known_tags = self.cells.tags.len();
        if known_tags > self.known_tags && self.updates < MAX_UPDATES {
            self.known_tags = known_tags;
            self.updates += 1;
            let updated = Lexicon::new(&self.cells.tags, self.builder.tags());
            locked(self.lexicon, |lexicon| *lexicon = Arc::new(updated));
        }
    }
}
