//! Defines the index of a batch: rows, failures, outliers and trends.

use std::cmp::Ordering;

use metalens_comparison::many::{
    self, FindingTotal, GroupTrend, IndexOutlier, IndexRow, SameWorkGroup,
};
use metalens_comparison::{Environment, distinct_environments};
use metalens_message::Message;
use metalens_text::units::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.index/1";

/// An index of many recordings. All times are whole nanoseconds; `null` means unknown or undefined,
/// never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    /// Name of the format: `metalens.index/1`.
    pub schema: String,
    /// Version of metalens that wrote it.
    pub metalens: String,
    /// A row for each analyzed recording, sorted by name.
    pub rows: Vec<IndexRow>,
    /// Recordings that could not be analyzed, sorted by name.
    pub failed: Vec<FailedRecording>,
    /// Groups of recordings of the same work, which are compared with each other.
    pub groups: Vec<SameWorkGroup>,
    /// Recordings that are far from the others of their group.
    pub outliers: Vec<IndexOutlier>,
    /// Trends over time of groups with at least eight dated recordings.
    pub trends: Vec<GroupTrend>,
    /// Environments in which the recordings were recorded.
    pub environments: Vec<Environment>,
    /// Findings of all recordings, each with the number of recordings that have it.
    pub findings: Vec<FindingTotal>,
    /// Number of recordings that were not analyzed because the batch was interrupted.
    pub unfinished: u64,
    /// Notes that a reader needs to interpret the index.
    pub notes: Vec<String>,
}

/// A recording that could not be analyzed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRecording {
    /// Name of the recording.
    pub name: String,
    /// Path of the recording, as it was given or found.
    pub input: String,
    /// Reason of the failure.
    pub why: String,
    /// Advice on how to solve the problem. Null if there is none.
    pub hint: Option<String>,
    /// Reason and advice without the names of other processes, for pages. `None` if neither names
    /// one.
    #[serde(skip)]
    pub unnamed: Option<(String, Option<String>)>,
    /// Folder of the batch, with a slash at its end. Pages are in it, and leave it out of texts.
    #[serde(skip)]
    pub folder: String,
}

impl Index {
    /// Makes the index of all results, sorted by name.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only a batch has results"))]
    pub(crate) fn new(
        mut rows: Vec<IndexRow>,
        mut failed: Vec<FailedRecording>,
        unfinished: u64,
        mut notes: Vec<String>,
    ) -> Self {
        rows.sort_by(|left, right| {
            natural(&left.name, &right.name).then_with(|| left.input.cmp(&right.input))
        });
        failed.sort_by(|left, right| {
            natural(&left.name, &right.name).then_with(|| left.input.cmp(&right.input))
        });

        if unfinished > 0 {
            let what = counted(unfinished, "recording");
            notes.push(format!(
                "interrupted: {what} not analyzed yet; run the same command again to continue"
            ));
        }

        many::mark_repeats(&mut rows);
        let groups = many::groups(&rows);
        let recordings = || rows.iter().filter(|row| row.same_as.is_none());
        let environments =
            distinct_environments(recordings().map(|row| row.of.environment(&row.report)));
        let findings = recordings().map(|row| row.findings.as_slice());
        let findings = many::total_findings(findings);
        let (outliers, trends) = many::outliers_and_trends(&rows, &groups);
        Self {
            environments,
            findings,
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            outliers,
            trends,
            groups,
            rows,
            failed,
            unfinished,
            notes,
        }
    }
}

impl Index {
    /// Parses the JSON text of an index. Returns `None` for other texts and other versions.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let index: Self = serde_json::from_str(text).ok()?;
        (index.schema == SCHEMA).then_some(index)
    }

    /// Returns every sentence that may contain values, for a caller that changes it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let outliers = self.outliers.iter_mut().map(|outlier| &mut outlier.says);
        let trends = self.trends.iter_mut().map(|trend| &mut trend.says);
        let notes = self.rows.iter_mut().flat_map(|row| &mut row.problems);
        let problems = notes.map(|note| &mut note.message);
        outliers.chain(trends).chain(problems)
    }
}

/// Compares names, with the numbers in them by their size: `b2` comes before `b10`.
fn natural(left: &str, right: &str) -> Ordering {
    for (left, right) in parts(left).zip(parts(right)) {
        let order = match (digits(left), digits(right)) {
            (Some(left), Some(right)) => left.len().cmp(&right.len()).then(left.cmp(right)),
            _ => left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
    let counts = (parts(left).count(), parts(right).count());
    counts.0.cmp(&counts.1).then_with(|| left.cmp(right))
}

/// Splits a name into its numbers and what is between them.
fn parts(name: &str) -> impl Iterator<Item = &[u8]> {
    name.as_bytes()
        .chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit())
}

/// Returns the digits of a number without zeros before it; `None` for another part.
fn digits(part: &[u8]) -> Option<&[u8]> {
    let zeros = part.iter().take_while(|byte| **byte == b'0').count();
    part.get(zeros..)
        .filter(|_| part.first().is_some_and(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_their_size() {
        let mut names = [
            "b10", "b2", "a", "b2.trace", "b02", "", "b", "10", "9", "b2a10", "b2a9",
        ];
        names.sort_by(|a, b| natural(a, b));
        let expected = [
            "", "9", "10", "a", "b", "b02", "b2", "b2.trace", "b2a9", "b2a10", "b10",
        ];
        assert_eq!(names, expected);
    }
}
