//! How busy the GPU was over time.

use metalens_analyzer::units::percent;
use metalens_analyzer::{Analysis, Report};
use plotters::series::LineSeries;

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, limit, ratio, stroke};
use crate::coverage::Grid;
use crate::font::{self, SMALL};
use crate::options::{Error, Options};
use crate::palette::Colour;
use crate::panel::ticks;
use crate::scene::{Anchor, Scene};
use crate::states;
use crate::strip::{Strip, columns};

/// Left of the plot, for the axis and the strip's name.
const LEFT: f32 = 62.0;
/// Between the axis and the strip under it.
const BETWEEN: f32 = 6.0;

/// Draws it.
pub(crate) fn draw(analysis: &Analysis, options: &Options) -> Result<Scene, Error> {
    let report = &analysis.report;
    let title = format!("How busy {} kept the GPU", report.process.name);
    let canvas = Canvas::new(options, &title);
    let window = &report.window;
    let top = canvas.header(report, &report.summary.busy, &[&report.summary.idle]);
    let across = Place {
        left: MARGIN + LEFT,
        top: (top + 8.0).round(),
        width: (canvas.width - 2.0 * MARGIN - LEFT - 8.0).floor(),
        height: 0.0,
    };
    let columns = columns(across.width, options.scale);
    let grid = Grid::new(window.start_ns, window.end_ns, columns);
    let band = states::band(analysis, &canvas.palette);
    let strip = band.as_ref().map(|band| (Strip::of(band, grid), band));
    let mut legends = vec![legend(&canvas, report)];
    if let Some((strip, band)) = &strip {
        legends.push(strip.legend(band, &canvas.palette));
    }
    let around = AXIS
        + 8.0
        + strip
            .as_ref()
            .map_or(0.0, |(strip, _)| strip.height + BETWEEN);
    let place = Place {
        height: height(&canvas, options, across.top + around, &legends),
        ..across
    };
    plot(&canvas, report, place)?;
    if let Some((strip, _)) = &strip {
        let place = Place {
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
        bottom = canvas.legend(bottom, legend);
    }
    canvas.finish(bottom + MARGIN - 6.0, options)
}

/// How high the plot is: what is left over of a given height.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
fn height(
    canvas: &Canvas,
    options: &Options,
    around: f32,
    legends: &[Vec<(Colour, String)>],
) -> f32 {
    let legends = legends.iter();
    let legend: f32 = legends.map(|one| canvas.legend_height(one, options)).sum();
    let room = options.height.map_or(200.0, |height| {
        height as f32 - around - legend - (MARGIN - 6.0)
    });
    room.floor().max(80.0)
}

/// The target's share as bars, others' as a line over them, and what is asked for.
#[expect(clippy::cast_possible_truncation, reason = "places on a canvas")]
fn plot(canvas: &Canvas, report: &Report, place: Place) -> Result<(), Error> {
    let window = &report.window;
    let across = Axis::time(window.span_ns, ticks(place.width));
    let mut plot = canvas.plot(place, (across, Axis::percent()), Mesh::Across)?;
    let snap = |length: f32| (length / canvas.pixel).round() * canvas.pixel;
    for (start, end, chunk) in chunks(report) {
        let x = |ns: u64| snap(place.left + place.width * ratio(ns, window.span_ns) as f32);
        let high = place.height * ratio(chunk.busy_ns, end - start) as f32;
        let height = match chunk.busy_ns {
            0 => 0.0,
            _ => snap(high).max(1.0),
        };
        let bar = Place {
            left: x(start),
            top: place.bottom() - height,
            width: x(end) - x(start),
            height,
        };
        canvas.rectangle(bar, canvas.palette.target);
    }
    // A light line under it, so that it is seen upon the target's bars too.
    let lines = [(canvas.palette.background, 4), (canvas.palette.others, 2)];
    for (colour, width) in lines {
        for line in others(report) {
            plot.draw_series(LineSeries::new(line, stroke(colour).stroke_width(width)))?;
        }
    }
    drop(plot);
    if let Some(limit) = limit(report, "utilization") {
        let y = snap(place.bottom() - place.height * limit.clamp(0.0, 1.0) as f32);
        canvas.dashes_across(y, place);
        let label = format!("target {:.0} %", limit * 100.0);
        canvas.label_upon((place.right() - 4.0, y - 5.0), &label);
    }
    Ok(())
}

/// The lines of others' shares. Where there were none, a line would only hide
/// the target's work.
#[expect(clippy::cast_precision_loss, reason = "places on a canvas")]
fn others(report: &Report) -> Vec<Vec<(f64, f64)>> {
    let mut lines = vec![Vec::new()];
    for (start, end, chunk) in chunks(report) {
        let foreign = ratio(chunk.others_ns, end - start);
        match lines.last_mut() {
            Some(line) if chunk.others_ns > 0 => {
                if line.is_empty() {
                    line.push((start as f64, 0.0));
                }
                line.extend([(start as f64, foreign), (end as f64, foreign)]);
            }
            Some(line) if !line.is_empty() => {
                line.push((start as f64, 0.0));
                lines.push(Vec::new());
            }
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Who is shown, and how busy each kept the GPU.
fn legend(canvas: &Canvas, report: &Report) -> Vec<(Colour, String)> {
    let share = |ns: u64| percent(ratio(ns, report.window.span_ns));
    let busy = &report.busy;
    let name = font::shorten(&report.process.name, SMALL, canvas.width / 3.0);
    let mine = format!("{name} {}", share(busy.busy_ns));
    let mut entries = vec![(canvas.palette.target, mine)];
    if busy.others_busy_ns > 0 {
        let others = format!("other processes {}", share(busy.others_busy_ns));
        entries.push((canvas.palette.others, others));
    }
    entries
}

/// The parts of the window: start and end, counted from its start.
fn chunks(report: &Report) -> impl Iterator<Item = (u64, u64, &metalens_analyzer::UtilizationChunk)> {
    let window = &report.window;
    let chunks = &report.shape.utilization;
    let ends = chunks.iter().skip(1).map(|chunk| chunk.start_ns);
    let ends = ends.chain([window.end_ns]);
    chunks.iter().zip(ends).map(|(chunk, end)| {
        let start = chunk.start_ns - window.start_ns;
        (start, end - window.start_ns, chunk)
    })
}
