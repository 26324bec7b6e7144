//! Types of a request: process, part of the recording, work file and findings to leave out.

pub(crate) mod work_file;

use self::work_file::WorkFile;

/// Request for a report: process, part of the recording, work file and findings to leave out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Names or ids of the processes; if empty, the process that was recorded.
    pub processes: Vec<String>,
    /// Start of the window, in nanoseconds since the recording began; earlier work is cut off.
    pub from_ns: Option<u64>,
    /// End of the window, in nanoseconds since the recording began; later work is cut off.
    pub to_ns: Option<u64>,
    /// True to cut off the warm-up of the process, if it has one.
    pub skip_warm_up: bool,
    /// Name of the phase to cut the window to, from its first begin to its last end. It is the name
    /// of os_signpost intervals, of the process or else of any.
    pub phase: Option<String>,
    /// Number of the phase's interval to cut the window to, from 1, in order of time; all of them
    /// if absent. Without a phase it is the number of a detected iteration.
    pub iteration: Option<u64>,
    /// Work file with the amounts of work of kernels.
    pub work: Option<WorkFile>,
    /// Ids of the findings to leave out.
    pub ignored_findings: Vec<String>,
    /// True to keep the GPU intervals of all processes for
    /// [`Analysis::everyone`](crate::Analysis::everyone). There may be millions, and a report needs
    /// only those of its process.
    pub keep_everyone: bool,
}
