//! Reports as pages to keep and to post.

pub(crate) mod comment;
mod comparison;
mod escape;
mod gaps;
mod html;
mod index;
mod markdown;
mod packed;
mod redact;
mod timeline;
mod words;

pub(crate) use comparison::comparison;
pub(crate) use gaps::gaps;
pub(crate) use html::html;
pub(crate) use index::{TrendPicture, index_csv, index_html, index_markdown};
pub(crate) use markdown::{Shown, markdown};
pub(crate) use redact::redacted;
