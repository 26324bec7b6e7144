//! The runs of a calibration: what the program said, and what was found in the recordings.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{Analysis, TimingCheck};
use schemars::JsonSchema;
use serde::Serialize;

use super::program::ProgramRun;

/// The runs of a pair.
#[derive(Debug)]
pub struct PairRuns {
    /// Whether the run with the recorder came first.
    pub is_with_first: bool,
    /// The run without the recorder, in its own words.
    pub without: ProgramRun,
    /// The run with it.
    pub with: ProgramRun,
    /// The recording of that.
    pub recorded: Recorded,
}

/// The work that was found in a recording.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The work of each name.
    pub found: BTreeMap<String, NamedWork>,
    /// The command buffers.
    pub command_buffers: u64,
    /// Intervals that the driver made of several encoders, and of how many.
    pub coalesced: (u64, u64),
    /// The check of the program's own times against the recording's, if there are any.
    pub timings: Option<TimingCheck>,
    /// The clocks that the GPU was at.
    pub clocks: Vec<ClockShare>,
}

/// The work that has one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamedWork {
    /// The number of its GPU intervals.
    pub intervals: u64,
    /// The number of its encoders.
    pub encoders: u64,
}

impl Recorded {
    /// Takes what is compared out of an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let mut found: BTreeMap<String, NamedWork> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for interval in analysis.intervals() {
            let one = found.entry(interval.kernel.to_owned()).or_default();
            one.intervals += 1;
            // What has no number is an encoder of its own, as far as anybody knows.
            let is_new = interval.encoder.is_none_or(|id| seen.insert(id));
            one.encoders += u64::from(is_new);
        }
        let (report, mut clocks) = (&analysis.report, Vec::new());
        for state in report
            .machine
            .performance
            .iter()
            .flat_map(|one| &one.states)
        {
            clocks.push(ClockShare {
                state: state.state.clone(),
                busy_share: state.busy_share,
                induced: state.induced_ns > 0,
            });
        }
        Self {
            found,
            command_buffers: report.counts.command_buffers,
            coalesced: (report.counts.coalesced, report.counts.coalesced_encoders),
            timings: report.work.as_ref().and_then(|work| work.timings.clone()),
            clocks,
        }
    }
}

/// A clock that the GPU was at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClockShare {
    /// As the recording calls it: `Minimum`, `Maximum`, …
    pub state: String,
    /// How much of the workload's busy time.
    pub busy_share: Option<f64>,
    /// Whether it was held there, and did not choose.
    pub induced: bool,
}
