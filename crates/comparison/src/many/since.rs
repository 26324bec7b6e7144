//! Says what changed between the rows of two indexes.

use std::collections::{BTreeSet, HashMap, HashSet};

use metalens_analyzer::message::{PlacedValue, counted, name};
use metalens_analyzer::{Message, message};
use serde::{Deserialize, Serialize};

use super::row::IndexRow;
use super::{SameWorkGroup, members};
use crate::by_turns::change_of_sides;
use crate::change::{Change, Floor};
use crate::number::Number;
use crate::sentences::became;
use crate::unit::Unit;

/// Changes since the last page of a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SinceLast {
    /// Number of recordings on the last page.
    pub recordings: u64,
    /// Start of its newest recording, ISO 8601. Null if it had no dated one.
    pub newest: Option<String>,
    /// Folders of reports that the last page did not have.
    pub added: Vec<String>,
    /// Names of recordings that only the last page had.
    pub left_out: Vec<String>,
    /// Folders of reports whose figures, findings or missed thresholds are others now.
    pub changed: Vec<String>,
    /// Groups of the same work with both recordings of the last page and added ones.
    pub groups: Vec<GroupSinceLast>,
}

/// Differences of added recordings from earlier ones of the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GroupSinceLast {
    /// Name of the group.
    pub group: String,
    /// Number of recordings that the last page had.
    pub before: u64,
    /// Number of added recordings.
    pub added: u64,
    /// Change of the window.
    pub window: Change,
    /// Change of the GPU time.
    pub busy: Change,
    /// Ids of findings that an added recording has, and no earlier one.
    pub new_findings: Vec<String>,
    /// Ids of findings that all earlier recordings have, and no added one.
    pub gone_findings: Vec<String>,
    /// The change in one sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

impl SinceLast {
    /// Compares the rows of the last page with those of this one. `None` if they are the same.
    #[must_use]
    pub fn new(last: &[IndexRow], rows: &[IndexRow], groups: &[SameWorkGroup]) -> Option<Self> {
        let before: HashMap<&str, &IndexRow> =
            last.iter().map(|row| (row.report.as_str(), row)).collect();
        let now: HashSet<&str> = rows.iter().map(|row| row.report.as_str()).collect();

        let reports = |is_wanted: &dyn Fn(&IndexRow) -> bool| {
            let wanted = rows.iter().filter(|row| is_wanted(row));
            wanted.map(|row| row.report.clone()).collect::<Vec<_>>()
        };
        let added = reports(&|row| !before.contains_key(row.report.as_str()));
        let changed = reports(&|row| {
            let old = before.get(row.report.as_str());
            old.is_some_and(|old| shown(old) != shown(row))
        });
        let left_out = last.iter().filter(|row| !now.contains(row.report.as_str()));
        let left_out: Vec<String> = left_out.map(|row| row.name.clone()).collect();
        if added.is_empty() && changed.is_empty() && left_out.is_empty() {
            return None;
        }

        let groups = groups.iter().filter_map(|group| {
            let members = members(rows, group).into_iter();
            let (new, old): (Vec<&IndexRow>, Vec<&IndexRow>) =
                members.partition(|row| added.contains(&row.report));
            GroupSinceLast::new(group, &old, &new)
        });
        let groups = groups.collect();
        let dated = last.iter().filter_map(|row| {
            let at = super::dates::parse(row.date.as_deref()?)?;
            Some((at, row.date.clone()?))
        });
        Some(Self {
            recordings: last.iter().filter(|row| row.same_as.is_none()).count() as u64,
            newest: dated.max_by_key(|(at, _)| *at).map(|(_, date)| date),
            added,
            left_out,
            changed,
            groups,
        })
    }
}

/// Returns what a reader of the page would see of a row.
fn shown(row: &IndexRow) -> (u64, u64, u64, u64, Vec<&str>, Vec<&str>) {
    let findings = row.all_findings.iter().map(|one| one.id.as_str());
    let missed = row.missed.iter().map(String::as_str);
    (
        row.span_ns,
        row.busy_ns,
        row.intervals,
        row.gaps.total_ns,
        findings.collect(),
        missed.collect(),
    )
}

