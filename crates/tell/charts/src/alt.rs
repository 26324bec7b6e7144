//! Writes alt texts: the numbers of a chart in words, for people who cannot see it.

use metalens_analyzer::{Report, id};
use metalens_text::units::{count, counted, percent, time};

use crate::canvas::{limit, main_causes, ratio};
use crate::chart::Chart;

/// Largest number of notes in a text.
const MOST_NOTES: usize = 8;
/// Largest length of a note in a text, in characters.
const LONGEST_NOTE: usize = 500;

/// Describes a chart in words.
pub fn alt(chart: Chart, report: &Report) -> String {
    let busy = &report.summary.busy;
    let mut text = match chart {
        Chart::Timeline => {
            let causes = main_causes(report).map_or(String::new(), |causes| format!(" {causes}."));
            let steps = report.summary.steps.as_ref();
            let steps = steps.map_or(String::new(), |steps| format!(" {steps}."));
            format!(
                "Timeline of the GPU.{steps} {}. {busy}.{causes}",
                report.verdict.why
            )
        }
        Chart::Idle => causes(report),
        Chart::Gaps => lengths(report),
        Chart::Kernels => kernels(report),
    };

    for note in report.loud_notes().take(MOST_NOTES) {
        text.push(' ');
        text.extend(note.text().chars().take(LONGEST_NOTE));
        text.push('.');
    }

    crate::font::clean(&text).trim_end().to_owned()
}

fn causes(report: &Report) -> String {
    let idle = &report.idle;
    let parts = idle.parts.largest_first().into_iter().map(|(cause, ns)| {
        let share = percent(ratio(ns, idle.total_ns));
        format!("{share} {} ({})", cause.label(), ns.text())
    });
    let parts: Vec<String> = parts.collect();
    let name = &report.process.name;
    if parts.is_empty() {
        return format!("Idle time of {name} by cause: none.");
    }
    format!(
        "Idle time of {name} by cause: {} in {}. {}.",
        idle.total_ns.text(),
        counted(report.gaps.count, "gap"),
        parts.join(", ")
    )
}

fn lengths(report: &Report) -> String {
    let limit = limit(report, id!(gaps.mean_ns?)).zip(report.gaps.mean_ns);
    let limit = limit.map_or(String::new(), |(limit, mean)| {
        let limit = format!("{limit:.0}").parse().map_or(String::new(), time);
        format!(" Mean gap {}; the limit is {limit}.", mean.text())
    });
    format!(
        "Gaps of {} by length. {}.{limit}",
        report.process.name, report.summary.idle
    )
}

fn kernels(report: &Report) -> String {
    const NAMED: usize = 5;
    let kernels = report.kernels.iter().take(NAMED).map(|kernel| {
        format!(
            "{} {} ({}, median {})",
            kernel.name,
            percent(kernel.time_pct / 100.0),
            kernel.total_ns.text(),
            kernel.med_ns.text()
        )
    });
    let kernels: Vec<String> = kernels.collect();
    let more = match report.kernels.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {} more", count(more as u64)),
    };
    format!(
        "Kernels of {} with the most time: {}{more}.",
        report.process.name,
        kernels.join(", ")
    )
}
