//! What the program issued against what its recordings have.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::program::Whole;
use super::runs::{PairRuns, Recorded};

/// What was issued against what was found, warm-up too.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counts {
    /// What it comes to.
    pub verdict: CountVerdict,
    /// Command buffers.
    pub command_buffers: Count,
    /// Encoders. Those that the driver made one interval of are counted, as far as the interval's
    /// label tells how many there were.
    pub encoders: Count,
    /// Dispatches. A recording has none: found are those that the encoders found are known to hold.
    /// Encoders of unknown names hold unknown numbers, so there are fewer where the driver
    /// coalesced.
    pub dispatches: Count,
    /// By label.
    pub labels: Vec<LabelCount>,
    /// Names in the recordings that the program never gave, such as of coalesced encoders.
    pub others: Vec<Other>,
}

/// What counting comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountVerdict {
    /// Everything that was issued was found, and nothing else, in every recording.
    Equal,
    /// So it was, but the driver made one interval of several encoders, which have its name.
    Coalesced,
    /// Something was not found, or found without being issued.
    Different,
}

/// How many were issued, and found in each recording.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Count {
    /// By the program.
    pub issued: u64,
    /// In the recording of each pair.
    pub found: Vec<u64>,
}

impl Count {
    fn is_equal(&self) -> bool {
        self.found.iter().all(|&found| found == self.issued)
    }
}

/// Encoders of a label.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelCount {
    /// The label.
    pub label: String,
    /// Its encoders.
    pub encoders: Count,
    /// Its GPU intervals: more than encoders where the GPU ran one in several parts.
    pub intervals: Vec<u64>,
    /// Dispatches, as the found encoders are known to hold them.
    pub dispatches: Count,
}

/// What has a name that the program never gave.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Other {
    /// The name.
    pub name: String,
    /// Its GPU intervals in each recording.
    pub intervals: Vec<u64>,
}

impl Counts {
    pub(crate) fn of(runs: &[PairRuns]) -> Self {
        let of_each = |count: &dyn Fn(&Recorded) -> u64| -> Vec<u64> {
            runs.iter().map(|pair| count(&pair.recorded)).collect()
        };
        let program = runs.first().map(|pair| &pair.with.program);
        let whole = |count: fn(&Whole) -> u64| program.map_or(0, |program| count(&program.whole));
        let issued = program.map_or(&[][..], |program| &program.labels);
        let labels: Vec<LabelCount> = issued
            .iter()
            .map(|one| {
                let found = |recorded: &Recorded| recorded.found.get(&one.label).copied();
                let found = |recorded: &Recorded| found(recorded).unwrap_or_default();
                let each = one.dispatches.checked_div(one.encoders).unwrap_or(0);
                LabelCount {
                    label: one.label.clone(),
                    encoders: Count {
                        issued: one.encoders,
                        found: of_each(&|recorded| found(recorded).encoders),
                    },
                    intervals: of_each(&|recorded| found(recorded).intervals),
                    dispatches: Count {
                        issued: one.dispatches,
                        found: of_each(&|recorded| found(recorded).encoders * each),
                    },
                }
            })
            .collect();
        let dispatches = (0..runs.len()).map(|pair| {
            let of_label = |label: &LabelCount| label.dispatches.found.get(pair).copied();
            labels.iter().filter_map(of_label).sum()
        });
        let mut counts = Self {
            verdict: CountVerdict::Different,
            command_buffers: Count {
                issued: whole(|whole| whole.command_buffers),
                found: of_each(&|recorded| recorded.command_buffers),
            },
            encoders: Count {
                issued: whole(|whole| whole.encoders),
                found: of_each(&encoders),
            },
            dispatches: Count {
                issued: whole(|whole| whole.dispatches),
                found: dispatches.collect(),
            },
            others: others(runs, &labels),
            labels,
        };
        let is_coalesced = runs.iter().any(|pair| pair.recorded.coalesced.0 > 0);
        counts.verdict = counts.judge(is_coalesced);
        counts
    }

    fn judge(&self, is_coalesced: bool) -> CountVerdict {
        let by_label = self.labels.iter().all(|label| label.encoders.is_equal());
        let in_all = self.command_buffers.is_equal() && self.encoders.is_equal();
        match (in_all, by_label && self.others.is_empty()) {
            (true, true) => CountVerdict::Equal,
            (true, false) if is_coalesced => CountVerdict::Coalesced,
            _ => CountVerdict::Different,
        }
    }
}

/// An interval made of several encoders has the number of one.
fn encoders(recorded: &Recorded) -> u64 {
    let numbered: u64 = recorded.found.values().map(|found| found.encoders).sum();
    let (coalesced, of) = recorded.coalesced;
    (numbered + of).saturating_sub(coalesced)
}

fn others(runs: &[PairRuns], labels: &[LabelCount]) -> Vec<Other> {
    let is_issued = |name: &str| labels.iter().any(|label| label.label == name);
    let names: BTreeSet<&String> = runs
        .iter()
        .flat_map(|pair| pair.recorded.found.keys())
        .filter(|name| !is_issued(name))
        .collect();
    let other = |name: &String| Other {
        name: name.clone(),
        intervals: runs
            .iter()
            .map(|pair| pair.recorded.found.get(name).map_or(0, |one| one.intervals))
            .collect(),
    };
    names.into_iter().map(other).collect()
}
