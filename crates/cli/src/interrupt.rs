//! Ctrl-C: while someone listens it is a wish, counted; else the system's own
//! answer, at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What is known of the signals that ask to stop.
#[derive(Default)]
struct Known {
    /// How often one came while someone listened.
    times: Arc<AtomicUsize>,
    /// How many listen: what is made of several parts does, and so does each of them.
    listeners: AtomicUsize,
    /// Whether one did.
    heard: Arc<AtomicBool>,
    /// Nobody listens.
    idle: Arc<AtomicBool>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// Someone listens, until this is dropped.
pub(crate) struct Listening {
    known: &'static Known,
    /// How often one had come before.
    before: usize,
}

impl Listening {
    /// Listens from now on.
    pub(crate) fn begin() -> std::io::Result<Self> {
        let known = match KNOWN.get() {
            Some(known) => known,
            None => {
                let known = register()?;
                KNOWN.get_or_init(|| known)
            }
        };
        if known.listeners.fetch_add(1, Ordering::SeqCst) == 0 {
            known.heard.store(false, Ordering::SeqCst);
        }
        known.idle.store(false, Ordering::SeqCst);
        Ok(Self {
            known,
            before: known.times.load(Ordering::SeqCst),
        })
    }

    /// Becomes true when one comes.
    pub(crate) fn heard(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.known.heard)
    }

    /// How many came since this listens.
    pub(crate) fn times(&self) -> usize {
        self.known.times.load(Ordering::SeqCst) - self.before
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.known.listeners.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.known.idle.store(true, Ordering::SeqCst);
        }
    }
}

fn register() -> std::io::Result<Known> {
    const ALL: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
    let known = Known::default();
    for signal in ALL {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&known.idle))?;
    }
    let mut signals = Signals::new(ALL)?;
    let (times, heard) = (Arc::clone(&known.times), Arc::clone(&known.heard));
    thread::spawn(move || {
        for _ in signals.forever() {
            times.fetch_add(1, Ordering::SeqCst);
            heard.store(true, Ordering::SeqCst);
        }
    });
    Ok(known)
}
