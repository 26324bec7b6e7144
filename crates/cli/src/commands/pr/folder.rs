//! Reads the folder to post, with the files that its manifest lists.
//!
//! The folder may come from a stranger, as an artifact of a run on a fork. A listed file is read
//! only if it is a regular file inside the folder, with the listed length and hash.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use metalens_analyzer::{LONGEST_REPORT, Report, SCHEMA};
use metalens_bench::Bench;
use metalens_comparison::Comparison;
use metalens_files::sha256;
use metalens_github::ChartFile;
use serde::de::DeserializeOwned;

use metalens_render::bench::HEAT_MAP;
use metalens_render::folder::{File, Kind, MANIFEST, MANIFEST_SCHEMA, Manifest};
use metalens_render::markdown::REPORT_CHARTS;

/// A folder that can be posted.
pub(super) struct PostedFolder {
    pub(super) path: PathBuf,
    pub(super) document: PostedDocument,
    /// Charts of the folder, light and dark.
    pub(super) charts: Vec<ChartFile>,
    /// Sentences that say which charts are not posted, and why.
    pub(super) skipped: Vec<String>,
}

/// The document that the comment shows.
pub(super) enum PostedDocument {
    Report(Box<Report>),
    Comparison(Box<Comparison>),
    Bench(Box<Bench>),
}

/// The largest picture that GitHub accepts, in bytes.
const LONGEST_CHART: u64 = 10 * 1024 * 1024;
/// The largest number of files in a manifest.
const MOST_FILES: usize = 64;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl PostedFolder {
    /// Checks a folder, and reads its document and charts.
    pub(super) fn open(path: &Path, show_names: bool) -> anyhow::Result<Self> {
        let manifest = manifest(path)?;
        let shown = path.display();
        ensure!(
            manifest.files.len() <= MOST_FILES,
            "{shown} is not a report: its manifest lists more than {MOST_FILES} files"
        );

        let (mut document, mut charts, mut skipped) = (None, Vec::new(), Vec::new());
        for file in &manifest.files {
            let bytes = listed(path, file)?;
            match file.kind {
                Kind::Report => document = Some((&file.path, bytes)),
                Kind::Page => {}
                Kind::Chart if !file.redacted && !show_names => skipped.push(format!(
                    "{} not posted: it may name other processes, because it was written with \
                     --show-names; post it with --show-names too",
                    file.path
                )),
                Kind::Chart => charts.push(chart(file, bytes)?),
            }
        }

        let (name, bytes) =
            document.with_context(|| format!("the manifest in {shown} lists no report"))?;
        let document =
            parse(&manifest.report_schema, &bytes).with_context(|| format!("{shown}: {name}"))?;
        let path = path.to_path_buf();
        Ok(Self {
            path,
            document,
            charts,
            skipped,
        })
    }

    /// Returns the charts that a comment shows.
    pub(super) fn shown(&self) -> Vec<ChartFile> {
        let is_shown = |chart: &&ChartFile| {
            let name = chart.name.as_str();
            REPORT_CHARTS.contains(&name) || ["compare", HEAT_MAP].contains(&name)
        };
        self.charts.iter().filter(is_shown).cloned().collect()
    }
}

/// Reads the manifest of a folder.
fn manifest(folder: &Path) -> anyhow::Result<Manifest> {
    let shown = folder.display();
    let file = inside(folder, MANIFEST)?;
    if file.symlink_metadata().is_err() {
        bail!(
            "{shown} has no {MANIFEST}, so it is not a complete report: write the folder with \
             `metalens analyze INPUT -o {shown}`, `metalens compare BASE NEW -o {shown}` or `metalens \
             bench COMMAND … -o {shown}`"
        );
    }

    let text = read_file(&file, LONGEST_CHART)?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .with_context(|| format!("{} is not the manifest of a report", file.display()))?;
    ensure!(
        manifest.schema == MANIFEST_SCHEMA,
        "another version of metalens wrote {}: its schema is {:?}, not {MANIFEST_SCHEMA:?}",
        file.display(),
        manifest.schema
    );
    Ok(manifest)
}

/// Reads a file that a manifest lists. Refuses one that is not as listed.
fn listed(folder: &Path, file: &File) -> anyhow::Result<Vec<u8>> {
    let path = inside(folder, &file.path)?;
    let bytes = read_file(&path, LONGEST_REPORT)?;
    ensure!(
        bytes.len() as u64 == file.bytes && sha256(&bytes) == file.sha256,
        "{} differs from its manifest: it changed after it was written; write the folder again",
        path.display()
    );
    Ok(bytes)
}

/// Returns the path of a listed file. Refuses paths and links that lead out of the folder, because
/// anybody may have written the manifest.
fn inside(folder: &Path, listed: &str) -> anyhow::Result<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let parts = Path::new(listed).components();
    let is_inside = parts
        .clone()
        .all(|part| matches!(part, Component::Normal(_)));
    ensure!(
        is_inside && !listed.is_empty() && listed.bytes().all(is_plain) && !listed.starts_with('-'),
        "the manifest in {} lists {listed:?}, which is not a path inside a report",
        folder.display()
    );

    let mut path = folder.to_path_buf();
    for part in parts {
        path.push(part);
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink());
        ensure!(
            !is_link,
            "{} is a link, and a report has no links",
            path.display()
        );
    }
    Ok(path)
}

fn read_file(path: &Path, longest: u64) -> anyhow::Result<Vec<u8>> {
    metalens_files::read(path, longest).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns a chart of the folder. Refuses a file that is not a PNG that GitHub accepts.
fn chart(file: &File, bytes: Vec<u8>) -> anyhow::Result<ChartFile> {
    let Some(picture) = &file.picture else {
        bail!("the manifest has no description of the chart {}", file.path);
    };
    ensure!(
        file.media_type == "image/png" && bytes.starts_with(PNG) && file.path.ends_with(".png"),
        "{} is not a PNG",
        file.path
    );
    ensure!(
        file.bytes <= LONGEST_CHART,
        "{} is larger than the 10 MB that GitHub accepts",
        file.path
    );

    Ok(ChartFile {
        name: picture.chart.clone(),
        is_dark: picture.theme == "dark",
        path: file.path.clone(),
        alt: picture.alt.clone(),
        width: picture.width / u32::from(picture.scale.max(1)),
        bytes,
        sha256: file.sha256.clone(),
    })
}

/// Parses the document of a folder, by its schema.
fn parse(schema: &str, bytes: &[u8]) -> anyhow::Result<PostedDocument> {
    match schema {
        SCHEMA => Ok(PostedDocument::Report(Box::new(read(bytes)?))),
        metalens_comparison::SCHEMA => Ok(PostedDocument::Comparison(Box::new(read(bytes)?))),
        metalens_bench::SCHEMA => Ok(PostedDocument::Bench(Box::new(read(bytes)?))),
        _ => bail!(
            "this version of metalens can post {SCHEMA}, {} and {}, not {schema:?}",
            metalens_comparison::SCHEMA,
            metalens_bench::SCHEMA
        ),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    const UNREADABLE: &str = "not a document that this version of metalens reads";
    // Parses text, as other code does: parsing bytes would compile the large parser a second time.
    let text = std::str::from_utf8(bytes).context(UNREADABLE)?;
    serde_json::from_str(text).context(UNREADABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_paths_stay_inside_the_folder() {
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
    fn links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("charts")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("report.json")).unwrap();
        assert!(inside(folder.path(), "charts/passwd").is_err());
        assert!(inside(folder.path(), "report.json").is_err());
    }
}
