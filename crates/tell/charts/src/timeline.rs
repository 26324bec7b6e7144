//! Draws the timeline: the window as lanes, idle time by cause under them, and the typical step enlarged.

use metalens_analyzer::{Analysis, Report};
use metalens_text::units::{count, time};

use crate::canvas::{AXIS, Area, Canvas, MARGIN};
use crate::counters;
use crate::coverage::Grid;
use crate::options::{ChartError, ChartOptions};
use crate::palette::Color;
use crate::panel::{self, NAMES, Panel, SHARES};
use crate::phases;
use crate::scene::Scene;
use crate::states;
use crate::strip::{Band, columns};
use crate::zoom::{self, TypicalStep};

/// Space between two panels.
const APART: f32 = 12.0;

/// Draws the timeline chart.
pub(crate) fn draw(analysis: &Analysis, options: &ChartOptions) -> Result<Scene, ChartError> {
    let report = &analysis.report;
    let canvas = Canvas::new(options, &format!("GPU timeline of {}", report.process.name));
    let summary = &report.summary;
    // The picture travels alone: it says how fast, what limits, and what to change.
    let lines = [
        Some(&report.verdict.why),
        summary.slow.as_ref(),
        Some(&summary.advice),
    ];
    let lines: Vec<&str> = lines
        .into_iter()
        .flatten()
        .map(|line| line.text.as_str())
        .collect();
    let headline = summary.steps.as_ref().unwrap_or(&summary.busy);
    let top = canvas.header(report, &headline.text, &lines);

    let across = Area {
        left: MARGIN + NAMES,
        top,
        width: (canvas.width - 2.0 * MARGIN - NAMES - SHARES).floor(),
        height: 0.0,
    };

    let stretch = zoom::stretch(report);
    let columns = columns(across.width, options.scale);
    let window = Grid::new(report.window.start_ns.0, report.window.end_ns.0, columns);
    let enlarged = stretch.map(|stretch| Grid::new(stretch.start_ns, stretch.end_ns, columns));
    let grids: Vec<Grid> = [window].into_iter().chain(enlarged).collect();

    let mut bands = phases::bands(analysis, &canvas.palette);
    bands.extend(states::band(analysis, &canvas.palette));
    bands.extend(counters::bands(analysis, &canvas.palette));
    let panels = panel::panels(analysis, &canvas.palette, &grids, &bands);
    let legends = legends(&canvas, report, &panels, &bands);

    let mut bottom = top;
    let mut overview = None;
    for (at, panel) in panels.iter().enumerate() {
        let place = Area {
            top: bottom,
            ..across
        };
        let stretch = stretch.filter(|_| at == 1);
        if let Some(stretch) = stretch {
            stretch.frame(&canvas, &window, overview.unwrap_or(place));
        }
        let titles = titles(report, panel.grid, stretch);
        let whole = if stretch.is_some() {
            "of stretch"
        } else {
            "of window"
        };
        let lanes = panel.draw(&canvas, place, &titles, whole)?;
        overview = Some(lanes);
        bottom = lanes.bottom() + AXIS + APART;
    }

    for legend in &legends {
        bottom = canvas.legend(bottom, legend.title, &legend.entries);
    }
    Ok(canvas.finish(bottom + MARGIN - 6.0))
}

/// Colors with their meanings, and what these have in common.
struct Legend {
    title: &'static str,
    entries: Vec<(Color, String)>,
}

/// Returns the legends: of the kernels, of the causes, and of the strips below them.
fn legends(canvas: &Canvas, report: &Report, panels: &[Panel], bands: &[Band<'_>]) -> [Legend; 3] {
    let strips = panels.first().map_or(&[][..], Panel::bands);
    let own = strips.iter().zip(bands);
    let own = own.flat_map(|(strip, band)| strip.legend(band, &canvas.palette));
    [
        Legend {
            title: "Of GPU time:",
            entries: canvas.kernels(report),
        },
        Legend {
            title: "Of idle time:",
            entries: canvas.causes(report),
        },
        Legend {
            title: "Of window:",
            entries: own.collect(),
        },
    ]
}

/// Returns the titles of a panel, the longest first. They say what its axis shows.
fn titles(report: &Report, grid: Grid, stretch: Option<TypicalStep<'_>>) -> Vec<String> {
    let span = time(grid.span_ns());
    let Some(stretch) = stretch else {
        return vec![
            format!("Window of {span}; the axis is the time of the recording"),
            format!("Window of {span}, at recording time"),
            format!("Window of {span}"),
        ];
    };
    let factor = report.window.span_ns.0 / grid.span_ns().max(1);
    let (name, number) = (stretch.name, stretch.number);
    vec![
        format!(
            "Enlarged {}×: {span} around the typical {name}, number {number}",
            count(factor)
        ),
        format!(
            "Enlarged {}×: the typical {name}, number {number}",
            count(factor)
        ),
        format!("Enlarged {}×: {span}", count(factor)),
    ]
}
