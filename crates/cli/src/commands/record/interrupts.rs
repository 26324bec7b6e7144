//! Ctrl-C: the first one stops and saves, the second one stops waiting for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use metalens_recorder::Wish;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Counts signals that ask to stop, as long as it lives.
pub(crate) struct Interrupts {
    count: Arc<AtomicUsize>,
    handle: Handle,
}

impl Interrupts {
    /// From now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for _ in signals.forever() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { count, handle })
    }

    /// What was wished so far.
    pub(crate) fn wish(&self) -> Wish {
        match self.count.load(Ordering::Relaxed) {
            0 => Wish::GoOn,
            1 => Wish::Stop,
            _ => Wish::GiveUp,
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.handle.close();
    }
}
