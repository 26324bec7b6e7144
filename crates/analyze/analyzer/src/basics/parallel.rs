//! Runs two functions at once: a million intervals keep more than one processor busy.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Runs both functions and returns both results; the first runs on a thread of its own. One
/// processor runs one after the other, and so does WebAssembly, which has no threads here.
pub(crate) fn both<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if processors() == 1 {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        let first = first.join().unwrap_or_else(|panic| resume_unwind(panic));
        (first, second)
    })
}

/// Runs one half of a [`both`]: in parallel only if there are processors for all four
/// functions. On two processors it would take as long, and the memory of all four would be
/// needed at once.
pub(crate) fn half<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if processors() > 2 {
        both(first, second)
    } else {
        (first(), second())
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
