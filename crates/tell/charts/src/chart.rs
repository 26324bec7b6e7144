//! Lists the charts of a report.

use metalens_analyzer::{Analysis, Report};
use metalens_message::Ns;

use crate::options::{ChartError, ChartOptions};
use crate::scene::Scene;
use crate::{gaps, idle, kernels, timeline};

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
    /// Kernels with the most time.
    Kernels,
}

impl Chart {
    /// All charts, in the order of a reader's questions: when, why idle, how often, with what
    /// work.
    pub const ALL: [Self; 4] = [Self::Timeline, Self::Idle, Self::Gaps, Self::Kernels];

    /// Returns the word for the chart in commands and names of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Idle => "idle",
            Self::Gaps => "gaps",
            Self::Kernels => "kernels",
        }
    }

    /// Says what the chart shows.
    pub const fn shows(self) -> &'static str {
        match self {
            Self::Timeline => "GPU intervals over time, with the causes of idle time",
            Self::Idle => "Idle time by cause",
            Self::Gaps => "Gaps by length",
            Self::Kernels => "Kernels by total time",
        }
    }
}

impl Chart {
    /// Returns whether the chart of a report would show anything that its title does not say: without
    /// gaps there is no idle time to draw, and one interval has no spread.
    pub fn has_content(self, report: &Report) -> bool {
        match self {
            Self::Idle => report.idle.total_ns > Ns(0),
            Self::Gaps => report.gaps.count > 0,
            Self::Kernels => report.counts.intervals > 1,
            Self::Timeline => true,
        }
    }
}

/// Draws a chart of an analysis.
///
/// # Errors
///
/// If the chart has no room for its parts.
pub fn draw(
    chart: Chart,
    analysis: &Analysis,
    options: &ChartOptions,
) -> Result<Scene, ChartError> {
    match chart {
        Chart::Timeline => timeline::draw(analysis, options),
        Chart::Idle => Ok(idle::draw(&analysis.report, options)),
        Chart::Gaps => gaps::draw(analysis, options),
        Chart::Kernels => kernels::draw(analysis, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture that only repeats its title is not drawn.
    #[test]
    fn charts_have_content() {
        let check = |count: u32, expected: &str| {
            let toml = format!(
                "seed = 1\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
                 [[process.stream]]\ncount = {count}\nduration = \"20us\"\n"
            );
            let report = metalens_testing::analysis_of_toml(&toml).report;
            let charts = Chart::ALL.into_iter();
            let drawn = charts.filter(|chart| chart.has_content(&report));
            let drawn: Vec<&str> = drawn.map(Chart::name).collect();
            assert_eq!(drawn.join(" "), expected, "{count}");
        };
        check(1, "timeline");
        check(20, "timeline idle gaps kernels");
    }
}
