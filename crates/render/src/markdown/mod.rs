//! Documents as Markdown: a page to keep, and a comment on a pull request.

mod blocks;
mod comment;
mod escape;
mod fit;

use crate::document::Document;
use blocks::Markdown;
pub use comment::{COMMENT_LIMIT, Frame, REPORT_CHARTS, SUMMARY_LIMIT, comment, marker};

/// A picture that Markdown shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of the chart.
    pub chart: String,
    /// The contents of the picture, in words.
    pub alt: String,
    /// The width at which the picture is shown, in pixels.
    pub width: u32,
    /// The place of the picture.
    pub source: PictureSource,
}

/// The place of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureSource {
    /// Addresses of a light picture, and of a dark one.
    Addresses {
        /// The address of the light picture.
        light: String,
        /// The address of the dark picture.
        dark: Option<String>,
    },
    /// A file, by its path seen from the page. `gh` attaches a file that is named like that.
    File(String),
}

/// Returns a document as a page, with what pictures there are; ends with a line break.
#[must_use]
pub fn page(document: &Document, pictures: &[Picture]) -> String {
    let markdown = Markdown {
        is_comment: false,
        pictures,
        most: usize::MAX,
    };
    let mut page = format!("# {}\n", markdown.named(&document.title));
    for section in &document.sections {
        let blocks = markdown.blocks(section);
        if !blocks.is_empty() {
            let text = markdown.under(&section.title, section.is_folded, &blocks);
            page.push_str(&format!("\n{text}\n"));
        }
    }
    page + &format!("\n<sub>{}</sub>\n", markdown.text(&document.footer))
}
