//! Reads the folder to post, and chooses its charts.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use metalens_batch::Index;
use metalens_failure::shell;
use metalens_github::ChartFile;
use metalens_render::folder::{File, MANIFEST, WrittenDocument, WrittenFolder, index};
use metalens_render::markdown::REPORT_CHARTS;
use metalens_trace::{PathKind, path_kind};

/// A folder that can be posted.
pub(super) struct PostedFolder {
    pub(super) document: WrittenDocument,
    /// Charts of the folder, light and dark.
    pub(super) charts: Vec<ChartFile>,
    /// Sentences that say which charts are not posted, and why.
    pub(super) skipped: Vec<String>,
}

/// The largest picture that GitHub accepts, in bytes.
const LONGEST_CHART: u64 = 10 * 1024 * 1024;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl PostedFolder {
    /// Checks a folder, and reads its document and charts.
    pub(super) fn open(path: &Path, show_names: bool) -> anyhow::Result<Self> {
        refuse_other(path)?;
        let folder = WrittenFolder::read(path)?;
        let (mut charts, mut skipped) = (Vec::new(), Vec::new());
        for (file, bytes) in folder.charts {
            if file.redacted || show_names {
                charts.push(chart(&file, bytes)?);
            } else {
                skipped.push(format!(
                    "{} not posted: it may name other processes, because it was written with \
                     --show-names; post it with --show-names too",
                    file.path
                ));
            }
        }
        Ok(Self {
            document: folder.document,
            charts,
            skipped,
        })
    }

    /// Returns the charts that a comment shows as pictures: none if it shows them as text.
    pub(super) fn shown(&self, as_text: bool) -> Vec<ChartFile> {
        let is_shown = |chart: &&ChartFile| {
            let name = chart.name.as_str();
            !as_text && (REPORT_CHARTS.contains(&name) || name == "compare")
        };
        self.charts.iter().filter(is_shown).cloned().collect()
    }
}

/// Refuses what is not a folder with a report but is something else that metalens knows, and says
/// what to post instead.
fn refuse_other(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if path.join(MANIFEST).exists() {
        return Ok(());
    }
    let kind = match path_kind(path) {
        Ok(kind) => kind,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no folder {shown}"),
        Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
    };

    match kind {
        PathKind::Folder => match index::load(path) {
            Some(index) => bail!(
                "{shown} has the index of a batch, which cannot be posted: post the folder of one \
                 recording in it, such as `metalens pr {}`",
                shell::quoted_path(&path.join(example(&index)))
            ),
            None => Ok(()),
        },
        PathKind::Other => bail!("{shown} is not a folder that `metalens analyze -o` wrote"),
        _ => bail!(
            "{shown} is a recording: analyze it first, with `metalens analyze {} -o report`, then \
             `metalens pr report`",
            shell::quoted_path(path)
        ),
    }
}

/// Returns the folder of the first report in an index.
fn example(index: &Index) -> &str {
    let first = index.rows.first();
    first.map_or("RECORDING", |row| row.report.as_str())
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
