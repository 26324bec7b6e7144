//! Defines the recordings that the experiments share, and the reasons why one may be missing.

use metalens_recorder::{Error, RecordRequest, RecordingOutcome};

/// A recording that experiments share, by its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// Shows what Apple's template records.
    Stock,
    /// Asks for shader samples; the program's output goes through `xctrace`.
    Shaders,
    /// Asks for shader samples; the program's output goes to a file.
    ShadersToFile,
    /// Asks for hardware counters.
    Counters,
    /// Records the workload with the probe in it.
    WithProbe,
    /// Records a shell that runs the workload.
    Wrapper,
    /// Records a shell that continues after the time limit.
    Outlasting,
    /// Records until it is stopped, as with Ctrl-C.
    Interrupted,
    /// Attaches to a process that runs.
    Attached,
}

impl Purpose {
    /// Returns the purpose in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Stock => "Apple's template",
            Self::Shaders => "--shader-timeline",
            Self::ShadersToFile => "--shader-timeline, output in a file",
            Self::Counters => "--counters",
            Self::WithProbe => "the probe in the workload",
            Self::Wrapper => "a shell that runs the workload",
            Self::Outlasting => "a program that continues after the time limit",
            Self::Interrupted => "stopped as with Ctrl-C",
            Self::Attached => "--attach",
        }
    }

    /// Returns the name of the bundle without its ending.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Shaders => "shaders",
            Self::ShadersToFile => "shaders-to-file",
            Self::Counters => "counters",
            Self::WithProbe => "with-probe",
            Self::Wrapper => "wrapper",
            Self::Outlasting => "outlasting",
            Self::Interrupted => "interrupted",
            Self::Attached => "attached",
        }
    }

    /// Returns whether a shell runs the workload as its child.
    pub(crate) const fn is_wrapped(self) -> bool {
        matches!(self, Self::Wrapper | Self::Outlasting | Self::Interrupted)
    }

    /// Sets the options of the recording.
    pub(crate) fn apply(self, request: &mut RecordRequest) {
        match self {
            Self::Shaders | Self::ShadersToFile => request.shader_timeline = true,
            Self::Counters => request.counters = true,
            Self::Stock
            | Self::WithProbe
            | Self::Wrapper
            | Self::Outlasting
            | Self::Interrupted
            | Self::Attached => {}
        }
    }
}

/// A recording that was made.
#[derive(Debug)]
pub(crate) struct MadeRecording {
    pub(crate) outcome: RecordingOutcome,
    /// True if `notifyutil` heard that tracing began. None if nobody listened.
    pub(crate) heard: Option<bool>,
    /// Number of processes of the program that were left. None if `ps` does not list them.
    pub(crate) left: Option<u64>,
}

/// The absence of a recording.
#[derive(Debug, Clone)]
pub(crate) struct MissingRecording {
    pub(crate) why: Absence,
    /// Text for the user alone.
    pub(crate) private: String,
}

/// The reason why there is no recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It has no GPU work of the program.
    Empty,
    /// It is incomplete.
    Incomplete,
    /// Only a raw recording was left.
    Raw,
    /// The changed template could not be made.
    Template,
    /// `xctrace` never began to record.
    NeverBegan,
    /// `xctrace` recorded nothing.
    NotRecorded,
    /// It takes too long to save.
    StillSaving,
    /// The user did not wait until it was saved.
    LeftSaving,
    /// The user stopped it.
    Stopped,
    /// The disk has no room.
    NoRoom,
    /// The machine has no `xctrace` that runs.
    NoXctrace,
    /// Something else than `xctrace` failed.
    Other,
}

impl Absence {
    /// Returns the reason that an error of the recorder tells.
    pub(crate) const fn of_error(error: &Error) -> Self {
        match error {
            Error::Empty { .. } => Self::Empty,
            Error::Incomplete { .. } => Self::Incomplete,
            Error::Raw { .. } => Self::Raw,
            Error::Template { .. } => Self::Template,
            Error::PasswordAsked | Error::NeverBegan { .. } => Self::NeverBegan,
            Error::NotStarted { .. } | Error::NoBundle { .. } => Self::NotRecorded,
            Error::StillSaving { .. } => Self::StillSaving,
            Error::GaveUp { .. } => Self::LeftSaving,
            Error::Interrupted => Self::Stopped,
            _ => Self::Other,
        }
    }

    /// Returns the word in the evidence.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Incomplete => "incomplete",
            Self::Raw => "only a raw recording",
            Self::Template => "no changed template",
            Self::NeverBegan => "it never began",
            Self::NotRecorded => "not recorded",
            Self::StillSaving | Self::LeftSaving => "still saving",
            Self::Stopped => "stopped",
            Self::NoRoom => "no room",
            Self::NoXctrace => "no xctrace",
            Self::Other => "failed",
        }
    }

    /// Returns whether it says something about `xctrace`.
    pub(crate) const fn is_telling(self) -> bool {
        !matches!(
            self,
            Self::LeftSaving | Self::Stopped | Self::NoRoom | Self::NoXctrace | Self::Other
        )
    }
}
