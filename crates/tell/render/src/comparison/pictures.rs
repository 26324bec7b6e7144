//! Draws the picture of a comparison, for light and dark screens.

use metalens_analyzer::Analysis;
use metalens_charts::{
    ChartError, ChartOptions, Scene, Theme, alt_comparison, draw_comparison, svg,
};
use metalens_comparison::Comparison;

use super::shown;
use crate::redact::redacted;

/// Device pixels per pixel.
pub(crate) const SCALE: u8 = 2;

/// A picture that was drawn.
pub(crate) struct DrawnComparison {
    pub(crate) scene: Scene,
    pub(crate) alt: String,
}

impl DrawnComparison {
    /// Returns the picture as an element of a page.
    pub(crate) fn svg(&self) -> String {
        svg(&self.scene, &self.alt)
    }
}

/// Draws the picture in each of the themes. Pictures are posted, so they are drawn from redacted
/// reports unless names are to be shown.
pub(crate) fn pictures<const N: usize>(
    comparison: &Comparison,
    mut base: Analysis,
    mut new: Analysis,
    show_names: bool,
    themes: [Theme; N],
) -> [Result<DrawnComparison, ChartError>; N] {
    if !show_names {
        base.report = redacted(&base.report);
        new.report = redacted(&new.report);
    }
    let comparison = shown(comparison, show_names);
    themes.map(|theme| {
        let options = ChartOptions {
            scale: SCALE,
            theme,
            ..ChartOptions::default()
        };
        Ok(DrawnComparison {
            scene: draw_comparison(&comparison, &base, &new, &options)?,
            alt: alt_comparison(&comparison, &base.report, &new.report),
        })
    })
}
