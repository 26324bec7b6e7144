//! Writes documents as Markdown: a page to keep, and a comment on a pull request.

mod blocks;
mod comment;
mod escape;
mod fit;
mod picture;

use crate::document::Document;
use blocks::Markdown;
pub use comment::{COMMENT_LIMIT, CommentFrame, REPORT_CHARTS, SUMMARY_LIMIT, comment, marker};
pub use picture::{Picture, PictureSource};

/// Returns a document as a page with these pictures; ends with a line break.
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
