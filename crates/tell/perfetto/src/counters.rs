//! Writes the curves: GPU utilization, queue depth, GPU memory, and hardware counters.

use std::io::{self, Write};

use metalens_analyzer::{Analysis, CounterSeries, CounterUnit, Report};
use metalens_message::{Ns, ratio};
use serde_json::Number;

use crate::event::TraceEvents;
use crate::tracks::{MACHINE, Tracks};

/// Writes the curves of the report. The last value of each is repeated at the end of the window, where
/// the analysis ends.
pub(crate) fn counters<W: Write>(
    report: &Report,
    pid: u64,
    others: u64,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let end_ns = report.window.end_ns.0;
    let mut curve = |pid: u64, name: &str, unit: &str, points: &[(u64, Number)]| {
        let last = points.last().map(|(_, value)| (end_ns, value.clone()));
        let points = points.iter().chain(&last);
        points
            .into_iter()
            .try_for_each(|(at_ns, value)| events.counter(pid, name, unit, *at_ns, value))
    };
    curve(
        pid,
        "GPU busy",
        "percent",
        &shares(report, |chunk| chunk.busy_ns),
    )?;

    let queue: Vec<_> = report
        .latency
        .queue
        .iter()
        .flat_map(|queue| &queue.over_time)
        .filter_map(|depth| Some((depth.start_ns.0, Number::from_f64(depth.mean_depth)?)))
        .collect();
    curve(pid, "queue depth", "mean", &queue)?;

    let memory: Vec<_> = report
        .machine
        .allocated
        .iter()
        .flat_map(|allocated| &allocated.points)
        .map(|point| (point.at_ns.0, point.bytes.0.into()))
        .collect();
    curve(pid, "allocated GPU memory", "bytes", &memory)?;

    curve(
        others,
        "GPU busy",
        "percent",
        &shares(report, |chunk| chunk.others_ns),
    )
}

/// Name of the curve that is 1 while hardware counters were sampled, and else 0.
const SAMPLED: &str = "counters sampled";

/// Writes the hardware counters in the window, which belong to the whole GPU. A curve cannot show that
/// a value is unknown: it is 0 where nothing was sampled, which the curve [`SAMPLED`] shows.
pub(crate) fn hardware<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let window = &analysis.report.window;
    let (start_ns, end_ns) = (window.start_ns.0, window.end_ns.0);
    let series = analysis.counters().iter().map(|series| {
        let points = stepped(series, start_ns, end_ns);
        (series, points)
    });
    let series: Vec<_> = series.filter(|(_, points)| !points.is_empty()).collect();
    if series.is_empty() {
        return Ok(());
    }

    tracks.machine(&analysis.report, events)?;
    for (series, points) in &series {
        let unit = match series.unit {
            Some(CounterUnit::Percent) => "percent",
            Some(CounterUnit::GigabytesPerSecond) => "GB/s",
            None => "value",
        };
        let values = points
            .iter()
            .map(|&(at_ns, value)| (at_ns, value.unwrap_or(0.0)));
        curve(values, &series.name, unit, end_ns, events)?;
    }

    let longest = series.iter().max_by_key(|(_, points)| points.len());
    let points = longest.into_iter().flat_map(|(_, points)| points);
    let sampled = points.map(|&(at_ns, value)| (at_ns, f64::from(u8::from(value.is_some()))));
    curve(sampled, SAMPLED, "yes", end_ns, events)
}

/// Writes a curve of the whole GPU. Its last value is repeated at the end of the window.
fn curve<W: Write>(
    points: impl Iterator<Item = (u64, f64)>,
    name: &str,
    unit: &str,
    end_ns: u64,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let mut last = None;
    for (at_ns, value) in points {
        let Some(value) = Number::from_f64(value) else {
            continue;
        };
        events.counter(MACHINE, name, unit, at_ns, &value)?;
        last = Some(value);
    }
    match last {
        Some(value) => events.counter(MACHINE, name, unit, end_ns, &value),
        None => Ok(()),
    }
}

/// Returns the values of a counter, each from its time on; `None` where nothing was sampled.
fn stepped(series: &CounterSeries, from_ns: u64, to_ns: u64) -> Vec<(u64, Option<f64>)> {
    let mut points = Vec::new();
    let mut until_ns = None;
    for sample in &series.samples {
        let Some(end_ns) = sample.end_ns else {
            continue;
        };
        let start_ns = sample.start_ns.max(from_ns);
        if start_ns >= end_ns.min(to_ns) {
            continue;
        }
        if let Some(until_ns) = until_ns.filter(|&until_ns| until_ns < start_ns) {
            points.push((until_ns, None));
        }
        points.push((start_ns, Some(sample.value)));
        until_ns = Some(end_ns);
    }
    points.extend(
        until_ns
            .filter(|&until_ns| until_ns < to_ns)
            .map(|time_ns| (time_ns, None)),
    );
    points
}

/// Returns the busy share of each part of the window, in percent to a thousandth.
fn shares(
    report: &Report,
    busy: impl Fn(&metalens_analyzer::UtilizationChunk) -> Ns,
) -> Vec<(u64, Number)> {
    let chunks = &report.shape.utilization;
    let starts = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = starts.chain([report.window.end_ns]);
    let points = chunks.iter().zip(ends).filter_map(|(chunk, end_ns)| {
        let length_ns = end_ns.saturating_sub(chunk.start_ns);
        Some((chunk.start_ns.0, percent(busy(chunk), length_ns)?))
    });
    points.collect()
}

fn percent(busy_ns: Ns, length_ns: Ns) -> Option<Number> {
    let percent = ratio(busy_ns, length_ns)? * 100.0;
    Number::from_f64((percent * 1_000.0).round() / 1_000.0)
}
