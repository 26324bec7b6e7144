//! Two things at once: a million intervals keep more than one processor busy.

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
