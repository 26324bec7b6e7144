//! Defines the pictures that Markdown shows.

/// A picture that Markdown shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of the chart.
    pub chart: String,
    /// Alternative text of the picture.
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
    /// A file, by its path relative to the page. `gh` uploads a file that is named like that.
    File(String),
}
