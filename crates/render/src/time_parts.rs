//! Parts of a wall time: busy time, then idle time by cause.

use metalens_analyzer::Cause;

/// Parts of a wall time, in nanoseconds.
pub(crate) struct TimeParts {
    pub(crate) busy: f64,
    pub(crate) idle: Vec<(Cause, f64)>,
}

impl TimeParts {
    pub(crate) fn total(&self) -> f64 {
        self.busy + self.idle.iter().map(|(_, ns)| ns).sum::<f64>()
    }
}
