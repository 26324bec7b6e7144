//! How busy the GPU was over time.

use metalens_analyzer::Report;
use metalens_analyzer::units::percent;
use plotters::series::LineSeries;

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, SMALL, limit, ratio, stroke};
use crate::chart::{Error, Options};
use crate::font;
use crate::palette::Colour;
use crate::scene::{Anchor, Scene};
use crate::timeline::ticks;

const LEFT: f32 = 46.0;

/// Draws it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "places on a canvas"
)]
pub(crate) fn draw(report: &Report, options: &Options) -> Result<Scene, Error> {
    let title = format!("How busy {} kept the GPU", report.target.name);
    let canvas = Canvas::new(options, &title);
    let window = &report.window;
    let top = canvas.header(report, &report.summary.busy, &[&report.summary.idle]);
    let entries = legend(&canvas, report);
    let legend = canvas.legend_height(&entries, options);
    let room = options.height.map_or(200.0, |height| {
        height as f32 - top - 8.0 - AXIS - 8.0 - legend - (MARGIN - 6.0)
    });
    let place = Place {
        left: MARGIN + LEFT,
        top: (top + 8.0).round(),
        width: canvas.width - 2.0 * MARGIN - LEFT - 8.0,
        height: room.floor().max(80.0),
    };
    let across = Axis::time(window.span_ns, ticks(place.width));
    let mut plot = canvas.plot(place, (across, Axis::percent()), Mesh::Across)?;
    let snap = |length: f32| (length / canvas.pixel).round() * canvas.pixel;
    let mut others = vec![Vec::new()];
    for (start, end, chunk) in chunks(report) {
        let length = end - start;
        let x = |ns: u64| snap(place.left + place.width * ratio(ns, window.span_ns) as f32);
        let high = place.height * ratio(chunk.busy_ns, length) as f32;
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
        let foreign = ratio(chunk.foreign_ns, length);
        // Where there were none, their line would only hide the target's work.
        match others.last_mut() {
            Some(line) if chunk.foreign_ns > 0 => {
                if line.is_empty() {
                    line.push((start as f64, 0.0));
                }
                line.extend([(start as f64, foreign), (end as f64, foreign)]);
            }
            Some(line) if !line.is_empty() => {
                line.push((start as f64, 0.0));
                others.push(Vec::new());
            }
            _ => {}
        }
    }
    let style = stroke(canvas.palette.others).stroke_width(2);
    for line in others.into_iter().filter(|line| !line.is_empty()) {
        plot.draw_series(LineSeries::new(line, style))?;
    }
    drop(plot);
    if let Some(limit) = limit(report, "utilisation") {
        let y = snap(place.bottom() - place.height * limit.clamp(0.0, 1.0) as f32);
        canvas.dashes_across(y, place);
        let at = (place.right() - 4.0, y - 5.0);
        let label = format!("target {:.0} %", limit * 100.0);
        canvas.text(at, SMALL, Anchor::End, canvas.palette.text, &label);
    }
    let bottom = canvas.legend(place.bottom() + AXIS + 8.0, &entries);
    canvas.finish(bottom + MARGIN - 6.0, options)
}

/// Who is shown, and how busy each kept the GPU.
fn legend(canvas: &Canvas, report: &Report) -> Vec<(Colour, String)> {
    let share = |ns: u64| percent(ratio(ns, report.window.span_ns));
    let busy = &report.busy;
    let name = font::shorten(&report.target.name, SMALL, canvas.width / 3.0);
    let mine = format!("{name} {}", share(busy.busy_ns));
    let mut entries = vec![(canvas.palette.target, mine)];
    if busy.foreign_busy_ns > 0 {
        let others = format!("other processes {}", share(busy.foreign_busy_ns));
        entries.push((canvas.palette.others, others));
    }
    entries
}

/// The parts of the window: start and end, counted from its start.
fn chunks(report: &Report) -> impl Iterator<Item = (u64, u64, &metalens_analyzer::Chunk)> {
    let window = &report.window;
    let chunks = &report.shape.utilisation;
    let ends = chunks.iter().skip(1).map(|chunk| chunk.start_ns);
    let ends = ends.chain([window.end_ns]);
    chunks.iter().zip(ends).map(|(chunk, end)| {
        let start = chunk.start_ns - window.start_ns;
        (start, end - window.start_ns, chunk)
    })
}