impl GroupSinceLast {
    fn new(group: &SameWorkGroup, old: &[&IndexRow], new: &[&IndexRow]) -> Option<Self> {
        if old.is_empty() || new.is_empty() {
            return None;
        }
        let window = change(old, new, |row| row.span_ns);
        let busy = change(old, new, |row| row.busy_ns);
        let (had, has) = (finding_ids(old), finding_ids(new));
        let in_all = |id: &&str| {
            let mut old = old.iter();
            old.all(|row| row.all_findings.iter().any(|one| one.id == *id))
        };
        let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let new_findings = owned(has.difference(&had).copied().collect());
        let gone = had.difference(&has).copied().filter(in_all);
        let gone_findings = owned(gone.collect());

        let listed = |ids: &[String], what: &'static str| {
            let ids = ids.iter().map(|id| name(id));
            let ids = Message::joined(ids, ", ");
            (!ids.text.is_empty()).then(|| message!("; {} {}", what, ids))
        };
        let says = message!(
            "{}: window {}, GPU time {} ({} against {} of the last page){}{}",
            name(&group.name),
            became(&window, Unit::Ns)?,
            became(&busy, Unit::Ns)?,
            counted(new.len() as u64, "added recording"),
            counted(old.len() as u64, "recording"),
            listed(&new_findings, "new finding"),
            listed(&gone_findings, "no more")
        );
        let (says, says_values) = says.into_parts();
        Some(Self {
            group: group.name.clone(),
            before: old.len() as u64,
            added: new.len() as u64,
            window,
            busy,
            new_findings,
            gone_findings,
            says,
            says_values,
        })
    }
}

fn finding_ids<'a>(rows: &[&'a IndexRow]) -> BTreeSet<&'a str> {
    let findings = rows.iter().flat_map(|row| &row.all_findings);
    findings.map(|one| one.id.as_str()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 ns: 104 days")]
fn change(old: &[&IndexRow], new: &[&IndexRow], value: fn(&IndexRow) -> u64) -> Change {
    let values = |rows: &[&IndexRow]| -> Vec<Option<Number>> {
        rows.iter()
            .map(|row| Number::new(value(row) as f64))
            .collect()
    };
    change_of_sides(
        (&values(old), &values(new)),
        Unit::Ns,
        Floor::default(),
        0.0,
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::super::{RowFinding, groups};
    use super::*;

    fn rows(spans_us: &[u64]) -> Vec<IndexRow> {
        let days = (1..).zip(spans_us);
        let rows = days.map(|(day, span)| IndexRow {
            span_ns: span * 1_000,
            ..row(&format!("t{day}"), day, 0.9)
        });
        rows.collect()
    }

    fn since(last: &[IndexRow], now: &[IndexRow]) -> Option<SinceLast> {
        SinceLast::new(last, now, &groups(now))
    }

    #[test]
    fn the_same_rows_did_not_change() {
        let rows = rows(&[100, 101, 102]);
        assert_eq!(since(&rows, &rows), None);
    }

    #[test]
    fn added_recordings_are_compared_with_the_earlier_ones() {
        let now = rows(&[100, 101, 102, 100, 101, 131, 130, 132, 130, 131]);
        let found = since(&now[..5], &now).unwrap();
        assert_eq!(found.added, ["t6", "t7", "t8", "t9", "t10"]);
        assert_eq!(found.recordings, 5);
        assert_eq!(found.newest.as_deref(), Some("2026-01-05T09:00:00.000Z"));
        assert_eq!(
            found.groups[0].says,
            "bench on Apple M1, 1,000 GPU intervals in 40 command buffers, 4 kernels: window 101.0 \
             µs → 131.0 µs (+29.7 %), GPU time no significant change, 9.000 ms (5 added recordings \
             against 5 recordings of the last page)"
        );
    }

    #[test]
    fn findings_come_and_go() {
        let with = |mut rows: Vec<IndexRow>, ids: &[&str]| {
            let ids = ids.iter().map(|id| RowFinding {
                id: (*id).to_owned(),
                severity: metalens_analyzer::Severity::High,
                title: String::new(),
                effort: None,
                saves_ns: None,
            });
            let ids: Vec<RowFinding> = ids.collect();
            for row in &mut rows {
                row.all_findings.clone_from(&ids);
            }
            rows
        };
        let last = with(rows(&[100, 100]), &["serialized", "unlabeled"]);
        let added = with(rows(&[100, 100, 100]), &["unlabeled", "host-bound"]);
        let now = [last.clone(), added[2..].to_vec()].concat();
        let found = since(&last, &now).unwrap();
        assert_eq!(found.groups[0].new_findings, ["host-bound"]);
        assert_eq!(found.groups[0].gone_findings, ["serialized"]);
        let says = &found.groups[0].says;
        assert!(
            says.ends_with("; new finding host-bound; no more serialized"),
            "{says}"
        );
    }

    #[test]
    fn left_out_and_changed_recordings_are_named() {
        let last = rows(&[100, 101, 102]);
        let mut now = rows(&[100, 101]);
        now[0].missed = vec!["utilization".to_owned()];
        let found = since(&last, &now).unwrap();
        assert_eq!(
            (found.left_out, found.changed),
            (vec!["t3".to_owned()], vec!["t1".to_owned()])
        );
        assert!(found.groups.is_empty() && found.added.is_empty());
    }
}
