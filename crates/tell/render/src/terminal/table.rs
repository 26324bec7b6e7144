//! Fits tables to a terminal: drops columns and shortens names until a line has room.

use std::collections::BTreeSet;

use metalens_text::columns::{Align, Columns, shorten, wrap};
use metalens_text::{Style, shorten_all, shown};
use unicode_width::UnicodeWidthStr;

use super::WIDEST_TEXT;
use super::style::{BAD, FAINT, GOOD, LOUD, VERDICT, cause_color};
use crate::bars::{bar, over_time};
use crate::document::{Cell, Column, ColumnKind, Look, Table, Tone};
use crate::wording::unbroken;

/// Least width to which names are shortened.
const SHORTEST_NAME: usize = 16;
/// Least width of the lines that sentences are broken into.
const SHORTEST_SENTENCE: usize = 24;
/// Length of the longest bar: in most tables, where a sentence follows it, and where that has little room.
const BARS: [usize; 3] = [30, 12, 6];
/// Least width of a line in which a sentence after a bar has room.
const ROOMY: usize = 90;

/// The lines of a table on a terminal.
#[derive(Debug)]
pub(super) struct TableLines {
    /// The lines, with the heading first.
    pub(super) lines: Vec<String>,
    /// Sentences that had no room in a line, each after the name of its row.
    pub(super) reasons: Vec<String>,
    /// Headings of the columns that had no room. Empty for all but the last of several tables.
    pub(super) dropped: Vec<String>,
}

/// Lays out tables with the same columns, so that they align with each other.
///
/// Without a line width the columns are those of a line of 100, and names have all their letters:
/// another program may read them.
pub(super) fn lay_out(tables: &[&Table], line_width: Option<usize>) -> Vec<TableLines> {
    let Some(first) = tables.first() else {
        return Vec::new();
    };
    let room = line_width.unwrap_or(WIDEST_TEXT);
    let texts: Vec<Vec<Vec<String>>> = tables.iter().map(|table| texts(table, room)).collect();
    let natural = natural_widths(&first.columns, texts.iter().flatten());
    let rows: Vec<&Vec<String>> = texts.iter().flatten().collect();
    let words = widest_words(tables, &texts);
    let least = least_widths(&first.columns, &natural, &words);
    let kept = kept_columns(&first.columns, &rows, &least, room);
    let whole = fitted_widths(&natural, &least, &kept, room);
    let shortest = least_widths(&first.columns, &natural, &[]);
    let mut widths = fitted_widths(&whole, &shortest, &kept, room);
    if line_width.is_none() {
        for ((width, natural), column) in widths.iter_mut().zip(&natural).zip(&first.columns) {
            if has_names(column) {
                *width = *natural;
            }
        }
    }

    let mut shown: Vec<Columns> = Vec::new();
    for (table, texts) in tables.iter().zip(&texts) {
        shown.push(columns(table, texts, &kept, &widths));
    }
    let all = shown.iter().map(Columns::widths);
    let common = all.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect());
    for columns in &mut shown {
        columns.at_least(common.as_deref().unwrap_or_default());
    }
    let shown = shown.iter().zip(tables);
    let mut shown: Vec<TableLines> = shown
        .map(|(columns, table)| TableLines {
            lines: columns.lines(),
            reasons: reasons(table, &kept),
            dropped: Vec::new(),
        })
        .collect();
    if let Some(last) = shown.last_mut() {
        last.dropped = dropped(&first.columns, &kept);
    }
    shown
}

/// Returns the cells of the rows that a terminal shows, as text.
fn texts(table: &Table, room: usize) -> Vec<Vec<String>> {
    let has_words = |column: &Column| column.kind == ColumnKind::Sentence;
    let [long, short, shortest] = BARS;
    let longest_bar = if !table.columns.iter().any(has_words) {
        long
    } else if room < ROOMY {
        shortest
    } else {
        short
    };
    let rows = table.rows.iter().take(table.short);
    let text = |cell: &Cell| match &cell.look {
        Look::Bar(part, whole, _) => bar(*part, *whole, longest_bar),
        Look::OverTime(busy, _) => over_time(busy),
        _ => shown(&cell.text.text).into_owned(),
    };
    rows.map(|row| row.iter().map(text).collect()).collect()
}

