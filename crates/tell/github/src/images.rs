//! Chooses the methods to upload pictures to a pull request, and returns their addresses there.

use crate::assets::Asset;

/// The user's choice of an upload method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagesChoice {
    /// The first method that works.
    Auto,
    /// Files on a branch, or text if that fails.
    Assets,
    /// A comment without pictures, but with a link to the job summary.
    Summary,
    /// Charts made of characters, without an upload.
    Text,
}

/// A picture that a comment may show.
#[derive(Debug, Clone)]
pub struct ChartFile {
    /// The name of the chart, such as `timeline`.
    pub name: String,
    /// True if the picture is light on dark.
    pub is_dark: bool,
    /// Path of its file, relative to the folder.
    pub path: String,
    /// Alternative text, for readers who cannot see it.
    pub alt: String,
    /// Width at which it is shown, in pixels.
    pub width: u32,
    /// Bytes of the file.
    pub bytes: Vec<u8>,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// A chart with the addresses of its pictures.
#[derive(Debug, Clone)]
pub struct PlacedChart<'a> {
    /// The chart, in its dark-on-light form.
    pub chart: &'a ChartFile,
    /// Address of the picture that is dark on light.
    pub light: String,
    /// Address of the picture that is light on dark, if there is one.
    pub dark: Option<String>,
}

/// A method to upload pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadMethod {
    /// Files on a branch of their own.
    Assets,
    /// Full report in the job summary.
    Summary,
    /// Charts made of characters, without an upload.
    Text,
}

impl UploadMethod {
    /// Returns the place of the pictures, as the end of the sentence "pictures are …".
    #[must_use]
    pub const fn outcome(self) -> &'static str {
        match self {
            Self::Assets => "on the branch metalens-assets",
            Self::Summary => "left out; the job summary has the full report",
            Self::Text => "left out; charts are made of characters",
        }
    }
}

/// Returns the methods to try, in this order. The last one needs no upload.
#[must_use]
pub fn methods(choice: ImagesChoice) -> Vec<UploadMethod> {
    match choice {
        ImagesChoice::Auto => vec![
            UploadMethod::Assets,
            UploadMethod::Summary,
            UploadMethod::Text,
        ],
        ImagesChoice::Assets => vec![UploadMethod::Assets, UploadMethod::Text],
        ImagesChoice::Summary => vec![UploadMethod::Summary, UploadMethod::Text],
        ImagesChoice::Text => vec![UploadMethod::Text],
    }
}

/// Returns each light chart with the dark chart of the same name.
fn pairs(charts: &[ChartFile]) -> Vec<(&ChartFile, Option<&ChartFile>)> {
    let light = charts.iter().filter(|chart| !chart.is_dark);
    let pairs = light.map(|light| {
        let mut dark = charts.iter().filter(|chart| chart.is_dark);
        (light, dark.find(|dark| dark.name == light.name))
    });
    pairs.collect()
}

/// Returns the pictures on the branch at a commit, whose addresses never change.
#[must_use]
pub fn on_branch<'a>(
    charts: &'a [ChartFile],
    (server, repository, commit): (&str, &str, &str),
) -> Vec<PlacedChart<'a>> {
    let address = |chart: &ChartFile| {
        format!(
            "{server}/{repository}/blob/{commit}/{}?raw=true",
            asset_path(chart)
        )
    };

    let pictures = pairs(charts).into_iter().map(|(chart, dark)| PlacedChart {
        chart,
        light: address(chart),
        dark: dark.map(address),
    });
    pictures.collect()
}

/// Returns the files to put on the branch.
#[must_use]
pub fn assets(charts: &[ChartFile]) -> Vec<Asset> {
    let charts = pairs(charts)
        .into_iter()
        .flat_map(|(light, dark)| [Some(light), dark]);
    let assets = charts.flatten().map(|chart| Asset {
        path: asset_path(chart),
        bytes: chart.bytes.clone(),
    });
    assets.collect()
}

/// Returns the path of a chart on the branch. Its name is the hash of the content, so the same
/// picture is the same file, and no file ever changes.
fn asset_path(chart: &ChartFile) -> String {
    format!(
        "metalens/{}.png",
        chart.sha256.get(..32).unwrap_or(&chart.sha256)
    )
}
