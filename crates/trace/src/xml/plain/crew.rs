//! Windows taken apart on several threads, and put together on one.
//!
//! ```text
//! the caller: reads and cuts ─ windows ─┬─ tokenise ─┬─ in order ─ replay
//!        ▲                              ├─ tokenise ─┤                │
//!        └──────── buffers, again and again ───────────────────────────┘
//! ```
//!
//! The caller alone touches the input: it decompresses, or waits for a pipe,
//! while the others work. There is a fixed number of buffers, so memory does not
//! grow with the document. Names, ids and columns are the replaying thread's
//! alone, and it goes window by window: the result is that of one thread.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use super::replay::replay;
use super::token::{Lexicon, Rows};
use super::tokenise::Tokeniser;
use super::window::cut_window;
use crate::xml::ahead::{Ahead, Block};
use crate::xml::cells::Cells;
use crate::xml::rows::TableBuilder;

/// Buffers for each tokenising thread, with one being filled and one replayed.
const BUFFERS: usize = 3;

/// Tags that come up late are made known to all threads, but not without end.
const EDITIONS: usize = 32;

/// A window on its way.
#[derive(Debug, Default)]
struct Job {
    number: usize,
    window: Block,
    rows: Rows,
}

/// What came of a run of windows.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// What was not taken, in the input's order.
    pub(super) left: Vec<Block>,
}

/// Takes plain rows with so many threads besides this one and the replaying
/// one. `None` if the system gives no threads; then nothing was taken.
pub(super) fn run<R: Read>(
    workers: usize,
    size: usize,
    ahead: &mut Ahead<R>,
    cells: &mut Cells<'_>,
    builder: &mut TableBuilder,
) -> Option<Run> {
    let lexicon = Mutex::new(Arc::new(Lexicon::new(&cells.tags, builder.tags())));
    let (jobs, queue) = channel();
    let (done, results) = channel();
    let (spare, spares) = channel();
    for _ in 0..(workers + 1) * BUFFERS {
        spare.send(Job::default()).ok()?;
    }
    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        let hired = (0..workers).map_while(|_| hire(scope, &queue, done.clone(), &lexicon));
        if hired.count() == 0 {
            return None;
        }
        drop(done);
        let replaying = || Replayer::new(cells, builder, &lexicon).replay_all(results, spare);
        let replaying = Builder::new().spawn_scoped(scope, replaying).ok()?;
        feed(ahead, size, &jobs, &spares);
        drop(jobs);
        match replaying.join() {
            Ok(run) => Some(run),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn hire<'scope>(
    scope: &'scope Scope<'scope, '_>,
    queue: &'scope Mutex<Receiver<Job>>,
    done: Sender<Job>,
    lexicon: &'scope Mutex<Arc<Lexicon>>,
) -> Option<()> {
    let work = move || {
        let mut tokeniser = Tokeniser::new();
        // Waiting while the lock is held is as good: the others wait in line.
        while let Ok(mut job) = locked(queue, |queue| queue.recv()) {
            let lexicon = locked(lexicon, |lexicon| Arc::clone(lexicon));
            tokeniser.tokenise(job.window.bytes(), &lexicon, &mut job.rows);
            if done.send(job).is_err() {
                return;
            }
        }
    };
    Builder::new().spawn_scoped(scope, work).ok().map(drop)
}

/// Cuts windows until there are no more rows, or the replaying has stopped.
fn feed<R: Read>(ahead: &mut Ahead<R>, size: usize, jobs: &Sender<Job>, spares: &Receiver<Job>) {
    for number in 0.. {
        let Ok(mut job) = spares.recv() else { return };
        job.number = number;
        if !cut_window(ahead, &mut job.window, size) || jobs.send(job).is_err() {
            return;
        }
    }
}

fn locked<T, U>(shared: &Mutex<T>, with: impl FnOnce(&mut T) -> U) -> U {
    with(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Puts the windows back in order, and their rows into the table.
struct Replayer<'a, 'n> {
    cells: &'a mut Cells<'n>,
    builder: &'a mut TableBuilder,
    lexicon: &'a Mutex<Arc<Lexicon>>,
    known: usize,
    editions: usize,
}

impl<'a, 'n> Replayer<'a, 'n> {
    fn new(
        cells: &'a mut Cells<'n>,
        builder: &'a mut TableBuilder,
        lexicon: &'a Mutex<Arc<Lexicon>>,
    ) -> Self {
        Self {
            known: cells.tags.len(),
            cells,
            builder,
            lexicon,
            editions: 0,
        }
    }

    fn replay_all(mut self, results: Receiver<Job>, spare: Sender<Job>) -> Run {
        let mut run = Run::default();
        // Gone when the replaying has stopped, which stops the feeding.
        let mut spare = Some(spare);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for job in results {
            waiting.insert(job.number, job);
            while let Some(mut job) = waiting.remove(&next) {
                next += 1;
                let Some(spares) = &spare else {
                    run.left.push(job.window);
                    continue;
                };
                let taken = replay(job.window.bytes(), &job.rows, self.cells, self.builder);
                run.bytes += taken.bytes as u64;
                run.lines += taken.lines;
                job.window.skip(taken.bytes);
                if job.window.is_empty() {
                    // Nobody waits for it when the rows have come to an end.
                    spares.send(job).ok();
                    self.publish();
                } else {
                    run.left.push(job.window);
                    spare = None;
                }
            }
        }
        run
    }

    /// Makes new tags known to all.
    fn publish(&mut self) {
        let known = self.cells.tags.len();
        if known > self.known && self.editions < EDITIONS {
            self.known = known;
            self.editions += 1;
            let edition = Lexicon::new(&self.cells.tags, self.builder.tags());
            locked(self.lexicon, |lexicon| *lexicon = Arc::new(edition));
        }
    }
}
