//! The charts that there are.

use metalens_analyzer::Analysis;

use crate::options::{Error, Options, check};
use crate::scene::Scene;
use crate::{busy, gaps, kernels, ledger, timeline};

/// A chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chart {
    /// When the GPU was busy, and why it was idle when it was.
    #[default]
    Timeline,
    /// Where the idle time went.
    Idle,
    /// The gaps by length.
    Gaps,
    /// How busy the GPU was over time.
    Busy,
    /// The kernels that took the most time.
    Kernels,
}

/// Draws a chart.
///
/// # Errors
///
/// If the options leave it no room.
pub fn draw(chart: Chart, analysis: &Analysis, options: &Options) -> Result<Scene, Error> {
    check(options)?;
    match chart {
        Chart::Timeline => timeline::draw(analysis, options),
        Chart::Idle => ledger::draw(&analysis.report, options),
        Chart::Gaps => gaps::draw(analysis, options),
        Chart::Busy => busy::draw(analysis, options),
        Chart::Kernels => kernels::draw(&analysis.report, options),
    }
}
