//! Measures what hooks and handlers take on the program's threads.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::mode::{contained, is_watching};
use crate::system::now;

/// Nanoseconds since the log began.
static COST: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Time that hooking new classes took, which is no cost of command buffers.
    static HOOKING: Cell<u64> = const { Cell::new(0) };
}

/// Returns the sum since it was reset.
pub(crate) fn total() -> u64 {
    COST.load(Ordering::Relaxed)
}

/// Begins a new sum.
pub(crate) fn reset() {
    COST.store(0, Ordering::Relaxed);
}

/// Adds to the sum.
pub(crate) fn add(nanoseconds: u64) {
    COST.fetch_add(nanoseconds, Ordering::Relaxed);
}

/// Leaves the time since `start` out of what is measured around it.
pub(crate) fn leave_out_since(start: u64) {
    let spent = now().saturating_sub(start);
    let _ = HOOKING.try_with(|hooking| hooking.set(hooking.get() + spent));
}

/// Returns the cost since `start`: without hooking classes, which happens once, and without reading
/// the clock, which most dispatches are spared.
pub(crate) fn since(start: u64) -> u64 {
    static CLOCK: OnceLock<u64> = OnceLock::new();
    let time = now().saturating_sub(start);
    let hooking = HOOKING.try_with(Cell::take);
    let clock = CLOCK.get_or_init(|| {
        let readings = (0..64).map(|_| {
            let first = now();
            now().saturating_sub(first)
        });
        readings.min().unwrap_or(0)
    });
    time.saturating_sub(hooking.unwrap_or(0) + clock)
}

/// Runs a handler on Metal's thread, and measures it.
pub(crate) fn handle(run: impl FnOnce()) {
    if is_watching() {
        let start = now();
        contained(run);
        add(since(start));
    }
}
