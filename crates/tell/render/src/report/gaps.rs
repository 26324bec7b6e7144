//! Builds the sections on gaps: their lengths, and the longest ones.

use metalens_analyzer::{Bucket, Report, TOP_GAPS, TopGap};
use metalens_message::{Message, Ns, Value, count, counted, kernel, message, moment, quote, time};

use crate::document::{Block, Cell, Chart, Column, Section, Table};
use crate::wording::share;

/// Largest numbers of gaps on screens and pages, and on interactive pages.
const LONGEST: (usize, usize) = (5, TOP_GAPS);

/// Returns the gaps by length; `None` without gaps.
pub(super) fn gaps(report: &Report) -> Option<Section> {
    let gaps = &report.gaps;
    let said = message!(
        "{}: mean {}, median {}, p95 {}, p99 {}, longest {}",
        counted(gaps.count, "gap"),
        gaps.mean_ns?,
        gaps.median_ns?,
        gaps.p95_ns?,
        gaps.p99_ns?,
        gaps.max_ns?,
    );

    let mut table = Table::new(
        "gaps",
        "Gaps by length",
        vec![
            Column::name("length"),
            Column::number("gaps"),
            Column::number("share of gaps").spare(2),
            Column::number("total"),
            Column::number("share of idle"),
            Column::bar("").spare(1),
        ],
    );

    for bucket in inhabited(&gaps.histogram) {
        table.row([
            Cell::from(length(bucket)),
            Cell::from(count(bucket.count)),
            Cell::from(share(bucket.count, gaps.count)),
            Cell::from(time(bucket.total_ns)),
            Cell::from(share(bucket.total_ns, gaps.total_ns)),
            Cell::bar(bucket.total_ns, gaps.total_ns),
        ]);
    }

    let section = Section::new("gaps", "Gaps", 5)
        .with(Chart::picture("gaps"))
        .with(Block::Text(said))
        .with(Block::Table(table));
    Some(section)
}

/// Returns the histogram without the empty ends. Empty buckets between others stay, because they
/// mean something.
fn inhabited(histogram: &[Bucket]) -> &[Bucket] {
    let is_used = |bucket: &Bucket| bucket.count > 0;
    let first = histogram.iter().position(is_used).unwrap_or(0);
    let last = histogram.iter().rposition(is_used);
    let last = last.map_or(0, |last| last + 1);
    histogram.get(first..last).unwrap_or(&[])
}

fn length(bucket: &Bucket) -> Message {
    match (bucket.from_ns, bucket.to_ns) {
        (Ns(0), Some(to)) => message!("under {}", edge(to)),
        (from, Some(to)) => message!("{} – {}", edge(from), edge(to)),
        (from, None) => message!("{} and more", edge(from)),
    }
}

/// Returns the edge of a bucket, such as `20 µs`: a whole number of its unit.
fn edge(Ns(ns): Ns) -> Message {
    let text = if ns.is_multiple_of(1_000_000) {
        format!("{} ms", ns / 1_000_000)
    } else {
        format!("{} µs", ns / 1_000)
    };
    Message::value(text, Value::Time { ns })
}

/// Returns the longest gaps; `None` without gaps.
pub(super) fn longest(report: &Report) -> Option<Section> {
    let gaps = &report.gaps.top;
    if gaps.is_empty() {
        return None;
    }
    let (short, long) = LONGEST;
    let mut table = Table::new(
        "top",
        "The longest gaps",
        vec![
            Column::number("at"),
            Column::number("length"),
            Column::words("cause"),
            Column::number("share").spare(2),
            Column::label("after"),
            Column::label("before").spare(1),
        ],
    )
    .sortable()
    .limited(short, long);

    let name = |name: &Option<String>, none: &'static str| match name {
        Some(name) => Cell::from(kernel(name)),
        None => Cell::from(none),
    };
    for gap in gaps.iter().take(long) {
        table.row([
            Cell::from(moment(gap.start_ns)),
            Cell::from(time(gap.duration_ns)),
            Cell::cause(gap.cause),
            Cell::from(share(gap.parts.get(gap.cause), gap.duration_ns)),
            name(&gap.before, "the window's start"),
            name(&gap.after, "the window's end"),
        ]);
    }

    // These are some of all gaps: nothing counts those that are left out.
    table.total = 0;
    let section = Section::new("longest-gaps", "Longest gaps", 6).with(Block::Table(table));
    let events = gaps.iter().take(short).filter_map(driver_event);
    Some(events.fold(section, |section, said| section.with(Block::Text(said))))
}

/// Returns what the driver did in a gap, if it took a tenth of it.
fn driver_event(gap: &TopGap) -> Option<Message> {
    let event = gap.driver_event.as_ref()?;
    let is_much = event.longest_ns.saturating_mul(10) >= gap.duration_ns;
    is_much.then(|| {
        message!(
            "Driver in the gap at {}: {}, {}",
            moment(gap.start_ns),
            quote(&event.name),
            event.longest_ns,
        )
    })
}
