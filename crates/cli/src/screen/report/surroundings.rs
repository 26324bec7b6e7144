//! What surrounds the work: phases, the machine, the CPU, the counters.

use metalens_analyzer::units::{count, counted, moment};
use metalens_analyzer::{Machine, Phases, Report, StateTime};
use metalens_text::shown;

use super::{Screen, share};
use crate::screen::columns::{Align, Columns, shorten};
use crate::unbroken::{bytes, number, percent, time};

/// Named phases beyond this many are left to the report's other forms.
const SIGNPOSTS: usize = 10;
/// Functions and threads beyond this many, too.
const FRAMES: usize = 10;
/// Counters beyond this many, too.
const COUNTERS: usize = 20;

/// What the recording falls into.
pub(super) fn phases(report: &Report, screen: &mut Screen) {
    let phases = &report.phases;
    let lines = phase_facts(phases);
    if lines.is_empty() && phases.signposts.is_empty() {
        return;
    }
    screen.section("Phases");
    for (name, text) in lines {
        screen.fact(name, &shown(&text));
    }
    signposts(phases, screen);
}

fn phase_facts(phases: &Phases) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(warm_up) = &phases.warm_up {
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "?".to_owned(), percent);
        let done = if warm_up.skipped {
            "cut off"
        } else {
            "counted here (--skip-warmup cuts it off)"
        };
        lines.push((
            "warm-up",
            format!(
                "until {}, {done}: {}; the GPU was busy {} without it, {} with it",
                moment(warm_up.end_ns),
                warm_up.explanation,
                ratio(warm_up.steady.ratio),
                ratio(warm_up.whole.ratio),
            ),
        ));
    }
    if phases.segments.count > 1 {
        let quiet = time(phases.segments.quiet_gap_ns);
        let count = phases.segments.count;
        lines.push((
            "segments",
            format!("{count}, parted by gaps of {quiet} and more"),
        ));
    }
    if let Some(found) = &phases.iterations {
        let drift = found.drift_pct.map_or_else(String::new, |drift| {
            format!(", drift {}", number(&format!("{drift:+.1} %")))
        });
        lines.push((
            "iterations",
            format!(
                "{}, {} each (from {} to {}), with {} of GPU time in each{drift}",
                count(found.count),
                time(found.median_period_ns),
                time(found.min_period_ns),
                time(found.max_period_ns),
                time(found.median_busy_ns),
            ),
        ));
    }
    lines
}

fn signposts(phases: &Phases, screen: &mut Screen) {
    if phases.signposts.is_empty() {
        return;
    }
    let mut columns = Columns::new(&[
        ("phase (os_signpost)", Align::Left),
        ("count", Align::Right),
        ("total", Align::Right),
        ("med", Align::Right),
        ("GPU busy", Align::Right),
        ("by", Align::Left),
    ]);
    for one in phases.signposts.iter().take(SIGNPOSTS) {
        columns.row([
            shorten(&shown(&one.name), screen.label()),
            count(one.count),
            time(one.total_ns),
            one.median_ns.map_or_else(|| "-".to_owned(), time),
            one.ratio.map_or_else(|| "-".to_owned(), percent),
            shown(one.process.as_deref().unwrap_or_default()).into_owned(),
        ]);
    }
    screen.columns(&columns.fit(screen.width));
}

/// The rest of the machine.
pub(super) fn machine(report: &Report, screen: &mut Screen) {
    let mut lines = clock_and_heat(&report.machine);
    lines.extend(memory_and_driver(report));
    if lines.is_empty() {
        return;
    }
    screen.section("The machine");
    for (name, text) in lines {
        screen.fact(name, &shown(&text));
    }
}

fn states(states: &[StateTime]) -> String {
    let said = states.iter().map(|state| {
        let share = state.share.map_or_else(|| "?".to_owned(), percent);
        let induced = if state.induced_ns > 0 {
            " (induced)"
        } else {
            ""
        };
        format!("{}{induced} for {share}", state.state)
    });
    said.collect::<Vec<_>>().join(", ")
}

fn clock_and_heat(machine: &Machine) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(performance) = &machine.performance {
        let unknown = match performance.unknown_ns {
            0 => String::new(),
            ns => format!("; unknown for {}", time(ns)),
        };
        lines.push((
            "clock",
            format!("{} of the window{unknown}", states(&performance.states)),
        ));
    }
    if let Some(thermal) = &machine.thermal {
        lines.push((
            "thermal",
            format!("{} of the window", states(&thermal.states)),
        ));
    }
    lines
}

