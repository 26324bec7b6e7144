//! The work: by kernel, by channel, and how it is shaped.

use metalens_analyzer::units::{count, counted, moment};
use metalens_analyzer::{Outlier, Report};
use metalens_text::shown;

use super::{Screen, share};
use crate::screen::columns::{Align, Columns};
use crate::unbroken::{percent, short_time, time};

/// Kernels beyond this many are summed up in one line.
const KERNELS: usize = 20;
/// Of the outliers, so many are shown.
const OUTLIERS: usize = 3;

pub(super) fn kernels(report: &Report, screen: &mut Screen) {
    screen.section("Kernels");
    // The channel is told where the name alone is not enough.
    let is_ambiguous = |name: &str| {
        let same = report.kernels.iter().filter(|kernel| kernel.name == name);
        same.count() > 1
    };
    let headings = [
        "time",
        "total",
        "instances",
        "avg",
        "med",
        "min",
        "max",
        "stddev",
    ];
    let mut headings: Vec<(&str, Align)> = headings.map(|name| (name, Align::Right)).to_vec();
    headings.push(("name", Align::Left));
    let mut columns = Columns::new(&headings);
    for kernel in report.kernels.iter().take(KERNELS) {
        columns.row([
            percent(kernel.time_pct / 100.0),
            short_time(kernel.total_ns),
            count(kernel.instances),
            short_time(kernel.avg_ns),
            short_time(kernel.med_ns),
            short_time(kernel.min_ns),
            short_time(kernel.max_ns),
            short_time(kernel.stddev_ns),
            match &kernel.channel {
                Some(channel) if is_ambiguous(&kernel.name) => {
                    shown(&format!("{} [{channel}]", kernel.name)).into_owned()
                }
                _ => shown(&kernel.name).into_owned(),
            },
        ]);
    }
    let columns = columns.spare(screen.width, "stddev");
    screen.columns(&columns.fit(screen.width));
    let rest = report.kernels.get(KERNELS..).unwrap_or(&[]);
    if !rest.is_empty() {
        let total = rest.iter().map(|kernel| kernel.total_ns).sum();
        screen.line(format!("  … and {} more of {}", rest.len(), time(total)));
    }
}

/// Only when there is more than one: else the kernels say it all.
pub(super) fn channels(report: &Report, screen: &mut Screen) {
    if report.channels.len() < 2 {
        return;
    }
    screen.section("Channels");
    let mut columns = Columns::new(&[
        ("channel", Align::Left),
        ("busy", Align::Right),
        ("share", Align::Right),
        ("intervals", Align::Right),
    ]);
    for channel in &report.channels {
        columns.row([
            shown(channel.name.as_deref().unwrap_or("(none)")).into_owned(),
            time(channel.busy_ns),
            share(channel.busy_ns, report.window.span_ns),
            count(channel.intervals),
        ]);
    }
    screen.columns(&columns);
}

/// What is short, what overlaps, what repeats, what stands out.
pub(super) fn shape(report: &Report, screen: &mut Screen) {
    let mut facts = pieces(report);
    facts.extend(patterns(report));
    if facts.is_empty() {
        return;
    }
    screen.section("How the work is shaped");
    for (name, text) in facts {
        screen.fact(name, &shown(&text));
    }
}

/// Into what pieces the work is cut.
fn pieces(report: &Report) -> Vec<(&'static str, String)> {
    let (shape, counts) = (&report.shape, &report.counts);
    let mut facts = Vec::new();
    if shape.short.count > 0 {
        let text = format!(
            "{} of {} are shorter than {}: {} of the GPU time",
            count(shape.short.count),
            counted(counts.intervals, "interval"),
            time(shape.short.limit_ns),
            shape
                .short
                .busy_ratio
                .map_or_else(|| "-".to_owned(), percent),
        );
        facts.push(("short", text));
    }
    let buffers = &shape.command_buffers;
    let encoders = (
        buffers.min_encoders,
        buffers.median_encoders,
        buffers.max_encoders,
    );
    if let (Some(min), Some(median), Some(max)) = encoders {
        let encoders = match min == max {
            true => format!("{} each", counted(min, "encoder")),
            false => format!("{min} to {}, median {median}", counted(max, "encoder")),
        };
        let text = format!("{} of {encoders}", counted(buffers.count, "command buffer"));
        facts.push(("buffers", text));
    }
    if counts.coalesced > 0 {
        let text = format!(
            "{} that the driver made of {}",
            counted(counts.coalesced, "interval"),
            counted(counts.coalesced_encoders, "encoder"),
        );
        facts.push(("coalesced", text));
    }
    facts
}

