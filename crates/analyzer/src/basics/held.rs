//! A stretch of time in which something held.

/// A stretch of the window in which something held: a state, a named phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// When it began to.
    pub start_ns: u64,
    /// When it ended; both inside the window.
    pub end_ns: u64,
    /// What held.
    pub what: String,
    /// Whether a state was marked as induced, not of the GPU's own choosing.
    pub is_induced: bool,
}
