//! Builds the sections on the GPU time of the window, and on the processes that used the GPU.

use metalens_analyzer::Report;
use metalens_message::{Factor, Message, Ns, count, counted, message, process, time, ungrouped};

use crate::document::{Block, Column, Section, Table};
use crate::wording::{known, share};

/// Largest numbers of processes on screens and pages, and on interactive pages.
const PROCESSES: (usize, usize) = (8, 20);

/// Returns the GPU time of the window: the process, other processes, and idle.
pub(super) fn gpu_time(report: &Report) -> Section {
    let (busy, span) = (&report.busy, report.window.span_ns);
    let mut table = Table::new(
        "gpu-time",
        "GPU time in the window",
        vec![
            Column::name("by"),
            Column::number("time"),
            Column::number("share"),
            Column::label("remark"),
        ],
    );
    let mut row = |name: &'static str, ns: Ns, remark: Message| {
        table.row([name.into(), time(ns), share(ns, span), remark]);
    };
    row("this process", busy.busy_ns, overlap(report));
    let idle_ns = span.saturating_sub(busy.machine_busy_ns);
    let Some(others_busy_ns) = busy.others_busy_ns else {
        row(
            "idle",
            idle_ns,
            "but for other processes, which are not recorded".into(),
        );
        return Section::new("gpu-time", "GPU time in the window", 7).with(Block::Table(table));
    };
    row("other processes", others_busy_ns, "".into());
    if let Some(overlap_ns) = busy.others_overlap_ns.filter(|&ns| ns > Ns(0)) {
        row("both at once", overlap_ns, "".into());
    }
    row("all processes", busy.machine_busy_ns, active(report));
    row("idle", idle_ns, "no process on the GPU".into());
    Section::new("gpu-time", "GPU time in the window", 7).with(Block::Table(table))
}

fn overlap(report: &Report) -> Message {
    match report.busy.overlap_factor {
        Some(factor) if factor > Factor(1.005) => {
            message!("{} summed: its intervals overlap", report.busy.sum_ns)
        }
        _ => Message::default(),
    }
}

fn active(report: &Report) -> Message {
    match report.busy.machine_active_ns {
        Some(active) if active == report.busy.machine_busy_ns => {
            "equals the GPU's own Active time".into()
        }
        Some(active) => message!("the GPU's own Active time is {}", active),
        None => Message::default(),
    }
}

/// Returns the processes that used the GPU; `None` if only the analyzed one did.
pub(super) fn processes(report: &Report) -> Option<Section> {
    let unattributed = report.counts.unattributed;
    if report.processes.len() < 2 && unattributed == 0 {
        return None;
    }
    let (short, long) = PROCESSES;
    let columns = vec![
        Column::name("process"),
        Column::number("pid").spare(1),
        Column::number("busy in window"),
        Column::number("share"),
        Column::number("in recording").spare(2),
        Column::number("intervals").spare(1),
        Column::words("analyzed").headed(""),
    ];
    let table = Table::new("processes", "Processes that used the GPU", columns);
    let table = table.sortable().limited(short, long);
    let mut table = table.of(report.processes.len());
    for user in report.processes.iter().take(long) {
        let busy_ns = user.window_busy_ns;
        table.row([
            process(&user.name, user.is_analyzed),
            known(user.pid, |pid| ungrouped(u64::from(pid))),
            time(busy_ns),
            share(busy_ns, report.window.span_ns),
            time(user.busy_ns),
            count(user.intervals),
            Message::from(if user.is_analyzed { "analyzed" } else { "" }),
        ]);
    }

    let unattributed = (unattributed > 0).then(|| {
        let intervals = counted(unattributed, "interval");
        Block::Remark(message!("{} in the recording name no process", intervals))
    });
    let section = Section::new("processes", "Processes on the GPU", 6);
    Some(section.with(Block::Table(table)).with_some(unattributed))
}
