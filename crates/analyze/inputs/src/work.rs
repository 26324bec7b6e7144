//! Finds and reads the file of known work of an input.

use std::path::{Path, PathBuf};

use metalens_analyzer::{Request, WorkFile};

use crate::error::{Result, cannot_read};

/// The largest size of a file of known work, in bytes: room for the times of two hundred thousand
/// command buffers.
const LONGEST_WORK: u64 = 32 << 20;

/// Returns the request for an input, with the known work of the given file, or else of the file in the
/// input's default place.
///
/// # Errors
///
/// Fails if the file cannot be read or is not one of known work.
pub fn with_work(request: &Request, work: Option<&Path>, input: &Path) -> Result<Request> {
    let default = default_work(input).filter(|file| !metalens_files::is_absent(file));
    let work = work.map(Path::to_path_buf).or(default);
    Ok(Request {
        work: work.map(|file| read_work(&file)).transpose()?,
        ..request.clone()
    })
}

/// Returns the default place of an input's known work: a file in an export's folder, or beside a
/// bundle, where `record` writes it.
pub fn default_work(input: &Path) -> Option<PathBuf> {
    if input.extension().is_some_and(|ending| ending == "trace") {
        Some(input.with_extension("work.json"))
    } else {
        input.is_dir().then(|| input.join("work.json"))
    }
}

/// Reads a file of known work.
///
/// # Errors
///
/// Fails if the file cannot be read or is not one of known work.
fn read_work(file: &Path) -> Result<WorkFile> {
    let shown = file.display().to_string();
    let text = metalens_files::read_text(file, LONGEST_WORK).map_err(cannot_read(file))?;
    Ok(WorkFile::parse(&text, &shown)?)
}
