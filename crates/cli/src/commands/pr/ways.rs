//! How pictures get to a pull request: the ladder, and each of its rungs' addresses.

use metalens_github::{Api, Asset, Repository, Token, TokenKind};

use super::folder::{Chart, Folder};
use crate::args::posting::ImagesChoice;
use crate::pages::comment::{Picture, PictureSource, REPORT_CHARTS};

/// A way for pictures to get there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
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
    /// In words.
    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::Attach => "attached by gh",
            Self::Assets => "on the branch metalens-assets",
            Self::Summary => "left out, and the whole report is in the job summary",
            Self::Text => "left out: charts are made of characters",
        }
    }
}

/// What is tried, in this order; the last one needs nothing.
pub(super) fn ladder(choice: ImagesChoice) -> Vec<Way> {
    match choice {
        ImagesChoice::Auto => vec![Way::Attach, Way::Assets, Way::Summary, Way::Text],
        ImagesChoice::Attach => vec![Way::Attach, Way::Text],
        ImagesChoice::Assets => vec![Way::Assets, Way::Text],
        ImagesChoice::Summary => vec![Way::Summary, Way::Text],
        ImagesChoice::Text => vec![Way::Text],
    }
}

/// Why `gh` cannot attach, as far as is known without asking anybody.
pub(super) fn cannot_attach(api: &Api, kind: Option<TokenKind>) -> Option<&'static str> {
    match kind {
        _ if api.is_enterprise_server() => {
            Some("an Enterprise server has no place for attachments")
        }
        Some(TokenKind::Installation) => Some("a workflow's or an app's token may not attach"),
        Some(TokenKind::UserToServer) => Some("an app's token may not attach"),
        _ => None,
    }
}

pub(super) fn kind_of(token: Option<&Token>) -> Option<TokenKind> {
    token.map(Token::kind)
}

/// The charts that a comment shows, light ones first.
pub(super) fn shown(folder: &Folder) -> Vec<(&Chart, Option<&Chart>)> {
    let is_shown =
        |chart: &Chart| REPORT_CHARTS.contains(&chart.name.as_str()) || chart.name == "compare";
    let light = folder
        .charts
        .iter()
        .filter(|chart| !chart.is_dark && is_shown(chart));
    let pairs = light.map(|light| {
        let mut dark = folder.charts.iter().filter(|chart| chart.is_dark);
        (light, dark.find(|dark| dark.name == light.name))
    });
    pairs.collect()
}

/// How many charts the folder has; a light and a dark one are one.
pub(super) fn charts(folder: &Folder) -> usize {
    folder.charts.iter().filter(|chart| !chart.is_dark).count()
}

/// As `gh` takes them. It rewrites pictures of Markdown, and those have one theme.
pub(super) fn attached(folder: &Folder) -> (Vec<Picture>, Vec<String>) {
    let pictures = shown(folder).into_iter().map(|(light, _)| {
        (
            picture(light, PictureSource::Attached(light.path.clone())),
            light.path.clone(),
        )
    });
    pictures.unzip()
}

/// As they are on the branch, at a commit: they stay what they are.
pub(super) fn on_branch(
    folder: &Folder,
    (server, repository, commit): (&str, &str, &str),
) -> Vec<Picture> {
    let address = |chart: &Chart| {
        format!(
            "{server}/{repository}/blob/{commit}/{}?raw=true",
            asset_path(chart)
        )
    };
    let pictures = shown(folder).into_iter().map(|(light, dark)| {
        let source = PictureSource::Addresses {
            light: address(light),
            dark: dark.map(address),
        };
        picture(light, source)
    });
    pictures.collect()
}

/// What goes onto the branch.
pub(super) fn assets(folder: &Folder) -> Vec<Asset> {
    let charts = shown(folder)
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

fn picture(chart: &Chart, source: PictureSource) -> Picture {
    Picture {
        chart: chart.name.clone(),
        alt: chart.alt.clone(),
        width: chart.width,
        source,
    }
}

/// Where a repository is not known, in what is only shown.
pub(super) fn name_or_stand_in(repository: Option<&Repository>) -> String {
    repository.map_or_else(|| "OWNER/NAME".to_owned(), ToString::to_string)
}
