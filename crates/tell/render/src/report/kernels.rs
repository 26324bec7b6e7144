//! Builds the sections on the work: by kernel, by channel, and its pattern.

use metalens_analyzer::{FrameworkName, Kernel, KernelMixes, Outlier, Report, StepSeries};
use metalens_message::{
    Bytes, Message, Ns, Share, bytes, count, counted, kernel, message, moment, name, percent, time,
};

use crate::document::{Block, Chart, Column, Fact, Section, Table};
use crate::wording::{known, share, short_time};

/// Largest numbers of kernels on screens and pages, and on interactive pages.
const KERNELS: (usize, usize) = (20, 200);
/// Largest number of kernels even where there is room, because nobody reads a longer list.
const MOST_KERNELS: usize = 400;
/// Largest number of channels on interactive pages.
const CHANNELS: usize = 50;
/// Largest number of outliers that are shown.
const OUTLIERS: usize = 3;

/// Returns what the screens call a kernel: a pass, if the program draws.
pub(super) fn noun(report: &Report) -> &'static str {
    let main = report.steps.first();
    if main.is_some_and(StepSeries::are_frames) {
        "pass"
    } else {
        "kernel"
    }
}

/// Returns the kernels, the most time first.
pub(super) fn kernels(report: &Report) -> Section {
    let (short, long) = KERNELS;
    let (title, caption) = match noun(report) {
        "pass" => ("Passes", "Passes by their time"),
        _ => ("Kernels", "Kernels by their time"),
    };
    let has_spills = report.kernels.iter().any(spills_registers);
    let has_samples = report.kernels.iter().any(is_sampled);
    let has_dispatches = report
        .kernels
        .iter()
        .any(|kernel| kernel.dispatches.is_some());
    let mut columns = vec![
        Column::number("time"),
        Column::number("total"),
        Column::number("instances").spare(1),
    ];
    columns.extend(has_dispatches.then(|| Column::number("dispatches")));
    // What needs a change of the kernel itself comes before its times.
    columns.extend(has_spills.then(|| Column::number("spilled")));
    columns.extend([
        Column::number("avg").spare(4),
        Column::number("med").spare(2),
        Column::number("min").spare(3),
        Column::number("max").spare(3),
        Column::number("stddev").spare(5),
    ]);

    columns.extend(has_samples.then(|| Column::number("shaders seen").spare(3)));
    // A screen keeps the channel where the name alone is not enough.
    columns.extend([Column::name("name"), Column::label("channel").spare(6)]);
    let table = Table::new("kernels", caption, columns);
    let mut table = table.sortable().limited(short, long);
    table = table.of(report.kernels.len());
    table.has_preview = true;
    for listed in report.kernels.iter().take(MOST_KERNELS) {
        let times = [
            listed.avg_ns,
            listed.med_ns,
            listed.min_ns,
            listed.max_ns,
            listed.stddev_ns,
        ];
        let first = [
            percent(Share(listed.time_pct / 100.0)),
            short_time(listed.total_ns),
            count(listed.instances),
        ];
        let dispatches = has_dispatches.then(|| known(listed.dispatches, count));
        let spilled = has_spills.then(|| spilled(listed));
        let seen = has_samples.then(|| {
            let ns = listed.shader_ns;
            known(ns, |ns| share(ns, listed.total_ns))
        });
        let last = [kernel(&listed.name), known(listed.channel.as_deref(), name)];
        let times = times.map(short_time).into_iter().chain(seen);
        let first = first.into_iter().chain(dispatches).chain(spilled);
        table.row(first.chain(times).chain(last));
    }

    let rest = report.kernels.get(short..).unwrap_or(&[]);
    let rest_ns: Ns = rest.iter().map(|kernel| kernel.total_ns).sum();
    table.rest = message!(" of {}", rest_ns);
    let mut section = Section::new("kernels", title, 4)
        .with(Chart::picture("kernels"))
        .with(Block::Table(table));
    if let Some(functions) = functions(report) {
        section = section.with(Block::Table(functions));
    }
    match &report.mixes {
        Some(mixes) => estimates(section, mixes).with_some(designed_runs(report)),
        None => section,
    }
}

