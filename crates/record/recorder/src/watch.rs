//! Defines the events of a recording, and the trait of those who follow it.

use std::path::Path;

use metalens_xctrace::StreamLine;

/// An event during a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingEvent<'a> {
    /// `xctrace` prepares to record.
    Starting,
    /// The recording has started.
    Recording,
    /// `xctrace` was asked to stop.
    Stopping,
    /// The recording has ended, and `xctrace` saves it.
    Saving {
        /// Size of the bundle so far, in bytes.
        bytes: u64,
    },
    /// The recorded program printed this.
    TargetOutput(&'a [u8]),
    /// A line on standard error that is not from `xctrace` itself, but from the program.
    Line(&'a StreamLine),
    /// `xctrace` printed an error or a warning.
    Warning(&'a str),
    /// `xctrace` could not start, for this reason, and is started again.
    TryingAgain(&'a str),
    /// The recording is made; these scratch files are still in use by `xctrace`'s service.
    Tidying {
        /// Size of the files, in bytes.
        bytes: u64,
    },
    /// Something about the recording that the user should know.
    Note(&'a str),
    /// The bundle was saved at another path.
    FoundElsewhere(&'a Path),
}

/// A request of the user to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopRequest {
    /// The recording goes on.
    None,
    /// Stop recording, and save.
    Stop,
    /// Do not wait for the saving either.
    GiveUp,
}

/// Follows a recording, and may stop it.
pub trait Watcher {
    /// Handles an event of the recording.
    fn on_event(&mut self, event: RecordingEvent<'_>);

    /// Returns the user's request at this moment. Called ten times a second or more.
    fn stop_request(&mut self) -> StopRequest;
}
