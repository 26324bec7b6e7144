//! Builds the table of thresholds: the newest recording of each work beside the earlier ones.

use metalens_analyzer::message::{count, name};
use metalens_analyzer::{Message, Wanted, message};
use metalens_batch::Index;
use metalens_comparison::many::{self, IndexRow, RowThreshold, SameWorkGroup};
use metalens_comparison::{Number, median};

use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::report::{missed_sentence, threshold_value};
use crate::wording::{known, plain};

/// Largest number of lines on a page of text.
const MOST: usize = 60;

/// Returns the thresholds with their reference; nothing if none is set.
pub(super) fn section(index: &Index) -> Option<Section> {
    let columns = vec![
        Column::name("same work"),
        Column::words("threshold"),
        Column::number("limit"),
        Column::number("reference"),
        Column::number("newest"),
        Column::words(""),
        Column::number("missed").spare(1),
    ];
    let caption =
        "Thresholds: the newest recording, and the median of the earlier ones as reference";
    let mut table = Table::new("work-thresholds", caption, columns).limited(MOST, usize::MAX);
    table.rest = " in index.html and index.json".into();
    for group in &index.groups {
        for cells in lines(index, group) {
            table.row(cells);
        }
    }
    if table.rows.is_empty() {
        return None;
    }
    let remark = "The reference is the median of the earlier recordings of the same work with the same \
                  limit; there is none without dates";
    let section = Section::new("thresholds", "Thresholds", 2).with(Block::Table(table));
    Some(section.with(Block::Remark(remark.into())))
}

/// Returns a sentence for each threshold that a recording misses.
#[must_use]
pub fn missed_in_row(row: &IndexRow) -> Vec<Message> {
    let missed = row.threshold_results.iter().filter(|one| one.missed);
    let sentences = missed.map(|one| match one.value {
        Some(value) => missed_sentence(
            &one.id,
            shown(one, value),
            one.wanted,
            shown(one, one.limit),
        ),
        None => message!("{} cannot be measured", plain(&one.id)),
    });
    sentences.collect()
}

/// Returns a line for each threshold of a group.
fn lines(index: &Index, group: &SameWorkGroup) -> Vec<[Cell; 7]> {
    let members = many::members(&index.rows, group);
    let dated = many::dated(&members);
    // Without dates for all, nobody knows which recording is the newest.
    let rows: Vec<&IndexRow> = if dated.len() == members.len() {
        dated.into_iter().map(|(_, row)| row).collect()
    } else {
        Vec::new()
    };
    let of_any = || members.iter().flat_map(|row| &row.threshold_results);
    let mut seen: Vec<&RowThreshold> = Vec::new();
    for one in of_any() {
        if !seen.iter().any(|other| is_same(other, one)) {
            seen.push(one);
        }
    }

    let lines = seen.into_iter().map(|threshold| {
        let all: Vec<&RowThreshold> = of_any().filter(|one| is_same(one, threshold)).collect();
        let missed = all.iter().filter(|one| one.missed).count() as u64;
        let in_order = rows.iter().filter_map(|row| {
            let mut results = row.threshold_results.iter();
            results.find(|one| is_same(one, threshold))
        });
        let in_order: Vec<&RowThreshold> = in_order.collect();
        let newest = in_order.last().copied().or_else(|| {
            // A single recording is the newest, dated or not.
            all.first().copied().filter(|_| members.len() == 1)
        });
        let earlier = in_order
            .split_last()
            .map_or(&[][..], |(_, earlier)| earlier);
        let earlier: Vec<f64> = earlier
            .iter()
            .filter_map(|one| one.value.map(Number::get))
            .collect();
        let reference = median(&earlier).and_then(Number::new);
        [
            name(&group.name).into(),
            plain(&threshold.id).into(),
            limit(threshold).into(),
            known(reference, |value| shown(threshold, value)).into(),
            known(newest.and_then(|one| one.value), |value| {
                shown(threshold, value)
            })
            .into(),
            newest.map_or_else(|| Cell::from("-"), verdict),
            message!("{} of {}", count(missed), count(all.len() as u64)).into(),
        ]
    });
    lines.collect()
}

/// Returns whether both are the same threshold with the same limit.
fn is_same(one: &RowThreshold, other: &RowThreshold) -> bool {
    (&one.id, one.limit) == (&other.id, other.limit)
}

fn shown(threshold: &RowThreshold, value: Number) -> Message {
    threshold_value(value.get(), threshold.unit)
}

fn limit(threshold: &RowThreshold) -> Message {
    let sign = match threshold.wanted {
        Wanted::Below => "<",
        Wanted::Above => ">",
    };
    message!("{} {}", sign, shown(threshold, threshold.limit))
}

fn verdict(threshold: &RowThreshold) -> Cell {
    match (threshold.missed, threshold.value) {
        (false, _) => Cell::verdict("PASS", Tone::Good),
        (true, Some(_)) => Cell::verdict("FAIL", Tone::Bad),
        (true, None) => Cell::verdict("NOT MEASURABLE", Tone::Doubtful),
    }
}
