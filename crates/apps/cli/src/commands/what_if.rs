//! Runs `metalens what-if`: predicts what a change of the program would leave.

use std::io::Write;
use std::process::ExitCode;

use metalens_analyzer::message::factor;
use metalens_analyzer::{
    ChainSource, ProgramChange, ReplayPart, WaitVerdict, WhatIf, selection, what_if,
};
use metalens_comparison::Patterns;
use metalens_render::json;
use metalens_render::terminal::style::LOUD;
use metalens_render::terminal::wrap;
use metalens_text::shown;
use metalens_text::units::{counted, time};
use metalens_trace::Input;

use crate::args::what_if::WhatIfArguments;
use crate::exit::Misuse;
use crate::out;
use crate::progress;

pub(crate) fn run(arguments: &WhatIfArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let analyzing = arguments.analysis.analyzing()?;
    let kernels = &arguments.kernels;
    let patterns = Patterns::new(kernels.iter().map(|kernel| kernel.pattern.as_str()));
    let kernel = |name: &str| {
        let own = patterns.matching(name);
        let own = own.first().and_then(|&(place, _)| kernels.get(place));
        own.map_or(1.0, |kernel| kernel.factor)
    };
    let change = ProgramChange {
        in_flight: arguments.in_flight,
        per_buffer: arguments.per_buffer,
        encode_ahead: arguments.encode_ahead,
        host: arguments.host.unwrap_or(1.0),
        driver: arguments.driver.unwrap_or(1.0),
        latency: arguments.latency.unwrap_or(1.0),
        others: !arguments.no_others,
        kernel: &kernel,
    };
    let reading = analyzing.reading;
    let input = Input::open(&arguments.input)?;
    let trace = progress::reading(reading, quiet, |options| input.load(&selection(), options))?;
    let predicted = what_if(trace, &analyzing.request, &change)?;
    if !arguments.kernels.is_empty() && predicted.changed_kernels.is_empty() {
        return Err(Misuse("no kernel has a name that --kernel matches".to_owned()).into());
    }

    if arguments.json {
        out::json().write_all(json::document(&predicted)?.as_bytes())?;
    } else {
        print(&predicted)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(found: &WhatIf) -> anyhow::Result<()> {
    let width = out::text_width();
    let mut out = out::page();
    for note in &found.notes {
        let lines = wrap(&shown(note.text()), width);
        writeln!(out, "{LOUD}{}{LOUD:#}", lines.join("\n"))?;
    }
    let speedup = found
        .speedup
        .map(|speedup| format!(": about {}×", factor(speedup).text));
    writeln!(
        out,
        "About {} instead of {}{}",
        time(found.after_ns),
        time(found.before_ns),
        speedup.unwrap_or_default()
    )?;
    let limit = |part: Option<ReplayPart>| part.map_or("nothing that is known", ReplayPart::label);
    writeln!(
        out,
        "Limited by {}; as recorded, by {}",
        limit(found.limited_by),
        limit(found.limited_before)
    )?;
    for kernel in &found.changed_kernels {
        writeln!(out, "  changed: {}", shown(kernel))?;
    }
    writeln!(out)?;
    for line in assumptions(found) {
        writeln!(out, "{}", wrap(&line, width).join("\n"))?;
    }
    Ok(())
}

/// Returns what the prediction assumes, and what it cannot know.
fn assumptions(found: &WhatIf) -> Vec<String> {
    let mut lines = vec![format!(
        "Replayed: {}{}. Host work and latencies stay as recorded where the change does \
         not name them.",
        counted(found.command_buffers, "command buffer"),
        if found.is_sample {
            " in the middle, for all"
        } else {
            ""
        }
    )];
    match found.waiting.verdict {
        WaitVerdict::Waits if found.waiting.in_flight == 1 => lines.push(
            "The program waits for each command buffer before it commits the next.".to_owned(),
        ),
        WaitVerdict::Waits => lines.push(format!(
            "The program has at most {} command buffers in flight, then it waits for the oldest. \
             Threads that each wait for their own are replayed as one.",
            found.waiting.in_flight
        )),
        WaitVerdict::DoesNotWait => {
            lines
                .push("The program does not wait, so that --in-flight changes nothing.".to_owned());
        }
        WaitVerdict::Unknown => lines.push(
            "The recording does not tell whether the program waits; replayed as it looks."
                .to_owned(),
        ),
    }
    if found.is_paced {
        lines.push("Iterations begin on a grid of time, which stays.".to_owned());
    }
    match found.driver {
        Some(ChainSource::Tables) => {}
        Some(ChainSource::Order) => lines
            .push("The driver's rows are joined with command buffers by their order.".to_owned()),
        None => {
            lines.push("The driver's times are not recorded: they count as latency.".to_owned());
        }
    }
    if found.left_out > 0 {
        lines.push(format!("Not replayed: {} command buffers.", found.left_out));
    }
    lines
}
