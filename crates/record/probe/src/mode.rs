//! What the probe does in this process, and how it fails: silently.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the probe does: bits of `MODE`.
static MODE: AtomicU8 = AtomicU8::new(0);
/// Hooks note what they see.
const WATCH: u8 = 1;
/// Encoders without a label get one.
const LABEL: u8 = 2;
/// A forked child, or one in which the probe failed: nothing happens any more.
const SILENT: u8 = 4;

/// Begins to watch, and labels encoders if asked to. Returns false if that is not possible.
pub(crate) fn watch(labels: bool) -> bool {
    let labels = if labels { LABEL } else { 0 };
    MODE.fetch_or(WATCH | labels, Ordering::Relaxed) & SILENT == 0
}

/// Ends all that the probe does in this process, for good.
pub(crate) fn fall_silent() {
    MODE.store(SILENT, Ordering::Relaxed);
}

/// Returns whether hooks note what they see.
pub(crate) fn is_watching() -> bool {
    MODE.load(Ordering::Relaxed) & (WATCH | SILENT) == WATCH
}

/// Returns whether encoders without a label get one.
pub(crate) fn adds_labels() -> bool {
    MODE.load(Ordering::Relaxed) & LABEL != 0
}

/// Locks a mutex. What a panic left in it is used: after one the probe is silent.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what must not panic into the program. After a panic the probe is silent.
pub(crate) fn contained<T: Default>(run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        fall_silent();
        T::default()
    })
}
