//! Computes the figures of a calibration.

use metalens_analyzer::message::PlacedValue;
use metalens_analyzer::{NoteDetail, TimingCheck, TimingVerdict};
use serde::Serialize;

use super::counts::WorkCounts;
use super::program::ProgramRun;
use super::runs::{ClockShare, PairRuns};
use crate::statistics::paired::Differences;

/// Cost and completeness of recording the bundled workload.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// Name of the format: `metalens.calibration/1`.
    pub(crate) schema: &'static str,
    /// Version of metalens that wrote it.
    pub(crate) metalens: &'static str,
    /// True if a simulator replaced `xctrace` and no GPU ran. Then counts are real, and no time is
    /// measured.
    pub simulated: bool,
    /// The workload that was run.
    pub workload: WorkloadFacts,
    /// Results in sentences: counts, agreement of the clocks, overhead.
    pub verdicts: Vec<String>,
    /// Values of each of `verdicts`, in the order in which they stand in it.
    pub verdict_values: Vec<Vec<PlacedValue>>,
    /// Numbers of things issued and found.
    pub counts: WorkCounts,
    /// Agreement of the GPU times by the program's own clock and in the recordings.
    pub agreement: ClockAgreement,
    /// Wall time of the measured steps by the CPU's clock, without and with the recorder.
    pub wall: Cost,
    /// GPU time of the measured command buffers, by the program's own clock in both runs: the
    /// length of the union of their times.
    pub gpu: Cost,
    /// The pairs of runs, in order.
    pub pairs: Vec<RunPair>,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    pub note_details: Vec<NoteDetail>,
}

/// The workload that was run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorkloadFacts {
    /// Name of the workload.
    pub name: String,
    /// Number of elements of an array.
    pub size: u64,
    /// Number of measured steps.
    pub count: u64,
    /// Number of warm-up steps before those.
    pub warm_up: u64,
    /// Name of the GPU in Metal. Null if no GPU ran the workload.
    pub gpu: Option<String>,
}

/// Agreement of two clocks on the same work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClockAgreement {
    /// The worst verdict of all recordings. Null if none has one.
    pub verdict: Option<TimingVerdict>,
    /// (recording - program) / program of a command buffer's time on the GPU: the median of each
    /// recording.
    pub bias: Vec<f64>,
    /// (recording - program) / program of the time from the first command buffer's start to the
    /// last one's, of each recording.
    pub clock_drift: Vec<f64>,
    /// Reason why there is no verdict. Null if there is one.
    pub why: Option<String>,
    /// Values of `why`, in the order in which they stand in it.
    pub why_values: Vec<PlacedValue>,
}

/// Cost of recording in one kind of time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Times of the runs without the recorder. Null if they were not measured.
    pub without: Option<TimeSpread>,
    /// Times of the runs with the recorder. Null if they were not measured.
    pub with: Option<TimeSpread>,
    /// Time with the recorder minus time without, of each pair, in nanoseconds.
    pub difference_ns: Option<Differences>,
    /// The same difference divided by the time without the recorder: 0.02 means 2 % more time.
    pub relative: Option<Differences>,
    /// Reason why it was not measured. Null if it was.
    pub why: Option<&'static str>,
}

/// Spread of the times of several runs.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TimeSpread {
    /// Median time in nanoseconds, nearest rank.
    pub median_ns: u64,
    /// Shortest time in nanoseconds.
    pub min_ns: u64,
    /// Longest time in nanoseconds.
    pub max_ns: u64,
}

/// A pair of runs without and with the recorder.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunPair {
    /// Number of the pair, counted from 1.
    number: u64,
    /// The run that came first.
    first: First,
    /// Times of the run without the recorder.
    without: Times,
    /// Times of the run with the recorder.
    with: Times,
    /// Performance states of the GPU in the recording, the longest first. Empty if the recording
    /// has none. The states without the recorder are unknown.
    pub clocks: Vec<ClockShare>,
    /// File name of the recording in the folder. Null if it was not kept.
    bundle: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schemas", schemars(inline))]
enum First {
    Without,
    With,
}

