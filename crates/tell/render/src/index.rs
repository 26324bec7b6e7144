//! Builds the document of a batch's index: many recordings at a glance, one row each.

use std::collections::BTreeMap;

use metalens_analyzer::{Bound, Note, Severity, id};
use metalens_batch::{FailedRecording, Index};
use metalens_comparison::many::{self, IndexRow, SameWorkGroup, figure_name, figure_text};
use metalens_comparison::{GateResult, Number};
use metalens_message::{Message, Ns, Share, count, counted, message, path, percent, process};

use crate::document::{Block, Cell, Column, Document, Item, Look, Section, Table};
use crate::wording::{cut, known, plain, sentence, short_time};
use crate::{environment, finding_totals};

/// Id of notes on files that a folder of results lacks.
pub const FILE_MISSING: &str = "file-missing";
/// Id of the note that a simulator wrote a recording.
const SYNTHETIC: &str = "synthetic";
/// Largest number of rows on a page of text: GitHub shows half a megabyte.
const ROWS: usize = 400;
/// Largest number of outliers and problems that are listed.
const MOST_LISTED: usize = 30;
/// Largest length of a sentence, because names in it may be long.
const LONGEST_TEXT: usize = 600;

/// Returns the document of an index. Folders and the names of other processes are left out unless
/// `show_names`.
pub fn document(index: &Index, show_names: bool) -> Document {
    let sections = [
        Some(opening(index)),
        outliers(index),
        (!index.rows.is_empty()).then(|| table(index)),
        groups(index),
        findings(index),
        environment::section(&index.environments, environment::Of::Recordings),
        repeats(index),
        failed(index, show_names),
        trends(index),
        problems(index),
    ];
    Document {
        title: "GPU profiles".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}. index.csv has more columns, and index.json has everything. Dates are \
             in the time zone of the recording.",
            index.metalens, index.schema
        )),
    }
}

/// Returns the findings of all recordings.
fn findings(index: &Index) -> Option<Section> {
    let all = recordings(index).count() as u64;
    let totals = index.findings.as_slice();
    finding_totals::section([(None, all, totals)], "recordings")
}

fn opening(index: &Index) -> Section {
    let synthetic = recordings(index)
        .filter(|row| row.of.is_synthetic())
        .count() as u64;
    let synthetic = (synthetic > 0).then(|| {
        Block::Warning(if is_all_synthetic(index) {
            "SYNTHETIC: a simulator wrote all recordings; no GPU ran any of them".into()
        } else {
            message!(
                "SYNTHETIC: a simulator wrote {} of the recordings; no GPU ran any of these",
                count(synthetic)
            )
        })
    });
    let notes = index.notes.iter().map(|note| Block::Remark(plain(note)));
    let loud = |note: &&Note| note.is_loud() && note.id != SYNTHETIC && note.id != FILE_MISSING;
    let loud = index.rows.iter().flat_map(|row| {
        let notes = row.problems.iter().filter(loud);
        notes.map(|note| message!("{}: {}", path(&row.name), cut_message(&note.message)))
    });
    let mut loud: Vec<Block> = loud.map(Block::Warning).collect();
    let more = more(loud.len());
    loud.truncate(MOST_LISTED);
    Section::new("verdict", "", 0)
        .with(Block::Lead(headline(index)))
        .with_some(busy(index).map(Block::Text))
        .with_some(synthetic)
        .with_all(loud.into_iter().chain(more))
        .with_all(notes)
}

fn headline(index: &Index) -> Message {
    let failed = index.failed.len() as u64;
    let failed = (failed > 0).then(|| message!(", {} failed", count(failed)));
    let left = index.unfinished;
    let left = (left > 0).then(|| message!(", {} not done yet", count(left)));
    let done = counted(recordings(index).count() as u64, "recording");
    message!("{} analyzed{}{}", done, failed, left)
}

/// Returns whether no GPU ran any of the recordings. Then the page says so once, at the top.
fn is_all_synthetic(index: &Index) -> bool {
    index.rows.iter().all(|row| row.of.is_synthetic())
}

/// Returns the problems of a recording that the top of the page does not say about all of them.
fn own_problems<'a>(index: &Index, row: &'a IndexRow) -> Vec<&'a Note> {
    let is_own = |problem: &&Note| problem.id != SYNTHETIC || !is_all_synthetic(index);
    row.problems.iter().filter(is_own).collect()
}

/// Returns the rows that count: one for each recording.
fn recordings(index: &Index) -> impl Iterator<Item = &IndexRow> {
    index.rows.iter().filter(|row| row.same_as.is_none())
}

