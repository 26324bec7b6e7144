//! What a comment on a report is filled from.

use metalens_analyzer::Report;
use minijinja::context;
use minijinja::value::Value;

use super::{Picture, charts};
use crate::pages::words::plain_contents;

pub(super) const TEMPLATE: &str = include_str!("../../../../../templates/comment-report.md");
/// A longer list of kernels is not read, even where there is room.
const MOST_KERNELS: usize = 400;
/// Notes that a reader must see come before everything: not more than these.
const MOST_LOUD: usize = 8;

pub(super) fn contents(report: &Report, pictures: &[Picture]) -> Value {
    let instead = [
        ("timeline", charts::timeline(report)),
        ("idle", charts::ledger(report)),
        ("kernels", None),
        ("gaps", charts::gaps(report)),
    ];
    let loud = report.loud_notes().map(|note| note.text).take(MOST_LOUD);
    context! {
        charts => charts::charts(pictures, &instead),
        loud => loud.collect::<Vec<_>>(),
        kernel_count => report.kernels.len(),
        ..plain_contents(&shortened(report))
    }
}

/// Without the kernels that are never shown: thousands take their time.
fn shortened(report: &Report) -> Report {
    let mut report = report.clone();
    report.kernels.truncate(MOST_KERNELS);
    report
}

/// How many rows a section could show.
pub(super) fn rows_of(report: &Report, section: &str) -> usize {
    match section {
        "findings" => report.findings.len(),
        "kernel_list" => report.kernels.len().min(MOST_KERNELS),
        "notes" => report.quiet_notes().count().max(report.not_recorded.len()),
        _ => 0,
    }
}
