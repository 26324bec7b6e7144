//! What a report is to be about.

pub(crate) mod settings;
pub(crate) mod sidecar;

use self::settings::Settings;
use self::sidecar::Sidecar;

/// What a report is to be about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Names or pids; the recording's own target if empty.
    pub processes: Vec<String>,
    /// Cut off what comes before, ns since the recording began.
    pub from_ns: Option<u64>,
    /// Cut off what comes from here on, ns since the recording began.
    pub to_ns: Option<u64>,
    /// Cut off the target's warm-up, if it has one.
    pub skip_warm_up: bool,
    /// Cut off all but this phase, from its first begin to its last end. It is
    /// the name of os_signpost intervals: the target's, or else anybody's.
    pub phase: Option<String>,
    /// How much work kernels do, if a file tells.
    pub work: Option<Sidecar>,
    /// Limits of the targets, and findings to leave out.
    pub settings: Settings,
    /// Keep everyone's intervals for [`Analysis::everyone`](crate::Analysis::everyone):
    /// there may be millions, and a report needs only the target's.
    pub keep_everyone: bool,
}