fn memory_and_driver(report: &Report) -> Vec<(&'static str, String)> {
    let machine = &report.machine;
    let mut lines = Vec::new();
    if let Some(memory) = &machine.allocated
        && let (Some(peak), Some(last)) = (memory.peak_bytes, memory.last_bytes)
    {
        let wired = machine.wired.and_then(|wired| wired.peak_bytes);
        let wired = wired.map_or_else(String::new, |peak| {
            format!("; the machine's wired memory at most {}", bytes(peak))
        });
        lines.push((
            "memory",
            format!(
                "the target's: at most {}, {} at the end{wired}",
                bytes(peak),
                bytes(last)
            ),
        ));
    }
    if let Some(driver) = &machine.driver {
        let calls: u64 = driver.types.iter().map(|one| one.count).sum();
        lines.push((
            "driver",
            format!(
                "{} for the target: {} of CPU time, {} of it in the target's gaps",
                counted(calls, "interval"),
                time(driver.busy_ns),
                time(driver.in_gaps_ns),
            ),
        ));
    }
    if let Some(compiles) = machine.shader_compiles.filter(|one| one.inside.count > 0) {
        lines.push((
            "compiler",
            format!(
                "{} inside the window, {}",
                counted(compiles.inside.count, "compilation"),
                time(compiles.inside.total_ns),
            ),
        ));
    }
    if machine.others.in_gaps_ns > 0 {
        let name = |one: &metalens_analyzer::OtherProcess| {
            let name = one
                .name
                .clone()
                .unwrap_or_else(|| "rows that name no process".to_owned());
            format!("{name} {}", time(one.in_gaps_ns))
        };
        let top: Vec<String> = machine.others.top.iter().take(3).map(name).collect();
        lines.push((
            "others",
            format!(
                "on the GPU in {} of the target's gaps' time: {}",
                share(machine.others.in_gaps_ns, report.gaps.total_ns),
                top.join(", "),
            ),
        ));
    }
    lines
}

/// What the CPU was doing, where it was sampled.
pub(super) fn cpu(report: &Report, screen: &mut Screen) {
    let Some(cpu) = &report.cpu else {
        return;
    };
    screen.section("The program on the CPU");
    screen.fact(
        "samples",
        &format!("{} of the target, from {}", count(cpu.samples), cpu.table),
    );
    let Some(host) = &cpu.host else {
        return;
    };
    screen.fact(
        "host time",
        &format!(
            "{} in {} of it: {} running, {} waiting, {} in a call that waits",
            counted(host.samples, "sample"),
            time(host.host_ns),
            count(host.running),
            count(host.waiting),
            count(host.in_waiting_calls),
        ),
    );
    let mut columns = Columns::new(&[
        ("share", Align::Right),
        ("samples", Align::Right),
        ("in, while the GPU waited for the program", Align::Left),
    ]);
    for frame in host.self_frames.iter().take(FRAMES) {
        let function = frame.function.as_deref().unwrap_or("(no symbol)");
        let binary = frame.binary.as_deref().unwrap_or("?");
        columns.row([
            frame.share.map_or_else(|| "-".to_owned(), percent),
            count(frame.samples),
            shown(&format!("{function}  [{binary}]")).into_owned(),
        ]);
    }
    if !host.self_frames.is_empty() {
        screen.columns(&columns.fit(screen.width));
    }
}

/// The hardware counters.
pub(super) fn counters(report: &Report, screen: &mut Screen) {
    let Some(found) = &report.counters else {
        return;
    };
    screen.section("Hardware counters (of the whole GPU)");
    let mut columns = Columns::new(&[
        ("mean", Align::Right),
        ("mean, busy", Align::Right),
        ("p95", Align::Right),
        ("max", Align::Right),
        ("samples", Align::Right),
        ("counter", Align::Left),
    ]);
    for counter in found.counters.iter().take(COUNTERS) {
        let unit = if counter.is_percentage == Some(true) {
            " %"
        } else {
            ""
        };
        let value = |value: f64| format!("{value:.2}{unit}");
        columns.row([
            value(counter.window.mean),
            counter
                .busy
                .map_or_else(|| "-".to_owned(), |busy| value(busy.mean)),
            value(counter.window.p95),
            value(counter.window.max),
            count(counter.window.samples),
            shown(&counter.name).into_owned(),
        ]);
    }
    screen.columns(&columns.fit(screen.width));
    let hidden = found.counters.len().saturating_sub(COUNTERS);
    if hidden > 0 {
        screen.line(format!("  … and {hidden} more"));
    }
}
