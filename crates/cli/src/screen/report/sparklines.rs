//! The window at a glance: how busy the GPU was, part by part.

use metalens_analyzer::{UtilizationChunk, Report};

use super::Screen;
use crate::bars::{NONE, column};
use crate::screen::style::FAINT;
use crate::unbroken::{percent, short_time};

/// A line for the target, and one for others if there was anything of theirs.
pub(super) fn sparklines(report: &Report, screen: &mut Screen) {
    let chunks = &report.shape.utilization;
    let [first, second, ..] = chunks.as_slice() else {
        return;
    };
    screen.line("");
    line("busy", report, |chunk| chunk.busy_ns, screen);
    if chunks.iter().any(|chunk| chunk.others_ns > 0) {
        line("others", report, |chunk| chunk.others_ns, screen);
    }
    let each = short_time(second.start_ns - first.start_ns);
    let full = percent(1.0);
    let legend = format!("each column is {each}; full height is {full} busy, {NONE} is no work");
    screen.line(format!("  {FAINT}{:8}{legend}{FAINT:#}", ""));
}

fn line(name: &str, report: &Report, busy: impl Fn(&UtilizationChunk) -> u64, screen: &mut Screen) {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let columns = chunks.iter().zip(ends);
    let columns: String = columns
        .map(|(chunk, end_ns)| column(busy(chunk), end_ns - chunk.start_ns))
        .collect();
    screen.line(format!("  {FAINT}{name:<6}{FAINT:#}  {columns}"));
}
