//! The `metalens` program: parses the command line, runs a command, and prints its result.
//!
//! Only this crate prints and decides exit codes. The other crates compute what it prints. It is a
//! library so that cargo compiles it beside them: a program waits until all libraries are done.

mod analyzing;
mod args;
mod atomic_file;
mod bundle_analyzer;
mod commands;
mod config;
mod exit;
mod exporting;
mod interrupt;
mod names;
mod opening;
mod out;
mod output_folder;
mod progress;
mod reading;
#[cfg(feature = "simulate")]
mod simulate;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::recording::RecordingArguments;
use crate::args::{Arguments, ColorChoice, Command};
use crate::commands::beside;

/// Runs the command line of this process, and returns the exit code.
pub fn main() -> ExitCode {
    main_of(std::env::args_os().collect())
}

/// Runs a command line, which begins with the name of the program, and returns the exit code.
pub fn main_of(arguments: Vec<OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(args::with_command(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => return exit::print_usage(&error),
    };

    exit::code(run(arguments))
}

/// Sets whether pages and notes have colors. What writes them knows NO_COLOR and CLICOLOR_FORCE, but
/// not FORCE_COLOR, which runners of CI set.
fn set_color(color: ColorChoice) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_forced = is_set("FORCE_COLOR") && !is_set("NO_COLOR");
    let choice = match color {
        ColorChoice::Auto if is_forced => anstream::ColorChoice::Always,
        ColorChoice::Auto => return,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Says which options of metalens are behind the program that is recorded: they are its arguments.
fn note_options(recording: &RecordingArguments, quiet: bool) {
    for option in recording.behind_program().filter(|_| !quiet) {
        out::note(&format!(
            "note: {option} is behind the program, which gets it; options of metalens go before the program"
        ));
    }
}

/// Returns the exit code of a command that either fails or succeeds.
fn done<E: Into<anyhow::Error>>(result: Result<(), E>) -> anyhow::Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS).map_err(Into::into)
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let quiet = arguments.quiet;
    set_color(arguments.color);

    match arguments.command {
        Command::Record(arguments) => {
            note_options(&arguments.recording, quiet);
            commands::record::run(&arguments, quiet)
        }
        Command::RecordAndAnalyze(arguments) => {
            note_options(&arguments.recording, quiet);
            commands::record_and_analyze::run(&arguments, quiet)
        }
        Command::Workload(arguments) => done(metalens_workload::command::run(
            &arguments,
            &mut out::page(),
        )),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Analyze(arguments) => commands::analyze::run(&arguments, quiet),
        Command::Batch(arguments) => commands::batch::run(&arguments, quiet),
        Command::Bench(arguments) => commands::bench::run(&arguments, quiet),
        Command::Compare(arguments) => commands::compare::run(&arguments, quiet),
        Command::Baseline(arguments) => done(commands::baseline::run(&arguments, quiet)),
        Command::Pr(arguments) => commands::pr::run(&arguments, quiet),
        Command::Query(arguments) => beside::run(&arguments, quiet),
        Command::Probe => done(commands::record::print_probe()),
        Command::Skill => done(commands::schema::skill()),
        Command::Chart(arguments) => done(commands::chart::run(&arguments, quiet)),
        Command::WhatIf(arguments) => done(commands::what_if::run(&arguments, quiet)),
        Command::Stacks(arguments) => done(commands::stacks::run(&arguments, quiet)),
        Command::Export(arguments) => commands::export::run(&arguments, quiet),
        Command::Tables(arguments) => commands::tables::run(&arguments, quiet),
        #[cfg(feature = "simulate")]
        Command::Synth(arguments) => done(simulate::synth::run(&arguments, quiet)),
        Command::Verify(arguments) => commands::verify::run(&arguments, quiet),
        Command::Schema(arguments) => done(commands::schema::run(&arguments)),
        Command::Completions(arguments) => done(commands::completions::run(&arguments)),
        #[cfg(feature = "simulate")]
        Command::FakeXctrace(arguments) => simulate::fake_xctrace::run(arguments),
    }
}
