//! `manifest.json`: what is in a folder that `analyze -o` wrote, for programs
//! that take it from there.

use std::path::Path;

use metalens_analyzer::message::{path, quote};
use metalens_analyzer::{Note, Report, message};
use metalens_files::sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The format's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.manifest/1";

/// What is in the folder. It is written last: where there is one, all that it
/// lists is there. What it does not list is not of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// `metalens.manifest/1`.
    pub schema: String,
    /// The version of metalens that wrote the folder.
    pub metalens: String,
    /// The schema of report.json.
    pub report_schema: String,
    /// What was analyzed, as it was given.
    pub input: String,
    /// Which run of it.
    pub run: u64,
    /// Whom the report is about.
    pub target: String,
    /// How busy the target kept the GPU, as a sentence: plain text, not Markdown.
    pub verdict: String,
    /// Whether no GPU ran any of it: a simulator wrote the recording.
    pub synthetic: bool,
    /// Whether the recording breaks off, and only what came before was read.
    pub truncated: bool,
    /// Whether folders and the names of other processes are left out of all
    /// files that are marked as redacted.
    pub redacted: bool,
    /// The files, in a fixed order.
    pub files: Vec<File>,
    /// What should be in the folder and is not, and why. Usually nothing.
    pub problems: Vec<Problem>,
}

/// A file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// Where it is, seen from the manifest; parts are separated by `/`.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its media type.
    pub media_type: String,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in lowercase hexadecimal digits.
    pub sha256: String,
    /// Whether folders and the names of other processes are left out of it: if
    /// not, look before you post it.
    pub redacted: bool,
    /// What it shows, if it is a picture.
    pub picture: Option<Picture>,
}

/// What a file of the folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The whole report, for programs.
    Report,
    /// The report as a page, Markdown or HTML.
    Page,
    /// A picture of a part of the report.
    Chart,
}

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// Which chart it is: `timeline`, `busy`, `ledger`, `gaps`, `kernels`.
    pub chart: String,
    /// `light` or `dark`.
    pub theme: String,
    /// Its width, device pixels.
    pub width: u32,
    /// Its height, device pixels.
    pub height: u32,
    /// Device pixels per pixel: shown at `width / scale` it is sharp.
    pub scale: u8,
    /// What it shows, in words: plain text, for those who cannot see it.
    pub alt: String,
}

/// Something that should be in the folder and is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The file that is missing.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The id of notes that a file is missing.
pub const FILE_MISSING: &str = "file-missing";

impl Problem {
    /// Says that the file is missing, and why.
    pub(super) fn note(&self) -> Note {
        let text = message!("{} is missing: {}", path(&self.path), quote(&self.why));
        Note::loud(FILE_MISSING, text)
    }
}

/// The limit for a report, a comparison, a baseline or a manifest: none that metalens writes
/// is nearly as long.
pub const LONGEST_REPORT: u64 = 256 << 20;

impl File {
    /// Whether the file is in its folder as it was written.
    pub fn is_as_written(&self, folder: &Path) -> bool {
        let bytes = metalens_files::read(&folder.join(&self.path), self.bytes.min(LONGEST_REPORT));
        bytes.is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }
}

impl Manifest {
    /// Returns the manifest of a folder, if it has one that can be read.
    pub fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Of a folder with these files.
    pub fn of(report: &Report, redacted: bool, files: Vec<File>, problems: Vec<Problem>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            report_schema: report.schema.clone(),
            input: report.source.path.clone(),
            run: report.run.number,
            target: report.process.name.clone(),
            verdict: report.summary.busy.clone(),
            synthetic: report.run.synthetic,
            truncated: report
                .loud_notes()
                .any(|note| note.detail.id == "truncated"),
            redacted,
            files,
            problems,
        }
    }
}

/// The JSON Schema of the manifest.
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Manifest).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), SCHEMA.into());
    }
    schema
}
