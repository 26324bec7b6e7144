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
use metalens_text::units::{count, counted, rough_time, time};
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
    if found.changes.is_empty() {
        predict(found, &mut out)?;
    } else {
        list(found, &mut out)?;
    }
    writeln!(out)?;
    for line in assumptions(found) {
        writeln!(out, "{}", wrap(&line, width).join("\n"))?;
    }
    Ok(())
}

/// Prints what the change leaves.
fn predict(found: &WhatIf, out: &mut impl Write) -> anyhow::Result<()> {
    let before = time(found.before_ns);
    let (least, most) = (time(found.least_ns), time(found.most_ns));
    match found.after_ns {
        Some(after_ns) => {
            let speedup = found.speedup.map(|speedup| factor(speedup).text);
            let speedup = speedup.map_or(String::new(), |speedup| format!(": about {speedup}×"));
            writeln!(out, "About {} instead of {before}{speedup}", time(after_ns))?;
            if let Some((was, is)) = found.step_before.zip(found.step_after) {
                let (is, was) = (rough_time(is.mean_ns), rough_time(was.mean_ns));
                writeln!(out, "A step takes about {is} instead of {was}")?;
            }
            if least != most {
                writeln!(
                    out,
                    "Between {least} and {most}, by how far the program varies"
                )?;
            }
        }
        None => writeln!(
            out,
            "Between {least} and {most} instead of {before}: nothing tells which"
        )?,
    }
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
    Ok(())
}

/// Prints what each change leaves.
fn list(found: &WhatIf, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "What would be left of {}", time(found.before_ns))?;
    for each in &found.changes {
        let (least, most) = (time(each.least_ns), time(each.most_ns));
        let left = match (each.after_ns, each.speedup) {
            (Some(_), Some(speedup)) if speedup < 1.005 => continue,
            (Some(after_ns), Some(speedup)) => {
                let step = each.step.map(|step| rough_time(step.mean_ns));
                let step = step.map_or(String::new(), |step| format!(", {step} a step"));
                format!("about {}: {}×{step}", time(after_ns), factor(speedup).text)
            }
            _ => format!("between {least} and {most}"),
        };
        writeln!(out, "  {:<18} {left}", each.option)?;
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
    let waiting = &found.waiting;
    lines.push(match waiting.verdict {
        WaitVerdict::Waits if waiting.in_flight == 1 => format!(
            "The program waits for the last command buffer before {} of {}.",
            count(waiting.pairs),
            counted(waiting.of, "command buffer")
        ),
        WaitVerdict::Waits => format!(
            "The program has at most {} command buffers in flight, then it waits for the oldest.",
            waiting.in_flight
        ),
        WaitVerdict::DoesNotWait => {
            "The program does not wait, so that --in-flight changes nothing.".to_owned()
        }
        WaitVerdict::Unknown => {
            "The recording does not tell whether the program waits: both were replayed.".to_owned()
        }
    });
    if found.is_paced {
        lines.push("Steps begin on a grid of time, which stays.".to_owned());
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
