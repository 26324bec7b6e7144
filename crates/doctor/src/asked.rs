//! The recording that is planned.

use std::path::Path;
use std::time::Duration;

use metalens_xctrace::FoundProgram;

/// What is to be recorded, as far as it is known.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The folder that the recording goes to.
    pub folder: &'a Path,
    /// The template.
    pub template: &'a str,
    /// When the recording stops.
    pub time_limit: Option<Duration>,
    /// The program that is to be recorded, or why there is none.
    pub program: Option<Result<FoundProgram, String>>,
    /// Whether root asks.
    pub is_root: bool,
    /// The home folder, which is written `~`.
    pub home: Option<&'a str>,
}
