//! Compares times per unit of work.

use metalens_analyzer::id;
use metalens_comparison::{
    Change, ChangeClass, Floor, Runs, RunsToTell, TimeBasis, TimesPerUnit, Unit, change_by_turns,
    change_of_sides, runs_to_tell, times_per_unit,
};

use crate::result::VariantResult;

/// Metric of the reports that has the wall time.
pub(crate) const WALL: &str = id!(window.span_ns);

/// Returns the smallest change that counts.
pub(crate) fn floor(basis: TimeBasis) -> Floor {
    Floor::default().of_times(basis)
}

/// Returns a time of each run, per unit of work.
pub(crate) fn per_unit(runs: &Runs, id: &str, basis: TimeBasis) -> TimesPerUnit {
    times_per_unit(id, basis, |id| runs.values(id)).unwrap_or_default()
}

impl VariantResult {
    /// Returns a time of each run, per unit of work.
    pub fn time_per_unit(&self, id: &str, basis: TimeBasis) -> TimesPerUnit {
        per_unit(&self.recorded, id, basis)
    }
}

/// Returns the change of a time. Runs of a baseline were not recorded alternately, so that they belong
/// to no round.
pub(crate) fn time_change(
    base: &TimesPerUnit,
    new: &TimesPerUnit,
    basis: TimeBasis,
    is_stored: bool,
) -> Change {
    let error = base.error_ns + new.error_ns;
    let change = if is_stored {
        change_of_sides
    } else {
        change_by_turns
    };
    change(&base.values, &new.values, Unit::Ns, floor(basis), error)
}

/// Returns the number of runs that would tell, if these do not.
pub(crate) fn needed(change: &Change, basis: TimeBasis) -> Option<RunsToTell> {
    (change.class == ChangeClass::Unstable)
        .then(|| runs_to_tell(change, floor(basis), Unit::Ns))
        .flatten()
}
