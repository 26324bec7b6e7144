//! A few threads that share a list of things to do.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How a list was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// To its end, or to where it was stopped; nobody works any more.
    Done,
    /// Nobody waits for those who still work.
    Abandoned,
}

/// What came of one of the things.
pub(crate) enum Came<R> {
    Result(R),
    /// It was not begun.
    Left,
    /// A bug: it broke off.
    Broke(String),
}

/// Does all of it, `jobs` at once, in order, and hands on what comes of each. When
/// `stop` becomes true nothing new is begun; what is begun is finished, unless
/// `abandon` says that nobody waits for it.
pub(crate) fn each<T: Send + 'static, R: Send + 'static>(
    jobs: usize,
    things: Vec<T>,
    stop: &Arc<AtomicBool>,
    work: impl Fn(T) -> Option<R> + Send + Sync + 'static,
    mut hand_on: impl FnMut(usize, Came<R>),
    mut abandon: impl FnMut() -> bool,
) -> Ended {
    const PATIENCE: Duration = Duration::from_millis(50);
    let threads = jobs.min(things.len());
    let list = Arc::new(Mutex::new(
        things.into_iter().enumerate().collect::<VecDeque<_>>(),
    ));
    let work = Arc::new(work);
    let (tell, told) = mpsc::channel();
    for _ in 0..threads {
        let (list, work, tell) = (Arc::clone(&list), Arc::clone(&work), tell.clone());
        let stop = Arc::clone(stop);
        // Not scoped: whoever abandons them does not wait.
        thread::spawn(move || {
            let next = || {
                list.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .pop_front()
            };
            while let Some((at, thing)) = next() {
                let came = match stop.load(Ordering::SeqCst) {
                    true => Came::Left,
                    false => one(&*work, thing),
                };
                if tell.send((at, came)).is_err() {
                    return;
                }
            }
        });
    }
    drop(tell);
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok((at, came)) => hand_on(at, came),
            Err(RecvTimeoutError::Disconnected) => return Ended::Done,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if abandon() {
            return Ended::Abandoned;
        }
    }
}

fn one<T, R>(work: &dyn Fn(T) -> Option<R>, thing: T) -> Came<R> {
    match catch_unwind(AssertUnwindSafe(|| work(thing))) {
        Ok(Some(result)) => Came::Result(result),
        Ok(None) => Came::Left,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            Came::Broke(said.unwrap_or("no reason given").to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_once_whatever_happens() {
        let check = |jobs: usize| {
            let mut came: Vec<(usize, Option<usize>)> = Vec::new();
            let stop = Arc::new(AtomicBool::new(false));
            let work = |thing: usize| {
                assert!(thing != 7, "seven");
                Some(thing * thing)
            };
            let hand_on = |at, one| {
                came.push(match one {
                    Came::Result(square) => (at, Some(square)),
                    Came::Broke(why) if why.contains("seven") => (at, None),
                    _ => (at, Some(0)),
                });
            };
            let ended = each(jobs, (0..50).collect(), &stop, work, hand_on, || false);
            assert_eq!(ended, Ended::Done);
            came.sort_unstable();
            let expected = (0..50).map(|at| (at, (at != 7).then_some(at * at)));
            assert_eq!(came, expected.collect::<Vec<_>>(), "{jobs} jobs");
        };
        check(1);
        check(4);
        check(100);
    }

    /// What is not begun is left, and told so.
    #[test]
    fn stopped() {
        let stop = Arc::new(AtomicBool::new(false));
        let inside = Arc::clone(&stop);
        let work = move |thing: usize| {
            inside.store(thing >= 3, Ordering::SeqCst);
            Some(thing)
        };
        let (mut done, mut left) = (0, 0);
        let hand_on = |_, one| match one {
            Came::Result(_) => done += 1,
            _ => left += 1,
        };
        assert_eq!(
            each(1, (0..10).collect(), &stop, work, hand_on, || false),
            Ended::Done
        );
        assert_eq!((done, left), (4, 6));
        let sleeps = |_| -> Option<()> {
            thread::sleep(Duration::from_secs(600));
            None
        };
        let never = Arc::new(AtomicBool::new(false));
        let ended = each(2, vec![1, 2, 3], &never, sleeps, |_, _| {}, || true);
        assert_eq!(ended, Ended::Abandoned);
    }
}
