//! Type of a stretch of time in one state or named phase.

use super::spans::Span;

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

impl StateInterval {
    /// Returns a stretch that is not marked as induced.
    pub(crate) fn new(span: Span, what: impl Into<String>) -> Self {
        Self {
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            what: what.into(),
            is_induced: false,
        }
    }

    pub(crate) fn span(&self) -> Span {
        Span::new(self.start_ns, self.end_ns)
    }
}
