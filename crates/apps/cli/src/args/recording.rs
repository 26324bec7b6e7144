//! Arguments of the commands that record.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use metalens_recorder::RecordRequest;

use super::shared::{MeasureArguments, PartArguments, RecordingGate, nanoseconds};
use crate::names::Names;

const RECORD_EXAMPLES: &str = "\
Examples:
  metalens record ./my-kernels --steps 100
  metalens record --runs 5 -o five-runs ./my-kernels
  metalens record --simulate -o try.trace";

const RECORD_AND_ANALYZE_EXAMPLES: &str = "\
Examples:
  metalens record-and-analyze ./my-kernels --steps 100
  metalens record-and-analyze --time-limit 5s -o profile ./my-kernels
  metalens record-and-analyze --simulate";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  metalens doctor
  metalens doctor ./my-kernels";

#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub(crate) struct RecordArguments {
    /// Bundle to write [default: PROGRAM.trace here, or the next free name]; with --runs a folder
    #[arg(short, long, value_name = "X.trace|DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a bundle that exists, once the new one is complete
    #[arg(long)]
    pub(crate) force: bool,
    /// Record this many times, into the folder of -o: run-1.trace, run-2.trace, …
    #[arg(long, value_name = "N", requires = "output", conflicts_with = "dry_run",
          value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(crate) runs: Option<u32>,
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
}

/// What a failure of the recorded program means.
#[derive(Debug, Args)]
pub(crate) struct FailureArguments {
    /// Exit with 0 although the program failed [default: exit with 1 and keep the recording]
    #[arg(long)]
    pub(crate) ignore_failure: bool,
}

#[derive(Debug, Args)]
#[command(after_help = RECORD_AND_ANALYZE_EXAMPLES)]
pub(crate) struct RecordAndAnalyzeArguments {
    /// Folder for the bundle and the report [default: PROGRAM.report here, or the next free name]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the report as JSON; output of the program goes to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Show names of other processes and the input's folder in pages and charts [default: leave
    /// them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Open the page of the report in the browser
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) gate: RecordingGate,
}

#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// Program to record; doctor also checks whether macOS allows tracing it
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Bundle to write; doctor checks the disk space there [default: here]
    #[arg(short, long, value_name = "X.trace")]
    pub(crate) output: Option<PathBuf>,
    /// Length of the recording, to estimate the disk space
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) time_limit: Option<u64>,
    /// Instruments template to record with
    #[arg(long, value_name = "NAME|FILE", default_value = RecordRequest::TEMPLATE)]
    pub(crate) template: String,
}

/// Program to record, and how to record it.
#[derive(Debug, Args)]
pub(crate) struct RecordingArguments {
    /// Program to record, and its arguments, after all options [default: a bundled workload]
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Bundled workload to record [default: eager]; `record --workload list` lists them
    #[arg(long, value_name = "NAME", value_parser = Names::WORKLOADS, hide_possible_values = true,
          conflicts_with_all = ["command", "attach", "all_processes"])]
    pub(crate) workload: Option<String>,
    /// Measured steps of the workload
    #[arg(long, value_name = "N", conflicts_with_all = ["command", "attach", "all_processes", "cargo"])]
    pub(crate) count: Option<u64>,
    /// Build a program with `cargo build ARGS`, such as --cargo '--release --bin x', then record it;
    /// its arguments follow --
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true,
          conflicts_with_all = ["attach", "all_processes", "workload"])]
    pub(crate) cargo: Option<String>,
    /// Record a running process; starting the program with metalens is more reliable
    #[arg(long, value_name = "NAME|PID", conflicts_with_all = ["command", "all_processes"])]
    pub(crate) attach: Option<String>,
    /// Record all processes on this Mac
    #[arg(long, conflicts_with = "command")]
    pub(crate) all_processes: bool,
    #[command(flatten)]
    pub(crate) recorder: RecorderArguments,
    /// Print the commands and record nothing; --cargo still builds the program
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Use a fake xctrace, on any machine: measures nothing
    #[arg(long)]
    pub(crate) simulate: bool,
}

impl RecordingArguments {
    /// Options that look like ones of metalens behind the program, which gets them.
    pub(crate) fn behind_program(&self) -> impl Iterator<Item = &str> {
        /// Options that other programs do not have.
        const OWN: [&str; 6] = [
            "--simulate",
            "--open",
            "--cpu",
            "--counters",
            "--dry-run",
            "--time-limit",
        ];
        let arguments = self.command.iter().skip(1).take_while(|word| *word != "--");
        let words = arguments.filter_map(|word| word.to_str());
        words.filter(|word| OWN.contains(&word.split('=').next().unwrap_or(word)))
    }
}

/// Who records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Recorders {
    Xctrace,
    Probe,
    Both,
}

impl Recorders {
    /// Returns the ending of the file or bundle that they write first.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Probe => "jsonl",
            Self::Xctrace | Self::Both => "trace",
        }
    }
}

/// Options of the recorder, the same for all subjects.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Recorder")]
pub(crate) struct RecorderArguments {
    /// Who records: xctrace; the probe, a library in the program itself, which needs no Xcode and writes
    /// a log (.jsonl) with the kernels' names; or both [default: xctrace, or the probe without Xcode]
    #[arg(
        long = "recorder",
        value_enum,
        value_name = "WHO",
        hide_possible_values = true
    )]
    pub(crate) who: Option<Recorders>,
    /// Instruments template to record with
    #[arg(long, value_name = "NAME|FILE|X.trace", default_value = RecordRequest::TEMPLATE)]
    pub(crate) template: String,
    /// Add an instrument to the template
    #[arg(long = "instrument", value_name = "NAME")]
    pub(crate) instruments: Vec<String>,
    /// Add CPU samples, which show what the program did while the GPU waited; Apple's template has
    /// them since Xcode 26
    #[arg(long)]
    pub(crate) cpu: bool,
    /// Add hardware counters of the GPU, if the chip and Xcode support them; some refuse to record
    #[arg(long)]
    pub(crate) counters: bool,
    /// Leave out the instrument Points of Interest, which records signposts for `analyze --step`
    #[arg(long)]
    pub(crate) no_signposts: bool,
    /// Add shader samples, if the GPU delivers them
    #[arg(long, conflicts_with = "template")]
    pub(crate) shader_timeline: bool,
    /// Stop after this time, such as 5s or 2500ms; the program is killed if it still runs
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) time_limit: Option<u64>,
    /// Keep only the last part of the recording, of this length
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) window: Option<u64>,
    /// Set an environment variable of the program
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Add what xctrace prints, with times, to a file, for reports of faults; the program's output may
    /// be in it
    #[arg(long, value_name = "FILE")]
    pub(crate) keep_log: Option<PathBuf>,
    /// Wait this long for the recording to start [default: 120s]
    #[arg(long, value_name = "T", value_parser = nanoseconds, hide = true)]
    pub(crate) start_patience: Option<u64>,
    /// Wait this long for xctrace to save while its bundle does not grow [default: 300s]
    #[arg(long, value_name = "T", value_parser = nanoseconds, hide = true)]
    pub(crate) save_patience: Option<u64>,
}

/// Parses `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is NAME=VALUE".to_owned()),
    }
}
