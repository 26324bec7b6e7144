//! Runs a list of jobs on a few threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The outcome of one job.
pub(crate) enum JobOutcome<R> {
    Result(R),
    /// The job was not started.
    NotStarted,
    /// The job panicked, which is a bug.
    Panicked(String),
}

/// Starts to run all jobs in order, `threads` at once. Returns a channel of each job with its
/// outcome, which closes when no thread works any more. When `stop` becomes true, no further job is
/// started. A caller that drops the channel does not wait for the jobs that still run.
pub(crate) fn start<T: Send + 'static, R: Send + 'static>(
    threads: usize,
    jobs: Vec<T>,
    stop: &Arc<AtomicBool>,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
) -> Receiver<(T, JobOutcome<R>)> {
    let threads = threads.min(jobs.len());
    let list = Arc::new(Mutex::new(VecDeque::from(jobs)));
    let work = Arc::new(work);
    let (sender, outcomes) = mpsc::channel();

    for _ in 0..threads {
        let (list, work, sender) = (Arc::clone(&list), Arc::clone(&work), sender.clone());
        let stop = Arc::clone(stop);
        // Not scoped, because a caller that abandons the jobs does not wait for them.
        thread::spawn(move || {
            while let Some(job) = next(&list) {
                let outcome = if stop.load(Ordering::SeqCst) {
                    JobOutcome::NotStarted
                } else {
                    run_job(&*work, &job)
                };
                if sender.send((job, outcome)).is_err() {
                    return;
                }
            }
        });
    }
    outcomes
}

fn next<T>(list: &Mutex<VecDeque<T>>) -> Option<T> {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    list.pop_front()
}

fn run_job<T, R>(work: &dyn Fn(&T) -> R, job: &T) -> JobOutcome<R> {
    match catch_unwind(AssertUnwindSafe(|| work(job))) {
        Ok(result) => JobOutcome::Result(result),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let message = text.or_else(|| panic.downcast_ref::<&str>().copied());
            JobOutcome::Panicked(message.unwrap_or("no reason given").to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_job_runs_once() {
        let check = |threads: usize| {
            let stop = Arc::new(AtomicBool::new(false));
            let work = |job: &usize| {
                assert!(*job != 7, "seven");
                job * job
            };
            let outcomes = start(threads, (0..50).collect(), &stop, work);
            let outcomes = outcomes.into_iter().map(|(job, outcome)| match outcome {
                JobOutcome::Result(square) => (job, Some(square)),
                JobOutcome::Panicked(why) if why.contains("seven") => (job, None),
                _ => (job, Some(0)),
            });
            let mut outcomes: Vec<(usize, Option<usize>)> = outcomes.collect();
            outcomes.sort_unstable();
            let expected = (0..50).map(|job| (job, (job != 7).then_some(job * job)));
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
        let work = move |job: &usize| inside.store(*job >= 3, Ordering::SeqCst);
        let outcomes = start(1, (0..10).collect(), &stop, work);
        let is_done = |outcome: &JobOutcome<()>| matches!(outcome, JobOutcome::Result(()));
        let (done, left): (Vec<_>, Vec<_>) = outcomes
            .into_iter()
            .partition(|(_, outcome)| is_done(outcome));
        assert_eq!((done.len(), left.len()), (4, 6));

        // A caller that drops the channel does not wait.
        let never = Arc::new(AtomicBool::new(false));
        let sleeps = |_: &u32| thread::sleep(Duration::from_secs(600));
        drop(start(2, vec![1, 2, 3], &never, sleeps));
    }
}
