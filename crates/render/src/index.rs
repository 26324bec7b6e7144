//! Builds the document of a batch's index: many recordings at a glance, one row each.

use metalens_analyzer::message::{count, counted, kernel, path, percent, process};
use metalens_analyzer::{Bound, Message, Severity, message};
use metalens_batch::{FailedTrace, Index};
use metalens_comparison::many::TraceRow;

use crate::document::{Block, Cell, Chart, Column, Document, Item, Look, Section, Table};
use crate::markdown::{Picture, PictureSource};
use crate::wording::{cut, known, plain, sentence, short_time};

/// Largest number of rows on a page of text: GitHub shows half a megabyte.
const ROWS: usize = 400;
/// Largest number of outliers and problems that are listed.
const MOST_LISTED: usize = 30;
/// Largest length of a sentence, because names in it may be long.
const LONGEST_TEXT: usize = 600;

/// The pictures of a group of recordings over time.
#[derive(Debug, Clone)]
pub struct TrendPicture {
    /// Path of the PNG, relative to the index.
    pub path: String,
    /// The picture as SVG, in the light theme.
    pub svg: String,
    /// The picture as SVG, in the dark theme.
    pub dark_svg: String,
    /// Alternative text of the picture.
    pub alt: String,
}

/// Returns the pictures as Markdown shows them.
#[must_use]
pub fn shown(pictures: &[TrendPicture]) -> Vec<Picture> {
    let shown = pictures.iter().map(|picture| Picture {
        chart: picture.path.clone(),
        alt: picture.alt.clone(),
        width: 0,
        source: PictureSource::File(picture.path.clone()),
    });
    shown.collect()
}

/// Returns the document of an index. Folders and the names of other processes are left out unless
/// `show_names`.
#[must_use]
pub fn document(index: &Index, pictures: &[TrendPicture], show_names: bool) -> Document {
    let sections = [
        Some(opening(index)),
        outliers(index),
        (!index.rows.is_empty()).then(|| traces(index)),
        failed(index, show_names),
        trends(index, pictures),
        problems(index),
    ];
    Document {
        title: "GPU profiles".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}. index.csv has the same table, index.json everything. Dates are UTC in \
             charts, and in the recording's own time zone in the table.",
            index.metalens, index.schema
        )),
    }
}

fn opening(index: &Index) -> Section {
    let synthetic = index.rows.iter().filter(|row| row.synthetic).count() as u64;
    let synthetic = (synthetic > 0).then(|| {
        let [are, them] = if synthetic == 1 {
            ["is", "it"]
        } else {
            ["are", "them"]
        };
        let text = message!(
            "{} of the traces {} SYNTHETIC: no GPU ran any of {}",
            count(synthetic),
            are,
            them
        );
        Block::Warning(text)
    });
    let notes = index.notes.iter().map(|note| Block::Remark(plain(note)));
    Section::new("verdict", "", 0)
        .with(Block::Lead(headline(index)))
        .with_some(busy(&index.rows).map(Block::Text))
        .with_some(synthetic)
        .with_all(notes)
}

fn headline(index: &Index) -> Message {
    let failed = index.failed.len() as u64;
    let failed = (failed > 0).then(|| message!(", {} failed", count(failed)));
    let left = index.unfinished;
    let left = (left > 0).then(|| message!(", {} not done yet", count(left)));
    let done = counted(index.rows.len() as u64, "trace");
    message!("{} analyzed{}{}", done, failed, left)
}

/// Returns the range of the busy shares, and the facts that all rows have in common.
fn busy(rows: &[TraceRow]) -> Option<Message> {
    let shares: Vec<f64> = rows.iter().filter_map(|row| row.busy_ratio).collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    let most = shares.iter().copied().reduce(f64::max)?;
    let median = metalens_comparison::median(&shares)?;
    let busy = if shares.len() == 1 {
        message!("The GPU was busy {} of the time", percent(least))
    } else {
        let [least, most, median] = [least, most, median].map(percent);
        message!(
            "The GPU was busy {} to {} of the time (median {})",
            least,
            most,
            median
        )
    };
    let by = same(rows, |row| Some(&row.process));
    let by = by.map(|name| message!(" with {}", process(name, true)));
    let on = same(rows, |row| row.gpu.as_deref());
    let on = on.map(|gpu| message!(", on {}", message::name(gpu)));
    Some(message!("{}{}{}", busy, by, on))
}

