//! Describes the planned recording that the machine is checked for.

use std::path::Path;
use std::time::Duration;

use metalens_xctrace::FoundProgram;

/// The planned recording, as far as it is known.
#[derive(Debug, Clone)]
pub struct PlannedRecording<'a> {
    /// The folder of the recording.
    pub folder: &'a Path,
    /// The temporary folder of this process (`TMPDIR`).
    pub temporary: Option<&'a Path>,
    /// Name or path of the template.
    pub template: &'a str,
    /// Time limit of the recording, if there is one.
    pub time_limit: Option<Duration>,
    /// The program to record, or the reason why it cannot be used; None if none was named.
    pub program: Option<Result<FoundProgram, String>>,
    /// The home folder, which is shown as `~`.
    pub home: Option<&'a str>,
}
