//! Errors of recording, which say what there is instead of a recording.

use std::io;
use std::path::{Path, PathBuf};

use metalens_failure::{Failure, FailureKind};
use metalens_text::units::bytes;

use crate::tail::MOST_OUTPUT;

/// Result of a function in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why there is no complete recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Apple's `xctrace` could not be used.
    #[error(transparent)]
    Xctrace(#[from] metalens_xctrace::Error),
    /// A bundle exists at the requested path.
    #[error("{} exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    /// The program cannot be started.
    #[error("{0}")]
    Target(String),
    /// This build has no probe.
    #[error("this build of metalens has no probe")]
    NoProbe,
    /// The probe wrote no command buffer.
    #[error("{}", empty_log(.loaded, .program, .end.as_deref()))]
    EmptyLog {
        /// Names of the programs that the probe was loaded into.
        loaded: Vec<String>,
        /// Name of the program.
        program: String,
        /// How the program ended, if that needs words.
        end: Option<String>,
    },
    /// The probe's log has no end, although the program ended by itself.
    #[error("the log is cut after {buffers} command buffers; it is kept: {}", .log.display())]
    CutLog {
        /// Path of the log.
        log: PathBuf,
        /// Number of command buffers in it.
        buffers: u64,
    },
    /// A duration is zero.
    #[error("{0} must be greater than zero")]
    ZeroLength(&'static str),
    /// A changed copy of the template cannot be made.
    #[error("--shader-timeline needs a changed copy of Apple's template: {why}")]
    Template {
        /// Reason for the failure.
        why: String,
    },
    /// `xctrace` ended without recording.
    #[error("xctrace did not record: {explanation}")]
    NotStarted {
        /// Messages of `xctrace`, and what they mean.
        explanation: String,
        /// Advice, if a message is known.
        remedy: Option<&'static str>,
    },
    /// Several processes have the name to attach to.
    #[error("several processes are named {name}: {}", pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// Name that was given.
        name: String,
        /// Their process ids.
        pids: Vec<u32>,
    },
    /// macOS asked for a password, which nobody could give.
    #[error(
        "macOS asks for an administrator's password before it lets xctrace record, where nobody can \
         answer; xctrace was stopped, and nothing was recorded"
    )]
    PasswordAsked,
    /// `xctrace` did not start recording in time.
    #[error(
        "xctrace did not start recording within {seconds} s and was stopped; nothing was recorded. \
         macOS may have asked for a password in a window: `DevToolsSecurity -status` tells whether \
         developer mode is on. Else try again; recording in a device simulator is known to hang"
    )]
    NeverBegan {
        /// Time it was given, in seconds.
        seconds: u64,
    },
    /// `xctrace` ended, and there is no bundle.
    #[error("xctrace left no bundle: {explanation}")]
    NoBundle {
        /// Messages of `xctrace`, and what they mean.
        explanation: String,
    },
    /// The bundle is incomplete.
    #[error("the recording is incomplete: {why}. It is kept as {}", kept.display())]
    Incomplete {
        /// Reason why it is incomplete.
        why: String,
        /// Path of the bundle.
        kept: PathBuf,
        /// Advice, if a message of `xctrace` is known.
        remedy: Option<&'static str>,
    },
    /// There is no complete bundle, but a raw recording.
    #[error("{why}. xctrace left its raw recording: {}", kept.display())]
    Raw {
        /// Reason why there is no complete bundle.
        why: Box<Error>,
        /// Path of the raw recording.
        kept: PathBuf,
    },
    /// The recording is complete, but cannot be moved to the requested path.
    #[error("the recording was made, but {why}. It is kept as {}", kept.display())]
    Elsewhere {
        /// Reason for the failure.
        why: String,
        /// Path of the bundle.
        kept: PathBuf,
    },
    /// The run could not be followed to its end.
    #[error("{why}. The bundle, which xctrace may still be writing, is kept as {}", kept.display())]
    NotFollowed {
        /// Reason for the failure.
        why: Box<Error>,
        /// Path of the bundle.
        kept: PathBuf,
    },
    /// A bundle was moved aside to be replaced, and could not be put back.
    #[error("{why}; the old {} is now {}", was.display(), is.display())]
    Displaced {
        /// Reason why it was not replaced.
        why: Box<Error>,
        /// Former path of the old bundle.
        was: PathBuf,
        /// Present path of the old bundle.
        is: PathBuf,
    },
    /// The recording does not contain what it was made for.
    #[error("{why}. The recording is kept as {}", kept.display())]
    Empty {
        /// Description of what is missing.
        why: String,
        /// Path of the bundle.
        kept: PathBuf,
        /// Advice, if a message of `xctrace` is known.
        remedy: Option<&'static str>,
    },
    /// `xctrace` has not finished saving in time.
    #[error(
        "xctrace (pid {pid}) has not finished saving, and its bundle has not grown for {seconds} s. It \
         was left running, because stopping it now would lose the recording; the bundle will be \
         at {}",
        bundle.display()
    )]
    StillSaving {
        /// Process ID of `xctrace`.
        pid: u32,
        /// Path that it writes to.
        bundle: PathBuf,
        /// Time without growth, in seconds.
        seconds: u64,
    },
    /// The user did not wait until the recording was saved.
    #[error("xctrace (pid {pid}) is still saving; the bundle will be at {}", bundle.display())]
    GaveUp {
        /// Process ID of `xctrace`.
        pid: u32,
        /// Path that it writes to.
        bundle: PathBuf,
    },
    /// The program printed too much, and a part of it was dropped.
    #[error(
        "the program printed more than {}, or than the disk has room for: the rest of its output was \
         dropped; the recording is whole",
        bytes(MOST_OUTPUT)
    )]
    OutputCut,
    /// The user stopped `xctrace` before the recording started.
    #[error("interrupted before the recording began; nothing was recorded")]
    Interrupted,
    /// A file could not be created, read, moved or removed, or its owner could not be changed.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
}

