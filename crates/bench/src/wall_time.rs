//! Compares times per unit of work.

use std::iter::zip;

use metalens_comparison::{
    Change, ChangeClass, Floor, Number, Runs, RunsToTell, Unit, change_by_turns, change_of_sides,
    runs_to_tell,
};

use crate::result::WorkBasis;

/// Metric of the reports that has the wall time.
pub(crate) const WALL: &str = "window.span_ns";

impl WorkBasis {
    /// Returns the metric that counts the units. None for whole runs.
    fn count(self) -> Option<&'static str> {
        match self {
            Self::Run => None,
            Self::CommandBuffer => Some("counts.command_buffers"),
            Self::Interval => Some("counts.intervals"),
        }
    }

    /// Returns the smallest change that counts: times per unit are means of many.
    pub(crate) fn floor(self) -> Floor {
        let floor = Floor::default();
        match self {
            Self::Run => floor,
            Self::CommandBuffer | Self::Interval => Floor {
                time_ns: 0.0,
                ..floor
            },
        }
    }
}

/// Returns a time of each run, per unit of work.
pub(crate) fn per_unit(runs: &Runs, id: &str, basis: WorkBasis) -> Vec<Option<Number>> {
    let values = runs.metrics.get(id).cloned().unwrap_or_default();
    let Some(counts) = basis.count().and_then(|id| runs.metrics.get(id)) else {
        return values;
    };
    let quotients = zip(values, counts);
    quotients
        .map(|(value, count)| Number::new(value?.get() / count.as_ref()?.get()))
        .collect()
}

/// Returns the change of a time. Runs of a baseline were not recorded alternately, so that they belong
/// to no round.
pub(crate) fn time_change(
    (base, new): (&[Option<Number>], &[Option<Number>]),
    basis: WorkBasis,
    is_stored: bool,
) -> Change {
    if is_stored {
        change_of_sides((base, new), Unit::Ns, basis.floor())
    } else {
        change_by_turns((base, new), Unit::Ns, basis.floor())
    }
}

/// Returns the number of runs that would tell, if these do not.
pub(crate) fn needed(change: &Change, basis: WorkBasis) -> Option<RunsToTell> {
    (change.class == ChangeClass::Unstable)
        .then(|| runs_to_tell(change, basis.floor(), Unit::Ns))
        .flatten()
}
