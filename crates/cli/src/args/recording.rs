//! The words of the commands that record.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use metalens_files::Owner;
use metalens_recorder::RecordRequest;

use super::{MeasureArguments, PartArguments, nanoseconds};

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The bundle to write [default: PROGRAM.trace here, or the next free name]
    #[arg(short, long, value_name = "X.trace")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a bundle that exists, once there is a whole new one
    #[arg(long)]
    pub(crate) force: bool,
    /// Add a run to a bundle that exists
    #[arg(long, conflicts_with = "force", requires = "output")]
    pub(crate) append_run: bool,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RecordAndAnalyzeArguments {
    /// The folder for the bundle and the report [default: PROGRAM.report here, or the next free
    /// name]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist in it
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the report as JSON; what the program prints goes to stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep other processes' names and the input's folder in pages and pictures
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Exit with 5 if a target is missed, or was set and cannot be measured
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
    #[command(flatten, next_help_heading = "What the report is about")]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Exits with 5 if what was found is not what was issued.")]
pub(crate) struct CalibrateArguments {
    /// Which bundled workload to run; `metalens workload list` lists them
    #[arg(long, value_name = "NAME", default_value = "eager")]
    pub(crate) workload: String,
    /// Pairs of runs, one without and one with the recorder; five are the least to be sure of
    /// anything
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=99))]
    pub(crate) pairs: u64,
    /// Elements of the workload's arrays
    #[arg(long, value_name = "N")]
    pub(crate) size: Option<u64>,
    /// Steps of the workload that are measured
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Steps of the workload before those
    #[arg(long, value_name = "N")]
    pub(crate) warm_up: Option<u64>,
    #[arg(long, value_enum, value_name = "STATE", hide_possible_values = true, help = GPU_CLOCK)]
    pub(crate) gpu_clock: Option<GpuClock>,
    /// Keep the bundles, their reports and calibration.json in this folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist in it
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Let a simulator take xctrace's place, on any machine: counts are compared, no time is
    /// measured
    #[arg(long)]
    pub(crate) simulate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    #[command(subcommand)]
    pub(crate) command: metalens_workload::command::Command,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// The program that is to be recorded: whether macOS lets it be traced
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the recording is to go: whether there is room [default: here]
    #[arg(short, long, value_name = "X.trace")]
    pub(crate) output: Option<PathBuf>,
    /// For how long it is to go on
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) time_limit: Option<u64>,
    /// Which template of Instruments it is to be made with
    #[arg(long, value_name = "NAME|FILE", default_value = RecordRequest::TEMPLATE)]
    pub(crate) template: String,
}

#[derive(Debug, Args)]
pub(crate) struct OwnArguments {
    /// The bundles
    #[arg(required = true, value_name = "X.trace")]
    pub(crate) bundles: Vec<PathBuf>,
    /// Whom they are to belong to [default: who ran sudo]
    #[arg(long, value_name = "UID:GID")]
    pub(crate) user: Option<Owner>,
}

/// The help of `--gpu-clock`.
const GPU_CLOCK: &str = "Record at this clock of the GPU: minimum, medium, maximum, or default, \
                         which leaves it to the GPU; without it the template chooses, and Apple's \
                         was seen to choose the minimum";

/// A clock of the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GpuClock {
    Minimum,
    Medium,
    Maximum,
    Default,
}