/// Returns the value that all rows share; a column of it would say nothing.
fn same<'a>(
    rows: &'a [TraceRow],
    value: impl Fn(&'a TraceRow) -> Option<&'a str>,
) -> Option<&'a str> {
    let first = value(rows.first()?)?;
    let mut all = rows.iter();
    all.all(|row| value(row) == Some(first)).then_some(first)
}

fn outliers(index: &Index) -> Option<Section> {
    let outliers = index.outliers.iter().take(MOST_LISTED).map(|one| Item {
        text: cut_message(&one.says, &one.says_values),
        report: Some(one.report.clone()),
        is_strong: false,
    });
    let method = "An outlier differs from the median of at least five traces of the same program \
                  on the same GPU: by more than 3.5 robust standard deviations (modified z-score), \
                  and by at least 5 % of the median (for the busy share, 2 points are enough)";
    let section = Section::new("outliers", "Outliers", 1)
        .with(Block::List(outliers.collect()))
        .with_some(more(index.outliers.len()))
        .with(Block::Remark(method.into()));
    (!index.outliers.is_empty()).then_some(section)
}

fn more(all: usize) -> Option<Block> {
    let more = all.saturating_sub(MOST_LISTED) as u64;
    (more > 0).then(|| Block::Remark(message!("{} more are in index.json", count(more))))
}

/// Returns a sentence, cut to the length that a page allows.
fn cut_message(text: &str, values: &[message::PlacedValue]) -> Message {
    if text.chars().nth(LONGEST_TEXT).is_some() {
        plain(cut(text, LONGEST_TEXT))
    } else {
        Message::new(text, values)
    }
}

fn traces(index: &Index) -> Section {
    let rows = &index.rows;
    let has_dates = rows.iter().any(|row| row.date.is_some());
    let has_thresholds = rows.iter().any(|row| row.thresholds > 0);
    let is_one_program = same(rows, |row| Some(&row.process)).is_some();
    let is_one_gpu = same(rows, |row| row.gpu.as_deref()).is_some();
    let mut columns = vec![
        Column::name("trace"),
        Column::words("verdict"),
        Column::bar("busy over time").spare(9),
        Column::number("busy"),
        Column::number("window"),
        Column::number("mean gap").spare(2),
        Column::words("top idle cause").spare(1),
        Column::label("finding"),
        Column::sentence("title"),
        Column::label("top kernel").spare(6),
        Column::number("intervals").spare(3),
        Column::number("kernels").spare(7),
        Column::number("gaps").spare(7),
        Column::number("median gap").spare(7),
        Column::number("p95 gap").spare(7),
        Column::number("machine busy").spare(7),
        Column::number("problems").spare(7),
    ];
    if has_thresholds {
        columns.push(Column::number("missed"));
        columns.push(Column::label("thresholds missed").spare(8));
    }
    columns.extend(has_dates.then(|| Column::words("recorded").spare(8)));
    columns.extend((!is_one_program).then(|| Column::label("program").spare(5)));
    columns.extend((!is_one_gpu).then(|| Column::label("GPU").spare(8)));

    let table = Table::new("traces", "All traces, by name", columns);
    let mut table = table.sortable().limited(ROWS, usize::MAX);
    for row in rows {
        let mut cells = trace_cells(row);
        if has_thresholds {
            cells.push(missed(row).into());
            cells.push(or_dash(row.missed.join(", ")).into());
        }
        cells.extend(has_dates.then(|| date(row).into()));
        cells.extend((!is_one_program).then(|| process(&row.process, true).into()));
        let gpu = row.gpu.as_deref().unwrap_or("-");
        cells.extend((!is_one_gpu).then(|| message::name(gpu).into()));
        table.row(cells);
    }
    table.rest = " in index.html and index.csv".into();
    Section::new("all", "Traces", 2).with(Block::Table(table))
}

fn trace_cells(row: &TraceRow) -> Vec<Cell> {
    let gaps = &row.gaps;
    let idle = row.idle.as_ref();
    let idle = idle.map(|idle| Cell {
        text: message!("{} {}", idle.cause.label(), percent(idle.share)),
        look: Look::Cause(idle.cause),
    });
    vec![
        Cell {
            text: path(&row.name),
            look: Look::Report(row.report.clone()),
        },
        row.bound.map_or("-", Bound::label).into(),
        Cell {
            text: Message::default(),
            look: Look::OverTime(row.busy_over_time.clone(), row.others_over_time.clone()),
        },
        known(row.busy_ratio, percent).into(),
        short_time(row.span_ns).into(),
        known(gaps.mean_ns, short_time).into(),
        idle.unwrap_or_else(|| "-".into()),
        finding(row),
        known(row.finding.as_ref(), |one| {
            plain(cut(&one.title, LONGEST_TEXT))
        })
        .into(),
        top_kernel(row).into(),
        count(row.intervals).into(),
        count(row.kernels).into(),
        count(gaps.count).into(),
        known(gaps.median_ns, short_time).into(),
        known(gaps.p95_ns, short_time).into(),
        known(row.machine_busy_ratio, percent).into(),
        count(row.problems.len() as u64).into(),
    ]
}

