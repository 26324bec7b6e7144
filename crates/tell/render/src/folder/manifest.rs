//! Defines `manifest.json`: the list of the files in a folder that `analyze -o` wrote, for programs
//! that process them.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_analyzer::{LONGEST_REPORT, Note};
use metalens_files::sha256;
use metalens_message::{message, path, quote};
use serde::{Deserialize, Serialize};

use crate::index::FILE_MISSING;

/// File name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The name of the format; its number rises when a key is removed or changes meaning.
pub(super) const SCHEMA: &str = "metalens.manifest/1";

/// List of the files in the folder. It is written last: a folder with a manifest has all files that
/// the manifest lists. A file that it does not list is not part of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the format, `metalens.manifest/1`.
    pub schema: String,
    /// The schema of the report for programs.
    pub report_schema: String,
    /// The files, in a fixed order.
    pub files: Vec<File>,
    /// Files that are missing from the folder, with the reason; usually empty.
    pub problems: Vec<Problem>,
}

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Path relative to the manifest, with `/` between its parts.
    pub path: String,
    /// Kind of the file.
    pub kind: Kind,
    /// Media type of the file.
    pub media_type: String,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in lowercase hexadecimal digits.
    pub sha256: String,
    /// True if folders and the names of other processes are left out of the file; if false, look at
    /// it before you post it.
    pub redacted: bool,
    /// Contents of the picture; null for other files.
    pub picture: Option<Picture>,
}

/// Kind of a file in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The whole report, for programs.
    Report,
    /// The report as a page, Markdown or HTML.
    Page,
    /// A picture of a part of the report.
    Chart,
}

/// Contents of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Name of the chart: `timeline`, `busy`, `idle`, `gaps`, `kernels`.
    pub chart: String,
    /// Color theme: `light` or `dark`.
    pub theme: String,
    /// Width in device pixels.
    pub width: u32,
    /// Height in device pixels.
    pub height: u32,
    /// Device pixels per pixel: shown at `width / scale` it is sharp.
    pub scale: u8,
    /// Alternative text of the picture, as plain text.
    pub alt: String,
}

/// Something that should be in the folder and is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file that is missing.
    pub path: String,
    /// Reason of the problem.
    pub why: String,
}

impl Problem {
    /// Returns a note that says that the file is missing, and why.
    pub(super) fn note(&self) -> Note {
        let text = message!("{} is missing: {}", path(&self.path), quote(&self.why));
        Note::loud(FILE_MISSING, text)
    }
}

impl File {
    /// Returns whether the file in the folder has the hash that the manifest lists.
    pub fn is_as_written(&self, folder: &Path) -> bool {
        let bytes = metalens_files::read(&folder.join(&self.path), self.bytes.min(LONGEST_REPORT));
        bytes.is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }
}

impl Manifest {
    /// Returns the manifest of a folder; `None` if it has none that can be read.
    pub fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Returns the first of its files that somebody changed, if one was. A file that is gone does
    /// not count.
    pub fn changed(&self, folder: &Path) -> Option<PathBuf> {
        let mut files = self.files.iter();
        let changed = files.find(|file| {
            let is_there = folder.join(&file.path).symlink_metadata().is_ok();
            is_there && !file.is_as_written(folder)
        });
        changed.map(|file| folder.join(&file.path))
    }

    /// Returns the SHA-256 of the manifest of a folder, if all files that it lists exist and have
    /// their listed length.
    pub fn identity(folder: &Path) -> Option<String> {
        let text = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT).ok()?;
        let manifest: Self = serde_json::from_slice(&text).ok()?;
        let is_complete = manifest.files.iter().all(|file| {
            let metadata = fs::metadata(folder.join(&file.path));
            metadata.is_ok_and(|metadata| metadata.len() == file.bytes)
        });
        is_complete.then(|| sha256(&text))
    }
}
