//! Formats the comparison of chips as text, as Markdown, or as a page.

use std::path::Path;

use metalens_render::devices::{FleetChips, document};
use metalens_render::{html, markdown, terminal};

use crate::failure::Misuse;

/// The format of a comparison of chips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChipsFormat {
    /// Tables of aligned text.
    Text,
    /// Markdown, as GitHub reads it.
    Markdown,
    /// A page of one file, with bars.
    Html,
}

impl ChipsFormat {
    /// Returns the format that belongs to the file's extension; text without a file.
    pub(crate) fn for_file(file: Option<&Path>) -> Result<Self, Misuse> {
        let Some(file) = file else {
            return Ok(Self::Text);
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("html") => Ok(Self::Html),
            Some("md") => Ok(Self::Markdown),
            Some("txt") => Ok(Self::Text),
            _ => Err(Misuse("--chips writes .html, .md or .txt")),
        }
    }

    /// Returns the answer in this format.
    pub(crate) fn text(self, fleet: &FleetChips) -> metalens_render::Result<String> {
        match self {
            Self::Html => html::fleet_page(fleet),
            Self::Markdown => Ok(markdown::page(&document(fleet), &[])),
            Self::Text => {
                let styled = terminal::text(&document(fleet), None);
                Ok(anstream::adapter::strip_str(&styled).to_string())
            }
        }
    }
}
