//! Writes the page of a benchmark: its document, with the variants over one another.

use metalens_bench::Bench;

use super::blocks::{InlineChart, PageExtras};
use super::escape::{escaped, name};
use super::time_bars::{TIMES_STYLE, percent, time_bars, unbroken};
use super::{PageFrame, STYLE, TABLES_SCRIPT, page};
use crate::bench::{self, RUNS, Spread, SpreadRow, TIMES, time_parts};
use crate::error::Result;

const BENCH_STYLE: &str = include_str!("../../../../../templates/bench.css");
/// Largest number of variants that are drawn.
const MOST: usize = 30;

/// Returns a benchmark as a page that loads nothing; it links to the reports of its runs.
pub fn bench_page(result: &Bench) -> Result<String> {
    let drawn = [
        bench::spread(result).map(|spread| (RUNS.to_owned(), runs(&spread))),
        Some((TIMES.to_owned(), times(result))),
    ];
    let drawn: Vec<InlineChart> = drawn.into_iter().flatten().collect();
    let frame = PageFrame {
        kind: "bench",
        style: format!("{STYLE}{TIMES_STYLE}{BENCH_STYLE}"),
        tiles: String::new(),
        data: String::new(),
        script: TABLES_SCRIPT.to_owned(),
    };

    let extras = PageExtras {
        drawn: &drawn,
        colors: None,
    };
    page(&bench::document(result), &extras, &frame)
}

/// Returns all runs as points on one axis, a line for each variant.
fn runs(spread: &Spread) -> String {
    let rows: String = spread.rows.iter().map(row).collect();
    let (from, to) = (unbroken(&spread.ends.0), unbroken(&spread.ends.1));
    format!(
        "<div class=\"runs\">\n{rows}<div class=\"ends\"><span>{from}</span><span>{to}</span></div>\n\
         </div>\n<p class=\"faint\">Each point is a run; the line is their median.</p>\n"
    )
}

/// Returns the runs of a variant as a line.
fn row(row: &SpreadRow) -> String {
    let points = row.runs.iter().map(|place| {
        let place = percent(*place);
        format!("<i style=\"left:{place}\"></i>")
    });
    let points: String = points.collect();
    let (place, median) = (percent(row.median.0), unbroken(&row.median.1));
    let label = format!("{} runs, median {}", row.runs.len(), row.median.1);
    format!(
        "<div class=\"row\"><span class=\"who\">{}</span><div class=\"axis\" role=\"img\" \
         aria-label=\"{}\"><span class=\"inside\">{points}<b style=\"left:{place}\"></b></span></div>\
         <span class=\"value\">{median}</span></div>\n",
        name(&row.name),
        escaped(&label)
    )
}

/// Returns busy time and idle time by cause as bars on one scale.
fn times(result: &Bench) -> String {
    let variants = result.variants.iter().take(MOST);
    let all = variants
        .filter_map(|variant| Some((variant.name.clone(), time_parts(variant, result.basis)?)));
    time_bars(&all.collect::<Vec<_>>())
}
