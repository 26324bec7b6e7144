//! Defines the files of a folder before they are written.

use metalens_files::sha256;

use super::manifest::{File, Kind, Manifest, Picture, Problem, SCHEMA};
use crate::error::{Error, Result};
use crate::json;
use crate::markdown::{Picture as ShownPicture, PictureSource};

/// The name of the folder of charts, inside the folder.
pub const FOLDER_OF_CHARTS: &str = "charts";
/// The choices for writing a folder.
#[derive(Debug, Clone, Copy)]
pub struct Choices {
    /// True if files that exist may be replaced.
    pub force: bool,
    /// True if pages keep folders and the names of other processes.
    pub show_names: bool,
    /// True if the folder gets pictures.
    pub charts: bool,
}

/// A file before it is written.
pub(super) struct FileContent {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) media_type: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) redacted: bool,
    pub(super) picture: Option<Picture>,
}

impl FileContent {
    pub(super) fn page(path: &str, media_type: &'static str, text: String, redacted: bool) -> Self {
        Self {
            path: path.to_owned(),
            kind: Kind::Page,
            media_type,
            bytes: text.into_bytes(),
            redacted,
            picture: None,
        }
    }

    /// Returns a JSON file that leaves nothing out.
    pub(super) fn json(path: &str, what: &impl serde::Serialize) -> Result<Self> {
        let json = json::document(what).map_err(|cause| Error::Json {
            what: path.to_owned(),
            cause,
        })?;
        Ok(Self {
            kind: Kind::Report,
            ..Self::page(path, "application/json", json, false)
        })
    }

    /// Returns the chart as a picture for a page; `None` unless it is a light one.
    pub(super) fn shown(&self) -> Option<ShownPicture> {
        let picture = self.picture.as_ref()?;
        (picture.theme == "light").then(|| ShownPicture {
            chart: picture.chart.clone(),
            alt: picture.alt.clone(),
            width: picture.width,
            source: PictureSource::File(self.path.clone()),
        })
    }

    pub(super) fn entry(&self) -> File {
        File {
            path: self.path.clone(),
            kind: self.kind,
            media_type: self.media_type.to_owned(),
            bytes: self.bytes.len() as u64,
            sha256: sha256(&self.bytes),
            redacted: self.redacted,
            picture: self.picture.clone(),
        }
    }
}

/// Returns the manifest of a folder with these files. `report_schema` is the schema of the report for
/// programs.
pub(super) fn manifest(
    report_schema: &str,
    contents: &[FileContent],
    problems: Vec<Problem>,
) -> Manifest {
    Manifest {
        schema: SCHEMA.to_owned(),
        report_schema: report_schema.to_owned(),
        files: contents.iter().map(FileContent::entry).collect(),
        problems,
    }
}
