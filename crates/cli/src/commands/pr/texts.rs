//! The texts that are posted.

use metalens_github::{ChartPlace, PlacedChart, TextError, Texts};

use crate::pages::comment::{
    COMMENT_LIMIT, Dress, Picture, PictureSource, SUMMARY_LIMIT, Subject, comment,
};

/// The subject of the texts, and their key.
pub(super) struct CommentTexts<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) key: String,
    /// How many charts the folder has; a light and a dark one are one.
    pub(super) charts: usize,
    pub(super) links: Vec<(String, String)>,
    pub(super) show_names: bool,
}

impl Texts for CommentTexts<'_> {
    fn comment(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
        links: &[(String, String)],
    ) -> Result<String, TextError> {
        self.text(commit, pictures, links, COMMENT_LIMIT)
    }

    fn summary(&self, commit: Option<&str>, used: u64) -> Result<String, TextError> {
        let used = usize::try_from(used).unwrap_or(usize::MAX);
        self.text(commit, &[], &[], SUMMARY_LIMIT.saturating_sub(used))
    }
}

impl CommentTexts<'_> {
    fn text(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
        links: &[(String, String)],
        limit: usize,
    ) -> Result<String, TextError> {
        let dress = Dress {
            key: self.key.clone(),
            commit: commit.map(str::to_owned),
            pictures: pictures.iter().map(picture).collect(),
            charts: self.charts,
            links: [self.links.as_slice(), links].concat(),
            show_names: self.show_names,
        };
        Ok(comment(self.subject, &dress, limit)?)
    }
}

fn picture(placed: &PlacedChart<'_>) -> Picture {
    let chart = placed.chart;
    Picture {
        chart: chart.name.clone(),
        alt: chart.alt.clone(),
        width: chart.width,
        source: match placed.place.clone() {
            ChartPlace::Addresses { light, dark } => PictureSource::Addresses { light, dark },
            ChartPlace::Attached(path) => PictureSource::Attached(path),
        },
    }
}