/// Returns the runs that would tell kernels apart, if a variable of the framework splits the work otherwise.
fn designed_runs(report: &Report) -> Option<Block> {
    report.mixes.as_ref()?.why_not.as_ref()?;
    let setting = match report.framework.as_ref()?.framework {
        FrameworkName::Mlx => "MLX_MAX_OPS_PER_BUFFER={ops}",
        FrameworkName::Candle => "CANDLE_METAL_COMPUTE_PER_BUFFER={ops}",
        _ => return None,
    };
    Some(Block::Text(message!(
        "metalens bench --recorder probe -L ops 3,5,7,11,50 --env '{}' COMMAND makes such runs",
        setting
    )))
}

/// Adds the estimated times of kernels that share intervals, or why there are none.
pub(crate) fn estimates(section: Section, mixes: &KernelMixes) -> Section {
    let table = (!mixes.kernels.is_empty()).then(|| Block::Table(estimated(mixes)));
    section.with_some(table).with(Block::Text(said_of(mixes)))
}

/// Returns the estimated times of kernels that share intervals.
fn estimated(mixes: &KernelMixes) -> Table {
    let columns = vec![
        Column::number("estimated"),
        Column::number("total"),
        Column::number("each"),
        Column::number("at least").spare(1),
        Column::number("at most").spare(1),
        Column::number("dispatches"),
        Column::name("kernel"),
    ];
    let title = "Kernels that share intervals, estimated";
    let table = Table::new("estimated", title, columns);
    let mut table = table.sortable().limited(KERNELS.0, KERNELS.1);
    table = table.of(mixes.kernels.len());
    for listed in &mixes.kernels {
        let parts = listed.kernels.iter().map(|part| {
            let times = (part.count > 1).then(|| message!("{} × ", count(part.count)));
            message!("{}{}", times, kernel(&part.name))
        });
        table.row([
            percent(listed.share),
            short_time(listed.total_ns),
            time(listed.time.ns),
            time(listed.time.low_ns),
            time(listed.time.high_ns),
            count(listed.count),
            Message::joined(parts, " + "),
        ]);
    }
    table
}

/// Returns how the kernels were estimated, or why they were not.
fn said_of(mixes: &KernelMixes) -> Message {
    if let Some(why) = &mixes.why_not {
        return message!(
            "Which of the kernels that share intervals takes the time is unknown: {}",
            why.clone()
        );
    }
    let misfit = mixes
        .misfit
        .map(|misfit| message!(", which the times fit to {}", misfit));
    let boundary = mixes
        .boundary
        .map(|boundary| message!("; each interval takes {} besides", boundary.ns));
    let rest = mixes.not_told.iter().map(|name| kernel(name));
    let rest = (!mixes.not_told.is_empty()).then(|| {
        message!(
            ". Not told apart: {}",
            Message::joined(rest.take(KERNELS.0), ", ")
        )
    });
    message!(
        "Estimated from {}{}{}{}",
        counted(mixes.mixes.len() as u64, "mix"),
        misfit,
        boundary,
        rest
    )
}

/// Returns the functions by their dispatches, if these are recorded: a kernel of several functions has
/// one time, and a count of each.
fn functions(report: &Report) -> Option<Table> {
    let counted = || {
        let functions = report.shaders.iter();
        functions.filter_map(|function| Some((function, function.dispatches?)))
    };
    counted().next()?;
    let columns = vec![
        Column::number("dispatches"),
        Column::name("function"),
        Column::label("kind").spare(1),
    ];
    let table = Table::new("functions", "Functions by their dispatches", columns);
    let mut table = table.sortable().limited(KERNELS.0, KERNELS.1);
    table = table.of(counted().count());
    for (function, dispatches) in counted() {
        table.row([
            count(dispatches),
            kernel(&function.name),
            known(function.kind.as_deref(), name),
        ]);
    }
    Some(table)
}

fn spills_registers(kernel: &Kernel) -> bool {
    kernel.spills.is_some_and(|spills| spills.instances > 0)
}

/// Returns whether samples say which shader ran, for some time at least.
fn is_sampled(kernel: &Kernel) -> bool {
    kernel.shader_ns.is_some_and(|ns| ns > Ns(0))
}

