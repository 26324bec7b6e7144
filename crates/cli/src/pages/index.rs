//! `index.html`, `index.md` and `index.csv`: many traces at a glance, a row each.

use std::io::{self, Write};

use anyhow::Context;
use metalens_analyzer::Severity;
use metalens_analyzer::units::{count, counted, percent};
use metalens_batch::{FailedTrace, Index};
use metalens_comparison::many::TraceRow;
use metalens_text::csv;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, context};

use super::html::shown_in_html;
use super::markdown::escaped;
use super::timeline::{cut, short};
use super::words::add_words;
use crate::unbroken;

const HTML: &str = include_str!("../../../../templates/index.html");
const MARKDOWN: &str = include_str!("../../../../templates/index.md");
const STYLE: &str = include_str!("../../../../templates/report.css");
const MORE_STYLE: &str = include_str!("../../../../templates/index.css");
const SCRIPT: &str = include_str!("../../../../templates/index.js");

/// Of a sentence, only so many letters: names in it may be long.
const LONGEST_TEXT: usize = 600;
/// Rows of Markdown beyond this many are counted: GitHub shows half a megabyte.
const ROWS: usize = 400;
/// Outliers and problems beyond this many are counted.
const TOLD: usize = 30;
/// A thumbnail: so many pixels for all of the window, and for all of the time.
const THUMBNAIL: (usize, usize) = (120, 28);
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Pictures of a group over time.
#[derive(Debug, Clone)]
pub(crate) struct TrendPicture {
    /// Where it lies as PNG, seen from the index.
    pub(crate) path: String,
    /// It as SVG, dark on light.
    pub(crate) svg: String,
    /// And light on dark.
    pub(crate) dark_svg: String,
    /// What it shows, in words.
    pub(crate) alt: String,
}

/// The index as a page that needs nothing but itself and the reports.
pub(crate) fn index_html(
    index: &Index,
    pictures: &[TrendPicture],
    show_names: bool,
) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Html);
    pages.set_formatter(shown_in_html);
    pages.set_keep_trailing_newline(true);
    pages.set_trim_blocks(true);
    pages.set_lstrip_blocks(true);
    add_words(&mut pages);
    pages.add_filter("shortened", |name: &str| short(name));
    pages.add_filter("told", |text: &str| cut(text, LONGEST_TEXT));
    pages.add_filter("strip", |shares: Vec<u16>| strip(&shares));
    pages
        .add_template("index.html", HTML)
        .context("templates/index.html is broken")?;
    let safe = |text: String| Value::from_safe_string(text);
    let picture = |one: &TrendPicture| {
        // In a page an SVG element needs no namespace.
        let bare = |svg: &str| safe(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1));
        context! { light => bare(&one.svg), dark => bare(&one.dark_svg) }
    };
    let context = context! {
        style => safe(format!("{STYLE}{MORE_STYLE}")),
        script => safe(SCRIPT.to_owned()),
        pictures => pictures.iter().map(picture).collect::<Vec<_>>(),
        width => THUMBNAIL.0,
        height => THUMBNAIL.1,
        ..contents(&unbroken::index(index), show_names, usize::MAX, unbroken::percent)
    };
    let page = pages
        .get_template("index.html")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/index.html")
}

/// The index as Markdown; ends with a newline.
pub(crate) fn index_markdown(
    index: &Index,
    pictures: &[TrendPicture],
    show_names: bool,
) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Custom("markdown"));
    pages.set_formatter(escaped);
    pages.set_keep_trailing_newline(true);
    add_words(&mut pages);
    pages.add_filter("told", |text: &str| cut(text, LONGEST_TEXT));
    pages.add_filter("spark", |shares: Vec<u16>| spark(&shares));
    pages
        .add_template("index.md", MARKDOWN)
        .context("templates/index.md is broken")?;
    let picture = |one: &TrendPicture| {
        let (path, alt) = (&one.path, &one.alt);
        context! { path, alt }
    };
    let context = context! {
        pictures => pictures.iter().map(picture).collect::<Vec<_>>(),
        ..contents(index, show_names, ROWS, percent)
    };
    let page = pages
        .get_template("index.md")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/index.md")
}

