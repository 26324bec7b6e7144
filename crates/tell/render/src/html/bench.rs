//! Writes the page of a benchmark: its document, with the variants over one another.

use metalens_bench::Bench;

use super::blocks::PageExtras;
use super::time_bars::{TIMES_STYLE, time_bars};
use super::{PageFrame, STYLE, TABLES_SCRIPT, page};
use crate::bench::{self, TIMES, time_parts};
use crate::error::Result;

const BENCH_STYLE: &str = include_str!("../../../../../templates/bench.css");
/// Largest number of variants that are drawn.
const MOST: usize = 30;

/// Returns a benchmark as a page that loads nothing; it links to the reports of its runs.
pub fn bench_page(result: &Bench) -> Result<String> {
    let drawn = [(TIMES.to_owned(), times(result))];
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

/// Returns busy time and idle time by cause as bars on one scale.
fn times(result: &Bench) -> String {
    let variants = result.variants.iter().take(MOST);
    let all = variants
        .filter_map(|variant| Some((variant.name.clone(), time_parts(variant, result.basis)?)));
    time_bars(&all.collect::<Vec<_>>())
}
