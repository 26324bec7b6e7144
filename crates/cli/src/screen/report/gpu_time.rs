//! How much of the window the GPU ran, and whose work it was.

use metalens_analyzer::Report;
use metalens_analyzer::units::{count, counted};
use metalens_text::shown;

use super::{Screen, share};
use crate::screen::columns::{Align, Columns, shorten};
use crate::unbroken::time;

/// Processes beyond this many are summed up in one line.
const PROCESSES: usize = 8;

pub(super) fn gpu_time(report: &Report, screen: &mut Screen) {
    let (busy, span) = (&report.busy, report.window.span_ns);
    screen.section("GPU time in the window");
    let mut columns = Columns::new(&[
        ("", Align::Left),
        ("time", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
    ]);
    let mut row = |name: &str, ns: u64, remark: String| {
        columns.row([name.to_owned(), time(ns), share(ns, span), remark]);
    };
    row("target", busy.busy_ns, overlap_remark(report));
    row("others", busy.others_busy_ns, String::new());
    if busy.others_overlap_ns > 0 {
        row("both at once", busy.others_overlap_ns, String::new());
    }
    row("machine", busy.machine_busy_ns, active_remark(report));
    row(
        "idle",
        span.saturating_sub(busy.machine_busy_ns),
        "nobody on the GPU".to_owned(),
    );
    screen.columns(&columns.fit(screen.width));
}

fn overlap_remark(report: &Report) -> String {
    match report.busy.overlap_factor {
        Some(factor) if factor > 1.005 => {
            format!(
                "{} summed: its work overlaps itself",
                time(report.busy.sum_ns)
            )
        }
        _ => String::new(),
    }
}

fn active_remark(report: &Report) -> String {
    match report.busy.machine_active_ns {
        Some(active) if active == report.busy.machine_busy_ns => {
            "as the GPU's own Active time says, to the nanosecond".to_owned()
        }
        Some(active) => format!("the GPU's own Active time says {}", time(active)),
        None => String::new(),
    }
}

pub(super) fn processes(report: &Report, screen: &mut Screen) {
    if report.processes.len() < 2 && report.counts.unattributed == 0 {
        return;
    }
    screen.section("Who used the GPU");
    let mut columns = Columns::new(&[
        ("process", Align::Left),
        ("pid", Align::Right),
        ("busy in window", Align::Right),
        ("share", Align::Right),
        ("in recording", Align::Right),
        ("intervals", Align::Right),
        ("", Align::Left),
    ]);
    for one in report.processes.iter().take(PROCESSES) {
        columns.row([
            shorten(&shown(&one.name), screen.label()),
            one.pid.map_or("-".to_owned(), |pid| pid.to_string()),
            time(one.window_busy_ns),
            share(one.window_busy_ns, report.window.span_ns),
            time(one.busy_ns),
            count(one.intervals),
            if one.is_analyzed { "target" } else { "" }.to_owned(),
        ]);
    }
    screen.columns(&columns.spare(screen.width, "in recording"));
    let hidden = report.processes.len().saturating_sub(PROCESSES);
    if hidden > 0 {
        screen.line(format!("  … and {hidden} more"));
    }
    let unattributed = report.counts.unattributed;
    if unattributed > 0 {
        screen.line(format!(
            "  {} in the recording name no process",
            counted(unattributed, "interval")
        ));
    }
}