/// Returns the range of the busy shares, and the program; nothing for different work, of which a
/// range says nothing.
fn busy(index: &Index) -> Option<Message> {
    let [group] = index.groups.as_slice() else {
        return None;
    };
    let (range, median) = range(index, group, id!(busy.ratio?))?;
    let median = median.map(|median| message!(" (median {})", median));
    let by = process(&group.process, true);
    let on = group.gpu.as_deref();
    let on = on.map(|gpu| message!(", on {}", metalens_message::name(gpu)));
    Some(message!(
        "The GPU was busy {} of the time{} with {}{}",
        range,
        median,
        by,
        on
    ))
}

/// Returns the least and the greatest value of a group as text, and the median if these differ.
fn range(index: &Index, group: &SameWorkGroup, figure: &str) -> Option<(Message, Option<Message>)> {
    let text = |value: f64| Some(figure_text(figure, Number::new(value)?));
    let members = many::members(&index.rows, group).into_iter();
    let values = members.filter_map(|row| row.of.figure(figure));
    let values: Vec<f64> = values.map(Number::get).collect();
    let least = text(values.iter().copied().reduce(f64::min)?)?;
    let most = text(values.iter().copied().reduce(f64::max)?)?;
    if least == most {
        return Some((least, None));
    }
    let median = text(metalens_comparison::median(&values)?)?;
    Some((message!("{} to {}", least, most), Some(median)))
}

fn outliers(index: &Index) -> Option<Section> {
    let outliers = recordings(index).filter_map(|row| outlier(index, row));
    let mut outliers: Vec<Item> = outliers.collect();
    let more = more(outliers.len());
    outliers.truncate(MOST_LISTED);
    let method = "An outlier differs from the median of at least five recordings of the same work and level: by \
                  more than 3.5 robust standard deviations (modified z-score), and by at least 5 % of \
                  the median (for the busy share, 2 points are enough)";
    let section = Section::new("outliers", "Outliers", 1)
        .with(Block::List(outliers))
        .with_some(more)
        .with(Block::Remark(method.into()));
    (!index.outliers.is_empty()).then_some(section)
}

/// Returns the figures in which a recording is an outlier, each with the median of the same work.
fn outlier(index: &Index, row: &IndexRow) -> Option<Item> {
    let own = index
        .outliers
        .iter()
        .filter(|outlier| outlier.report == row.report);
    let figures = own.map(|outlier| {
        let figure = outlier.figure.as_str();
        message!(
            "{} {} (median {})",
            figure_name(figure),
            figure_text(figure, outlier.value),
            figure_text(figure, outlier.median)
        )
    });
    let figures = figures.reduce(|all, figure| message!("{}, {}", all, figure))?;
    Some(Item {
        text: message!("{}: {}", path(&cut(&row.name, LONGEST_TEXT)), figures),
        report: Some(row.report.clone()),
        is_strong: false,
    })
}

fn more(all: usize) -> Option<Block> {
    let more = all.saturating_sub(MOST_LISTED) as u64;
    (more > 0).then(|| Block::Remark(message!("{} more are in index.json", count(more))))
}

/// Returns a sentence, cut to the length that a page allows.
fn cut_message(message: &Message) -> Message {
    if message.text.chars().nth(LONGEST_TEXT).is_some() {
        plain(cut(&message.text, LONGEST_TEXT))
    } else {
        message.clone()
    }
}

fn table(index: &Index) -> Section {
    let rows: Vec<&IndexRow> = recordings(index).collect();
    let has_dates = rows.iter().any(|row| row.of.date.is_some());
    let has_gate = rows.iter().any(|row| row.gate.is_some());
    let mut columns = vec![
        Column::name("recording"),
        Column::words("verdict").spare(1),
        Column::words("finding"),
        Column::bar("busy over time").spare(3),
        Column::number("busy"),
        Column::number("window").spare(2),
        Column::words("top idle cause").spare(4),
    ];
    if has_gate {
        columns.push(Column::number("limits missed"));
        columns.push(Column::label("missed").spare(7));
    }
    columns.extend(has_dates.then(|| Column::words("recorded").spare(6)));
    columns.push(Column::label("program").spare(5));
    columns.push(Column::label("GPU").spare(8));

    let mut bare: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *bare.entry(bare_name(row)).or_default() += 1;
    }
    let table = Table::new("recordings", "All recordings, by name", columns);
    let mut table = table.sortable().limited(ROWS, usize::MAX);
    for row in rows {
        let is_only = bare.get(bare_name(row)) == Some(&1);
        let name = if is_only { bare_name(row) } else { &row.name };
        let mut cells = recording_cells(row, name);
        if has_gate {
            cells.push(missed(row).into());
            cells.push(or_dash(missed_figures(row)).into());
        }
        cells.extend(has_dates.then(|| date(row).into()));
        cells.push(process(&row.of.process, true).into());
        cells.push(metalens_message::name(row.of.gpu().unwrap_or("-")).into());
        table.row(cells);
    }

    table.rest = " in index.html and index.csv".into();
    let alike = alike(&mut table);
    let section = Section::new("all", "Recordings", 2).with(Block::Table(table));
    section.with_some(alike.map(Block::Remark))
}