fn natural_widths<'a>(
    columns: &[Column],
    rows: impl Iterator<Item = &'a Vec<String>>,
) -> Vec<usize> {
    let headings = columns.iter();
    let mut widths: Vec<usize> = headings.map(|column| column.heading.text.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    widths
}

/// Returns the width of the widest cell of each column that is no name, but words of metalens.
fn widest_words(tables: &[&Table], texts: &[Vec<Vec<String>>]) -> Vec<usize> {
    let mut widest = Vec::new();
    let rows = tables.iter().zip(texts);
    for (row, texts) in rows.flat_map(|(table, texts)| table.rows.iter().zip(texts)) {
        widest.resize(row.len().max(widest.len()), 0);
        for (width, (cell, text)) in widest.iter_mut().zip(row.iter().zip(texts)) {
            if !cell.is_name() {
                *width = text.width().max(*width);
            }
        }
    }
    widest
}

/// Returns the least widths of columns. Names may be shortened; the words beside them in their column
/// are whole.
fn least_widths(columns: &[Column], natural: &[usize], words: &[usize]) -> Vec<usize> {
    let columns = columns.iter().zip(natural).enumerate();
    let least = columns.map(|(at, (column, &natural))| match column.kind {
        ColumnKind::Name | ColumnKind::Label => natural.min(
            words
                .get(at)
                .map_or(SHORTEST_NAME, |&words| words.max(SHORTEST_NAME)),
        ),
        // In three lines, or not at all.
        ColumnKind::Sentence => natural.min(SHORTEST_SENTENCE.max(natural.div_ceil(3) + 5)),
        ColumnKind::Number | ColumnKind::Words | ColumnKind::Bar => natural,
    });
    least.collect()
}

/// Returns the columns for which a line has room. A column that tells rows apart is never dropped.
fn kept_columns(
    columns: &[Column],
    rows: &[&Vec<String>],
    least: &[usize],
    line_width: usize,
) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let least = |at: &usize| least.get(*at).map_or(0, |least| least + 2);
    // A sentence takes most room, and can be told below the table.
    let rank = |at: &usize| {
        columns.get(*at).map_or(0, |column| match column.kind {
            ColumnKind::Sentence => u8::MAX,
            _ => column.spare,
        })
    };
    let all = distinct_names(columns, rows, kept.iter().copied());
    while kept.iter().map(least).sum::<usize>() > line_width {
        let tells_apart = |at: &usize| {
            let without = kept.iter().copied().filter(|column| column != at);
            columns.get(*at).is_some_and(has_names) && distinct_names(columns, rows, without) < all
        };
        let spare = kept.iter().copied();
        let spare = spare.filter(|at| rank(at) > 0 && !tells_apart(at));
        match spare.max_by_key(rank) {
            Some(at) => kept.retain(|&column| column != at),
            None => break,
        }
    }
    kept
}

/// Returns the number of rows that differ in their names and labels in some columns.
fn distinct_names(
    columns: &[Column],
    rows: &[&Vec<String>],
    of: impl Iterator<Item = usize>,
) -> usize {
    let of = of.filter(|&at| columns.get(at).is_some_and(has_names));
    let of: Vec<usize> = of.collect();
    let names = rows.iter().map(|row| {
        let cells = of.iter().filter_map(|&at| row.get(at));
        cells.collect::<Vec<_>>()
    });
    names.collect::<BTreeSet<_>>().len()
}

/// Returns the headings of columns that are not kept, without those that a heading does not describe.
fn dropped(columns: &[Column], kept: &[usize]) -> Vec<String> {
    let columns = columns.iter().enumerate();
    let dropped = columns.filter(|(at, column)| {
        // Sentences are told below the table, and a bar repeats its number.
        let is_elsewhere = matches!(column.kind, ColumnKind::Sentence | ColumnKind::Bar);
        !kept.contains(at) && !is_elsewhere
    });
    let headings = dropped.map(|(_, column)| shown(&column.heading.text).into_owned());
    headings.filter(|heading| !heading.is_empty()).collect()
}

