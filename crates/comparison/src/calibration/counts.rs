//! Compares what the program issued with what its recordings contain.

use std::collections::BTreeSet;

use serde::Serialize;

use super::program::{IssuedLabel, IssuedTotals};
use super::runs::{NameCounts, PairRuns, RecordedWork};

/// Numbers of things issued by the program and found in its recordings, including the warm-up.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorkCounts {
    /// Result of the comparison.
    pub verdict: CountVerdict,
    /// Numbers of command buffers.
    pub command_buffers: Count,
    /// Numbers of encoders. Encoders that the driver merged into one interval are counted as far as
    /// the interval's label shows how many there were.
    pub encoders: Count,
    /// Numbers of dispatches. A recording has none, so the found number is that of the dispatches
    /// that the found encoders are known to contain. It is too low if the driver merged encoders,
    /// because the names of merged encoders are unknown.
    pub dispatches: Count,
    /// Numbers of encoders, intervals and dispatches by label.
    pub labels: Vec<LabelCount>,
    /// Names in the recordings that the program never used, such as those of merged encoders.
    pub others: Vec<UnissuedName>,
}

/// Result of comparing the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountVerdict {
    /// Everything issued was found, and nothing else, in every recording.
    Equal,
    /// Everything issued was found, but the driver merged several encoders into intervals with
    /// other names.
    Coalesced,
    /// Something issued was not found, or something found was not issued.
    Different,
}

/// Number issued, and number found in each recording.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
pub struct Count {
    /// Number issued by the program.
    pub issued: u64,
    /// Number found in the recording of each pair.
    pub found: Vec<u64>,
}

impl Count {
    fn is_equal(&self) -> bool {
        self.found.iter().all(|&found| found == self.issued)
    }
}

/// Numbers of the encoders with one label.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LabelCount {
    /// Label of the encoders.
    pub label: String,
    /// Numbers of encoders with the label.
    pub encoders: Count,
    /// Number of GPU intervals in each recording. It is larger than that of encoders if the GPU ran
    /// one in several parts.
    pub intervals: Vec<u64>,
    /// Numbers of dispatches, as far as the found encoders are known to contain them.
    pub dispatches: Count,
}

/// A name in the recordings that the program never used.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnissuedName {
    /// The name in the recordings.
    pub name: String,
    /// Number of GPU intervals in each recording.
    pub intervals: Vec<u64>,
}

impl WorkCounts {
    pub(crate) fn from_pairs(runs: &[PairRuns]) -> Self {
        let program = runs.first().map(|pair| &pair.with.program);
        let issued = program.map_or(&[][..], |program| &program.labels);
        let labels: Vec<LabelCount> = issued
            .iter()
            .map(|label| count_label(label, runs))
            .collect();
        let dispatches = (0..runs.len()).map(|pair| {
            let of_label = |label: &LabelCount| label.dispatches.found.get(pair).copied();
            labels.iter().filter_map(of_label).sum()
        });

        let total =
            |count: fn(&IssuedTotals) -> u64| program.map_or(0, |program| count(&program.issued));
        let mut counts = Self {
            verdict: CountVerdict::Different,
            command_buffers: Count {
                issued: total(|issued| issued.command_buffers),
                found: found_in_each(runs, |recorded| recorded.command_buffers),
            },
            encoders: Count {
                issued: total(|issued| issued.encoders),
                found: found_in_each(runs, count_encoders),
            },
            dispatches: Count {
                issued: total(|issued| issued.dispatches),
                found: dispatches.collect(),
            },
            others: unissued_names(runs, &labels),
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

fn found_in_each(runs: &[PairRuns], count: impl Fn(&RecordedWork) -> u64) -> Vec<u64> {
    runs.iter().map(|pair| count(&pair.recorded)).collect()
}

fn count_label(issued: &IssuedLabel, runs: &[PairRuns]) -> LabelCount {
    let found = |recorded: &RecordedWork| -> NameCounts {
        let counts = recorded.found.get(&issued.label).copied();
        counts.unwrap_or_default()
    };
    let dispatches_each = issued.dispatches.checked_div(issued.encoders).unwrap_or(0);
    LabelCount {
        label: issued.label.clone(),
        encoders: Count {
            issued: issued.encoders,
            found: found_in_each(runs, |recorded| found(recorded).encoders),
        },
        intervals: found_in_each(runs, |recorded| found(recorded).intervals),
        dispatches: Count {
            issued: issued.dispatches,
            found: found_in_each(runs, |recorded| found(recorded).encoders * dispatches_each),
        },
    }
}

/// Returns the number of encoders. The recording counts merged encoders as one, so the number of
/// merged intervals is replaced by that of their encoders.
fn count_encoders(recorded: &RecordedWork) -> u64 {
    let numbered: u64 = recorded.found.values().map(|found| found.encoders).sum();
    let (merged, encoders) = recorded.coalesced;
    (numbered + encoders).saturating_sub(merged)
}

fn unissued_names(runs: &[PairRuns], labels: &[LabelCount]) -> Vec<UnissuedName> {
    let is_issued = |name: &str| labels.iter().any(|label| label.label == name);
    let names: BTreeSet<&String> = runs
        .iter()
        .flat_map(|pair| pair.recorded.found.keys())
        .filter(|name| !is_issued(name))
        .collect();

    let names = names.into_iter().map(|name| UnissuedName {
        name: name.clone(),
        intervals: found_in_each(runs, |recorded| {
            recorded
                .found
                .get(name)
                .map_or(0, |counts| counts.intervals)
        }),
    });
    names.collect()
}