/// What to record, and how.
#[derive(Debug, Args)]
pub(crate) struct RecordingArguments {
    /// The program to record, and its arguments [default: a bundled workload]
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Which bundled workload to record [default: eager]; `metalens workload list` lists them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "attach", "all_processes"])]
    pub(crate) workload: Option<String>,
    #[command(flatten)]
    pub(crate) amount: AmountArguments,
    /// Record a process that runs; what is started by metalens is recorded more surely
    #[arg(long, value_name = "NAME|PID", conflicts_with_all = ["command", "all_processes"])]
    pub(crate) attach: Option<String>,
    /// Record everyone on this Mac
    #[arg(long, conflicts_with = "command")]
    pub(crate) all_processes: bool,
    /// Record with this template of Instruments
    #[arg(long, value_name = "NAME|FILE", default_value = RecordRequest::TEMPLATE)]
    pub(crate) template: String,
    /// Add an instrument to it
    #[arg(long = "instrument", value_name = "NAME")]
    pub(crate) instruments: Vec<String>,
    /// Add CPU samples, so that the report can say what the program did while the GPU waited
    #[arg(long)]
    pub(crate) cpu: bool,
    /// Add the times of shaders, where the GPU gives them to xctrace
    #[arg(long, conflicts_with = "template")]
    pub(crate) shader_timeline: bool,
    #[arg(long, value_enum, value_name = "STATE", hide_possible_values = true, conflicts_with = "template",
          help = GPU_CLOCK)]
    pub(crate) gpu_clock: Option<GpuClock>,
    /// Stop after this time, such as 5s or 2500ms; a program that still runs is then killed
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) time_limit: Option<u64>,
    /// Keep only the last part of this length
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) window: Option<u64>,
    /// Set a variable in the program's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Call the run something
    #[arg(long, value_name = "NAME")]
    pub(crate) run_name: Option<String>,
    /// Record on a device that is connected
    #[arg(long, value_name = "NAME|UUID")]
    pub(crate) device: Option<String>,
    /// Wait this long for a bundle that does not grow, before it is left to itself
    #[arg(long, value_name = "T", value_parser = nanoseconds, default_value = "300s")]
    pub(crate) patience: u64,
    /// Wait this long for the recording to begin [default: 120s]
    #[arg(long, value_name = "T", value_parser = nanoseconds, hide = true)]
    pub(crate) start_patience: Option<u64>,
    #[command(flatten)]
    pub(crate) cargo: CargoArguments,
    /// Print what would be run, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Let a simulator take xctrace's place, on any machine: nothing is measured
    #[arg(long)]
    pub(crate) simulate: bool,
}

/// How much of a bundled workload.
#[derive(Debug, Args)]
pub(crate) struct AmountArguments {
    /// Elements of the workload's arrays
    #[arg(long, value_name = "N", conflicts_with_all = ["command", "attach", "all_processes", "cargo"])]
    pub(crate) size: Option<u64>,
    /// Steps of the workload that are measured
    #[arg(long, value_name = "N", conflicts_with_all = ["command", "attach", "all_processes", "cargo"])]
    pub(crate) count: Option<u64>,
    /// Steps of the workload before those
    #[arg(long, value_name = "N", conflicts_with_all = ["command", "attach", "all_processes", "cargo"])]
    pub(crate) warm_up: Option<u64>,
}

/// What cargo is to build before it is recorded.
#[derive(Debug, Args)]
#[command(next_help_heading = "Programs that cargo builds")]
pub(crate) struct CargoArguments {
    /// Build a program with cargo, then record it; after -- come its arguments
    #[arg(long, conflicts_with_all = ["attach", "all_processes", "workload"])]
    pub(crate) cargo: bool,
    /// Of this package
    #[arg(long, value_name = "NAME", requires = "cargo")]
    pub(crate) package: Option<String>,
    /// This program
    #[arg(long, value_name = "NAME", requires = "cargo")]
    pub(crate) bin: Option<String>,
    /// This example
    #[arg(long, value_name = "NAME", requires = "cargo", conflicts_with = "bin")]
    pub(crate) example: Option<String>,
    /// This benchmark
    #[arg(long, value_name = "NAME", requires = "cargo", conflicts_with_all = ["bin", "example"])]
    pub(crate) bench: Option<String>,
    /// As it is released
    #[arg(long, requires = "cargo", conflicts_with = "profile")]
    pub(crate) release: bool,
    /// With this profile
    #[arg(long, value_name = "NAME", requires = "cargo")]
    pub(crate) profile: Option<String>,
    /// With these features
    #[arg(long, value_name = "LIST", requires = "cargo")]
    pub(crate) features: Option<String>,
    /// Without the default ones
    #[arg(long, requires = "cargo")]
    pub(crate) no_default_features: bool,
}

/// `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is NAME=VALUE".to_owned()),
    }
}
