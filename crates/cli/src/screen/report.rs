//! A report on the terminal: the verdict first, then what it rests on.

use metalens_analyzer::{How, Report, TargetProcess};

use super::columns::{Align, Columns, shorten, wrap};
use super::style::{FAINT, LOUD, TITLE, VERDICT};
use super::units::{count, counted, percent, safe, short_time, time};

/// Lines are no longer than this.
const WIDTH: usize = 100;
/// Kernels beyond this many are summed up in one line.
const KERNELS: usize = 20;
/// Processes beyond this many are summed up in one line.
const PROCESSES: usize = 8;
/// Of the longest gaps, so many are shown.
const TOP_GAPS: usize = 5;
/// The widest label in a table.
const LABEL: usize = 40;
/// The histogram's longest bar.
const BAR: usize = 30;

/// The whole report, styled; ends with a newline.
pub(crate) fn render(report: &Report) -> String {
    let mut screen = Screen::default();
    verdict(report, &mut screen);
    recording(report, &mut screen);
    gpu_time(report, &mut screen);
    gaps(report, &mut screen);
    top_gaps(report, &mut screen);
    kernels(report, &mut screen);
    channels(report, &mut screen);
    processes(report, &mut screen);
    notes(report, &mut screen);
    screen.text
}

#[derive(Default)]
struct Screen {
    text: String,
}

impl Screen {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(format!("\n{TITLE}{title}{TITLE:#}"));
    }

    /// A table whose heading is faint.
    fn columns(&mut self, columns: &Columns) {
        for (at, line) in columns.lines().into_iter().enumerate() {
            match at {
                0 => self.line(format!("{FAINT}{line}{FAINT:#}")),
                _ => self.line(line),
            }
        }
    }

    /// A fact behind its name, wrapped.
    fn fact(&mut self, name: &str, text: &str) {
        for (at, line) in wrap(text, WIDTH - 14).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.line(format!("  {FAINT}{name:<10}{FAINT:#}  {line}"));
        }
    }
}

fn verdict(report: &Report, screen: &mut Screen) {
    let (busy, gaps) = (&report.busy, &report.gaps);
    let name = safe(&report.target.name);
    let share = busy.ratio.map_or("?".to_owned(), percent);
    screen.line(format!(
        "{VERDICT}{name} kept the GPU busy {share} of the time{VERDICT:#}"
    ));
    let idle = match gaps.median_ns {
        Some(median) => format!(
            "{}, median {}, longest {}",
            counted(gaps.count, "gap"),
            time(median),
            time(gaps.max_ns.unwrap_or(median)),
        ),
        None => "no gap at all".to_owned(),
    };
    screen.line(format!(
        "{} ran for {} of {}; {idle}",
        counted(report.counts.intervals, "GPU interval"),
        time(busy.busy_ns),
        time(report.window.span_ns),
    ));
    for note in report.notes.iter().filter(|note| is_loud(note)) {
        for line in wrap(note, WIDTH) {
            screen.line(format!("{LOUD}{line}{LOUD:#}"));
        }
    }
}

/// Notes that change what every number means begin with a word in capitals.
fn is_loud(note: &str) -> bool {
    note.starts_with("SYNTHETIC") || note.starts_with("TRUNCATED")
}

fn recording(report: &Report, screen: &mut Screen) {
    let run = &report.run;
    screen.line("");
    screen.fact(
        "input",
        &format!("{}, run {}", safe(&report.source.path), run.number),
    );
    let version = run
        .instruments_version
        .as_ref()
        .map(|version| format!("Instruments {version}"));
    let ended = run
        .end_reason
        .as_ref()
        .map(|reason| format!("ended: {reason}"));
    let facts = [
        run.template.clone(),
        run.device.model.clone(),
        run.device.gpu.as_ref().map(|gpu| format!("GPU {gpu}")),
        run.device.os.clone(),
        version,
        run.recording_mode.clone(),
        run.start.clone(),
        ended,
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        screen.fact("recording", &safe(&facts.join(" · ")));
    }
    let processes: Vec<String> = report.target.processes.iter().map(process).collect();
    let processes = processes.join(", ");
    screen.fact(
        "target",
        &format!("{processes}, {}", how(report.target.how)),
    );
    screen.fact("window", &window(report));
    screen.fact("work", &work(report));
}

