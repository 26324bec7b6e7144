//! Defines the options and errors of charts.

use metalens_failure::{Failure, FailureKind};

use crate::palette::Theme;

/// Options of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartOptions {
    /// Number of device pixels per pixel.
    pub scale: u8,
    /// Theme of the colors: light or dark.
    pub theme: Theme,
    /// True if the verdict is written above the chart. A page that shows the verdict itself leaves
    /// it out; such a picture must not be used outside of its page.
    pub has_header: bool,
}

impl Default for ChartOptions {
    /// Returns options for a light picture with a header.
    fn default() -> Self {
        Self {
            scale: 1,
            theme: Theme::Light,
            has_header: true,
        }
    }
}

/// Reason why a chart cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The picture is too large for memory or viewers.
    #[error("a picture of {width}x{height} pixels is too large")]
    TooLarge {
        /// Width in device pixels.
        width: u32,
        /// Height in device pixels.
        height: u32,
    },
    /// The chart has no room for its parts.
    #[error("the chart cannot be laid out: {0}")]
    Layout(String),
    /// The picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Png(String),
}

impl Failure for ChartError {
    fn kind(&self) -> FailureKind {
        FailureKind::Failed
    }
}
