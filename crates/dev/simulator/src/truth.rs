//! Computes the truth from the plan: the values that an analysis of the export must find.
//!
//! All times are integer nanoseconds, and all intervals are half-open. Absent is not zero: a
//! process that never reached the GPU has no window, and a window without gaps has no median gap.

mod counting;
mod kernels;
mod latency;
mod ledger;
mod model;
mod tally;

use crate::error::Error;

use crate::scenario::Scenario;
use crate::schedule;
pub(crate) use counting::count_truth;
pub use kernels::{Kernel, Spills};
pub use latency::{Latency, Queue, Spread};
pub use ledger::Ledger;
pub use model::{
    Busy, Channel, ChosenBy, Counts, Gaps, HistogramBin, ProcessShare, Target, Truth, TruthFile,
};

/// Computes the truth of every run without writing anything.
///
/// # Errors
/// [`Error::Field`] if the scenario is not possible.
pub fn truths(scenario: &Scenario) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    (1..=scenario.runs)
        .map(|run| schedule::plan(scenario, run).map(|run| count_truth(&run)))
        .collect()
}