fn or_dash(text: String) -> Message {
    if text.is_empty() {
        "-".into()
    } else {
        plain(text)
    }
}

/// Returns the cell of the most important finding, which sorts by severity.
fn finding(row: &TraceRow) -> Cell {
    let Some(finding) = &row.finding else {
        return "-".into();
    };
    let (word, rank) = match finding.severity {
        Severity::High => ("HIGH", 4),
        Severity::Medium => ("MEDIUM", 3),
        Severity::Low => ("LOW", 2),
        Severity::Caveat => ("CAVEAT", 1),
    };
    Cell {
        text: plain(format!("{word} {}", finding.id)),
        look: Look::Ranked(rank),
    }
}

/// Returns the number of missed thresholds, of those that are set.
fn missed(row: &TraceRow) -> Message {
    message!(
        "{} of {}",
        count(row.missed.len() as u64),
        count(row.thresholds)
    )
}

fn top_kernel(row: &TraceRow) -> Message {
    let share = |pct: f64| percent(pct / 100.0);
    known(row.top_kernel.as_ref(), |top| {
        message!("{} {}", kernel(&top.name), share(top.time_pct))
    })
}

/// Returns `2026-03-30 13:02` for an ISO 8601 date, in the time zone of the recording.
fn date(row: &TraceRow) -> Message {
    let date = row.date.as_deref().unwrap_or_default();
    let minute = date.get(..16).unwrap_or(date);
    or_dash(minute.replacen('T', " ", 1))
}

fn failed(index: &Index, show_names: bool) -> Option<Section> {
    let columns = vec![Column::name("trace"), Column::sentence("reason")];
    let mut table = Table::new("failed", "Traces that could not be analyzed", columns);
    for one in &index.failed {
        let name = if show_names { &one.input } else { &one.name };
        let hint = one.hint.as_deref();
        let hint = hint.map(|hint| format!(" → {}", reason(one, hint, show_names)));
        let why = reason(one, &one.why, show_names) + &hint.unwrap_or_default();
        table.row([
            path(&cut(name, LONGEST_TEXT)),
            plain(cut(&why, LONGEST_TEXT)),
        ]);
    }
    let section = Section::new("failed", "Failed traces", 1).with(Block::Table(table));
    (!index.failed.is_empty()).then_some(section)
}

/// Returns the reason of a failure without the folders and names that pages leave out, unless
/// `show_names`: pages are posted.
pub(crate) fn reason(failed: &FailedTrace, text: &str, show_names: bool) -> String {
    if show_names {
        return text.to_owned();
    }
    let short = text.replace(&failed.input, &failed.name);
    let parts = failed.hidden.iter().filter(|(what, _)| !what.is_empty());
    parts.fold(short, |text, (what, instead)| text.replace(what, instead))
}

fn trends(index: &Index, pictures: &[TrendPicture]) -> Option<Section> {
    if index.trends.is_empty() {
        return None;
    }
    let (is, is_not): (Vec<_>, Vec<_>) = index.trends.iter().partition(|one| one.is_trend);
    let items = is.into_iter().chain(is_not).map(|one| Item {
        text: sentence(cut_message(&one.says, &one.says_values)),
        report: None,
        is_strong: one.is_trend,
    });
    let pictures = pictures.iter().map(|picture| Chart::picture(&picture.path));
    let method = "Dates are UTC. A trend is a rise or fall of at least eight dated traces of one \
                  program on one GPU with p below 0.05 (Mann–Kendall), by at least 5 % of the median \
                  (for the busy share, 2 points are enough); its rate is the Theil–Sen slope";
    let section = Section::new("trends", "Over time", 3)
        .with(Block::List(items.collect()))
        .with_all(pictures)
        .with(Block::Remark(method.into()));
    Some(section)
}

fn problems(index: &Index) -> Option<Section> {
    let problems = index.rows.iter().flat_map(|row| {
        let details = row
            .problem_details
            .iter()
            .map(|detail| detail.values.as_slice());
        let problems = row
            .problems
            .iter()
            .zip(details.chain(std::iter::repeat(&[][..])));
        problems.map(move |(text, values)| Item {
            text: message!("{}: {}", path(&row.name), cut_message(text, values)),
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
