//! Type of a stretch of time in one state or named phase.

/// Stretch of the window in one state or in one named phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateInterval {
    /// Start of the stretch, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the stretch (exclusive). Both are inside the window.
    pub end_ns: u64,
    /// Name of the state or phase.
    pub what: String,
    /// True if the table marks a state as induced; the meaning of the mark is not known.
    pub is_induced: bool,
}
