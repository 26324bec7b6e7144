//! Builds the section on latency: the time between commit, start, end and notification.

use metalens_analyzer::{Queue, Report};
use metalens_message::{Message, Ns, Value, count, message, number};

use crate::document::{Block, Column, Section, Table};
use crate::wording::{share, signed_time};

/// Returns the latencies and the queue depth; `None` if the recording has neither.
pub(super) fn latency(report: &Report) -> Option<Section> {
    let latency = &report.latency;
    let rows = [
        ("commit → GPU start", latency.submission),
        ("GPU end → completion", latency.completion),
        ("commit → next commit", latency.commit_interval),
        ("encoding", latency.encoding),
    ];
    let rows = rows.into_iter();
    let rows: Vec<_> = rows
        .filter_map(|(name, found)| Some((name, found?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new(
        "latency",
        "Submission and completion latency",
        vec![
            Column::name("from → to"),
            Column::number("count"),
            Column::number("min").spare(1),
            Column::number("med"),
            Column::number("mean").spare(2),
            Column::number("p95"),
            Column::number("p99").spare(3),
            Column::number("max"),
        ],
    )
    .sortable();

    for (name, found) in rows {
        let times = [
            found.min_ns,
            found.median_ns,
            found.mean_ns,
            found.p95_ns,
            found.p99_ns,
            found.max_ns,
        ];
        let first = [Message::from(name), count(found.count)];
        table.row(first.into_iter().chain(times.map(signed_time)));
    }

    let queue = latency.queue.as_ref();
    let queue = queue.map(|queue| Block::Remark(depth(queue, report.window.span_ns)));
    let section = Section::new("latency", "Submission and completion latency", 7);
    Some(section.with(Block::Table(table)).with_some(queue))
}

/// Returns the queue depth: the number of command buffers that were waiting or running.
fn depth(queue: &Queue, span_ns: Ns) -> Message {
    let parts = [
        ("none", queue.empty_ns),
        ("one", queue.one_ns),
        ("more", queue.more_ns),
    ];
    let parts = parts.into_iter().filter(|&(_, ns)| ns > Ns(0));
    let parts = parts.map(|(name, ns)| message!("{} for {}", name, share(ns, span_ns)));
    let mean = format!("{:.2}", queue.mean_depth);
    message!(
        "Queue depth (command buffers committed and not finished): {} on average, {} at most; {} \
         of the window",
        number(mean, queue.mean_depth, |number| Value::Number { number }),
        count(queue.max_depth),
        Message::joined(parts, ", "),
    )
}
