//! The figures of a calibration.

use metalens_analyzer::message::PlacedValue;
use metalens_analyzer::{NoteDetail, TimingCheck, TimingVerdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::counts::Counts;
use super::program::ProgramRun;
use super::runs::{ClockShare, PairRuns};
use crate::statistics::paired::Differences;

/// What recording the bundled workload finds and costs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Calibration {
    /// `metalens.calibration/1`.
    pub(crate) schema: &'static str,
    /// The version of metalens.
    pub(crate) metalens: &'static str,
    /// Whether a simulator took `xctrace`'s place and no GPU ran: then counts are compared for
    /// real, and no time is measured.
    pub simulated: bool,
    /// What was run.
    pub workload: Workload,
    /// What it comes to, in sentences.
    pub verdicts: Vec<String>,
    /// Values of each of `verdicts`, in the order in which they stand in it.
    pub verdict_values: Vec<Vec<PlacedValue>>,
    /// What was issued against what was found.
    pub counts: Counts,
    /// The GPU's times by the program's own clocks against the recordings'.
    pub agreement: Agreement,
    /// From before the first measured step until after the last, by the CPU's clock, of the
    /// program with and without the recorder.
    pub wall: Cost,
    /// The length of the union of the measured command buffers' times on the GPU, by the program's
    /// own clocks in both runs.
    pub gpu: Cost,
    /// The pairs, in order.
    pub pairs: Vec<Pair>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    pub note_details: Vec<NoteDetail>,
}

/// What was run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Elements of an array.
    pub size: u64,
    /// Measured steps.
    pub count: u64,
    /// Steps before those.
    pub warm_up: u64,
    /// The GPU that ran it, as Metal calls it. Null if none did.
    pub gpu: Option<String>,
}

/// Two clocks of the same work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agreement {
    /// The worst of the recordings' verdicts. Null if it cannot be told.
    pub verdict: Option<TimingVerdict>,
    /// (recording - program) / program of a command buffer's time on the GPU: the median of each
    /// recording.
    pub bias: Vec<f64>,
    /// The same of the whole time from the first command buffer's start to the last one's.
    pub clock_drift: Vec<f64>,
    /// Why there is none. Null if there is.
    pub why: Option<String>,
    /// Values of `why`, in the order in which they stand in it.
    pub why_values: Vec<PlacedValue>,
}

/// What recording costs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// Of the runs without the recorder. Null if it was not measured.
    pub without: Option<Spread>,
    /// Of those with it.
    pub with: Option<Spread>,
    /// With less without, of each pair, nanoseconds.
    pub difference_ns: Option<Differences>,
    /// The same by the time without: 0.02 is two per cent more with the recorder.
    pub relative: Option<Differences>,
    /// Why it was not measured. Null if it was.
    pub why: Option<&'static str>,
}

/// Runs of the same kind.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spread {
    /// The median, nearest rank.
    pub median_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// A pair of runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// From 1.
    number: u64,
    /// Which run came first.
    first: First,
    /// Without the recorder.
    without: Times,
    /// With it.
    with: Times,
    /// At which clocks the recording says that the GPU was, the longest first; empty if it does not
    /// say. At which it was without the recorder nobody knows.
    pub clocks: Vec<ClockShare>,
    /// The recording in the folder. Null if it was not kept.
    bundle: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum First {
    Without,
    With,
}

/// What the program measured. Null in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct Times {
    /// By the CPU's clock.
    wall_ns: Option<u64>,
    /// On the GPU.
    gpu_ns: Option<u64>,
}

impl Times {
    fn of(run: &ProgramRun) -> Self {
        Self {
            wall_ns: run.wall_ns(),
            gpu_ns: run.gpu_ns,
        }
    }
}

impl Workload {
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

pub(crate) fn pairs(runs: &[PairRuns], is_kept: bool) -> Vec<Pair> {
    let pair = |(number, pair): (u64, &PairRuns)| Pair {
        number,
        first: match pair.is_with_first {
            true => First::With,
            false => First::Without,
        },
        without: Times::of(&pair.without),
        with: Times::of(&pair.with),
        clocks: pair.recorded.clocks.clone(),
        bundle: is_kept.then(|| format!("pair-{number}.trace")),
    };
    (1..).zip(runs).map(pair).collect()
}

impl Agreement {
    pub(crate) fn of(runs: &[PairRuns], simulated: bool) -> Self {
        let checks: Vec<&TimingCheck> = runs
            .iter()
            .filter_map(|pair| pair.recorded.timings.as_ref())
            .collect();
        let worst = |verdict: TimingVerdict| match verdict {
            TimingVerdict::Fine => 0,
            TimingVerdict::Noted => 1,
            TimingVerdict::ClockFault => 2,
            TimingVerdict::NotComparable => 3,
        };
        let worst = checks.iter().max_by_key(|one| worst(one.verdict));
        let untold = worst.filter(|one| one.verdict == TimingVerdict::NotComparable);
        Self {
            verdict: worst.map(|one| one.verdict),
            bias: checks.iter().filter_map(|one| one.median_bias).collect(),
            clock_drift: checks.iter().filter_map(|one| one.clock_drift).collect(),
            why: match worst {
                None => Some(not_measured(simulated).to_owned()),
                Some(_) => untold.map(|one| one.why.clone()),
            },
            why_values: untold.map_or_else(Vec::new, |one| one.why_values.clone()),
        }
    }
}

fn not_measured(simulated: bool) -> &'static str {
    match simulated {
        true => "no GPU ran, so no time was measured",
        false => "the program told no times",
    }
}

impl Cost {
    /// Times without and with; all pairs have them, or nothing follows.
    pub(crate) fn of(pairs: Option<Vec<(u64, u64)>>, simulated: bool) -> Self {
        let Some(pairs) = pairs else {
            return Self {
                without: None,
                with: None,
                difference_ns: None,
                relative: None,
                why: Some(not_measured(simulated)),
            };
        };
        let difference = |&(without, with): &(u64, u64)| number(with) - number(without);
        let relative = |pair: &(u64, u64)| difference(pair) / number(pair.0);
        Self {
            without: Spread::of(pairs.iter().map(|pair| pair.0)),
            with: Spread::of(pairs.iter().map(|pair| pair.1)),
            difference_ns: Differences::of(pairs.iter().map(difference)),
            relative: Differences::of(pairs.iter().map(relative)),
            why: None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
fn number(ns: u64) -> f64 {
    ns as f64
}

impl Spread {
    fn of(times: impl Iterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = times.collect();
        sorted.sort_unstable();
        Some(Self {
            median_ns: *sorted.get(sorted.len().div_ceil(2).checked_sub(1)?)?,
            min_ns: *sorted.first()?,
            max_ns: *sorted.last()?,
        })
    }
}
