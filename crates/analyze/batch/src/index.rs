//! Defines the index of a batch: rows, failures, outliers and trends.

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
        Self {
            environments,
            findings,
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            outliers: many::outliers(&rows, &groups),
            trends: many::trends(&rows, &groups),
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
fn natural(left: &str, right: &str) -> std::cmp::Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    loop {
        let order = match (split(left_rest), split(right_rest)) {
            (None, None) => return left.cmp(right),
            (left_part, right_part) if left_part.is_none() || right_part.is_none() => {
                return left_part.is_some().cmp(&right_part.is_some());
            }
            (Some((left_part, after_left)), Some((right_part, after_right))) => {
                (left_rest, right_rest) = (after_left, after_right);
                if is_number(left_part) && is_number(right_part) {
                    by_size(left_part, right_part)
                } else {
                    left_part.cmp(right_part)
                }
            }
            _ => return left.cmp(right),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn by_size(left: &str, right: &str) -> std::cmp::Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// Splits off the digits or non-digits that a text begins with.
fn split(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?.is_ascii_digit();
    let end = text.find(|letter: char| letter.is_ascii_digit() != first);
    Some(text.split_at(end.unwrap_or(text.len())))
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
