//! Two things at once: a million intervals keep more than one processor busy.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Both answers. The second is worked out here, the first on a thread of its own.
pub(crate) fn both<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        let first = first.join().unwrap_or_else(|panic| resume_unwind(panic));
        (first, second)
    })
}

/// Both answers, each half of a [`both`]: at once where there are processors for four.
/// On two it would take as long, and what all four hold meanwhile be in memory together.
pub(crate) fn half<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    match processors > 2 {
        true => both(first, second),
        false => (first(), second()),
    }
}
