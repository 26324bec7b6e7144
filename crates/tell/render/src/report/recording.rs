//! Builds the section on the recording: its facts, the analyzed process, and the analyzed part.

use metalens_analyzer::{ChosenBy, ProcessName, Report};
use metalens_message::{Message, counted, message, moment, path, process, quote, time, ungrouped};

use super::kernels::noun;
use crate::document::{Block, Fact, Section};

/// Returns the facts of the recording.
pub(super) fn recording(report: &Report) -> Section {
    let run = &report.run;
    let number = ungrouped(run.number);
    let mut facts = vec![Fact::new(
        "recording",
        message!("{}, run {}", path(&report.source.path), number),
    )];
    let version = run.instruments_version.as_ref();
    let version = version.map(|version| message!("Instruments {}", quote(version)));
    let template = run.template.as_deref().map(quote);
    let mode = run.recording_mode.as_deref().map(quote);
    add(&mut facts, "template", [template, version, mode]);
    let device = &run.device;
    let gpu = device
        .gpu
        .as_ref()
        .map(|gpu| message!("GPU {}", quote(gpu)));
    let (model, os) = (device.model.as_deref(), device.os.as_deref());
    add(
        &mut facts,
        "machine",
        [model.map(quote), gpu, os.map(quote)],
    );

    let length = run.duration_ns.map(time);
    let ended = run.end_reason.as_ref();
    let ended = ended.map(|reason| message!("ended: {}", quote(reason)));
    add(
        &mut facts,
        "recorded",
        [run.start.as_deref().map(quote), length, ended],
    );

    let processes = report.process.processes.iter().map(process_and_pid);
    let processes = Message::joined(processes, ", ");
    facts.push(Fact::new(
        "process",
        message!("{}, {}", processes, chosen_by(report.process.chosen_by)),
    ));
    facts.push(Fact::new("window", window(report)));
    facts.push(Fact::new("work", work(report)));
    Section::new("recording", "Recording", 6).with(Block::Facts(facts))
}

/// Adds a fact that consists of the known parts; none if no part is known.
fn add(facts: &mut Vec<Fact>, name: &str, parts: [Option<Message>; 3]) {
    let parts: Vec<Message> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        facts.push(Fact::new(name, Message::joined(parts, " · ")));
    }
}

fn process_and_pid(process_name: &ProcessName) -> Message {
    let name = process(&process_name.name, true);
    match process_name.pid {
        Some(pid) => message!("{} ({})", name, ungrouped(u64::from(pid))),
        None => name,
    }
}

/// Returns the reason why the report is about this process.
fn chosen_by(how: ChosenBy) -> &'static str {
    match how {
        ChosenBy::Launched => "launched by the recorder",
        ChosenBy::Attached => "attached to by the recorder",
        ChosenBy::Recorded => "named by the recording",
        ChosenBy::Requested => "as requested",
        ChosenBy::Busiest => "chosen because it was the busiest",
    }
}

fn window(report: &Report) -> Message {
    let window = &report.window;
    let mut text = message!(
        "{}, from {} to {}",
        window.span_ns,
        moment(window.start_ns),
        moment(window.end_ns)
    );
    if let Some(duration) = report.run.duration_ns {
        text.push(message!(" of a recording of {}", duration));
    }
    let efficiency = &report.efficiency;
    if let (Some(share), Some(program_ns)) = (efficiency.of_program, efficiency.program_ns) {
        text.push(message!(
            "; GPU busy {} of the {} from first encoding to last completion",
            share,
            program_ns
        ));
    }
    for cut in &window.excluded {
        let length = time(cut.to_ns - cut.from_ns);
        let why = cut.why.clone();
        text.push(message!("; {} cut off: {}", length, why));
    }
    text
}

fn work(report: &Report) -> Message {
    let counts = &report.counts;
    message!(
        "{} of {} in {}, {}",
        counted(counts.intervals, "interval"),
        counted(counts.encoders, "encoder"),
        counted(counts.command_buffers, "command buffer"),
        counted(counts.kernels, noun(report)),
    )
}