fn contents(index: &Index, show_names: bool, most: usize, percent: fn(f64) -> String) -> Value {
    let rows: Vec<Value> = index.rows.iter().take(most).map(row).collect();
    let failed = index.failed.iter().map(|one| failure(one, show_names));
    let failed: Vec<Value> = failed.collect();
    let trends = index
        .trends
        .iter()
        .map(|one| context! { says => one.says.as_str(), is_trend => one.is_trend });
    let problems = index.rows.iter().flat_map(|row| {
        let said = row.problems.iter();
        said.map(|says| context! { report => row.report.as_str(), name => row.name.as_str(), says })
    });
    let problems: Vec<Value> = problems.collect();
    context! {
        headline => headline(index),
        busy => busy(&index.rows, percent),
        same_target => same(&index.rows, |row| Some(row.process.as_str())),
        same_gpu => same(&index.rows, |row| row.gpu.as_deref()),
        has_dates => index.rows.iter().any(|row| row.date.is_some()),
        more_rows => index.rows.len() - rows.len(),
        rows,
        failed,
        outliers => Value::from_serialize(index.outliers.iter().take(TOLD).collect::<Vec<_>>()),
        more_outliers => index.outliers.len().saturating_sub(TOLD),
        more_problems => problems.len().saturating_sub(TOLD),
        problems => problems.into_iter().take(TOLD).collect::<Vec<_>>(),
        trends => trends.collect::<Vec<_>>(),
        notes => Value::from_serialize(&index.notes),
        synthetic => index.rows.iter().filter(|row| row.synthetic).count(),
        version => index.metalens.as_str(),
        schema => index.schema.as_str(),
    }
}

fn row(row: &TraceRow) -> Value {
    let idle = row.idle.as_ref().map(|idle| {
        context! { cause => idle.cause.name(), share => idle.share, words => idle.cause.explanation() }
    });
    let finding = row.finding.as_ref().map(|finding| {
        let rank = match finding.severity {
            Severity::High => 3,
            Severity::Medium => 2,
            Severity::Low => 1,
            Severity::Caveat => 0,
        };
        context! { rank, ..Value::from_serialize(finding) }
    });
    context! {
        idle,
        finding,
        day => row.date.as_deref().map(minute),
        problem_count => row.problems.len(),
        ..Value::from_serialize(row)
    }
}

/// Pages are posted: what paths begin with is nobody's business.
fn failure(one: &FailedTrace, show_names: bool) -> Value {
    let hide = |text: &str| match show_names {
        true => text.to_owned(),
        false => hidden(one, text),
    };
    context! {
        name => match show_names {
            true => one.input.as_str(),
            false => one.name.as_str(),
        },
        why => hide(&one.why),
        hint => one.hint.as_deref().map(hide),
    }
}

/// A text without what is left out.
fn hidden(one: &FailedTrace, text: &str) -> String {
    let short = text.replace(&one.input, &one.name);
    let parts = one.hidden.iter().filter(|(what, _)| !what.is_empty());
    parts.fold(short, |text, (what, instead)| text.replace(what, instead))
}

fn headline(index: &Index) -> String {
    let done = counted(index.rows.len() as u64, "trace");
    let failed = match index.failed.len() as u64 {
        0 => String::new(),
        failed => format!(", {} failed", count(failed)),
    };
    let left = match index.unfinished {
        0 => String::new(),
        left => format!(", {left} not done yet"),
    };
    format!("{done} analyzed{failed}{left}")
}

/// From the least busy to the busiest.
fn busy(rows: &[TraceRow], percent: fn(f64) -> String) -> Option<String> {
    let shares: Vec<f64> = rows.iter().filter_map(|row| row.busy_ratio).collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    let most = shares.iter().copied().reduce(f64::max)?;
    let median = metalens_comparison::median(&shares)?;
    Some(match shares.len() {
        1 => format!("The GPU was busy {}", percent(least)),
        _ => format!(
            "The GPU was busy from {} to {}, median {}",
            percent(least),
            percent(most),
            percent(median)
        ),
    })
}

/// What all rows have, if it is the same: a column of it would say nothing.
fn same<'a>(rows: &'a [TraceRow], of: impl Fn(&'a TraceRow) -> Option<&'a str>) -> Option<&'a str> {
    let first = of(rows.first()?)?;
    rows.iter()
        .all(|row| of(row) == Some(first))
        .then_some(first)
}

/// `2026-03-30 13:02` of an ISO 8601 date, as it was on the recording's clock.
fn minute(date: &str) -> String {
    let date = date.get(..16).unwrap_or(date);
    date.replacen('T', " ", 1)
}

/// Shares, in thousandths, as the path of an SVG: steps from the floor up.
fn strip(shares: &[u16]) -> String {
    let (width, height) = THUMBNAIL;
    if shares.is_empty() {
        return String::new();
    }
    let mut path = format!("M0 {height}");
    for (at, &share) in shares.iter().enumerate() {
        // What there is, is seen.
        let up = (usize::from(share) * height + 500) / 1_000;
        let up = if share > 0 { up.max(1) } else { 0 };
        let right = (at + 1) * width / shares.len();
        path.push_str(&format!("V{}H{right}", height - up));
    }
    path.push_str(&format!("V{height}Z"));
    path
}

