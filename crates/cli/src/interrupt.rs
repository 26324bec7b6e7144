//! Ctrl-C: while someone listens it is a wish to end well; else the system's
//! own answer, at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// What the handlers know.
struct Known {
    /// It was heard since someone listens.
    heard: Arc<AtomicBool>,
    /// Nobody listens.
    idle: Arc<AtomicBool>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// Someone listens, until this is dropped.
pub(crate) struct Listening {
    known: &'static Known,
}

impl Listening {
    /// Listens from now on.
    pub(crate) fn begin() -> anyhow::Result<Self> {
        let known = KNOWN.get_or_init(|| Known {
            heard: Arc::default(),
            idle: Arc::new(AtomicBool::new(true)),
        });
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        if !REGISTERED.swap(true, Ordering::SeqCst) {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let idle = Arc::clone(&known.idle);
                signal_hook::flag::register_conditional_default(signal, idle)?;
                signal_hook::flag::register(signal, Arc::clone(&known.heard))?;
            }
        }
        known.heard.store(false, Ordering::SeqCst);
        known.idle.store(false, Ordering::SeqCst);
        Ok(Self { known })
    }

    /// Becomes true when it is heard.
    pub(crate) fn heard(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.known.heard)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.known.idle.store(true, Ordering::SeqCst);
    }
}
