//! Writes the curves: GPU utilization, queue depth, GPU memory, and hardware counters.

use std::io;

use metalens_analyzer::{Analysis, CounterSeries, CounterUnit, Report, UtilizationChunk};
use metalens_message::{Ns, ratio};
use serde_json::Number;

use crate::event::Trace;
use crate::tracks::{MACHINE, OTHERS};

/// Writes the curves of the report. The last value of each is repeated at the end of the window, where
/// the analysis ends.
pub(crate) fn counters(report: &Report, trace: &mut Trace<'_>) -> io::Result<()> {
    let (own, end_ns) = (trace.pid, report.window.end_ns.0);
    let busy = shares(report, |chunk| chunk.busy_ns);
    curve(busy, (own, "GPU busy", "percent"), end_ns, trace)?;

    let queue = report.latency.queue.iter();
    let queue = queue.flat_map(|queue| &queue.over_time);
    let queue =
        queue.filter_map(|depth| Some((depth.start_ns.0, Number::from_f64(depth.mean_depth)?)));
    curve(queue, (own, "queue depth", "mean"), end_ns, trace)?;

    let memory = report.machine.allocated.iter();
    let memory = memory.flat_map(|allocated| &allocated.points);
    let memory = memory.map(|point| (point.at_ns.0, point.bytes.0.into()));
    curve(
        memory,
        (own, "allocated GPU memory", "bytes"),
        end_ns,
        trace,
    )?;

    let busy = shares(report, |chunk| chunk.others_ns);
    curve(busy, (OTHERS, "GPU busy", "percent"), end_ns, trace)
}

/// Name of the curve that is 1 while hardware counters were sampled, and else 0.
const SAMPLED: &str = "counters sampled";

/// Writes the hardware counters in the window, which belong to the whole GPU. A curve cannot show that
/// a value is unknown: it is 0 where nothing was sampled, which the curve [`SAMPLED`] shows.
pub(crate) fn hardware(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
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

    trace.machine()?;
    for (series, points) in &series {
        let unit = match series.unit {
            Some(CounterUnit::Percent) => "percent",
            Some(CounterUnit::GigabytesPerSecond) => "GB/s",
            None => "value",
        };
        let values = points
            .iter()
            .filter_map(|&(at_ns, value)| Some((at_ns, Number::from_f64(value.unwrap_or(0.0))?)));
        let track = (MACHINE, series.name.as_str(), unit);
        curve(values, track, end_ns, trace)?;
    }

    let longest = series.iter().max_by_key(|(_, points)| points.len());
    let points = longest.into_iter().flat_map(|(_, points)| points);
    let sampled = points.filter_map(|&(at_ns, value)| {
        let is_sampled = f64::from(u8::from(value.is_some()));
        Some((at_ns, Number::from_f64(is_sampled)?))
    });
    curve(sampled, (MACHINE, SAMPLED, "yes"), end_ns, trace)
}

/// Writes a curve of a process. Its last value is repeated at the end of the window.
fn curve(
    points: impl Iterator<Item = (u64, Number)>,
    (pid, name, unit): (u64, &str, &str),
    end_ns: u64,
    trace: &mut Trace<'_>,
) -> io::Result<()> {
    let mut last = None;
    for (at_ns, value) in points {
        trace.counter(pid, name, unit, at_ns, &value)?;
        last = Some(value);
    }
    match last {
        Some(value) => trace.counter(pid, name, unit, end_ns, &value),
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
    busy: impl Fn(&UtilizationChunk) -> Ns,
) -> impl Iterator<Item = (u64, Number)> {
    let chunks = &report.shape.utilization;
    let starts = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = starts.chain([report.window.end_ns]);
    chunks.iter().zip(ends).filter_map(move |(chunk, end_ns)| {
        let length_ns = end_ns.saturating_sub(chunk.start_ns);
        let share = ratio(busy(chunk), length_ns)? * 100.0;
        let share = Number::from_f64((share * 1_000.0).round() / 1_000.0)?;
        Some((chunk.start_ns.0, share))
    })
}
