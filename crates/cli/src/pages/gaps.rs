//! Every gap as a line of CSV, for spreadsheets and scripts.

use std::io::Write;

use metalens_analyzer::Analysis;
use metalens_text::csv;

const HEADINGS: [&str; 13] = [
    "start_ns",
    "duration_ns",
    "cause",
    "completion_ns",
    "host_ns",
    "encoding_ns",
    "submission_ns",
    "queued_ns",
    "contention_ns",
    "unknown_ns",
    "serialized",
    "before",
    "after",
];

/// Writes a heading, and a line per gap; the parts of each sum to its length.
pub(crate) fn gaps(analysis: &Analysis, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut csv = csv::Writer::new(out);
    csv.texts(HEADINGS)?;
    for gap in analysis.gaps() {
        csv.value(gap.start_ns)?;
        csv.value(gap.duration_ns)?;
        csv.text(gap.cause.name())?;
        for (_, ns) in gap.parts.by_cause() {
            csv.value(ns)?;
        }
        csv.optional(gap.serialized)?;
        csv.text(gap.before)?;
        csv.text(gap.after)?;
        csv.end()?;
    }
    Ok(())
}
