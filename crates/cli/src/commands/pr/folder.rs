//! What is posted: a folder whose files are those that its manifest lists.
//!
//! The folder may come from a stranger: as an artifact of a run on a fork. What it
//! lists is read only where it lies inside, is a plain file, is as long as is said, and
//! is what was hashed.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use metalens_analyzer::{Report, SCHEMA};
use metalens_comparison::Comparison;
use metalens_files::sha256;
use metalens_github::Chart;
use serde::de::DeserializeOwned;

use metalens_render::folder::{File, Kind, LONGEST_REPORT, MANIFEST, MANIFEST_SCHEMA, Manifest};
use metalens_render::markdown::REPORT_CHARTS;

/// A folder that can be posted.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) document: Document,
    /// Its charts, light and dark.
    pub(super) charts: Vec<Chart>,
    /// Charts that are not posted, and why.
    pub(super) left: Vec<String>,
}

/// What the folder is about.
pub(super) enum Document {
    Report(Box<Report>),
    Comparison(Box<Comparison>),
}

/// GitHub takes no longer pictures.
const LONGEST_CHART: u64 = 10 * 1024 * 1024;
const MOST_FILES: usize = 64;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Folder {
    /// Checks a folder, and reads of it what is posted.
    pub(super) fn open(path: &Path, show_names: bool) -> anyhow::Result<Self> {
        let manifest = manifest(path)?;
        let shown = path.display();
        ensure!(
            manifest.files.len() <= MOST_FILES,
            "{shown} lists more files than any report has"
        );
        let (mut document, mut charts, mut left) = (None, Vec::new(), Vec::new());
        for file in &manifest.files {
            let bytes = listed(path, file)?;
            match file.kind {
                Kind::Report => document = Some((&file.path, bytes)),
                Kind::Page => {}
                Kind::Chart if !file.redacted && !show_names => left.push(format!(
                    "{} may name others, as it was written with --show-names: not posted without it",
                    file.path
                )),
                Kind::Chart => charts.push(chart(file, bytes)?),
            }
        }
        let (name, bytes) = document.with_context(|| format!("{shown} lists no report"))?;
        let document =
            parse(&manifest.report_schema, &bytes).with_context(|| format!("{shown}: {name}"))?;
        let path = path.to_path_buf();
        Ok(Self {
            path,
            document,
            charts,
            left,
        })
    }

    /// Returns the charts that a comment shows.
    pub(super) fn shown(&self) -> Vec<Chart> {
        let is_shown = |chart: &&Chart| {
            REPORT_CHARTS.contains(&chart.name.as_str()) || chart.name == "compare"
        };
        self.charts.iter().filter(is_shown).cloned().collect()
    }
}

fn manifest(folder: &Path) -> anyhow::Result<Manifest> {
    let shown = folder.display();
    let file = inside(folder, MANIFEST)?;
    if file.symlink_metadata().is_err() {
        bail!(
            "{shown} has no {MANIFEST}, which comes last: write the folder with `metalens analyze \
             INPUT -o {shown}` or `metalens compare BASE NEW -o {shown}`"
        );
    }
    let text = read_file(&file, LONGEST_CHART)?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no manifest of a report", file.display()))?;
    ensure!(
        manifest.schema == MANIFEST_SCHEMA,
        "{} says {:?} where {MANIFEST_SCHEMA:?} was expected: another version wrote it",
        file.display(),
        manifest.schema
    );
    Ok(manifest)
}

/// A file that a manifest lists, if it is what the manifest says.
fn listed(folder: &Path, file: &File) -> anyhow::Result<Vec<u8>> {
    let path = inside(folder, &file.path)?;
    let bytes = read_file(&path, LONGEST_REPORT)?;
    ensure!(
        bytes.len() as u64 == file.bytes && sha256(&bytes) == file.sha256,
        "{} is not what the manifest lists: it was changed after it was written, so write the \
         folder anew",
        path.display()
    );
    Ok(bytes)
}

/// A path of a manifest, which anybody may have written, as one inside the folder: no
/// link on the way leads out of it.
fn inside(folder: &Path, listed: &str) -> anyhow::Result<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let parts = Path::new(listed).components();
    let is_inside = parts
        .clone()
        .all(|part| matches!(part, Component::Normal(_)));
    ensure!(
        is_inside && !listed.is_empty() && listed.bytes().all(is_plain) && !listed.starts_with('-'),
        "{} lists {listed:?}, which no report has",
        folder.display()
    );
    let mut path = folder.to_path_buf();
    for part in parts {
        path.push(part);
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink());
        ensure!(!is_link, "{} is a link: no report has one", path.display());
    }
    Ok(path)
}

fn read_file(path: &Path, longest: u64) -> anyhow::Result<Vec<u8>> {
    metalens_files::read(path, longest).with_context(|| format!("cannot read {}", path.display()))
}

fn chart(file: &File, bytes: Vec<u8>) -> anyhow::Result<Chart> {
    let Some(picture) = &file.picture else {
        bail!("the manifest does not say what {} shows", file.path);
    };
    ensure!(
        file.media_type == "image/png" && bytes.starts_with(PNG) && file.path.ends_with(".png"),
        "{} is no PNG",
        file.path
    );
    ensure!(
        file.bytes <= LONGEST_CHART,
        "{} is longer than GitHub takes: 10 MB",
        file.path
    );
    Ok(Chart {
        name: picture.chart.clone(),
        is_dark: picture.theme == "dark",
        path: file.path.clone(),
        alt: picture.alt.clone(),
        width: picture.width / u32::from(picture.scale.max(1)),
        bytes,
        sha256: file.sha256.clone(),
    })
}

fn parse(schema: &str, bytes: &[u8]) -> anyhow::Result<Document> {
    match schema {
        SCHEMA => Ok(Document::Report(Box::new(read(bytes)?))),
        metalens_comparison::SCHEMA => Ok(Document::Comparison(Box::new(read(bytes)?))),
        _ => bail!(
            "this version of metalens posts {SCHEMA} and {}, not {schema:?}",
            metalens_comparison::SCHEMA
        ),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    const UNREADABLE: &str = "no document that this version of metalens reads";
    // From text, as everywhere: each way to read a report is compiled on its own, and is large.
    let text = std::str::from_utf8(bytes).context(UNREADABLE)?;
    serde_json::from_str(text).context(UNREADABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_inside() {
        let folder = tempfile::tempdir().unwrap();
        let check = |path: &str, expected: bool| {
            assert_eq!(inside(folder.path(), path).is_ok(), expected, "{path}");
        };
        check("report.json", true);
        check("charts/timeline-dark.png", true);
        check("../report.json", false);
        check("charts/../../a", false);
        check("/etc/passwd", false);
        check("", false);
        check("--attach", false);
        check("a](b)", false);
        check("a b", false);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("charts")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("report.json")).unwrap();
        assert!(inside(folder.path(), "charts/passwd").is_err());
        assert!(inside(folder.path(), "report.json").is_err());
    }
}
