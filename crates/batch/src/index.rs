//! Defines the index of a batch: rows, failures, outliers and trends.

use metalens_analyzer::units::counted;
use metalens_analyzer::{MessageMut, notes_mut};
use metalens_comparison::many::{
    self, AcrossDevices, FindingTotal, GroupTrend, SinceLast, TraceGroup, TraceOutlier, TraceRow,
};
use metalens_comparison::{Environment, distinct_environments};
use serde::{Deserialize, Serialize};

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.index/2";

/// An index of many traces. All times are whole nanoseconds; `null` means unknown or undefined,
/// never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Index {
    /// Name of the format: `metalens.index/2`.
    pub schema: String,
    /// Version of metalens that wrote it.
    pub metalens: String,
    /// A row for each analyzed trace, sorted by name.
    pub rows: Vec<TraceRow>,
    /// Traces that could not be analyzed, sorted by name.
    pub failed: Vec<FailedTrace>,
    /// Groups of traces of the same work, which are compared with each other.
    pub groups: Vec<TraceGroup>,
    /// Traces that are far from the others of their group.
    pub outliers: Vec<TraceOutlier>,
    /// Trends over time of groups with at least eight dated traces.
    pub trends: Vec<GroupTrend>,
    /// Environments in which the traces were recorded.
    #[serde(default)]
    pub environments: Vec<Environment>,
    /// Findings of all traces, each with the number of traces that have it.
    #[serde(default)]
    pub findings: Vec<FindingTotal>,
    /// Work that several chips did, with the figures of each chip.
    #[serde(default)]
    pub devices: Vec<AcrossDevices>,
    /// Difference from the last page of this folder that had other traces or figures. Null if there
    /// was none.
    #[serde(default)]
    pub since: Option<SinceLast>,
    /// Number of traces that were not analyzed because the batch was interrupted.
    pub unfinished: u64,
    /// Notes that a reader needs to interpret the index.
    pub notes: Vec<String>,
}

/// A trace that could not be analyzed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FailedTrace {
    /// Name of the trace.
    pub name: String,
    /// Path of the trace, as it was given or found.
    pub input: String,
    /// Reason of the failure.
    pub why: String,
    /// Advice on how to solve the problem. Null if there is none.
    pub hint: Option<String>,
    /// Reason and advice without the names of other processes, which pages leave out. None if
    /// neither names one.
    #[serde(skip)]
    pub unnamed: Option<(String, Option<String>)>,
    /// Folder of the batch with a slash, which pages leave out of texts: they lie in it.
    #[serde(skip)]
    pub folder: String,
}

impl Index {
    /// Makes the index of all results, sorted by name.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only a batch has results"))]
    pub(crate) fn new(
        mut rows: Vec<TraceRow>,
        mut failed: Vec<FailedTrace>,
        unfinished: u64,
        mut notes: Vec<String>,
    ) -> Self {
        rows.sort_by(|a, b| natural(&a.name, &b.name).then_with(|| a.input.cmp(&b.input)));
        failed.sort_by(|a, b| natural(&a.name, &b.name).then_with(|| a.input.cmp(&b.input)));

        if unfinished > 0 {
            let what = counted(unfinished, "trace");
            notes.push(format!(
                "interrupted: {what} not analyzed yet; run the same command again to continue"
            ));
        }

        many::mark_repeats(&mut rows);
        let groups = many::groups(&rows);
        let recordings = || rows.iter().filter(|row| row.same_as.is_none());
        let environments = distinct_environments(recordings().map(environment));
        let findings = recordings().map(|row| row.all_findings.as_slice());
        let findings = many::total_findings(findings);
        Self {
            environments,
            findings,
            devices: many::across_devices(&many::device_runs(&rows)),
            since: None,
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

/// Returns the environment of a trace.
fn environment(row: &TraceRow) -> Environment {
    Environment {
        gpu: row.gpu.clone(),
        model: row.model.clone(),
        os: row.os.clone(),
        instruments_version: row.instruments_version.clone(),
        frameworks: row.frameworks.clone(),
        synthetic: row.synthetic,
        of: vec![row.report.clone()],
    }
}

impl Index {
    /// Parses the JSON text of an index. None if it is something else, or of another version.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let index: Self = serde_json::from_str(text).ok()?;
        (index.schema == SCHEMA).then_some(index)
    }

    /// Adds what changed since the last page of the folder. If nothing did, keeps what the last page
    /// said. The page of an interrupted batch is a part of the one before.
    pub fn compare_with(&mut self, last: &Self) {
        let earlier = last.since.as_ref();
        let is_first = last.unfinished > 0 && earlier.is_none();
        let is_base = |row: &&TraceRow| {
            last.unfinished == 0 || !earlier.is_some_and(|one| one.added.contains(&row.report))
        };
        let rows: Vec<TraceRow> = last.rows.iter().filter(is_base).cloned().collect();
        if !is_first {
            let since = SinceLast::new(&rows, &self.rows, &self.groups);
            self.since = since.or_else(|| last.since.clone());
        }
    }

    /// Lends every sentence that may contain values, so that a caller can change it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let outliers = self.outliers.iter_mut();
        let outliers = outliers.map(|outlier| (&mut outlier.says, &mut outlier.says_values));
        let trends = self.trends.iter_mut();
        let trends = trends.map(|trend| (&mut trend.says, &mut trend.says_values));
        let since = self.since.iter_mut().flat_map(|since| &mut since.groups);
        let since = since.map(|group| (&mut group.says, &mut group.says_values));
        let sentences = outliers.chain(trends).chain(since);
        let sentences = sentences.map(|(text, values)| MessageMut { text, values });

        let problems = self.rows.iter_mut();
        let problems =
            problems.flat_map(|row| notes_mut(&mut row.problems, &mut row.problem_details));
        sentences.chain(problems)
    }
}

/// Compares names with numbers by their size: `b2` before `b10`.
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let order = match (split(left), split(right)) {
            (None, None) => return a.cmp(b),
            (one, other) if one.is_none() || other.is_none() => {
                return one.is_some().cmp(&other.is_some());
            }
            (Some((one, rest)), Some((other, more))) => {
                (left, right) = (rest, more);
                if is_number(one) && is_number(other) {
                    by_size(one, other)
                } else {
                    one.cmp(other)
                }
            }
            _ => return a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn by_size(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
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
