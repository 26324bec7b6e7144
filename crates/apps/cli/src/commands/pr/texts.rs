//! Writes the texts that are posted: the comment and the job summary.

use metalens_github::{PlacedChart, PostTexts, TextError};
use metalens_render::document::Document;
use metalens_render::markdown::{
    COMMENT_LIMIT, CommentFrame, Picture, PictureSource, SUMMARY_LIMIT, comment,
};

/// The document of the texts, and what frames it.
pub(super) struct CommentTexts {
    pub(super) document: Document,
    pub(super) key: String,
    /// Number of charts in the folder. A light and a dark version count as one.
    pub(super) charts: usize,
    pub(super) links: Vec<(String, String)>,
}

impl PostTexts for CommentTexts {
    fn comment(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
    ) -> Result<String, TextError> {
        self.text(commit, pictures, COMMENT_LIMIT)
    }

    fn summary(&self, commit: Option<&str>, used: u64) -> Result<String, TextError> {
        let used = usize::try_from(used).unwrap_or(usize::MAX);
        self.text(commit, &[], SUMMARY_LIMIT.saturating_sub(used))
    }
}

impl CommentTexts {
    /// Returns the document within a limit of bytes.
    fn text(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
        limit: usize,
    ) -> Result<String, TextError> {
        let frame = CommentFrame {
            key: self.key.clone(),
            commit: commit.map(str::to_owned),
            pictures: pictures.iter().map(picture).collect(),
            charts: self.charts,
            links: self.links.clone(),
        };
        Ok(comment(&self.document, &frame, limit)?)
    }
}

/// Returns a chart as a picture of the comment.
fn picture(placed: &PlacedChart<'_>) -> Picture {
    let chart = placed.chart;
    Picture {
        chart: chart.name.clone(),
        alt: chart.alt.clone(),
        width: chart.width,
        source: PictureSource::Addresses {
            light: placed.light.clone(),
            dark: placed.dark.clone(),
        },
    }
}