/// Returns the widths of columns. The widest names are shortened first.
fn fitted_widths(
    natural: &[usize],
    least: &[usize],
    kept: &[usize],
    line_width: usize,
) -> Vec<usize> {
    let mut widths = natural.to_vec();
    let total = |widths: &[usize]| -> usize {
        let kept = kept.iter().filter_map(|&at| widths.get(at));
        kept.map(|width| width + 2).sum()
    };
    while total(&widths) > line_width {
        let widest = kept
            .iter()
            .filter(|at| {
                let least = least.get(**at);
                least.is_some_and(|least| widths.get(**at).is_some_and(|width| width > least))
            })
            .max_by_key(|at| widths.get(**at));
        match widest.and_then(|&at| widths.get_mut(at)) {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    widths
}

/// Returns whether the cells of a column are shortened where there is no room.
fn has_names(column: &Column) -> bool {
    matches!(column.kind, ColumnKind::Name | ColumnKind::Label)
}

/// Shortens the names of a table to the widths of their columns, so that no two become alike.
fn shortened(table: &Table, texts: &[Vec<String>], widths: &[usize]) -> Vec<Vec<String>> {
    let mut texts = texts.to_vec();
    let columns = table.columns.iter().zip(widths).enumerate();
    for (at, (_, &width)) in columns.filter(|(_, (column, _))| has_names(column)) {
        let names = texts
            .iter()
            .map(|row| row.get(at).map_or("", String::as_str));
        let short = shorten_all(&names.collect::<Vec<_>>(), &|name| name.width() <= width);
        for (row, short) in texts.iter_mut().zip(short) {
            if let Some(cell) = row.get_mut(at) {
                *cell = short;
            }
        }
    }
    texts
}

fn columns(table: &Table, texts: &[Vec<String>], kept: &[usize], widths: &[usize]) -> Columns {
    let headings = kept.iter().filter_map(|&at| table.columns.get(at));
    let headings = headings.map(|column| {
        let align = match column.kind {
            ColumnKind::Number => Align::Right,
            _ => Align::Left,
        };
        (column.heading.text.as_str(), align)
    });

    let mut shown = Columns::new(&headings.collect::<Vec<_>>());
    let texts = shortened(table, texts, widths);
    for (row, texts) in table.rows.iter().zip(&texts) {
        let cells = kept.iter().filter_map(|&at| {
            let (cell, column) = (row.get(at)?, table.columns.get(at)?);
            let lines = lines(cell, column.kind, texts.get(at)?, *widths.get(at)?);
            Some((lines, style(cell)))
        });
        let cells: Vec<(Vec<String>, Style)> = cells.collect();
        let height = cells.iter().map(|(lines, _)| lines.len()).max();
        for line in 0..height.unwrap_or(0) {
            let line_of = |(lines, style): &(Vec<String>, Style)| {
                (lines.get(line).cloned().unwrap_or_default(), *style)
            };
            shown.styled_row(cells.iter().map(line_of));
        }
    }
    shown
}

/// Returns a cell in its width: a sentence in several lines, anything else in one.
fn lines(cell: &Cell, kind: ColumnKind, text: &str, width: usize) -> Vec<String> {
    match kind {
        ColumnKind::Sentence => wrap(&shown(&unbroken(&cell.text)), width),
        _ => vec![shorten(text, width)],
    }
}

fn style(cell: &Cell) -> Style {
    match cell.look {
        Look::Verdict(tone) => match tone {
            Tone::Good => GOOD,
            Tone::Bad => BAD,
            Tone::Doubtful => LOUD,
            Tone::Faint => FAINT,
            Tone::Strong => VERDICT,
        },
        Look::Bar(_, _, Some(cause)) => cause_color(cause),
        _ => Style::NONE,
    }
}

/// Returns the sentences that have no column, of rows whose verdict asks for a reason.
fn reasons(table: &Table, kept: &[usize]) -> Vec<String> {
    let columns = table.columns.iter().enumerate();
    let sentences: Vec<usize> = columns
        .filter(|(at, column)| column.kind == ColumnKind::Sentence && !kept.contains(at))
        .map(|(at, _)| at)
        .collect();
    let asking = table.rows.iter().take(table.short);
    let asking = asking.filter(|row| row.iter().any(Cell::asks_for_reason));
    let told = asking.flat_map(|row| {
        let name = row.first().map_or("", |cell| cell.text.text.as_str());
        let sentences = sentences.iter().filter_map(|&at| row.get(at));
        let told = sentences.filter(|cell| !cell.text.text.is_empty());
        told.map(move |cell| format!("{name}: {}", unbroken(&cell.text)))
    });
    told.collect()
}