/// Times that the program measured. Null in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
struct Times {
    /// Wall time by the CPU's clock, in nanoseconds.
    wall_ns: Option<u64>,
    /// Time on the GPU, in nanoseconds.
    gpu_ns: Option<u64>,
}

impl Times {
    fn from_run(run: &ProgramRun) -> Self {
        Self {
            wall_ns: run.wall_ns(),
            gpu_ns: run.gpu_ns,
        }
    }
}

impl WorkloadFacts {
    pub(crate) fn none() -> Self {
        Self {
            name: String::new(),
            size: 0,
            count: 0,
            warm_up: 0,
            gpu: None,
        }
    }
}

pub(crate) fn pairs(runs: &[PairRuns], is_kept: bool) -> Vec<RunPair> {
    let pairs = (1..).zip(runs).map(|(number, pair)| RunPair {
        number,
        first: if pair.is_with_first {
            First::With
        } else {
            First::Without
        },
        without: Times::from_run(&pair.without),
        with: Times::from_run(&pair.with),
        clocks: pair.recorded.clocks.clone(),
        bundle: is_kept.then(|| format!("pair-{number}.trace")),
    });
    pairs.collect()
}

impl ClockAgreement {
    pub(crate) fn from_pairs(runs: &[PairRuns], simulated: bool) -> Self {
        let checks: Vec<&TimingCheck> = runs
            .iter()
            .filter_map(|pair| pair.recorded.timings.as_ref())
            .collect();
        let worst = checks.iter().max_by_key(|check| rank(check.verdict));

        // A verdict on comparable times needs no reason.
        let (why, why_values) = match worst {
            None => (Some(not_measured(simulated).to_owned()), Vec::new()),
            Some(check) if check.verdict == TimingVerdict::NotComparable => {
                (Some(check.why.clone()), check.why_values.clone())
            }
            Some(_) => (None, Vec::new()),
        };
        Self {
            verdict: worst.map(|check| check.verdict),
            bias: checks
                .iter()
                .filter_map(|check| check.median_bias)
                .collect(),
            clock_drift: checks
                .iter()
                .filter_map(|check| check.clock_drift)
                .collect(),
            why,
            why_values,
        }
    }
}

/// Returns the rank of a verdict, the worst last.
fn rank(verdict: TimingVerdict) -> u8 {
    match verdict {
        TimingVerdict::Fine => 0,
        TimingVerdict::Noted => 1,
        TimingVerdict::ClockFault => 2,
        TimingVerdict::NotComparable => 3,
    }
}

fn not_measured(simulated: bool) -> &'static str {
    if simulated {
        "no GPU ran, so no time was measured"
    } else {
        "the program reported no times"
    }
}

impl Cost {
    /// Computes the cost from times without and with the recorder. If a pair lacks a time, nothing
    /// is computed.
    pub(crate) fn from_times(pairs: Option<Vec<(u64, u64)>>, simulated: bool) -> Self {
        let Some(pairs) = pairs else {
            return Self {
                without: None,
                with: None,
                difference_ns: None,
                relative: None,
                why: Some(not_measured(simulated)),
            };
        };

        let difference = |&(without, with): &(u64, u64)| to_float(with) - to_float(without);
        let relative = |pair: &(u64, u64)| difference(pair) / to_float(pair.0);
        Self {
            without: TimeSpread::from_times(pairs.iter().map(|pair| pair.0)),
            with: TimeSpread::from_times(pairs.iter().map(|pair| pair.1)),
            difference_ns: Differences::summarize(pairs.iter().map(difference)),
            relative: Differences::summarize(pairs.iter().map(relative)),
            why: None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
fn to_float(ns: u64) -> f64 {
    ns as f64
}

impl TimeSpread {
    fn from_times(times: impl Iterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = times.collect();
        sorted.sort_unstable();

        let at = |index: usize| sorted.get(index).copied();
        let middle = (at(sorted.len().checked_sub(1)? / 2)?, at(sorted.len() / 2)?);
        Some(Self {
            median_ns: middle.0.midpoint(middle.1),
            min_ns: *sorted.first()?,
            max_ns: *sorted.last()?,
        })
    }
}
