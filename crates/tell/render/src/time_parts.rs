//! Parts of a wall time: busy time, then idle time by cause.

use metalens_analyzer::Cause;

/// A wall time and its parts, in nanoseconds. Medians of several runs need not add up.
pub(crate) struct TimeParts {
    pub(crate) total: f64,
    pub(crate) busy: f64,
    pub(crate) idle: Vec<(Cause, f64)>,
}

impl TimeParts {
    /// Returns the sum of the parts.
    pub(crate) fn sum(&self) -> f64 {
        self.busy + self.idle.iter().map(|(_, ns)| ns).sum::<f64>()
    }
}
