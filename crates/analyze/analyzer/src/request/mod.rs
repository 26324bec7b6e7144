//! Types of a request: process, part of the recording, work file and findings to leave out.

mod step_choice;
pub(crate) mod work_file;

pub use self::step_choice::StepChoice;
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
    /// Steps to look at; `None` for those that are found.
    pub step: Option<StepChoice>,
    /// Work file with the amounts of work of kernels.
    pub work: Option<WorkFile>,
    /// Number of bytes that a step reads and writes, instead of what the work file says.
    pub bytes_per_step: Option<u64>,
    /// Ids of the findings to leave out.
    pub ignored_findings: Vec<String>,
    /// True to keep the GPU intervals of all processes for
    /// [`Analysis::everyone`](crate::Analysis::everyone). There may be millions, and a report needs
    /// only those of its process.
    pub keep_everyone: bool,
}

impl Request {
    /// Returns the amounts of work that are known; `None` if none are.
    pub(crate) fn known_work(&self) -> Option<WorkFile> {
        match self.bytes_per_step {
            Some(bytes) => {
                let file = self.work.clone().unwrap_or_default();
                Some(file.with_bytes_per_step(bytes))
            }
            None => self.work.clone(),
        }
    }
}
