//! Counts Ctrl-C presses (and SIGTERM and SIGHUP) while a command listens for them. While none
//! does, a signal ends the program, as it does by default.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// State that the signal handlers and the listeners share.
#[derive(Default)]
struct SignalState {
    /// Number of signals since the handlers were registered.
    times: Arc<AtomicUsize>,
    /// Number of listeners. A command listens, and so may each of its parts.
    listeners: AtomicUsize,
    /// True if a signal came since the first of the present listeners began.
    heard: Arc<AtomicBool>,
    /// True while there is no listener: a signal then has its default effect.
    idle: Arc<AtomicBool>,
}

static STATE: OnceLock<SignalState> = OnceLock::new();

/// Counts signals instead of letting them end the program, until it is dropped.
pub(crate) struct Listening {
    state: &'static SignalState,
    /// Number of signals before this listener began.
    before: usize,
}

impl Listening {
    /// Starts to count signals.
    pub(crate) fn begin() -> std::io::Result<Self> {
        let state = match STATE.get() {
            Some(state) => state,
            None => {
                let state = register()?;
                STATE.get_or_init(|| state)
            }
        };

        if state.listeners.fetch_add(1, Ordering::SeqCst) == 0 {
            state.heard.store(false, Ordering::SeqCst);
        }
        state.idle.store(false, Ordering::SeqCst);

        Ok(Self {
            state,
            before: state.times.load(Ordering::SeqCst),
        })
    }

    /// Returns a flag that becomes true when a signal comes.
    pub(crate) fn heard(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.state.heard)
    }

    /// Returns the number of signals since this listener began.
    pub(crate) fn times(&self) -> usize {
        self.state.times.load(Ordering::SeqCst) - self.before
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.state.listeners.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.state.idle.store(true, Ordering::SeqCst);
        }
    }
}

/// Installs the handlers, once per process.
fn register() -> std::io::Result<SignalState> {
    const ALL: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
    let state = SignalState::default();

    for signal in ALL {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&state.idle))?;
    }

    let mut signals = Signals::new(ALL)?;
    let (times, heard) = (Arc::clone(&state.times), Arc::clone(&state.heard));
    thread::spawn(move || {
        for _ in signals.forever() {
            times.fetch_add(1, Ordering::SeqCst);
            heard.store(true, Ordering::SeqCst);
        }
    });
    Ok(state)
}
