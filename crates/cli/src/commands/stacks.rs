//! Runs `metalens stacks`: prints the CPU samples of a recording as folded stacks for flame graphs,
//! or the functions and threads with the most weight.

use std::io::Write;
use std::process::ExitCode;

use metalens_analyzer::units::{count, counted, time};
use metalens_analyzer::{
    CpuFrame, Profile, Request, WeightUnit, collapsed_stacks, profile, profile_selection,
};
use metalens_text::shown;
use metalens_trace::LoadOptions;

use crate::analyzing::open;
use crate::args::StacksArguments;
use crate::args::requests::check_times;
use crate::out;
use crate::progress;
use metalens_render::json;
use metalens_render::terminal::style::{FAINT, TITLE, VERDICT};
use metalens_render::terminal::{Align, Columns};

pub(crate) fn run(arguments: &StacksArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    check_times(arguments.from, arguments.to)?;
    let request = Request {
        processes: arguments.processes.clone(),
        from_ns: arguments.from,
        to_ns: arguments.to,
        ..Request::default()
    };

    let input = open(&arguments.input, arguments.reading.reading(), quiet)?;
    let load = |options: LoadOptions<'_>| input.load(&profile_selection(), options);
    let trace = progress::reading(arguments.reading.reading(), quiet, load)?;
    let facts = profile(&trace, &request)?;

    let text = if arguments.json {
        json::document(&facts)?
    } else if arguments.top {
        screen(&facts)
    } else {
        collapsed_stacks(&trace, &request)?.to_string()
    };

    if !arguments.json && !quiet {
        let unit = unit(facts.weight_unit);
        let weights = (!arguments.top).then(|| format!("weights are {unit}"));
        for note in facts.notes.iter().chain(&weights) {
            writeln!(out::notes(), "note: {}", shown(note))?;
        }
    }

    match &arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, arguments.force, text.as_bytes())?;
        }
        None if arguments.top => out::page().write_all(text.as_bytes())?,
        None => out::data().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn unit(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Ns => "nanoseconds of sampled time",
        WeightUnit::Cycles => "CPU cycles",
        WeightUnit::Samples => "counts of samples",
    }
}

/// Formats the functions and threads with the most weight.
fn screen(profile: &Profile) -> String {
    let processes = process_names(profile);
    let mut text = format!(
        "{VERDICT}{processes}: {} of {}, {}{VERDICT:#}\n",
        counted(profile.samples, "CPU sample"),
        counted(profile.thread_count, "thread"),
        weight(profile.weight, profile.weight_unit),
    );

    let section = |title: &str, frames: &[CpuFrame]| {
        format!(
            "\n{TITLE}{title}{TITLE:#}\n{}",
            functions(frames, profile.weight_unit)
        )
    };
    text.push_str(&section("Functions by self weight", &profile.self_frames));
    text.push_str(&section(
        "Functions by total weight, with callees",
        &profile.total_frames,
    ));

    text.push_str(&format!("\n{TITLE}Threads{TITLE:#}\n"));
    let mut columns = Columns::new(&[
        ("weight", Align::Right),
        ("samples", Align::Right),
        ("running", Align::Right),
        ("thread", Align::Left),
    ]);
    for thread in profile.threads.iter().take(SHOWN) {
        columns.row([
            weight(thread.weight, profile.weight_unit),
            count(thread.samples),
            percent(thread.running_share),
            shown(&thread.name).into_owned(),
        ]);
    }
    text.push_str(&lines(columns));
    text
}

/// Number of rows of each table.
const SHOWN: usize = 20;

/// Returns the names of the analyzed processes.
fn process_names(profile: &Profile) -> String {
    if profile.how.is_none() {
        return "all processes".to_owned();
    }

    let analyzed = profile
        .processes
        .iter()
        .filter(|process| process.is_analyzed);
    let mut names: Vec<String> = analyzed
        .map(|process| shown(process.name.as_deref().unwrap_or("unknown process")).into_owned())
        .collect();
    names.dedup();
    names.join(", ")
}

fn functions(frames: &[CpuFrame], unit: WeightUnit) -> String {
    let mut columns = Columns::new(&[
        ("weight", Align::Right),
        ("share", Align::Right),
        ("samples", Align::Right),
        ("binary", Align::Left),
        ("function", Align::Left),
    ]);
    for frame in frames.iter().take(SHOWN) {
        columns.row([
            weight(frame.weight, unit),
            percent(frame.share),
            count(frame.samples),
            shown(frame.binary.as_deref().unwrap_or("-")).into_owned(),
            shown(frame.function.as_deref().unwrap_or("(no symbol)")).into_owned(),
        ]);
    }
    lines(columns)
}

fn lines(columns: Columns) -> String {
    let mut text = String::new();
    for (at, line) in columns.fit(100).lines().into_iter().enumerate() {
        match at {
            0 => text.push_str(&format!("{FAINT}{line}{FAINT:#}\n")),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn weight(weight: u64, unit: WeightUnit) -> String {
    match unit {
        WeightUnit::Ns => time(weight),
        WeightUnit::Cycles => counted(weight, "cycle"),
        WeightUnit::Samples => count(weight),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
