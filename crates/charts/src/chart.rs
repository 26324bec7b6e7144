//! Lists the charts of a report.

use metalens_analyzer::Analysis;

use crate::options::{ChartError, ChartOptions, check};
use crate::scene::Scene;
use crate::{busy, gaps, idle, kernels, roofline, timeline};

/// A chart of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chart {
    /// Busy and idle time of the GPU over the window, with the causes of idle time.
    #[default]
    Timeline,
    /// Idle time by cause.
    Idle,
    /// Number of gaps by length.
    Gaps,
    /// GPU utilization over time.
    Busy,
    /// Kernels with the most time.
    Kernels,
    /// Work rates of kernels under the roofs of the chip.
    Roofline,
}

/// Draws a chart of an analysis.
///
/// # Errors
///
/// If the options leave too little room.
pub fn draw(
    chart: Chart,
    analysis: &Analysis,
    options: &ChartOptions,
) -> Result<Scene, ChartError> {
    check(options)?;
    match chart {
        Chart::Timeline => timeline::draw(analysis, options),
        Chart::Idle => idle::draw(&analysis.report, options),
        Chart::Gaps => gaps::draw(analysis, options),
        Chart::Busy => busy::draw(analysis, options),
        Chart::Kernels => kernels::draw(&analysis.report, options),
        Chart::Roofline => roofline::draw(&analysis.report, options),
    }
}
