//! The engines beside the GPU's channels: MPSGraph, Neural Engine, Core ML, and frames.

use metalens_analyzer::message::{count, counted, name, percent, time};
use metalens_analyzer::{Engine, EngineId, Message, Report, message};

use crate::document::{Block, Cell, Column, Section, Table};
use crate::wording::known;

/// How far these figures can be trusted.
const UNSEEN: &str = "but for MPSGraph, metalens was tested on synthetic rows of these tables only, \
                      because no real ones were available: compare with Instruments";
/// Largest number of labels that are shown of an engine's work.
const LABELS: usize = 3;

/// Returns what the other engines did, and what the GPU waited for meanwhile; nothing if the
/// recording has no row of them.
pub(super) fn engines(report: &Report) -> Option<Section> {
    let engines = &report.engines;
    let frames = frames(report);
    (!engines.is_empty() || frames.is_some()).then_some(())?;

    let columns = vec![
        Column::name("engine"),
        Column::number("intervals").spare(3),
        Column::number("busy"),
        Column::number("of window").spare(2),
        Column::number("with GPU").spare(1),
        Column::number("GPU idle"),
        Column::number("of idle"),
        Column::words("GPU waited for"),
    ];
    let table = Table::new("engines", "Engines beside the GPU", columns);
    let mut table = table.sortable();
    for engine in engines {
        table.row([
            Cell::from(engine.id.label()),
            Cell::from(count(engine.intervals)),
            Cell::from(time(engine.busy_ns)),
            Cell::from(known(engine.ratio, percent)),
            Cell::from(time(engine.while_gpu_busy_ns)),
            Cell::from(time(engine.while_gpu_idle_ns)),
            Cell::from(known(engine.share_of_idle, percent)),
            Cell::from(waits(engine)),
        ]);
    }

    let table = (!engines.is_empty()).then_some(Block::Table(table));
    let work = engines.iter().filter_map(work).map(Block::Remark);
    let is_seen = |engine: &Engine| engine.id == EngineId::Mps;
    let has_unseen = frames.is_some() || !engines.iter().all(is_seen);
    let section = Section::new("engines", "Engines beside the GPU", 4)
        .with_some(table)
        .with_all(work)
        .with_some(frames.map(Block::Remark))
        .with_some(has_unseen.then(|| Block::Remark(UNSEEN.into())));
    Some(section)
}

/// Returns the causes of the idle time during which an engine worked.
fn waits(engine: &Engine) -> Message {
    let parts = engine.idle.largest_first().into_iter().take(2);
    let parts: Vec<Message> = parts
        .map(|(cause, ns)| message!("{} {}", cause.label(), time(ns)))
        .collect();
    if parts.is_empty() {
        "-".into()
    } else {
        Message::joined(parts, ", ")
    }
}

/// Returns the work of an engine by label, and whose it is.
fn work(engine: &Engine) -> Option<Message> {
    let labels = engine.work.iter().take(LABELS);
    let labels = labels.filter_map(|work| {
        let label = name(work.label.as_ref()?);
        Some(message!("{} {}", label, time(work.total_ns)))
    });
    let labels: Vec<Message> = labels.collect();
    let whose = if engine.of_process {
        ""
    } else {
        "; its table names no process, so work of other processes is included"
    };
    (!labels.is_empty() || !engine.of_process).then(|| {
        let labels = Message::joined(labels, ", ");
        message!("{}: {}{}", engine.id.label(), labels, whose)
    })
}

fn frames(report: &Report) -> Option<Message> {
    let frames = report.frames?;
    let interval = frames.interval.map(|interval| {
        let [median, p95] = [interval.median_ns, interval.p95_ns].map(i64::unsigned_abs);
        message!(", one every {} (median), p95 {}", time(median), time(p95))
    });
    let presented = frames
        .presented
        .map(|presented| message!(", {} reported as presented", count(presented)));
    let requests = counted(frames.requests, "frame");
    Some(message!(
        "Frames: {} requested{}{}",
        requests,
        interval,
        presented
    ))
}
