//! What was recorded, of whom, and which part of it this is about.

use metalens_analyzer::units::counted;
use metalens_analyzer::{ProcessName, Report};
use metalens_text::shown;

use super::Screen;
use crate::unbroken::time;
use crate::words::how;

pub(super) fn recording(report: &Report, screen: &mut Screen) {
    let run = &report.run;
    screen.section("Recording");
    screen.fact(
        "input",
        &format!("{}, run {}", shown(&report.source.path), run.number),
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
        screen.fact("recording", &shown(&facts.join(" · ")));
    }
    let processes: Vec<String> = report.process.processes.iter().map(process).collect();
    let processes = processes.join(", ");
    screen.fact(
        "target",
        &format!("{processes}, {}", how(report.process.chosen_by)),
    );
    screen.fact("window", &window(report));
    screen.fact("work", &work(report));
}

fn process(process: &ProcessName) -> String {
    match process.pid {
        Some(pid) => format!("{} ({pid})", shown(&process.name)),
        None => shown(&process.name).into_owned(),
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
