//! Defines the request for one run of `xctrace`, and the recording that comes of it.

use std::path::PathBuf;
use std::time::Duration;

use metalens_files::OwnershipChanges;
use metalens_xctrace::command::Record;
use metalens_xctrace::{Stdin, Tool, Transcript, Version};
use schemars::JsonSchema;
use serde::Serialize;

use crate::other_work::OtherWork;
use crate::running::RunningProcesses;

/// A request for one recording by `xctrace`.
#[derive(Debug, Clone)]
pub struct XctraceRequest {
    /// The `xctrace` to run.
    pub tool: Tool,
    /// Version of that `xctrace`.
    pub version: Version,
    /// Command line of the recording. Its output is the path of the wanted bundle.
    pub record: Record,
    /// Route of the standard output of a program that `xctrace` starts.
    pub program_output: OutputRoute,
    /// File to write when the recording has begun, for a program that waits for it.
    pub started_file: Option<PathBuf>,
    /// True if an existing bundle may be replaced.
    pub force: bool,
    /// Standard input of the recorded program.
    pub stdin: Stdin,
    /// Times after which the session stops waiting.
    pub timeouts: RecordTimeouts,
    /// The processes that ran before, if `ps` tells them.
    pub running_before: Option<RunningProcesses>,
    /// File to add the output of `xctrace` to, with times, for reports of faults.
    pub log: Option<PathBuf>,
}

/// Times after which the session stops waiting for `xctrace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordTimeouts {
    /// Time for the recording to start.
    pub start: Duration,
    /// Time for an `xctrace` that never started recording to react to a stop request.
    pub stop_response: Duration,
    /// Time after which the program should have used the CPU.
    pub first_work: Duration,
    /// Length from which a recording may fail as a whole: one project lost those of 90 s.
    pub long: Duration,
    /// Time to stop after the time limit of the recording.
    pub overrun: Duration,
    /// Time without growth of the bundle while it is saved. Some bundles take minutes.
    pub save: Duration,
    /// Time for the service of `xctrace` to close its scratch files. It was seen to take 45 s.
    pub scratch: Duration,
    /// Pause before another attempt, when something else was recording.
    pub retry_delay: Duration,
    /// Largest number of attempts.
    pub max_attempts: u32,
}

impl Default for RecordTimeouts {
    /// Returns times that lose no recording: another tool killed `xctrace` after 30 seconds of
    /// saving, lost recordings, and waits up to 300 seconds now.
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            stop_response: Duration::from_secs(15),
            first_work: Duration::from_secs(10),
            long: Duration::from_secs(45),
            overrun: Duration::from_secs(60),
            save: Duration::from_secs(300),
            scratch: Duration::from_secs(60),
            retry_delay: Duration::from_secs(2),
            max_attempts: 3,
        }
    }
}

/// A recording that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Path of the bundle.
    pub bundle: PathBuf,
    /// Output of `xctrace`, parsed.
    pub transcript: Transcript,
    /// Exit code of `xctrace`: 0 and 54 are usual. `None` if a signal ended it.
    pub code: Option<i32>,
    /// Reason for the end of the recording.
    pub stopped_by: StoppedBy,
    /// Warnings for the reader of the recording.
    pub warnings: Vec<String>,
    /// Changes of ownership, if the bundle was given back to the user who ran `sudo`.
    pub given: Option<OwnershipChanges>,
    /// Error that left the bundle with root, if there was one.
    pub not_given: Option<String>,
    /// GPU work of another process, if the recorded program has none.
    pub other_work: Option<OtherWork>,
    /// True if the program printed so much that a part of it was dropped.
    pub is_output_cut: bool,
}

/// Route of the standard output of a program that `xctrace` starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputRoute {
    /// Into a temporary file, from which it is passed on.
    File,
    /// Through the output of `xctrace`, line by line.
    Shared,
    /// To `/dev/null`, as scripts of eight projects do it.
    Discarded,
}

/// Reason for the end of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "EndedBy")]
pub enum StoppedBy {
    /// The time limit was reached.
    TimeLimit,
    /// The recorded program ended.
    TargetExit,
    /// The user stopped the recording.
    #[serde(rename = "interrupt")]
    User,
    /// metalens stopped it, because `xctrace` had not said in time that it records.
    Patience,
    /// `xctrace` gave no reason.
    Unknown,
}
