//! Builds the section on what changed since the last page of the folder.

use metalens_analyzer::message::{count, counted, name, path};
use metalens_analyzer::{Message, message};
use metalens_batch::Index;
use metalens_comparison::many::{GroupSinceLast, SinceLast};
use metalens_comparison::{Change, ChangeClass};

use super::{cut_message, day_and_minute};
use crate::document::{Block, Item, Section};

/// Largest number of recordings that are named in a sentence.
const NAMED: usize = 5;
/// Largest number of groups that are listed.
const GROUPS: usize = 30;

/// Returns what changed; nothing without an earlier page.
pub(super) fn section(index: &Index) -> Option<Section> {
    let since = index.since.as_ref()?;
    let sentences = [
        listed(since.added.iter().map(|one| name_of(index, one)), "added"),
        listed(
            since.left_out.iter().map(String::as_str),
            "not on this page",
        ),
        listed(
            since.changed.iter().map(|one| name_of(index, one)),
            "with other figures",
        ),
    ];
    let sentences = sentences.into_iter().flatten().map(Item::from);
    let mut groups: Vec<Item> = since.groups.iter().map(group).collect();
    groups.sort_by_key(|item| !item.is_strong);
    groups.truncate(GROUPS);
    let items: Vec<Item> = sentences.chain(groups).collect();

    let section = Section::new("since", "Since the last page", 1);
    Some(
        section
            .with(Block::List(items))
            .with(Block::Remark(last(since))),
    )
}

/// Returns the name of the recording that a report is about.
fn name_of<'a>(index: &'a Index, report: &'a str) -> &'a str {
    let mut rows = index.rows.iter();
    rows.find(|row| row.report == report)
        .map_or(report, |row| row.name.as_str())
}

/// Describes the last page.
fn last(since: &SinceLast) -> Message {
    let newest = since
        .newest
        .as_deref()
        .map(|newest| message!(", the newest of {}", name(&day_and_minute(newest))));
    message!(
        "The last page had {}{}. Added recordings are compared with those of the last page that did \
         the same work, as two sides (Hodges–Lehmann)",
        counted(since.recordings, "recording"),
        newest
    )
}

fn listed<'a>(names: impl Iterator<Item = &'a str>, what: &'static str) -> Option<Message> {
    let names: Vec<&str> = names.collect();
    let shown = names.iter().take(NAMED).map(|name| path(name));
    let shown = Message::joined(shown, ", ");
    let more = names.len().saturating_sub(NAMED) as u64;
    let more = (more > 0).then(|| message!(" and {} more", count(more)));
    let recordings = counted(names.len() as u64, "recording");
    (!names.is_empty()).then(|| message!("{} {}: {}{}", recordings, what, shown, more))
}

fn group(group: &GroupSinceLast) -> Item {
    let is_change = |change: &Change| {
        matches!(
            change.material_class(),
            ChangeClass::Grown | ChangeClass::Shrunk
        )
    };
    let findings = group.new_findings.len() + group.gone_findings.len();
    Item {
        text: cut_message(&group.says, &group.says_values),
        report: None,
        is_strong: findings > 0 || is_change(&group.window) || is_change(&group.busy),
    }
}