/// Returns the name of a recording without the ending that most have.
fn bare_name(row: &IndexRow) -> &str {
    row.name.strip_suffix(".trace").unwrap_or(&row.name)
}

/// Removes the columns in which all rows are alike, and returns what they say.
fn alike(table: &mut Table) -> Option<Message> {
    let removed = table.remove_constant_columns();
    let says = |cell: &Cell| !["", "-"].contains(&cell.text.text.as_str());
    let alike = removed.iter().filter(|(_, cell)| says(cell));
    let alike = alike.map(|(heading, cell)| message!("{} {}", heading.clone(), cell.text.clone()));
    let alike = alike.reduce(|all, column| message!("{}; {}", all, column))?;
    Some(message!("The same in all: {}", alike))
}

/// Returns the groups of recordings that are compared with each other.
fn groups(index: &Index) -> Option<Section> {
    let is_compared = |group: &&SameWorkGroup| group.reports.len() > 1;
    let compared: Vec<&SameWorkGroup> = index.groups.iter().filter(is_compared).collect();
    let alone = (index.groups.len() - compared.len()) as u64;

    let columns = vec![
        Column::name("same work"),
        Column::number("recordings"),
        Column::words("busy"),
        Column::words("window"),
        Column::words("step").spare(1),
    ];
    let table = Table::new("groups", "Recordings of the same work", columns);
    let mut table = table.limited(MOST_LISTED, usize::MAX);
    table.rest = " in index.html and index.json".into();
    let [busy, window, step] = many::SEARCHED;
    for group in &compared {
        let range = |figure: &str| known(range(index, group, figure), |(range, _)| range);
        table.row([
            metalens_message::name(&group.name),
            count(group.reports.len() as u64),
            range(busy),
            range(window),
            range(step),
        ]);
    }

    let remark = match (compared.len(), alone) {
        (0, 0 | 1) => return None,
        (_, 0) => None,
        (0, _) => Some("No two recordings did the same work, so none are compared".into()),
        _ => Some(message!(
            "{} did work that no other one did, so nothing is compared with them",
            counted(alone, "recording")
        )),
    };
    let table = (!compared.is_empty()).then_some(Block::Table(table));
    let section = Section::new("groups", "Same work", 3).with_some(table);
    Some(section.with_some(remark.map(Block::Remark)))
}

/// Returns the inputs that are a recording of another input, which counts once.
fn repeats(index: &Index) -> Option<Section> {
    let name_of = |report: &str| {
        let mut rows = index.rows.iter();
        rows.find(|row| row.report == report).map(|row| &row.name)
    };
    let items = index.rows.iter().filter_map(|row| {
        let first = name_of(row.same_as.as_deref()?)?;
        Some(Item {
            text: message!("{} is the recording {}", path(&row.name), path(first)),
            report: Some(row.report.clone()),
            is_strong: false,
        })
    });
    let items: Vec<Item> = items.collect();
    let (all, is_any) = (items.len(), !items.is_empty());
    let shown = items.into_iter().take(MOST_LISTED).collect();
    let section = Section::new("repeats", "Counted once", 4).with(Block::List(shown));
    is_any.then(|| section.with_some(more(all)))
}

fn recording_cells(row: &IndexRow, name: &str) -> Vec<Cell> {
    let idle = row.idle.as_ref();
    let idle = idle.map(|idle| Cell {
        text: message!("{} {}", idle.cause.label(), idle.share),
        look: Look::Cause(idle.cause),
    });
    let verdict = row.bound.map_or("-", Bound::label);
    vec![
        Cell {
            text: path(name),
            look: Look::Report(row.report.clone()),
        },
        verdict.trim_start_matches("bound by ").into(),
        finding(row),
        Cell {
            text: Message::default(),
            look: Look::OverTime(row.busy_over_time.clone(), row.others_over_time.clone()),
        },
        known(row.of.figure(id!(busy.ratio?)), |share| {
            percent(Share(share.get()))
        })
        .into(),
        known(row.of.figure(id!(window.span_ns)), |ns| {
            short_time(Ns(ns.to_whole()))
        })
        .into(),
        idle.unwrap_or_else(|| "-".into()),
    ]
}

fn or_dash(text: String) -> Message {
    if text.is_empty() {
        "-".into()
    } else {
        plain(text)
    }
}

