//! Defines the state of a recording before it starts, and after it ended.

use std::path::PathBuf;

use crate::fake_xctrace::process::{ProcessEnd, RecordedProcess};
use crate::fake_xctrace::template::Template;

/// The decisions before the recording starts.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) template: Template,
    pub(super) output: PathBuf,
    /// Process to attach to, if any.
    pub(super) process: Option<RecordedProcess>,
}

/// A recording that has ended.
#[derive(Debug)]
pub(super) struct EndedRecording {
    pub(super) process: Option<RecordedProcess>,
    pub(super) reason: EndReason,
    pub(super) end: ProcessEnd,
}

/// The reason why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndReason {
    Limit,
    Exited,
    Stopped,
    /// The recording stopped by itself, without a reason.
    Aborted,
}
