//! What a chart shows, for those who cannot see it: the numbers that matter.

use metalens_analyzer::Report;
use metalens_analyzer::units::{count, counted, percent, time};

use crate::canvas::{fault, limit, ratio};
use crate::chart::Chart;
use crate::gaps;

/// Number of notes in a text: nobody listens to more.
const MOST_NOTES: usize = 8;
/// Length of a note in a text, in characters.
const LONGEST_NOTE: usize = 500;

/// A chart in words.
#[must_use]
pub fn alt(chart: Chart, report: &Report) -> String {
    let busy = &report.summary.busy;
    let mut said = match chart {
        Chart::Timeline => {
            let fault = fault(report).map_or(String::new(), |fault| format!(" {fault}."));
            format!(
                "Timeline of the GPU. {busy}. {}.{fault}",
                report.summary.idle
            )
        }
        Chart::Idle => causes(report),
        Chart::Gaps => lengths(report),
        Chart::Busy => over_time(report),
        Chart::Kernels => kernels(report),
    };
    for note in report.loud_notes().take(MOST_NOTES) {
        said.extend(
            [' ']
                .into_iter()
                .chain(note.text.chars().take(LONGEST_NOTE)),
        );
        said.push('.');
    }
    crate::font::clean(&said).trim_end().to_owned()
}

fn causes(report: &Report) -> String {
    let ledger = &report.idle;
    let parts = ledger.parts.largest_first().into_iter().map(|(cause, ns)| {
        let share = percent(ratio(ns, ledger.total_ns));
        format!("{share} {} ({})", cause.label(), time(ns))
    });
    let parts: Vec<String> = parts.collect();
    let name = &report.process.name;
    match parts.is_empty() {
        true => format!("Idle time by cause of {name}: none."),
        false => format!(
            "Idle time by cause of {name}: {} in {}. {}.",
            time(ledger.total_ns),
            counted(report.gaps.count, "gap"),
            parts.join(", ")
        ),
    }
}

fn lengths(report: &Report) -> String {
    let target = limit(report, "average-gap").zip(report.gaps.mean_ns);
    let target = target.map_or(String::new(), |(limit, mean)| {
        let limit = format!("{limit:.0}").parse().map_or(String::new(), time);
        format!(" On average {}; the target is {limit}.", time(mean))
    });
    format!("Gaps by length. {}.{target}", gaps::idle(report))
}

/// The busiest and the idlest part of the window, and what was aimed at.
fn over_time(report: &Report) -> String {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|chunk| chunk.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let shares = || {
        let chunks = chunks.iter().zip(ends.clone());
        chunks.map(|(chunk, end)| ratio(chunk.busy_ns, end.saturating_sub(chunk.start_ns)))
    };
    let range = shares().reduce(f64::min).zip(shares().reduce(f64::max));
    let range = range.filter(|_| chunks.len() > 1);
    let range = range.map_or(String::new(), |(least, most)| {
        let parts = count(chunks.len() as u64);
        let (least, most) = (percent(least), percent(most));
        format!(" In {parts} equal parts of the window from {least} to {most}.")
    });
    let target = limit(report, "utilization");
    let target = target.map_or(String::new(), |limit| {
        format!(" The target is {}.", percent(limit))
    });
    let busy = &report.summary.busy;
    format!("How busy the GPU was over time. {busy}.{range}{target}")
}

fn kernels(report: &Report) -> String {
    const NAMED: usize = 5;
    let kernels = report.kernels.iter().take(NAMED).map(|kernel| {
        format!(
            "{} {} ({}, median {})",
            kernel.name,
            percent(kernel.time_pct / 100.0),
            time(kernel.total_ns),
            time(kernel.med_ns)
        )
    });
    let kernels: Vec<String> = kernels.collect();
    let more = match report.kernels.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {} more", count(more as u64)),
    };
    format!(
        "The kernels of {} that took the most time: {}{more}.",
        report.process.name,
        kernels.join(", ")
    )
}
