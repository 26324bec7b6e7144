//! Compares the work that a bundled workload issued with the work that its recording has.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{Analysis, WorkFile};
use serde::Deserialize;

/// The work that a workload says it issued, including the warm-up.
#[derive(Debug, Deserialize)]
pub(crate) struct IssuedWork {
    whole: IssuedTotals,
    labels: Vec<IssuedLabel>,
}

/// Totals of issued work.
#[derive(Debug, Deserialize)]
struct IssuedTotals {
    command_buffers: u64,
    encoders: u64,
    dispatches: u64,
}

/// Issued work with one encoder label.
#[derive(Debug, Deserialize)]
struct IssuedLabel {
    label: String,
    encoders: u64,
    dispatches: u64,
}

impl IssuedWork {
    /// Reads what a workload reported about itself. The error is for the user alone.
    pub(crate) fn from_file(work: &WorkFile) -> Result<Self, String> {
        let program = work
            .program
            .clone()
            .ok_or_else(|| format!("{} does not describe its program", work.file))?;
        serde_json::from_value(program)
            .map_err(|_| format!("the program of {} is not a bundled workload", work.file))
    }
}

/// The work that a recording has.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedWork {
    /// Number of encoders by name.
    encoders: BTreeMap<String, u64>,
    command_buffers: u64,
    /// Number of intervals that the driver merged from several encoders.
    merged: u64,
    /// Number of these encoders.
    merged_encoders: u64,
}

impl RecordedWork {
    /// Counts the work of an analysis.
    pub(crate) fn from_analysis(analysis: &Analysis) -> Self {
        let mut encoders: BTreeMap<String, u64> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for interval in analysis.intervals() {
            // An interval without an encoder id counts as an encoder of its own.
            let is_new = interval.encoder.is_none_or(|id| seen.insert(id));
            *encoders.entry(interval.kernel.to_owned()).or_default() += u64::from(is_new);
        }

        let counts = &analysis.report.counts;
        Self {
            encoders,
            command_buffers: counts.command_buffers,
            merged: counts.coalesced,
            merged_encoders: counts.coalesced_encoders,
        }
    }

    fn encoders_of(&self, label: &IssuedLabel) -> u64 {
        self.encoders.get(&label.label).copied().unwrap_or_default()
    }

    /// Returns the number of dispatches that the encoders of a label are known to contain.
    fn dispatches_of(&self, label: &IssuedLabel) -> u64 {
        let each = label.dispatches.checked_div(label.encoders).unwrap_or(0);
        self.encoders_of(label) * each
    }

    /// Returns the number of encoders. The recording counts merged encoders as one, so the number of
    /// merged intervals is replaced by that of their encoders.
    fn all_encoders(&self) -> u64 {
        let named: u64 = self.encoders.values().sum();
        (named + self.merged_encoders).saturating_sub(self.merged)
    }

    /// Returns whether each label has all its encoders, and every name is a label.
    fn has_the_labels(&self, labels: &[IssuedLabel]) -> bool {
        let names: BTreeSet<&str> = labels.iter().map(|label| label.label.as_str()).collect();
        self.encoders
            .keys()
            .all(|name| names.contains(name.as_str()))
            && labels
                .iter()
                .all(|label| self.encoders_of(label) == label.encoders)
    }
}

/// Numbers of things issued by a workload and found in its recording.
#[derive(Debug)]
pub(crate) struct WorkCounts {
    pub(crate) verdict: CountVerdict,
    pub(crate) command_buffers: Count,
    /// Merged encoders count as far as the label of their interval shows how many there were.
    pub(crate) encoders: Count,
    /// A recording has no dispatches, so the found number is that of the dispatches that the found
    /// encoders are known to contain. It is too low if the driver merged encoders.
    pub(crate) dispatches: Count,
}

/// Result of comparing the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountVerdict {
    /// Everything issued was found, and nothing else.
    Equal,
    /// Everything issued was found, but the driver merged several encoders into intervals with
    /// other names.
    Coalesced,
    /// Something issued was not found, or something found was not issued.
    Different,
}

/// Number issued, and number found.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) issued: u64,
    pub(crate) found: u64,
}

impl Count {
    fn is_equal(&self) -> bool {
        self.issued == self.found
    }
}

impl WorkCounts {
    /// Compares issued work with that of a recording.
    pub(crate) fn new(issued: &IssuedWork, recorded: &RecordedWork) -> Self {
        let command_buffers = Count {
            issued: issued.whole.command_buffers,
            found: recorded.command_buffers,
        };
        let encoders = Count {
            issued: issued.whole.encoders,
            found: recorded.all_encoders(),
        };
        let labels = issued.labels.iter();
        let dispatches = Count {
            issued: issued.whole.dispatches,
            found: labels.map(|label| recorded.dispatches_of(label)).sum(),
        };

        let has_totals = command_buffers.is_equal() && encoders.is_equal();
        let verdict = match (has_totals, recorded.has_the_labels(&issued.labels)) {
            (true, true) => CountVerdict::Equal,
            (true, false) if recorded.merged > 0 => CountVerdict::Coalesced,
            _ => CountVerdict::Different,
        };
        Self {
            verdict,
            command_buffers,
            encoders,
            dispatches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two labels: 6 encoders of 1 dispatch, 3 encoders of 8.
    const ISSUED: &str = r#"{
        "whole": { "command_buffers": 3, "encoders": 9, "dispatches": 30 },
        "labels": [
            { "label": "sin", "encoders": 6, "dispatches": 6 },
            { "label": "scale", "encoders": 3, "dispatches": 24 }
        ]
    }"#;

    /// Returns the work of a recording with these names, each with its encoders.
    fn recorded(command_buffers: u64, encoders: &[(&str, u64)]) -> RecordedWork {
        let named = encoders
            .iter()
            .map(|&(name, count)| (name.to_owned(), count));
        RecordedWork {
            encoders: named.collect(),
            command_buffers,
            ..RecordedWork::default()
        }
    }

    fn check(recorded: &RecordedWork, verdict: CountVerdict, encoders: u64, dispatches: u64) {
        let issued = serde_json::from_str(ISSUED).unwrap();
        let counts = WorkCounts::new(&issued, recorded);
        assert_eq!(counts.verdict, verdict, "{counts:?}");
        assert_eq!(counts.encoders.found, encoders);
        assert_eq!(counts.dispatches.found, dispatches);
    }

    #[test]
    fn lost_and_merged_work_is_found() {
        use CountVerdict::{Coalesced, Different, Equal};
        check(&recorded(3, &[("sin", 6), ("scale", 3)]), Equal, 9, 30);
        check(&recorded(3, &[("sin", 5), ("scale", 3)]), Different, 8, 29);
        check(&recorded(3, &[("sin", 6), ("scale", 2)]), Different, 8, 22);
        check(&recorded(2, &[("sin", 6), ("scale", 3)]), Different, 9, 30);
        let other = [("sin", 6), ("scale", 3), ("present", 1)];
        check(&recorded(3, &other), Different, 10, 30);

        // The driver merged 4 and 2 encoders `sin` into two intervals.
        let merged = RecordedWork {
            merged: 2,
            merged_encoders: 6,
            ..recorded(3, &[("sin & sin", 2), ("scale", 3)])
        };
        check(&merged, Coalesced, 9, 24);
    }
}
