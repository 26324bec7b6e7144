//! The ways by which pictures get to a pull request, and their addresses there.

use crate::address::Api;
use crate::assets::Asset;
use crate::secret::TokenKind;

/// The choice of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagesChoice {
    /// By the first way that works.
    Auto,
    /// Attached by `gh`, else as text.
    Attach,
    /// On a branch, else as text.
    Assets,
    /// Left out of the comment, which has a link to the job summary.
    Summary,
    /// As charts made of characters.
    Text,
}

/// A picture that a comment may show.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The name of the chart, such as `timeline`.
    pub name: String,
    /// Whether it is light on dark.
    pub is_dark: bool,
    /// The path of its file in the folder.
    pub path: String,
    /// The words for those who cannot see it.
    pub alt: String,
    /// The width at which it is shown.
    pub width: u32,
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Their SHA-256.
    pub sha256: String,
}

/// A chart and where its picture is.
#[derive(Debug, Clone)]
pub struct PlacedChart<'a> {
    /// The chart, dark on light.
    pub chart: &'a Chart,
    /// The place of its picture.
    pub place: ChartPlace,
}

/// The place of a chart's picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartPlace {
    /// At these addresses.
    Addresses {
        /// Dark on light.
        light: String,
        /// Light on dark.
        dark: Option<String>,
    },
    /// A file that `gh` attaches.
    Attached(String),
}

/// A way for pictures to get there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Uploaded by `gh`.
    Attach,
    /// On a branch of their own.
    Assets,
    /// Not at all, but the whole report is in the job summary.
    Summary,
    /// Not at all.
    Text,
}

impl Way {
    /// Returns what becomes of the pictures, in words.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Attach => "attached by gh",
            Self::Assets => "on the branch metalens-assets",
            Self::Summary => "left out, and the whole report is in the job summary",
            Self::Text => "left out: charts are made of characters",
        }
    }
}

/// Returns what is tried, in this order; the last one needs nothing.
#[must_use]
pub fn ladder(choice: ImagesChoice) -> Vec<Way> {
    match choice {
        ImagesChoice::Auto => vec![Way::Attach, Way::Assets, Way::Summary, Way::Text],
        ImagesChoice::Attach => vec![Way::Attach, Way::Text],
        ImagesChoice::Assets => vec![Way::Assets, Way::Text],
        ImagesChoice::Summary => vec![Way::Summary, Way::Text],
        ImagesChoice::Text => vec![Way::Text],
    }
}

/// Returns why `gh` cannot attach, as far as is known without asking anybody.
#[must_use]
pub fn cannot_attach(api: &Api, kind: Option<TokenKind>) -> Option<&'static str> {
    match kind {
        _ if api.is_enterprise_server() => {
            Some("an Enterprise server has no place for attachments")
        }
        Some(TokenKind::Installation) => Some("a workflow's or an app's token may not attach"),
        Some(TokenKind::UserToServer) => Some("an app's token may not attach"),
        _ => None,
    }
}

/// Returns the light charts, each with its dark one.
fn pairs(charts: &[Chart]) -> Vec<(&Chart, Option<&Chart>)> {
    let light = charts.iter().filter(|chart| !chart.is_dark);
    let pairs = light.map(|light| {
        let mut dark = charts.iter().filter(|chart| chart.is_dark);
        (light, dark.find(|dark| dark.name == light.name))
    });
    pairs.collect()
}

/// Returns the pictures as `gh` takes them, and their files. It rewrites pictures of Markdown,
/// and those have one theme.
#[must_use]
pub fn attached(charts: &[Chart]) -> (Vec<PlacedChart<'_>>, Vec<String>) {
    let pictures = pairs(charts).into_iter().map(|(chart, _)| {
        let place = ChartPlace::Attached(chart.path.clone());
        (PlacedChart { chart, place }, chart.path.clone())
    });
    pictures.unzip()
}

/// Returns the pictures as they are on the branch, at a commit: they stay what they are.
#[must_use]
pub fn on_branch<'a>(
    charts: &'a [Chart],
    (server, repository, commit): (&str, &str, &str),
) -> Vec<PlacedChart<'a>> {
    let address = |chart: &Chart| {
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

/// Returns what goes onto the branch.
#[must_use]
pub fn assets(charts: &[Chart]) -> Vec<Asset> {
    let charts = pairs(charts)
        .into_iter()
        .flat_map(|(light, dark)| [Some(light), dark]);
    let assets = charts.flatten().map(|chart| Asset {
        path: asset_path(chart),
        bytes: chart.bytes.clone(),
    });
    assets.collect()
}

/// Called by its content: the same picture is the same file, and none ever changes.
fn asset_path(chart: &Chart) -> String {
    format!(
        "metalens/{}.png",
        chart.sha256.get(..32).unwrap_or(&chart.sha256)
    )
}
