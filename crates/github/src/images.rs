//! Chooses the methods to upload pictures to a pull request, and returns their addresses there.

use crate::address::Api;
use crate::assets::Asset;
use crate::secret::TokenKind;

/// The user's choice of an upload method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagesChoice {
    /// The first method that works.
    Auto,
    /// Attachments by `gh`, or text if that fails.
    Attach,
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

/// A chart with the place of its picture.
#[derive(Debug, Clone)]
pub struct PlacedChart<'a> {
    /// The chart, in its dark-on-light form.
    pub chart: &'a ChartFile,
    /// The place of its picture.
    pub place: ChartPlace,
}

/// The place of a chart's picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartPlace {
    /// Files at addresses of GitHub.
    Addresses {
        /// Address of the picture that is dark on light.
        light: String,
        /// Address of the picture that is light on dark, if there is one.
        dark: Option<String>,
    },
    /// A file that `gh` attaches.
    Attached(String),
}

/// A method to upload pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadMethod {
    /// Attachments that `gh` uploads.
    Attach,
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
            Self::Attach => "attached by gh",
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
            UploadMethod::Attach,
            UploadMethod::Assets,
            UploadMethod::Summary,
            UploadMethod::Text,
        ],
        ImagesChoice::Attach => vec![UploadMethod::Attach, UploadMethod::Text],
        ImagesChoice::Assets => vec![UploadMethod::Assets, UploadMethod::Text],
        ImagesChoice::Summary => vec![UploadMethod::Summary, UploadMethod::Text],
        ImagesChoice::Text => vec![UploadMethod::Text],
    }
}

/// Returns the reason why `gh` cannot attach pictures, if one is known without a request.
#[must_use]
pub fn cannot_attach(api: &Api, kind: Option<TokenKind>) -> Option<&'static str> {
    match kind {
        _ if api.is_enterprise_server() => {
            Some("GitHub Enterprise Server does not support attachments")
        }
        Some(TokenKind::Installation) => Some("the token of a workflow or an app may not attach"),
        Some(TokenKind::UserToServer) => Some("the token of an app may not attach"),
        _ => None,
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

/// Returns the pictures for `gh`, and their files. `gh` rewrites Markdown pictures, which have one
/// theme.
#[must_use]
pub fn attached(charts: &[ChartFile]) -> (Vec<PlacedChart<'_>>, Vec<String>) {
    let pictures = pairs(charts).into_iter().map(|(chart, _)| {
        let place = ChartPlace::Attached(chart.path.clone());
        (PlacedChart { chart, place }, chart.path.clone())
    });
    pictures.unzip()
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
        place: ChartPlace::Addresses {
            light: address(chart),
            dark: dark.map(address),
        },
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
