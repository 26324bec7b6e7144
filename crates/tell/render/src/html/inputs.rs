//! Makes the pages of what is not one analyzed recording: of two, and of a stored report.

use metalens_analyzer::{Analysis, Report};
use metalens_charts::Theme;
use metalens_comparison::Comparison;

use super::blocks::PageExtras;
use super::tiles::tiles;
use super::{PageFrame, STYLE, TABLES_SCRIPT, beside_tiles, comparison_page, page};
use crate::comparison::{self, pictures};
use crate::error::Result;

/// Returns a comparison as the page that `compare -o` writes. It has a picture if both sides were
/// analyzed.
pub fn comparison_page_of(
    compared: &Comparison,
    runs: Option<(Analysis, Analysis)>,
    show_names: bool,
) -> Result<String> {
    let drawn = runs.map(|(base, new)| {
        let themes = [Theme::Light, Theme::Dark];
        pictures::pictures(compared, base, new, show_names, themes)
    });
    // A picture that cannot be drawn leaves the tables.
    let drawn = drawn.into_iter().flatten().flatten();
    let inline: Vec<String> = drawn.map(|picture| picture.svg()).collect();
    let document = comparison::document(compared, show_names);
    comparison_page(&document, compared, &inline)
}

/// Returns a stored report as a page. It has no timeline: a report does not have the intervals.
pub fn stored_report_page(stored: &Report) -> Result<String> {
    let frame = PageFrame {
        kind: "report",
        style: STYLE.to_owned(),
        tiles: tiles(stored, "gpu-time"),
        data: String::new(),
        script: TABLES_SCRIPT.to_owned(),
    };
    page(&beside_tiles(stored), &PageExtras::default(), &frame)
}
