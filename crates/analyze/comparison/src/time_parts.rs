//! Splits the wall time of a side into busy time and idle time by cause.

use metalens_analyzer::{Cause, id};
use metalens_message::Number;

use crate::change::Change;
use crate::comparison::Comparison;
use crate::metric_changes::find;

/// A wall time and its parts, in nanoseconds. Medians of several runs need not add up.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeParts {
    /// Wall time.
    pub total: Number,
    /// Busy time.
    pub busy: Number,
    /// Idle time of each cause that is known.
    pub idle: Vec<(Cause, Number)>,
}

impl TimeParts {
    /// Takes the parts out of figures, by their ids; `None` without a wall time or busy time.
    pub fn of(figure: impl Fn(&str) -> Option<Number>) -> Option<Self> {
        let mut idle: Vec<(Cause, Number)> = Cause::ALL
            .into_iter()
            .filter_map(|cause| Some((cause, figure(cause.figure())?)))
            .collect();
        // The report has no causes where too much of the idle time has none.
        if idle.iter().all(|(cause, _)| *cause == Cause::Unknown) {
            idle = vec![(Cause::Unknown, figure(id!(gaps.total_ns))?)];
        }
        Some(Self {
            total: figure(id!(window.span_ns))?,
            busy: figure(id!(busy.busy_ns))?,
            idle,
        })
    }

    /// Returns the sum of the parts.
    pub fn sum(&self) -> f64 {
        let idle = self.idle.iter().map(|(_, ns)| ns.get());
        self.busy.get() + idle.sum::<f64>()
    }
}

impl Comparison {
    /// Returns the wall time of base and new with its parts; `None` for a side that lacks its wall time or
    /// busy time.
    pub fn time_parts(&self) -> [Option<TimeParts>; 2] {
        [Change::base_value, Change::new_value].map(|of_side: fn(&Change) -> Option<Number>| {
            TimeParts::of(|id| of_side(&find(&self.metrics, id)?.change))
        })
    }
}