fn patterns(report: &Report) -> Vec<(&'static str, String)> {
    let shape = &report.shape;
    let mut facts = Vec::new();
    for pair in shape.overlap.iter().filter(|pair| pair.overlap_ns > 0) {
        let name = |channel: &Option<String>| channel.as_deref().unwrap_or("(none)").to_owned();
        let (first, second) = (name(&pair.first), name(&pair.second));
        let length = time(pair.overlap_ns);
        facts.push((
            "overlap",
            format!("{first} and {second} ran at once for {length}"),
        ));
    }
    let sequences = shape.sequences.iter();
    for sequence in sequences.filter(|sequence| sequence.kernels.len() > 1) {
        let text = format!(
            "{} × {}: {} of GPU time, {} idle between them",
            count(sequence.repetitions),
            sequence.kernels.join(" → "),
            time(sequence.total_ns),
            time(sequence.idle_inside_ns),
        );
        facts.push(("repeats", text));
    }
    // A finding about them names them already.
    if report
        .findings
        .iter()
        .all(|finding| finding.id != "outliers")
    {
        facts.extend(shape.outliers.top.iter().take(OUTLIERS).map(outlier));
    }
    facts
}

fn outlier(one: &Outlier) -> (&'static str, String) {
    let (long, usual) = (time(one.duration_ns), time(one.median_ns));
    let at = moment(one.start_ns);
    (
        "outlier",
        format!("{} at {at}: {long} instead of {usual}", one.name),
    )
}

/// How fast the work went whose amount is known.
pub(super) fn known_work(report: &Report, screen: &mut Screen) {
    let Some(work) = &report.work else {
        return;
    };
    screen.section("How fast the work went");
    if let Some(chip) = &work.chip {
        let limits = |limits: Option<metalens_analyzer::ChipLimits>, unit: &str| {
            let limits = limits?;
            Some(match limits.min == limits.max {
                true => format!("{:.2} {unit}", limits.max),
                false => format!("{:.2} to {:.2} {unit}", limits.min, limits.max),
            })
        };
        let facts = [
            limits(chip.bandwidth_gb_s, "GB/s"),
            limits(chip.peak_tflops, "TFLOP/s"),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        screen.fact("chip", &format!("{}: {}", chip.name, facts.join(", ")));
    }
    let mut columns = Columns::new(&[
        ("GB/s", Align::Right),
        ("TFLOP/s", Align::Right),
        ("op/s", Align::Right),
        ("bandwidth", Align::Right),
        ("peak", Align::Right),
        ("GPU time", Align::Right),
        ("work", Align::Left),
    ]);
    let rate = |rate: Option<f64>, digits: usize| {
        rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.digits$}"))
    };
    let of_chip = |share: Option<metalens_analyzer::ShareRange>| {
        share.map_or_else(|| "-".to_owned(), |share| percent(share.at_least))
    };
    for row in &work.rows {
        columns.row([
            rate(row.gpu_time.gb_per_s, 1),
            rate(row.gpu_time.tflop_per_s, 3),
            rate(row.gpu_time.operations_per_s, 0),
            of_chip(row.bandwidth_share),
            of_chip(row.peak_share),
            short_time(row.total_ns),
            shown(&row.label).into_owned(),
        ]);
    }
    screen.columns(&columns.fit(screen.width));
    if let Some(timings) = &work.timings {
        screen.item(2, &shown(&timings.why));
    }
    for note in &work.notes {
        screen.item(2, &shown(note));
    }
}
