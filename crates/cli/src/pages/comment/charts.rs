//! Charts in a comment: as pictures, light or dark as the reader likes, or made of
//! characters, of words that are ours.

use metalens_analyzer::units::{count, percent, short_time, time};
use metalens_analyzer::{UtilizationChunk, Report};
use minijinja::value::Value;

use super::{Picture, PictureSource};
use crate::bars::{NONE, bar, column};
use crate::pages::escape::{in_html, in_markdown};

/// The longest bar.
const BAR: usize = 32;

/// Each chart by its name: the picture if there is one, else `instead`.
pub(super) fn charts(pictures: &[Picture], instead: &[(&str, Option<String>)]) -> Value {
    let all = instead.iter().map(|(name, text)| {
        let picture = pictures.iter().find(|one| one.chart == *name);
        let block = match picture {
            Some(picture) => block(picture),
            // Pictures of others, and none of this: it could not be drawn.
            None if !pictures.is_empty() => String::new(),
            None => text.as_deref().map(fenced).unwrap_or_default(),
        };
        (*name, Value::from_safe_string(block))
    });
    Value::from_iter(all)
}

fn block(picture: &Picture) -> String {
    match &picture.source {
        PictureSource::Attached(path) => format!("![{}]({path})", in_markdown(&picture.alt)),
        PictureSource::Addresses { light, dark } => {
            let dark = dark.as_ref().map(|dark| {
                format!("<source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\">\n")
            });
            format!(
                "<picture>\n{}<img alt=\"{}\" src=\"{light}\" width=\"{}\">\n</picture>",
                dark.unwrap_or_default(),
                in_html(&picture.alt),
                picture.width
            )
        }
    }
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```", text.trim_end())
}

/// When the GPU was busy: a line for the target, and one for others if there were any.
pub(super) fn timeline(report: &Report) -> Option<String> {
    let chunks = &report.shape.utilization;
    let [first, second, ..] = chunks.as_slice() else {
        return None;
    };
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends: Vec<u64> = ends.chain([report.window.end_ns]).collect();
    let line = |busy: fn(&UtilizationChunk) -> u64| -> String {
        let columns = chunks.iter().zip(&ends);
        let columns = columns.map(|(one, end)| column(busy(one), end.saturating_sub(one.start_ns)));
        columns.collect()
    };
    let mut text = format!("busy    {}\n", line(|chunk| chunk.busy_ns));
    if chunks.iter().any(|chunk| chunk.others_ns > 0) {
        text.push_str(&format!("others  {}\n", line(|chunk| chunk.others_ns)));
    }
    let each = short_time(second.start_ns.saturating_sub(first.start_ns));
    text.push_str(&format!(
        "        each column is {each}; full height is {} busy, {NONE} is no work",
        percent(1.0)
    ));
    Some(text)
}

/// Where the idle time went.
pub(super) fn ledger(report: &Report) -> Option<String> {
    let whole = report.idle.total_ns;
    let parts = report.idle.parts.largest_first();
    let rows = parts.into_iter().map(|(cause, ns)| {
        (
            cause.label().to_owned(),
            time(ns),
            crate::words::share(ns, whole),
            bar(ns, whole, BAR),
        )
    });
    table(rows.collect())
}

/// How many gaps of which length, by the time that they make up.
pub(super) fn gaps(report: &Report) -> Option<String> {
    let whole = report.gaps.total_ns;
    let full = report
        .gaps
        .histogram
        .iter()
        .filter(|bucket| bucket.count > 0);
    let rows = full.map(|bucket| {
        let range = crate::pages::words::range_of(bucket.from_ns, bucket.to_ns, time);
        let gaps = format!("{} gaps", count(bucket.count));
        (
            range,
            gaps,
            time(bucket.total_ns),
            bar(bucket.total_ns, whole, BAR),
        )
    });
    table(rows.collect())
}

/// Names to the left, figures to the right, and the bar behind them.
pub(super) fn table(rows: Vec<(String, String, String, String)>) -> Option<String> {
    let width = |of: fn(&(String, String, String, String)) -> &String| {
        let widths = rows.iter().map(|row| of(row).chars().count());
        widths.max().unwrap_or(0)
    };
    let (name, first, second) = (
        width(|row| &row.0),
        width(|row| &row.1),
        width(|row| &row.2),
    );
    let lines = rows.iter().map(|row| {
        let line = format!(
            "{:name$}  {:>first$}  {:>second$}  {}",
            row.0, row.1, row.2, row.3
        );
        line.trim_end().to_owned()
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