/// The same in letters, at most twenty.
fn spark(shares: &[u16]) -> String {
    const LETTERS: usize = 20;
    let each = shares.len().div_ceil(LETTERS).max(1);
    let letter = |some: &[u16]| {
        let sum: usize = some.iter().map(|&share| usize::from(share)).sum();
        let mean = sum / some.len().max(1);
        match sum {
            0 => '·',
            _ => {
                let level = (mean * LEVELS.len() + 500) / 1_000;
                LEVELS.get(level.clamp(1, 8) - 1).copied().unwrap_or('█')
            }
        }
    };
    shares.chunks(each).map(letter).collect()
}

const HEADINGS: [&str; 32] = [
    "name",
    "report",
    "date",
    "target",
    "model",
    "os",
    "gpu",
    "synthetic",
    "span_ns",
    "busy_ns",
    "busy_ratio",
    "machine_busy_ns",
    "machine_busy_ratio",
    "intervals",
    "kernels",
    "gaps",
    "idle_ns",
    "mean_gap_ns",
    "median_gap_ns",
    "p95_gap_ns",
    "idle_cause",
    "idle_cause_share",
    "top_kernel",
    "top_kernel_pct",
    "findings_high",
    "findings_medium",
    "findings_low",
    "findings_caveat",
    "top_finding",
    "missed_thresholds",
    "problems",
    "error",
];

/// Writes the index as CSV: a heading, and a line for each trace; those that failed come
/// last, with their reason.
pub(crate) fn index_csv(index: &Index, show_names: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::new(out);
    csv.texts(HEADINGS)?;
    for row in &index.rows {
        line(row, &mut csv)?;
    }
    for one in &index.failed {
        let (name, why) = match show_names {
            true => (&one.input, one.why.clone()),
            false => (&one.name, hidden(one, &one.why)),
        };
        csv.text(name.as_str())?;
        for _ in 2..HEADINGS.len() {
            csv.text(None)?;
        }
        csv.text(why.as_str())?;
        csv.end()?;
    }
    Ok(())
}

fn line(row: &TraceRow, csv: &mut csv::Writer<&mut dyn Write>) -> io::Result<()> {
    let (idle, kernel) = (row.idle.as_ref(), row.top_kernel.as_ref());
    let (gaps, findings) = (&row.gaps, &row.findings);

    csv.text(row.name.as_str())?;
    csv.text(row.report.as_str())?;
    csv.text(row.date.as_deref())?;
    csv.text(row.process.as_str())?;
    csv.text(row.model.as_deref())?;
    csv.text(row.os.as_deref())?;
    csv.text(row.gpu.as_deref())?;
    csv.value(row.synthetic)?;

    csv.value(row.span_ns)?;
    csv.value(row.busy_ns)?;
    csv.optional(row.busy_ratio)?;
    csv.value(row.machine_busy_ns)?;
    csv.optional(row.machine_busy_ratio)?;
    csv.value(row.intervals)?;
    csv.value(row.kernels)?;

    csv.value(gaps.count)?;
    csv.value(gaps.total_ns)?;
    csv.optional(gaps.mean_ns)?;
    csv.optional(gaps.median_ns)?;
    csv.optional(gaps.p95_ns)?;
    csv.text(idle.map(|idle| idle.cause.name()))?;
    csv.optional(idle.map(|idle| idle.share))?;
    csv.text(kernel.map(|kernel| kernel.name.as_str()))?;
    csv.optional(kernel.map(|kernel| kernel.time_pct))?;

    csv.value(findings.high)?;
    csv.value(findings.medium)?;
    csv.value(findings.low)?;
    csv.value(findings.caveat)?;
    csv.text(row.finding.as_ref().map(|finding| finding.id.as_str()))?;
    csv.text(row.missed.join(" ").as_str())?;
    csv.value(row.problems.len())?;
    csv.text(None)?;
    csv.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thumbnails() {
        assert_eq!(strip(&[]), "");
        assert_eq!(
            strip(&[1_000, 0, 1, 500]),
            "M0 28V0H30V28H60V27H90V14H120V28Z"
        );
        assert_eq!(spark(&[0, 1, 500, 1_000]), "·▁▄█");
        assert_eq!(spark(&[700; 60]).chars().count(), 20);
        assert_eq!(spark(&[]), "");
    }

    /// What the page itself has must not end its elements early, or load anything.
    #[test]
    fn style_and_script_are_closed_and_alone() {
        for part in [MORE_STYLE, SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"), "{part}");
            assert!(
                !part.contains("http") && !part.contains("innerHTML"),
                "{part}"
            );
        }
    }
}
