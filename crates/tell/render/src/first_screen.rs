//! Shortens documents to their first screen: at most forty lines of 100 columns.

use metalens_message::{Message, counted, message};

use crate::document::{Block, Section, Table};
use crate::wording::plain;

/// Names of sections that a first screen mentions.
const NAMES: usize = 6;

/// Returns the last lines of a first screen: what it leaves out, and the options that show it.
/// `counts` are the things that are left out of the sections shown, `page` says how to get a page.
pub(crate) fn more(
    counts: impl IntoIterator<Item = (usize, &'static str)>,
    left_out: &[Section],
    page: &str,
) -> Section {
    let counts = counts.into_iter().chain([(left_out.len(), "section")]);
    let counts = counts.filter(|&(number, _)| number > 0);
    let counts: Vec<Message> = counts
        .map(|(number, what)| counted(number as u64, what))
        .collect();
    let mut names: Vec<&str> = left_out.iter().map(|section| section.id).collect();
    names.dedup();
    let end = if names.len() > NAMES { ", …" } else { "" };
    let names = names.into_iter().take(NAMES).map(plain);

    let more = message!(
        "Not shown: {}. --full prints all, --section NAME one: {}{}; {}",
        Message::joined(counts, ", "),
        Message::joined(names, ", "),
        end,
        plain(page)
    );
    Section::new("more", "", 0).with(Block::Remark(more))
}

/// Keeps the columns with these keys.
pub(crate) fn keep_columns(table: &mut Table, keys: &[&str]) {
    let kept = table
        .columns
        .iter()
        .map(|column| keys.contains(&column.key.as_str()));
    let kept: Vec<bool> = kept.collect();
    retain(&mut table.columns, &kept);
    for row in &mut table.rows {
        retain(row, &kept);
    }
}

/// Keeps the first rows. Returns the number of the others, which the last lines of the screen count.
pub(crate) fn keep_rows(table: &mut Table, rows: usize) -> usize {
    let all = table.total.max(table.rows.len());
    table.rows.truncate(rows);
    table.total = table.rows.len();
    all - table.rows.len()
}

/// Keeps the items whose flag is set.
fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut flags = kept.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}
