//! When the target left the GPU idle, and whose fault it was.

use metalens_analyzer::units::{count, counted, moment};
use metalens_analyzer::{Bucket, Queue, Report};
use metalens_text::shown;

use super::{Screen, share};
use crate::bars::bar;
use crate::screen::columns::{Align, Columns, shorten};
use crate::unbroken::{short_time, time};

/// Of the longest gaps, so many are shown.
const TOP_GAPS: usize = 5;
/// The longest bar of the histogram.
const BAR: usize = 30;
/// The longest bar beside words.
const SMALL_BAR: usize = 14;

pub(super) fn gaps(report: &Report, screen: &mut Screen) {
    let gaps = &report.gaps;
    let (Some(mean), Some(median), Some(p95), Some(p99), Some(max)) = (
        gaps.mean_ns,
        gaps.median_ns,
        gaps.p95_ns,
        gaps.p99_ns,
        gaps.max_ns,
    ) else {
        return;
    };
    screen.section("Gaps in the target's work");
    let said = format!(
        "{}: mean {}, median {}, p95 {}, p99 {}, longest {}",
        counted(gaps.count, "gap"),
        time(mean),
        time(median),
        time(p95),
        time(p99),
        time(max)
    );
    screen.text(2, &said);
    let mut columns = Columns::new(&[
        ("length", Align::Right),
        ("gaps", Align::Right),
        ("total", Align::Right),
        ("share of idle", Align::Right),
        ("", Align::Left),
    ]);
    for bucket in inhabited(&gaps.histogram) {
        let length = match (bucket.from_ns, bucket.to_ns) {
            (0, Some(to)) => format!("under {}", edge(to)),
            (from, Some(to)) => format!("{} - {}", edge(from), edge(to)),
            (from, None) => format!("{} and more", edge(from)),
        };
        columns.row([
            length,
            count(bucket.count),
            time(bucket.total_ns),
            share(bucket.total_ns, gaps.total_ns),
            bar(bucket.total_ns, gaps.total_ns, BAR.min(screen.width - 50)),
        ]);
    }
    screen.columns(&columns);
}

/// The histogram without the empty ends; a hole within it tells something.
fn inhabited(histogram: &[Bucket]) -> &[Bucket] {
    let is_used = |bucket: &Bucket| bucket.count > 0;
    let first = histogram.iter().position(is_used).unwrap_or(0);
    let last = histogram
        .iter()
        .rposition(is_used)
        .map_or(0, |last| last + 1);
    histogram.get(first..last).unwrap_or(&[])
}

/// `20 µs`: a bucket's edge is a whole number of its unit.
fn edge(ns: u64) -> String {
    match ns {
        _ if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
        _ => format!("{} µs", ns / 1_000),
    }
}

pub(super) fn top_gaps(report: &Report, screen: &mut Screen) {
    if report.gaps.top.is_empty() {
        return;
    }
    screen.section("Longest gaps");
    let mut columns = Columns::new(&[
        ("at", Align::Right),
        ("length", Align::Right),
        ("cause", Align::Left),
        ("between", Align::Left),
        ("and", Align::Left),
    ]);
    let room = ((screen.width - 42) / 2).min(30);
    let name = |kernel: &Option<String>, none: &str| match kernel {
        Some(kernel) => shorten(&shown(kernel), room),
        None => none.to_owned(),
    };
    for gap in report.gaps.top.iter().take(TOP_GAPS) {
        columns.row([
            moment(gap.start_ns),
            time(gap.duration_ns),
            format!(
                "{} {}",
                gap.cause.label(),
                share(gap.parts.get(gap.cause), gap.duration_ns)
            ),
            name(&gap.before, "the window's start"),
            name(&gap.after, "the window's end"),
        ]);
    }
    screen.columns(&columns.fit(screen.width));
}

/// Where the idle time went, cause by cause.
pub(super) fn ledger(report: &Report, screen: &mut Screen) {
    let ledger = &report.idle;
    if ledger.total_ns == 0 {
        return;
    }
    screen.section("Idle time by cause");
    let mut columns = Columns::new(&[
        ("cause", Align::Left),
        ("time", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for (cause, ns) in ledger.parts.largest_first() {
        columns.row([
            cause.label().to_owned(),
            time(ns),
            share(ns, ledger.total_ns),
            bar(ns, ledger.total_ns, SMALL_BAR),
            cause.explanation().to_owned(),
        ]);
    }
    screen.columns(&columns.fit(screen.width));
    screen.text(2, &pairs(report));
}

/// How many pairs were joined and serialized, and what could not be joined.
fn pairs(report: &Report) -> String {
    let ledger = &report.idle;
    let mut said = vec![match ledger.joinable {
        0 => "no gap has both its completion and its encoding on record".to_owned(),
        joinable => format!(
            "{} of {} have their completion and encoding on record; in {} the next work was \
             encoded only once the last was known to be done",
            count(joinable),
            counted(ledger.pairs, "gap"),
            count(ledger.serialized),
        ),
    }];
    let inside = &report.shape.command_buffers;
    if inside.gaps_inside > 0 {
        said.push(format!(
            "{} lie within command buffers ({})",
            counted(inside.gaps_inside, "gap"),
            time(inside.gaps_inside_ns),
        ));
    }
    if let Some(recovered) = ledger.recovered {
        let found = recovered.from_intervals + recovered.from_submissions;
        said.push(format!(
            "{} that the encoder list lost were found in other tables",
            counted(found, "encoding")
        ));
    }
    said.join("; ")
}

/// How long work travels, there and back.
pub(super) fn latency(report: &Report, screen: &mut Screen) {
    let latency = &report.latency;
    let rows = [
        ("commit → GPU start", latency.submission),
        ("GPU end → completion", latency.completion),
        ("commit → next commit", latency.commit_interval),
        ("encoding", latency.encoding),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .filter_map(|(name, found)| Some((name, found?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    screen.section("How long work travels");
    let headings = ["count", "min", "med", "mean", "p95", "p99", "max"];
    let mut headings: Vec<(&str, Align)> = headings.map(|name| (name, Align::Right)).to_vec();
    headings.insert(0, ("", Align::Left));
    let mut columns = Columns::new(&headings);
    for (name, found) in rows {
        columns.row([
            name.to_owned(),
            count(found.count),
            signed(found.min_ns),
            signed(found.median_ns),
            signed(found.mean_ns),
            signed(found.p95_ns),
            signed(found.p99_ns),
            signed(found.max_ns),
        ]);
    }
    screen.columns(&columns.spare(screen.width, "mean"));
    if let Some(queue) = &latency.queue {
        screen.text(2, &in_hand(queue, report.window.span_ns));
    }
}

/// How many command buffers the GPU had before it.
fn in_hand(queue: &Queue, span_ns: u64) -> String {
    let parts = [
        ("none", queue.empty_ns),
        ("one", queue.one_ns),
        ("more", queue.more_ns),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|&&(_, ns)| ns > 0)
        .map(|&(name, ns)| format!("{name} for {}", share(ns, span_ns)))
        .collect();
    format!(
        "command buffers committed and not yet done: {:.2} on average, {} at most; {} of the window",
        queue.mean_depth,
        queue.max_depth,
        parts.join(", "),
    )
}

/// A time that may be negative: what should come second came first.
fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}", short_time(ns.unsigned_abs()))
}