impl Error {
    /// Returns the path where there is, or will be, a bundle in spite of the error.
    pub fn bundle(&self) -> Option<&Path> {
        match self {
            Self::Incomplete { kept, .. }
            | Self::Empty { kept, .. }
            | Self::Elsewhere { kept, .. }
            | Self::NotFollowed { kept, .. } => Some(kept),
            Self::StillSaving { bundle, .. } | Self::GaveUp { bundle, .. } => Some(bundle),
            Self::Raw { why, .. } => why.bundle(),
            _ => None,
        }
    }
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Xctrace(error) => error.kind(),
            Self::ZeroLength(_) => FailureKind::Misuse,
            Self::Incomplete { .. }
            | Self::Empty { .. }
            | Self::EmptyLog { .. }
            | Self::CutLog { .. }
            | Self::Raw { .. } => FailureKind::Unusable,
            Self::Interrupted | Self::GaveUp { .. } => FailureKind::Interrupted,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Xctrace(error) => return error.hint(),
            Self::NoProbe => {
                "it was built on another system: build metalens on this one, or take a release"
            }
            Self::EmptyLog { loaded, .. } => {
                if loaded.is_empty() {
                    "start the program without a launcher of the system before it; `metalens doctor -- \
                     PROGRAM` looks at its signature"
                } else {
                    "the GPU may be used by a program that loses the variables of its environment; record \
                     that one"
                }
            }
            Self::CutLog { .. } => {
                "is the disk full? A program that leaves by `_exit` writes no end, too; `metalens analyze \
                 --allow-truncated` reads what there is"
            }
            Self::OutputCut => {
                "let it print less, or write a file itself: sh -c 'exec PROGRAM > FILE'"
            }
            Self::Template { .. } => {
                "switch Shader Timeline on in a Metal System Trace in Instruments, save it as a \
                 template, and pass that with --template"
            }
            Self::NotStarted { remedy, .. } => remedy.unwrap_or(UNEXPLAINED),
            Self::NoBundle { .. } => UNEXPLAINED,
            Self::Empty {
                remedy: Some(remedy),
                ..
            } => remedy,
            Self::PasswordAsked => {
                "run `sudo DevToolsSecurity -enable` once: it turns on developer mode, and macOS asks no \
                 more"
            }
            Self::Ambiguous { .. } => "give the process id of one of them",
            Self::Incomplete { remedy, .. } => {
                remedy.unwrap_or("record again; data that was not saved is lost")
            }
            Self::Raw { kept, .. } => {
                let beside = kept
                    .ancestors()
                    .find(|path| path.extension().is_some_and(|ending| ending == "trace"))
                    .unwrap_or(kept);
                let (raw, bundle) = (
                    in_quotes(kept),
                    in_quotes(&beside.with_extension("imported.trace")),
                );
                return Some(format!(
                    "this command may make a bundle of it, and does not change it: xcrun xctrace \
                     import --input \
                     {raw} --template 'Metal System Trace' --output {bundle}; then record for less time, \
                     or with --window 10s"
                ));
            }
            Self::NeverBegan { .. } | Self::StillSaving { .. } => {
                "if xctrace hangs every time, its service may hang: `sudo killall DTServiceHub` \
                 ends it, and with it every other recording on this Mac"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Hint about a failure of `xctrace` that nobody knows yet.
const UNEXPLAINED: &str = "run `metalens doctor` to find the cause; if it finds none, `metalens verify` \
                           writes a file for a bug report, with what xctrace does on this Mac";

/// Returns a path in quotes for a shell.
fn in_quotes(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Returns a function that turns an error of the system into one that names action and path.
pub(crate) fn file(
    what: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> Error {
    let refused = metalens_files::refused(what, path);
    move |cause| Error::Files(refused(cause))
}

/// Returns why a log has no command buffer.
fn empty_log(loaded: &[String], program: &str, end: Option<&str>) -> String {
    let why = if loaded.is_empty() {
        format!("the probe was not loaded into {program}")
    } else {
        let loaded = loaded.join(" and ");
        format!(
            "the probe was loaded into {loaded}, and no Metal command buffer was committed there"
        )
    };
    match end {
        Some(end) => format!("nothing was recorded: {why}, and {end}"),
        None => format!("nothing was recorded: {why}"),
    }
}
