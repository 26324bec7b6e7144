//! Reads items on all processors and returns them in order.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Time between two calls of `tell` while nothing arrives.
const BETWEEN_CALLS: Duration = Duration::from_millis(100);

/// Reads one item for each size, the largest first, with one thread for each processor. Passes them
/// to `take` in their own order while others are still being read. One processor reads each item
/// when it is taken, and so does WebAssembly, which has no threads here. Calls `tell` again and
/// again while `take` waits, and when an item is read.
///
/// ```text
/// threads   ├── 3 ──┤├─ 0 ─┤├ 4 ┤
///           ├──── 1 ────┤├ 2 ┤
/// taken                    0 1 2 3  4
/// ```
pub(crate) fn read_ahead<T: Send, Out>(
    sizes: &[u64],
    read: impl Fn(usize) -> T + Sync,
    tell: &dyn Fn(),
    take: impl FnOnce(&mut dyn Iterator<Item = T>) -> Out,
) -> Out {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    if processors == 1 {
        return take(&mut (0..sizes.len()).map(|at| {
            let item = read(at);
            tell();
            item
        }));
    }

    let mut queue: Vec<usize> = (0..sizes.len()).collect();
    queue.sort_by_key(|&at| Reverse(sizes.get(at)));
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..processors.min(sizes.len()) {
            let (send, queue, next, read) = (send.clone(), &queue, &next, &read);
            scope.spawn(move || {
                while let Some(&at) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The receiver is gone if `take` has returned early.
                    if send.send((at, read(at))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut early = BTreeMap::new();
        let in_order = (0..sizes.len()).map_while(|at| {
            loop {
                if let Some(found) = early.remove(&at) {
                    return Some(found);
                }
                let received = receive.recv_timeout(BETWEEN_CALLS);
                tell();
                match received {
                    Ok((other, found)) => drop(early.insert(other, found)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            }
        });
        take(&mut { in_order })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order does not depend on the time that each item takes.
    #[test]
    fn items_come_in_their_own_order() {
        let sizes = [3, 0, 9, 1, 9, 2, 5, 0];
        let read = |at: usize| {
            thread::sleep(Duration::from_millis(sizes[at]));
            at
        };
        let taken = read_ahead(&sizes, read, &|| {}, |all| all.collect::<Vec<_>>());
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(read_ahead(&[], |at| at, &|| {}, |all| all.count()), 0);
    }

    #[test]
    fn the_caller_may_stop_early() {
        let reads = AtomicUsize::new(0);
        let read = |_| {
            thread::sleep(Duration::from_millis(1));
            reads.fetch_add(1, Ordering::Relaxed)
        };
        assert!(read_ahead(&[1; 10_000], read, &|| {}, |all| all
            .next()
            .is_some()));
        assert!(reads.into_inner() < 5_000);
    }
}
