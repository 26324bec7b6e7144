//! Runs a list of jobs on a few threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Reason why the pool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolEnd {
    /// All jobs were run or skipped, and no thread works any more.
    Done,
    /// The caller does not wait for the jobs that still run.
    Abandoned,
}

/// The outcome of one job.
pub(crate) enum JobOutcome<R> {
    Result(R),
    /// The job was not started.
    NotStarted,
    /// The job panicked, which is a bug.
    Panicked(String),
}

/// Runs all jobs in order, `threads` at once, and passes on the outcome of each. When `stop` becomes
/// true, no further job is started. Running jobs are finished, unless `abandon` returns true.
pub(crate) fn run_jobs<T: Send + 'static, R: Send + 'static>(
    threads: usize,
    jobs: Vec<T>,
    stop: &Arc<AtomicBool>,
    work: impl Fn(T) -> Option<R> + Send + Sync + 'static,
    mut pass_on: impl FnMut(usize, JobOutcome<R>),
    mut abandon: impl FnMut() -> bool,
) -> PoolEnd {
    const CHECK_ABANDON_EVERY: Duration = Duration::from_millis(50);

    let threads = threads.min(jobs.len());
    let list = Arc::new(Mutex::new(
        jobs.into_iter().enumerate().collect::<VecDeque<_>>(),
    ));
    let work = Arc::new(work);
    let (sender, outcomes) = mpsc::channel();

    for _ in 0..threads {
        let (list, work, sender) = (Arc::clone(&list), Arc::clone(&work), sender.clone());
        let stop = Arc::clone(stop);
        // Not scoped, because a caller that abandons the jobs does not wait for them.
        thread::spawn(move || {
            let next = || {
                list.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .pop_front()
            };
            while let Some((index, job)) = next() {
                let outcome = if stop.load(Ordering::SeqCst) {
                    JobOutcome::NotStarted
                } else {
                    run_job(&*work, job)
                };
                if sender.send((index, outcome)).is_err() {
                    return;
                }
            }
        });
    }

    // The channel closes when the last thread ends.
    drop(sender);
    loop {
        match outcomes.recv_timeout(CHECK_ABANDON_EVERY) {
            Ok((index, outcome)) => pass_on(index, outcome),
            Err(RecvTimeoutError::Disconnected) => return PoolEnd::Done,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if abandon() {
            return PoolEnd::Abandoned;
        }
    }
}

fn run_job<T, R>(work: &dyn Fn(T) -> Option<R>, job: T) -> JobOutcome<R> {
    match catch_unwind(AssertUnwindSafe(|| work(job))) {
        Ok(Some(result)) => JobOutcome::Result(result),
        Ok(None) => JobOutcome::NotStarted,
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            JobOutcome::Panicked(message.unwrap_or("no reason given").to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_runs_once() {
        let check = |threads: usize| {
            let mut outcomes: Vec<(usize, Option<usize>)> = Vec::new();
            let stop = Arc::new(AtomicBool::new(false));
            let work = |job: usize| {
                assert!(job != 7, "seven");
                Some(job * job)
            };
            let pass_on = |at, outcome| {
                outcomes.push(match outcome {
                    JobOutcome::Result(square) => (at, Some(square)),
                    JobOutcome::Panicked(why) if why.contains("seven") => (at, None),
                    _ => (at, Some(0)),
                });
            };
            let end = run_jobs(threads, (0..50).collect(), &stop, work, pass_on, || false);
            assert_eq!(end, PoolEnd::Done);
            outcomes.sort_unstable();
            let expected = (0..50).map(|at| (at, (at != 7).then_some(at * at)));
            assert_eq!(outcomes, expected.collect::<Vec<_>>(), "{threads} threads");
        };
        check(1);
        check(4);
        check(100);
    }

    /// Jobs that were not started are reported as such.
    #[test]
    fn a_stopped_pool_starts_no_job() {
        let stop = Arc::new(AtomicBool::new(false));
        let inside = Arc::clone(&stop);
        let work = move |job: usize| {
            inside.store(job >= 3, Ordering::SeqCst);
            Some(job)
        };
        let (mut done, mut left) = (0, 0);
        let pass_on = |_, outcome| match outcome {
            JobOutcome::Result(_) => done += 1,
            _ => left += 1,
        };
        let end = run_jobs(1, (0..10).collect(), &stop, work, pass_on, || false);
        assert_eq!(end, PoolEnd::Done);
        assert_eq!((done, left), (4, 6));

        let sleeps = |_| -> Option<()> {
            thread::sleep(Duration::from_secs(600));
            None
        };
        let never = Arc::new(AtomicBool::new(false));
        let end = run_jobs(2, vec![1, 2, 3], &never, sleeps, |_, _| {}, || true);
        assert_eq!(end, PoolEnd::Abandoned);
    }
}
