//! Writes the curves: GPU utilization, queue depth, and GPU memory.

use std::io::{self, Write};

use metalens_analyzer::Report;
use serde_json::Number;

use crate::event::TraceEvents;

/// Writes all counters. The last value of each is repeated at the end of the window, because
/// nothing after it was analyzed.
pub(crate) fn counters<W: Write>(
    report: &Report,
    pid: u64,
    others: u64,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let end_ns = report.window.end_ns;
    let mut curve = |pid: u64, name: (&str, &str), points: &[(u64, Number)]| {
        let last = points.last().map(|(_, value)| (end_ns, value.clone()));
        let all = points.iter().chain(&last);
        all.into_iter()
            .try_for_each(|(at_ns, value)| events.counter(pid, name, *at_ns, value))
    };
    curve(
        pid,
        ("GPU busy", "percent"),
        &shares(report, |chunk| chunk.busy_ns),
    )?;

    let queue = report
        .latency
        .queue
        .iter()
        .flat_map(|queue| &queue.over_time);
    let queue =
        queue.filter_map(|depth| Some((depth.start_ns, Number::from_f64(depth.mean_depth)?)));
    let queue: Vec<_> = queue.collect();
    curve(pid, ("queue depth", "mean"), &queue)?;

    let memory = report.machine.allocated.iter().flat_map(|all| &all.points);
    let memory: Vec<_> = memory
        .map(|point| (point.at_ns, point.bytes.into()))
        .collect();
    curve(pid, ("allocated GPU memory", "bytes"), &memory)?;

    curve(
        others,
        ("GPU busy", "percent"),
        &shares(report, |chunk| chunk.others_ns),
    )
}

/// Returns the busy share of each part of the window, in percent to a thousandth.
#[expect(clippy::cast_precision_loss, reason = "shares are shown, not added up")]
fn shares(
    report: &Report,
    busy: impl Fn(&metalens_analyzer::UtilizationChunk) -> u64,
) -> Vec<(u64, Number)> {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let share = |busy_ns: u64, length_ns: u64| {
        let share = busy_ns as f64 / length_ns as f64 * 100.0;
        Number::from_f64((share * 1_000.0).round() / 1_000.0)
    };
    let points = chunks.iter().zip(ends).filter_map(|(chunk, end_ns)| {
        let length_ns = end_ns.saturating_sub(chunk.start_ns);
        Some((chunk.start_ns, share(busy(chunk), length_ns)?))
    });
    points.collect()
}
