//! The words of the commands that record.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use metalens_recorder::ownership::Owner;

use super::nanoseconds;

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
    #[arg(long, value_name = "NAME|FILE", default_value = "Metal System Trace")]
    pub(crate) template: String,
}

#[derive(Debug, Args)]
pub(crate) struct OwnArguments {
    /// The bundles
    #[arg(required = true, value_name = "X.trace")]
    pub(crate) bundles: Vec<PathBuf>,
    /// Whom they are to belong to [default: who ran sudo]
    #[arg(long, value_name = "UID:GID", value_parser = owner)]
    pub(crate) user: Option<Owner>,
}

/// What to record, and how.
#[derive(Debug, Args)]
pub(crate) struct RecordingArguments {
    /// The program to record, and its arguments [default: a bundled workload]
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
    /// Which bundled workload to record; `metalens workload list` lists them
    #[arg(long, value_name = "NAME", default_value = "eager", conflicts_with_all = ["command", "attach", "all_processes"])]
    pub(crate) workload: String,
    /// Record a process that runs; what is started by metalens is recorded more surely
    #[arg(long, value_name = "NAME|PID", conflicts_with_all = ["command", "all_processes"])]
    pub(crate) attach: Option<String>,
    /// Record everyone on this Mac
    #[arg(long, conflicts_with = "command")]
    pub(crate) all_processes: bool,
    /// Record with this template of Instruments
    #[arg(long, value_name = "NAME|FILE", default_value = "Metal System Trace")]
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
    /// Print what would be run, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Let a simulator take xctrace's place, on any machine: nothing is measured
    #[arg(long)]
    pub(crate) simulate: bool,
}

/// `501:20`.
fn owner(text: &str) -> Result<Owner, String> {
    let wrong = || format!("`{text}` is no UID:GID, such as 501:20");
    let (uid, gid) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| text.parse().map_err(|_| wrong());
    Ok(Owner {
        uid: number(uid)?,
        gid: number(gid)?,
    })
}

/// `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable is NAME=VALUE".to_owned()),
    }
}