/// Returns the largest number of spilled bytes.
fn spilled(kernel: &Kernel) -> Message {
    match kernel.spills {
        Some(spills) if spills.instances > 0 => bytes(spills.max_bytes),
        Some(_) => "none".into(),
        None => known(None::<Bytes>, bytes),
    }
}

/// Returns the channels if there are several; one channel would repeat the kernels.
pub(super) fn channels(report: &Report) -> Option<Section> {
    if report.channels.len() < 2 {
        return None;
    }
    let columns = vec![
        Column::name("channel"),
        Column::number("busy"),
        Column::number("share of window"),
        Column::number("summed").spare(1),
        Column::number("intervals"),
    ];
    let table = Table::new("channels", "Channels of the GPU", columns);
    let mut table = table.sortable().limited(usize::MAX, CHANNELS);
    for channel in &report.channels {
        let busy_ns = channel.busy_ns;
        table.row([
            name(channel.name.as_deref().unwrap_or("(none)")),
            time(busy_ns),
            share(busy_ns, report.window.span_ns),
            time(channel.sum_ns),
            count(channel.intervals),
        ]);
    }
    let section = Section::new("channels", "Channels", 6);
    Some(section.with(Block::Table(table)))
}

/// Returns the pattern of the work: short, overlapping and outlying intervals.
pub(super) fn pattern(report: &Report) -> Option<Section> {
    let mut facts = pieces(report);
    facts.extend(overlap_and_outliers(report));
    let section = Section::new("pattern", "Work pattern", 7);
    Block::facts(facts).map(|facts| section.with(facts))
}

/// Returns the facts on the size of the work's pieces.
fn pieces(report: &Report) -> Vec<Fact> {
    let (shape, counts) = (&report.shape, &report.counts);
    let mut facts = Vec::new();
    if shape.short.count > 0 {
        let text = message!(
            "{} of {} are shorter than {}: {} of the GPU time",
            count(shape.short.count),
            counted(counts.intervals, "interval"),
            shape.short.limit_ns,
            known(shape.short.busy_ratio, percent),
        );
        facts.push(Fact::new("short", text));
    }

    let buffers = &shape.command_buffers;
    let encoders = (
        buffers.min_encoders,
        buffers.median_encoders,
        buffers.max_encoders,
    );
    if let (Some(min), Some(median), Some(max)) = encoders {
        let encoders = if min == max {
            message!("{} each", counted(min, "encoder"))
        } else {
            let most = counted(max, "encoder");
            message!("{} to {}, median {}", count(min), most, count(median))
        };
        let text = message!(
            "{} of {}",
            counted(buffers.count, "command buffer"),
            encoders
        );
        facts.push(Fact::new("buffers", text));
    }

    if counts.coalesced > 0 {
        let text = message!(
            "the driver merged {} into {}",
            counted(counts.coalesced_encoders, "encoder"),
            counted(counts.coalesced, "interval"),
        );
        facts.push(Fact::new("coalesced", text));
    }
    facts
}

fn overlap_and_outliers(report: &Report) -> Vec<Fact> {
    let shape = &report.shape;
    let mut facts = Vec::new();
    for pair in shape.overlap.iter().filter(|pair| pair.overlap_ns > Ns(0)) {
        let channel = |channel: &Option<String>| name(channel.as_deref().unwrap_or("(none)"));
        let (first, second) = (channel(&pair.first), channel(&pair.second));
        let text = message!(
            "{} and {} ran at the same time for {}",
            first,
            second,
            pair.overlap_ns
        );
        facts.push(Fact::new("overlap", text));
    }

    // A finding about outliers names them already.
    let mut findings = report.findings.iter();
    if findings.all(|finding| finding.id != "outliers") {
        facts.extend(shape.outliers.top.iter().take(OUTLIERS).map(outlier));
    }
    facts
}

fn outlier(outlier: &Outlier) -> Fact {
    let text = message!(
        "{} at {}: {} instead of {}",
        kernel(&outlier.name),
        moment(outlier.start_ns),
        outlier.duration_ns,
        outlier.median_ns,
    );
    Fact::new("outlier", text)
}