fn process(process: &TargetProcess) -> String {
    match process.pid {
        Some(pid) => format!("{} ({pid})", safe(&process.name)),
        None => safe(&process.name),
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Launched => "launched by the recorder",
        How::Attached => "attached to by the recorder",
        How::Recorded => "whom the recording is about",
        How::Requested => "as asked for",
        How::Busiest => "chosen because it was the busiest",
    }
}

fn window(report: &Report) -> String {
    let window = &report.window;
    let mut text = format!(
        "{}, from {} to {}",
        time(window.span_ns),
        time(window.start_ns),
        time(window.end_ns)
    );
    if let Some(duration) = report.run.duration_ns {
        text.push_str(&format!(" of a recording of {}", time(duration)));
    }
    for cut in &window.excluded {
        let length = time(cut.to_ns - cut.from_ns);
        text.push_str(&format!("; {length} {} cut off", cut.why));
    }
    text
}

fn work(report: &Report) -> String {
    let counts = &report.counts;
    format!(
        "{} of {} in {}, {}",
        counted(counts.intervals, "interval"),
        counted(counts.encoders, "encoder"),
        counted(counts.command_buffers, "command buffer"),
        counted(counts.kernels, "kernel"),
    )
}

fn gpu_time(report: &Report, screen: &mut Screen) {
    let (busy, span) = (&report.busy, report.window.span_ns);
    screen.section("GPU time in the window");
    let mut columns = Columns::new(&[
        ("", Align::Left),
        ("time", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
    ]);
    let mut row = |name: &str, ns: u64, remark: String| {
        columns.row([name.to_owned(), time(ns), share(ns, span), remark]);
    };
    row("target", busy.busy_ns, overlap_remark(report));
    row("others", busy.foreign_busy_ns, String::new());
    if busy.foreign_overlap_ns > 0 {
        row("both at once", busy.foreign_overlap_ns, String::new());
    }
    row("machine", busy.machine_busy_ns, active_remark(report));
    row(
        "idle",
        span.saturating_sub(busy.machine_busy_ns),
        "nobody on the GPU".to_owned(),
    );
    screen.columns(&columns);
}

fn overlap_remark(report: &Report) -> String {
    match report.busy.overlap_factor {
        Some(factor) if factor > 1.005 => {
            format!(
                "{} summed: its work overlaps itself",
                time(report.busy.sum_ns)
            )
        }
        _ => String::new(),
    }
}

fn active_remark(report: &Report) -> String {
    match report.busy.machine_active_ns {
        Some(active) if active == report.busy.machine_busy_ns => {
            "the GPU's own Active time, to the nanosecond".to_owned()
        }
        Some(active) => format!("the GPU itself says {}", time(active)),
        None => String::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => percent(part as f64 / whole as f64),
    }
}

fn gaps(report: &Report, screen: &mut Screen) {
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
    screen.line(format!(
        "  {}: mean {}, median {}, p95 {}, p99 {}, longest {}",
        counted(gaps.count, "gap"),
        time(mean),
        time(median),
        time(p95),
        time(p99),
        time(max)
    ));
    let mut columns = Columns::new(&[
        ("length", Align::Right),
        ("gaps", Align::Right),
        ("total", Align::Right),
        ("share of idle", Align::Right),
        ("", Align::Left),
    ]);
    for bucket in &gaps.histogram {
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
            bar(bucket.total_ns, gaps.total_ns),
        ]);
    }
    screen.columns(&columns);
}

/// `20 µs`: a bucket's edge is a whole number of its unit.
fn edge(ns: u64) -> String {
    match ns {
        _ if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
        _ => format!("{} µs", ns / 1_000),
    }
}

