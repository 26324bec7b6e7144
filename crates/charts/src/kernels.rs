//! The kernels that took the most time, and how their durations are spread.

use metalens_analyzer::units::{count, counted, percent, short_time};
use metalens_analyzer::{Kernel, Report};

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, SMALL, ratio};
use crate::chart::{Error, Options};
use crate::font;
use crate::scene::{Anchor, Scene, Shape};

const MOST: usize = 12;

/// Draws it.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
pub(crate) fn draw(report: &Report, options: &Options) -> Result<Scene, Error> {
    let title = format!(
        "The kernels of {} that took the most time",
        report.target.name
    );
    let canvas = Canvas::new(options, &title);
    let shown: Vec<&Kernel> = report.kernels.iter().take(MOST).collect();
    let more = report.kernels.len() - shown.len();
    let whole: u64 = report.kernels.iter().map(|kernel| kernel.total_ns).sum();
    let kept: u64 = shown.iter().map(|kernel| kernel.total_ns).sum();
    let kernels = report.kernels.len() as u64;
    let left_out = match more {
        0 => format!("All of the GPU time is in {}", counted(kernels, "kernel")),
        _ => format!(
            "The {} shown are {} of the GPU time; {} more are not",
            shown.len(),
            percent(ratio(kept, whole)),
            count(more as u64)
        ),
    };
    let top = canvas.header(report, &title, &[&left_out]);
    let inner = canvas.width - 2.0 * MARGIN;
    let columns = Columns {
        names: (inner * 0.26).round(),
        bars: (inner * 0.18).round(),
        right: canvas.width - MARGIN - 12.0,
    };
    let room = options.height.map_or(0.0, |height| {
        (height as f32 - top - 22.0 - AXIS - MARGIN) / shown.len().max(1) as f32
    });
    let row = room.floor().max(24.0);
    let place = Place {
        left: columns.spread(),
        top: (top + 22.0).round(),
        width: columns.right - columns.spread(),
        height: row * shown.len() as f32,
    };
    heads(&canvas, place, &columns);
    let (Some(shortest), Some(longest)) = (
        shown.iter().map(|kernel| kernel.min_ns).min(),
        shown.iter().map(|kernel| kernel.max_ns).max(),
    ) else {
        return canvas.finish(top + MARGIN, options);
    };
    let axis = Axis::logarithmic_time(shortest / 10 * 8, longest / 10 * 13 + 2);
    canvas.plot(place, (axis.clone(), Axis::percent()), Mesh::Up)?;
    let largest = shown.first().map_or(1, |kernel| kernel.total_ns);
    for (at, kernel) in shown.iter().enumerate() {
        let line = Place {
            top: place.top + row * at as f32,
            height: row,
            ..place
        };
        bar(&canvas, line, &columns, kernel, largest);
        spread(&canvas, line, &axis, kernel);
    }
    canvas.finish(place.bottom() + AXIS + MARGIN - 6.0, options)
}

/// Where the columns are.
struct Columns {
    names: f32,
    bars: f32,
    right: f32,
}

impl Columns {
    fn bars_left(&self) -> f32 {
        MARGIN + self.names + 8.0
    }

    /// Right of the bars there is room for what they say.
    fn spread(&self) -> f32 {
        (self.bars_left() + self.bars + 130.0).round()
    }
}

fn heads(canvas: &Canvas, place: Place, columns: &Columns) {
    let head = |x: f32, text: &str| {
        let at = (x, place.top - 8.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, text);
    };
    head(MARGIN, "kernel");
    head(columns.bars_left(), "time, share of all");
    let text = "shortest – median ● – 95 % below | – longest";
    let text = font::shorten(text, SMALL, canvas.width - place.left - 4.0);
    head(place.left, &text);
}

/// The name, the time as a bar, and in figures.
#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn bar(canvas: &Canvas, line: Place, columns: &Columns, kernel: &Kernel, largest: u64) {
    let palette = &canvas.palette;
    let middle = (line.top + line.height / 2.0).round();
    let name = font::shorten(&kernel.name, SMALL, columns.names);
    let at = (MARGIN, middle + 4.0);
    canvas.text(at, SMALL, Anchor::Start, palette.text, &name);
    let width = columns.bars * ratio(kernel.total_ns, largest) as f32;
    let bar = Place {
        left: columns.bars_left().round(),
        top: middle - 6.0,
        width: width.round().max(1.0),
        height: 12.0,
    };
    canvas.rectangle(bar, palette.target);
    let text = format!(
        "{}, {}",
        short_time(kernel.total_ns),
        percent(kernel.time_pct / 100.0)
    );
    let at = (bar.right() + 6.0, middle + 4.0);
    canvas.text(at, SMALL, Anchor::Start, palette.text, &text);
}

/// How the durations are spread: a line from the shortest to the longest, a
/// thick one from the median to the 95th percentile.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a place on a canvas"
)]
fn spread(canvas: &Canvas, line: Place, axis: &Axis, kernel: &Kernel) {
    let palette = &canvas.palette;
    let middle = (line.top + line.height / 2.0).round();
    let x = |ns: u64| (line.left + line.width * axis.along(ns as f64) as f32).round();
    let stroke = |from: u64, to: u64, height: f32, fill| {
        let place = Place {
            left: x(from),
            top: middle - height / 2.0,
            width: (x(to) - x(from)).max(2.0),
            height,
        };
        canvas.rectangle(place, fill);
    };
    stroke(kernel.min_ns, kernel.max_ns, 2.0, palette.others);
    stroke(kernel.med_ns, kernel.p95_ns, 6.0, palette.target);
    let at = x(kernel.med_ns);
    let ring = |radius: f32, fill| {
        canvas.add(Shape::Polygon {
            points: round((at, middle), radius),
            fill,
        });
    };
    ring(5.5, palette.background);
    ring(4.5, palette.target);
    stroke(kernel.p95_ns, kernel.p95_ns, 14.0, palette.text);
}

/// A circle, as twenty-four corners.
fn round((x, y): (f32, f32), radius: f32) -> Vec<(f32, f32)> {
    /// A quarter of the sines of every 15 degrees.
    const SINES: [f32; 7] = [
        0.0,
        0.258_819,
        0.5,
        std::f32::consts::FRAC_1_SQRT_2,
        0.866_025,
        0.965_926,
        1.0,
    ];
    let sine = |step: usize| {
        let sine = |step: usize| SINES.get(step).copied().unwrap_or(1.0);
        match step % 24 {
            step @ 0..=6 => sine(step),
            step @ 7..=12 => sine(12 - step),
            step @ 13..=18 => -sine(step - 12),
            step => -sine(24 - step),
        }
    };
    let corner = |step: usize| (x + radius * sine(step + 6), y + radius * sine(step));
    (0..24).map(corner).collect()
}
