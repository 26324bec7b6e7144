//! Defines the options and errors of charts.

use metalens_failure::{Failure, FailureKind};

use crate::palette::Theme;

/// Options of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartOptions {
    /// Width of the chart in pixels.
    pub width: u32,
    /// Height in pixels. None for the height that the chart needs.
    pub height: Option<u32>,
    /// Number of device pixels per pixel.
    pub scale: u8,
    /// Theme of the colors: light or dark.
    pub theme: Theme,
    /// True if the verdict is written above the chart. A page that shows the verdict itself leaves
    /// it out; such a picture must not be used outside of its page.
    pub has_header: bool,
}

impl Default for ChartOptions {
    /// Returns options for a picture as wide as a pull request.
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

/// Reason why a chart cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The chart is too narrow or too wide.
    #[error("chart width must be {least} to {most} pixels, not {width}")]
    Width {
        /// Requested width in pixels.
        width: u32,
        /// Smallest allowed width in pixels.
        least: u32,
        /// Largest allowed width in pixels.
        most: u32,
    },
    /// The requested height is too small.
    #[error("chart height of {height} pixels is too small: this chart needs {needed}")]
    TooLow {
        /// Requested height in pixels.
        height: u32,
        /// Height in pixels that the chart needs.
        needed: u32,
    },
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
        match self {
            Self::Width { .. } | Self::TooLow { .. } | Self::TooLarge { .. } => FailureKind::Misuse,
            Self::Layout(_) | Self::Png(_) => FailureKind::Failed,
        }
    }
}

/// Smallest legible width of a chart.
const NARROWEST: u32 = 400;
/// Largest width and height: what browsers and PNG viewers accept.
const LARGEST: u32 = 8_000;

/// Refuses sizes that no picture can have.
pub(crate) fn check(options: &ChartOptions) -> Result<(), ChartError> {
    let &ChartOptions {
        width,
        height,
        scale,
        ..
    } = options;
    if !(NARROWEST..=LARGEST).contains(&width) {
        return Err(ChartError::Width {
            width,
            least: NARROWEST,
            most: LARGEST,
        });
    }
    let height = height.unwrap_or(0);
    if height > LARGEST || !(1..=4).contains(&scale) {
        return Err(ChartError::TooLarge { width, height });
    }
    Ok(())
}
