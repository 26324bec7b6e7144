//! Defines the runs of a calibration: what the program reported, and what the recordings contain.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{Analysis, TimingCheck};
use serde::Serialize;

use super::program::ProgramRun;

/// The two runs of a pair.
#[derive(Debug)]
pub struct PairRuns {
    /// True if the run with the recorder came first.
    pub is_with_first: bool,
    /// The run without the recorder, as its program reported it.
    pub without: ProgramRun,
    /// The run with the recorder, as its program reported it.
    pub with: ProgramRun,
    /// Contents of the recording.
    pub recorded: RecordedWork,
}

/// The work that was found in a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordedWork {
    /// Counts of intervals and encoders by name.
    pub found: BTreeMap<String, NameCounts>,
    /// Number of command buffers.
    pub command_buffers: u64,
    /// Number of intervals that the driver merged from several encoders, and number of these
    /// encoders.
    pub coalesced: (u64, u64),
    /// Comparison of the program's own times with those of the recording, if there are any.
    pub timings: Option<TimingCheck>,
    /// Performance states in which the GPU was.
    pub clocks: Vec<ClockShare>,
}

/// Counts of the work with one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameCounts {
    /// Number of GPU intervals.
    pub intervals: u64,
    /// Number of encoders.
    pub encoders: u64,
}

impl RecordedWork {
    /// Extracts the compared figures from an analysis.
    #[must_use]
    pub fn from_analysis(analysis: &Analysis) -> Self {
        let mut found: BTreeMap<String, NameCounts> = BTreeMap::new();
        let mut encoders = BTreeSet::new();
        for interval in analysis.intervals() {
            let counts = found.entry(interval.kernel.to_owned()).or_default();
            counts.intervals += 1;
            // An interval without an encoder id counts as an encoder of its own.
            let is_new = interval.encoder.is_none_or(|id| encoders.insert(id));
            counts.encoders += u64::from(is_new);
        }

        let report = &analysis.report;
        let performance = report.machine.performance.iter();
        let clocks = performance
            .flat_map(|performance| &performance.states)
            .map(|state| ClockShare {
                state: state.state.clone(),
                busy_share: state.busy_share,
                induced: state.induced_ns > 0,
            });
        Self {
            found,
            command_buffers: report.counts.command_buffers,
            coalesced: (report.counts.coalesced, report.counts.coalesced_encoders),
            timings: report.work.as_ref().and_then(|work| work.timings.clone()),
            clocks: clocks.collect(),
        }
    }
}

/// A performance state of the GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClockShare {
    /// Name of the state in the recording: `Minimum`, `Maximum`, …
    pub state: String,
    /// Share of the workload's busy time in this state. Null if it is unknown.
    pub busy_share: Option<f64>,
    /// True if something held the GPU in this state, so that the GPU did not choose it.
    pub induced: bool,
}