/// Returns the cell of the most important finding, which sorts by severity. A caveat stands there only
/// if there is no finding about speed.
fn finding(row: &IndexRow) -> Cell {
    let about_speed = row.findings.iter();
    let about_speed = about_speed.filter(|finding| finding.severity != Severity::Caveat);
    let most_severe = about_speed.min_by_key(|finding| finding.severity);
    let Some(shown) = most_severe.or(row.findings.first()) else {
        return "-".into();
    };
    let rank = match shown.severity {
        Severity::High => 4,
        Severity::Medium => 3,
        Severity::Low => 2,
        Severity::Caveat => 1,
    };
    let word = shown.severity.name().to_uppercase();
    Cell {
        text: plain(format!("{word} {}", shown.id)),
        look: Look::Finding(row.report.clone(), shown.id.clone(), rank),
    }
}

/// Returns the number of missed limits, of those that were judged.
fn missed(row: &IndexRow) -> Message {
    known(row.gate.as_ref(), |gate| {
        let missed = gate.missed_rows().count();
        message!(
            "{} of {}",
            count(missed as u64),
            count(gate.rows.len() as u64)
        )
    })
}

/// Returns the figures and kernels whose limits were missed.
pub(crate) fn missed_figures(row: &IndexRow) -> String {
    let missed = row.gate.iter().flat_map(GateResult::missed_rows);
    let names: Vec<&str> = missed.map(|row| row.what.as_str()).collect();
    names.join(", ")
}

/// Returns `2026-03-30 13:02` for an ISO 8601 date, in the time zone of the recording.
fn date(row: &IndexRow) -> Message {
    let date = row.of.date.as_deref().unwrap_or_default();
    let minute = date.get(..16).unwrap_or(date);
    or_dash(minute.replacen('T', " ", 1))
}

fn failed(index: &Index, show_names: bool) -> Option<Section> {
    let columns = vec![Column::name("input"), Column::sentence("reason")];
    let mut table = Table::new("failed", "Inputs that could not be analyzed", columns);
    for input in &index.failed {
        let name = if show_names {
            &input.input
        } else {
            &input.name
        };
        let (why, hint) = reason(input, show_names);
        let why = why + &hint.map_or_else(String::new, |hint| format!(" → {hint}"));
        table.row([
            path(&cut(name, LONGEST_TEXT)),
            plain(cut(&why, LONGEST_TEXT)),
        ]);
    }
    let section = Section::new("failed", "Failed inputs", 1).with(Block::Table(table));
    (!index.failed.is_empty()).then_some(section)
}

/// Returns the reason of a failure and the advice, without the folders and names that pages leave
/// out, unless `show_names`: pages are posted.
pub(crate) fn reason(failed: &FailedRecording, show_names: bool) -> (String, Option<String>) {
    let named = (failed.why.clone(), failed.hint.clone());
    if show_names {
        return named;
    }
    let (why, hint) = failed.unnamed.clone().unwrap_or(named);
    let short = |text: String| {
        let text = text.replace(&failed.input, &failed.name);
        // The name is beside it.
        let text = text.replace(&format!("{}: ", failed.name), "");
        if failed.folder.is_empty() {
            text
        } else {
            text.replace(&failed.folder, "")
        }
    };
    (short(why), hint.map(short))
}

fn trends(index: &Index) -> Option<Section> {
    if index.trends.is_empty() {
        return None;
    }
    let (is, is_not): (Vec<_>, Vec<_>) = index.trends.iter().partition(|trend| trend.is_trend);
    let items = is.into_iter().chain(is_not).map(|trend| Item {
        text: sentence(cut_message(&trend.says)),
        report: None,
        is_strong: trend.is_trend,
    });
    let method = "A change is a step to another level, or a steady rise or fall, among at least eight dated \
                  recordings of the same work, by at least 5 % of the median (for the busy share, 2 \
                  points are enough)";
    let section = Section::new("trends", "Over time", 3)
        .with(Block::List(items.collect()))
        .with(Block::Remark(method.into()));
    Some(section)
}

fn problems(index: &Index) -> Option<Section> {
    let problems = index.rows.iter().flat_map(|row| {
        let problems = own_problems(index, row).into_iter();
        problems.map(move |problem| Item {
            text: message!("{}: {}", path(&row.name), cut_message(&problem.message)),
            report: Some(row.report.clone()),
            is_strong: false,
        })
    });
    let mut items: Vec<Item> = problems.collect();
    let more = more(items.len());
    items.truncate(MOST_LISTED);
    if items.is_empty() {
        return None;
    }
    let section = Section::new("problems", "Problems", 4);
    Some(section.with(Block::List(items)).with_some(more))
}