/// A bar whose full length is the whole; whatever is there shows.
fn bar(part: u64, whole: u64) -> String {
    let eighths = |part: u64| u128::from(part) * (BAR as u128 * 8) / u128::from(whole.max(1));
    let filled = usize::try_from(eighths(part))
        .unwrap_or(0)
        .max(usize::from(part > 0));
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let rest = partial.get(filled % 8).unwrap_or(&"");
    format!("{}{rest}", "█".repeat(filled / 8))
}

fn top_gaps(report: &Report, screen: &mut Screen) {
    if report.gaps.top.is_empty() {
        return;
    }
    screen.section("Longest gaps");
    let mut columns = Columns::new(&[
        ("from", Align::Right),
        ("length", Align::Right),
        ("after", Align::Left),
        ("before", Align::Left),
    ]);
    let name = |kernel: &Option<String>, none: &str| match kernel {
        Some(kernel) => shorten(&safe(kernel), 30),
        None => none.to_owned(),
    };
    for gap in report.gaps.top.iter().take(TOP_GAPS) {
        columns.row([
            time(gap.start_ns),
            time(gap.duration_ns),
            name(&gap.before, "the window's start"),
            name(&gap.after, "the window's end"),
        ]);
    }
    screen.columns(&columns);
}

fn kernels(report: &Report, screen: &mut Screen) {
    screen.section("Kernels");
    let several_channels = report.channels.len() > 1;
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
                Some(channel) if several_channels => safe(&format!("{} [{channel}]", kernel.name)),
                _ => safe(&kernel.name),
            },
        ]);
    }
    screen.columns(&columns.fit(WIDTH));
    let rest = report.kernels.get(KERNELS..).unwrap_or(&[]);
    if !rest.is_empty() {
        let total = rest.iter().map(|kernel| kernel.total_ns).sum();
        screen.line(format!("  … and {} more of {}", rest.len(), time(total)));
    }
}

/// Only when there is more than one: else the kernels say it all.
fn channels(report: &Report, screen: &mut Screen) {
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
            safe(channel.name.as_deref().unwrap_or("(none)")),
            time(channel.busy_ns),
            share(channel.busy_ns, report.window.span_ns),
            count(channel.intervals),
        ]);
    }
    screen.columns(&columns);
}

fn processes(report: &Report, screen: &mut Screen) {
    if report.processes.len() < 2 && report.counts.unattributed == 0 {
        return;
    }
    screen.section("Who used the GPU");
    let mut columns = Columns::new(&[
        ("process", Align::Left),
        ("pid", Align::Right),
        ("busy in window", Align::Right),
        ("share", Align::Right),
        ("in recording", Align::Right),
        ("intervals", Align::Right),
        ("", Align::Left),
    ]);
    for one in report.processes.iter().take(PROCESSES) {
        columns.row([
            shorten(&safe(&one.name), LABEL),
            one.pid.map_or("-".to_owned(), |pid| pid.to_string()),
            time(one.window_busy_ns),
            share(one.window_busy_ns, report.window.span_ns),
            time(one.busy_ns),
            count(one.intervals),
            if one.is_target { "target" } else { "" }.to_owned(),
        ]);
    }
    screen.columns(&columns);
    let hidden = report.processes.len().saturating_sub(PROCESSES);
    if hidden > 0 {
        screen.line(format!("  … and {hidden} more"));
    }
    let unattributed = report.counts.unattributed;
    if unattributed > 0 {
        screen.line(format!(
            "  {} of nobody known",
            counted(unattributed, "interval")
        ));
    }
}

fn notes(report: &Report, screen: &mut Screen) {
    let quiet: Vec<&String> = report.notes.iter().filter(|note| !is_loud(note)).collect();
    if quiet.is_empty() {
        return;
    }
    screen.section("Notes");
    for note in quiet {
        for (at, line) in wrap(&safe(note), WIDTH - 4).into_iter().enumerate() {
            screen.line(format!("  {} {line}", if at == 0 { "-" } else { " " }));
        }
    }
}
