//! Options of charts, and errors.

use crate::palette::Theme;

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels; what it needs if none is given.
    pub height: Option<u32>,
    /// Device pixels per pixel.
    pub scale: u8,
    /// Dark on light, or light on dark.
    pub theme: Theme,
    /// Whether the verdict is above it. In a page that says it already, it need not
    /// be: then nobody may take the picture out of that page.
    pub has_header: bool,
}

impl Default for Options {
    /// As wide as a pull request.
    fn default() -> Self {
        Self {
            width: 830,
            height: None,
            scale: 1,
            theme: Theme::Light,
            has_header: true,
        }
    }
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too narrow or too wide.
    #[error("a chart is {least} to {most} pixels wide, not {width}")]
    Width {
        /// What was asked for.
        width: u32,
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// Not enough room.
    #[error("{height} pixels are too few for this chart: it needs {needed}")]
    TooLow {
        /// What was asked for.
        height: u32,
        /// What it needs.
        needed: u32,
    },
    /// More than can be held.
    #[error("a picture of {width}x{height} pixels is too large")]
    TooLarge {
        /// Device pixels across.
        width: u32,
        /// Device pixels down.
        height: u32,
    },
    /// The chart has no place for its parts.
    #[error("the chart cannot be laid out: {0}")]
    Layout(String),
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Png(String),
}

/// The narrowest chart that can be read.
const NARROWEST: u32 = 400;
/// The largest: what browsers and PNG viewers show without complaint.
const LARGEST: u32 = 8_000;

/// Refuses what no picture can be.
pub(crate) fn check(options: &Options) -> Result<(), Error> {
    let &Options {
        width,
        height,
        scale,
        ..
    } = options;
    if !(NARROWEST..=LARGEST).contains(&width) {
        return Err(Error::Width {
            width,
            least: NARROWEST,
            most: LARGEST,
        });
    }
    let height = height.unwrap_or(0);
    if height > LARGEST || !(1..=4).contains(&scale) {
        return Err(Error::TooLarge { width, height });
    }
    Ok(())
}
