//! What is asked for, and what comes of it.

use std::path::PathBuf;
use std::time::Duration;

use metalens_files::OwnershipChanges;
use metalens_xctrace::command::Record;
use metalens_xctrace::{Stdin, Tool, Transcript, Version};

/// A recording to be made.
#[derive(Debug, Clone)]
pub struct Request {
    /// With what.
    pub tool: Tool,
    /// Which that is.
    pub version: Version,
    /// Of what. Its output is the bundle that is wanted.
    pub record: Record,
    /// Whether a bundle of that name may be replaced.
    pub force: bool,
    /// What the target reads, if it reads anything.
    pub stdin: Stdin,
    /// How long to wait for what.
    pub patience: Patience,
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the recording to begin.
    pub start: Duration,
    /// For a recorder that never began to record to heed a wish to stop.
    pub heed: Duration,
    /// For it to stop, after its time limit.
    pub overrun: Duration,
    /// For the bundle, after its last growth: some take minutes.
    pub save: Duration,
    /// Before it is started again, when something else was recording.
    pub pause: Duration,
    /// How often it is started at most.
    pub tries: u32,
}

impl Default for Patience {
    /// One tool killed recorders that saved after 30 seconds, lost recordings,
    /// and waits up to 300 now.
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            heed: Duration::from_secs(15),
            overrun: Duration::from_secs(60),
            save: Duration::from_secs(300),
            pause: Duration::from_secs(2),
            tries: 3,
        }
    }
}

/// A recording that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The bundle.
    pub bundle: PathBuf,
    /// What its recorder said.
    pub transcript: Transcript,
    /// How its recorder ended: 0 and 54 are usual. None if a signal ended it.
    pub code: Option<i32>,
    /// What ended the recording.
    pub stopped_by: StoppedBy,
    /// What a reader of it should know.
    pub warnings: Vec<String>,
    /// What of it was given back to whom ran `sudo`.
    pub given: Option<OwnershipChanges>,
    /// Why it could not be given back, and belongs to root.
    pub not_given: Option<String>,
}

/// What ended a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppedBy {
    /// Its time limit.
    TimeLimit,
    /// The target's end.
    TargetExit,
    /// A wish.
    Wish,
    /// It was not said.
    Unknown,
}
