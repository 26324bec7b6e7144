//! Draws the GPU utilization over time.

use metalens_analyzer::{Analysis, Report};
use metalens_text::units::percent;

use crate::axes::Axis;
use crate::canvas::{AXIS, Area, Canvas, MARGIN, Mesh, limit, ratio};
use crate::coverage::Grid;
use crate::font::{self, SMALL};
use crate::options::{ChartError, ChartOptions};
use crate::palette::Color;
use crate::panel::ticks;
use crate::scene::{Anchor, Scene};
use crate::states;
use crate::strip::{Strip, columns};

/// Room left of the plot, for the axis and the strip's name.
const LEFT: f32 = 62.0;
/// Room between the axis and the strip under it.
const BETWEEN: f32 = 6.0;
/// Beginning of the legends.
const LEGEND: &str = "Of window:";

/// Draws the utilization chart.
pub(crate) fn draw(analysis: &Analysis, options: &ChartOptions) -> Result<Scene, ChartError> {
    let report = &analysis.report;
    let title = format!("GPU utilization of {} over time", report.process.name);
    let canvas = Canvas::new(options, &title);
    let window = &report.window;
    let top = canvas.header(
        report,
        &report.summary.busy.text,
        &[&report.summary.idle.text],
    );
    let across = Area {
        left: MARGIN + LEFT,
        top: (top + 8.0).round(),
        width: (canvas.width - 2.0 * MARGIN - LEFT - 8.0).floor(),
        height: 0.0,
    };

    let columns = columns(across.width, options.scale);
    let grid = Grid::new(window.start_ns, window.end_ns, columns);
    let band = states::band(analysis, &canvas.palette);
    let strip = band.as_ref().map(|band| (Strip::on_grid(band, grid), band));
    let mut legends = vec![legend(&canvas, report)];
    if let Some((strip, band)) = &strip {
        legends.push(strip.legend(band, &canvas.palette));
    }

    let around = AXIS
        + 8.0
        + strip
            .as_ref()
            .map_or(0.0, |(strip, _)| strip.height + BETWEEN);
    let place = Area {
        height: height(&canvas, options, across.top + around, &legends),
        ..across
    };

    plot(&canvas, report, place)?;
    if let Some((strip, _)) = &strip {
        let place = Area {
            top: place.bottom() + AXIS + BETWEEN,
            height: strip.height,
            ..place
        };
        strip.draw(&canvas, place);
        let at = (MARGIN, place.bottom() - 4.0);
        let name = font::shorten(&strip.name, SMALL, LEFT - 4.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, &name);
    }

    let mut bottom = place.bottom() + around;
    for legend in &legends {
        bottom = canvas.legend(bottom, LEGEND, legend);
    }
    canvas.finish(bottom + MARGIN - 6.0, options)
}

/// Returns the height of the plot: the rest of a given height.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
fn height(
    canvas: &Canvas,
    options: &ChartOptions,
    around: f32,
    legends: &[Vec<(Color, String)>],
) -> f32 {
    let legends = legends.iter();
    let legend: f32 = legends
        .map(|legend| canvas.legend_height(LEGEND, legend, options))
        .sum();
    let room = options.height.map_or(200.0, |height| {
        height as f32 - around - legend - (MARGIN - 6.0)
    });
    room.floor().max(80.0)
}

/// Draws the others' share as bars, the process's share as narrower ones before them, and the limit.
#[expect(clippy::cast_possible_truncation, reason = "places on a canvas")]
fn plot(canvas: &Canvas, report: &Report, place: Area) -> Result<(), ChartError> {
    let window = &report.window;
    let up = up(report);
    let high = |share: f64| place.height * up.along(share) as f32;
    let across = Axis::recording(window.start_ns, window.end_ns, ticks(place.width));
    canvas.plot(place, (across, up.clone()), Mesh::Across)?;
    let snap = |length: f32| (length / canvas.pixel).round() * canvas.pixel;
    let into = |ns: u64| ratio(ns - window.start_ns, window.span_ns);
    let x = |ns: u64| snap(place.left + place.width * into(ns) as f32);
    let has_others = chunks(report).any(|(_, _, chunk)| chunk.others_ns > 0);
    for (start, end, chunk) in chunks(report) {
        let (left, right) = (x(start), x(end));
        // A narrow bar before a wide one: both stay visible, whichever is higher.
        let inset = if has_others {
            snap((right - left) / 4.0)
        } else {
            0.0
        };
        let bars = [
            (chunk.others_ns, 0.0, canvas.palette.others),
            (chunk.busy_ns, inset, canvas.palette.process),
        ];
        for (ns, inset, fill) in bars.into_iter().filter(|(ns, ..)| *ns > 0) {
            let height = snap(high(ratio(ns, end - start))).max(1.0);
            let bar = Area {
                left: left + inset,
                top: place.bottom() - height,
                width: right - left - 2.0 * inset,
                height,
            };
            canvas.rectangle(bar, fill);
        }
    }

    if let Some(limit) = limit(report, "busy.ratio") {
        let y = snap(place.bottom() - high(limit.clamp(0.0, 1.0)));
        canvas.dashes_across(y, place);
        let label = format!("limit {:.0} %", limit * 100.0);
        canvas.label_over((place.right() - 4.0, y - 5.0), &label);
    }
    Ok(())
}

/// Returns the axis of shares: up to 100 %, or less if all shares would be at its foot.
fn up(report: &Report) -> Axis {
    let shares = chunks(report).map(|(start, end, chunk)| {
        let most = chunk.busy_ns.max(chunk.others_ns);
        ratio(most, end - start)
    });
    let limit = limit(report, "busy.ratio").unwrap_or(0.0);
    match shares.fold(limit, f64::max) {
        most if most < 0.5 => Axis::share(most),
        _ => Axis::percent(),
    }
}

/// Lists the process and the others, with the share of the window in which each kept the GPU busy.
fn legend(canvas: &Canvas, report: &Report) -> Vec<(Color, String)> {
    let share = |ns: u64| percent(ratio(ns, report.window.span_ns));
    let busy = &report.busy;
    let name = font::shorten(&report.process.name, SMALL, canvas.width / 3.0);
    let own = format!("{name} {}", share(busy.busy_ns));
    let mut entries = vec![(canvas.palette.process, own)];
    if let Some(others_ns @ 1..) = busy.others_busy_ns {
        let others = format!("other processes {}", share(others_ns));
        entries.push((canvas.palette.others, others));
    }
    entries
}

/// Returns the parts of the window with their start and end in the recording.
fn chunks(
    report: &Report,
) -> impl Iterator<Item = (u64, u64, &metalens_analyzer::UtilizationChunk)> {
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|chunk| chunk.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let with_end = chunks.iter().zip(ends);
    with_end.map(|(chunk, end)| (chunk.start_ns, end, chunk))
}
