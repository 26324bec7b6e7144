//! The kernels that took the most time, and how their durations are spread.

use metalens_analyzer::units::{count, counted, percent, short_time};
use metalens_analyzer::{Kernel, Report};

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, ratio};
use crate::font::{self, SMALL};
use crate::options::{Error, Options};
use crate::palette::Colour;
use crate::scene::{Anchor, Scene, Shape};

const MOST: usize = 12;
/// From this width on there are bars.
const WIDE: f32 = 600.0;

/// Draws it.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
pub(crate) fn draw(report: &Report, options: &Options) -> Result<Scene, Error> {
    let title = format!(
        "The kernels of {} that took the most time",
        report.process.name
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
            "The {} shown are {} of the GPU time; {} more {} not",
            shown.len(),
            percent(ratio(kept, whole)),
            count(more as u64),
            if more == 1 { "is" } else { "are" }
        ),
    };
    let top = canvas.header(report, &title, &[&left_out]);
    let inner = canvas.width - 2.0 * MARGIN;
    // Where there is little room, the figures must do without bars.
    let (names, bars, figures) = match canvas.width >= WIDE {
        true => (0.25, 0.16, 142.0),
        false => (0.33, 0.0, 100.0),
    };
    let columns = Columns {
        names: (inner * names).round(),
        bars: (inner * bars).round(),
        figures,
        right: canvas.width - MARGIN - 12.0,
    };
    let key_height = key(&Canvas::new(options, ""), 0.0);
    let room = options.height.map_or(0.0, |height| {
        (height as f32 - top - 22.0 - AXIS - MARGIN - key_height) / shown.len().max(1) as f32
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
    let axis = axis.with_room(place.width);
    canvas.plot(place, (axis.clone(), Axis::percent()), Mesh::Up)?;
    let channel = report.kernels.first().map(|kernel| &kernel.channel);
    let several = report
        .kernels
        .iter()
        .any(|one| Some(&one.channel) != channel);
    let largest = shown.first().map_or(1, |kernel| kernel.total_ns);
    for (at, kernel) in shown.iter().enumerate() {
        let line = Place {
            top: place.top + row * at as f32,
            height: row,
            ..place
        };
        name(&canvas, line, &columns, kernel, several);
        bar(&canvas, line, &columns, kernel, largest);
        spread(&canvas, line, &axis, kernel);
    }
    let bottom = key(&canvas, place.bottom() + AXIS + 4.0);
    canvas.finish(bottom + MARGIN - 6.0, options)
}

/// Where the columns are.
struct Columns {
    names: f32,
    bars: f32,
    /// Right of a bar, what it says.
    figures: f32,
    right: f32,
}

impl Columns {
    fn bars_left(&self) -> f32 {
        MARGIN + self.names + 8.0
    }

    /// Right of the bars there is room for what they say.
    fn spread(&self) -> f32 {
        (self.bars_left() + self.bars + self.figures + 14.0).round()
    }
}

fn heads(canvas: &Canvas, place: Place, columns: &Columns) {
    let head = |x: f32, text: &str| {
        let at = (x, place.top - 8.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, text);
    };
    head(MARGIN, "kernel");
    let figures = match columns.bars > 0.0 {
        true => "time in all, its share, how often",
        false => "time, its share",
    };
    head(columns.bars_left(), figures);
    head(place.left, "how long one takes");
}

/// The name, and where it ran if that tells it from others.
fn name(canvas: &Canvas, line: Place, columns: &Columns, kernel: &Kernel, several: bool) {
    let palette = &canvas.palette;
    let baseline = (line.top + line.height / 2.0).round() + 4.0;
    let channel = kernel.channel.as_deref().filter(|_| several);
    let channel = font::clean(channel.unwrap_or(""));
    let aside = match font::width(&channel, SMALL) {
        width if width <= columns.names * 0.4 => width,
        _ => 0.0,
    };
    if aside > 0.0 {
        let at = (MARGIN + columns.names, baseline);
        canvas.text(at, SMALL, Anchor::End, palette.faint, &channel);
    }
    let name = font::shorten(&kernel.name, SMALL, columns.names - aside - 6.0);
    let at = (MARGIN, baseline);
    canvas.text(at, SMALL, Anchor::Start, palette.text, &name);
}

/// The time as a bar, and in figures: as many as there is room for.
#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn bar(canvas: &Canvas, line: Place, columns: &Columns, kernel: &Kernel, largest: u64) {
    let palette = &canvas.palette;
    let middle = (line.top + line.height / 2.0).round();
    let width = columns.bars * ratio(kernel.total_ns, largest) as f32;
    let bar = Place {
        left: columns.bars_left().round(),
        top: middle - 6.0,
        width: width.round().max(1.0),
        height: 12.0,
    };
    let mut left = columns.bars_left().round();
    if columns.bars > 0.0 {
        canvas.rectangle(bar, palette.target);
        left = bar.right() + 6.0;
    }
    let share = percent(kernel.time_pct / 100.0);
    let short = format!("{}, {share}", short_time(kernel.total_ns));
    let long = format!("{short}, {}×", count(kernel.instances));
    let room = columns.spread() - 10.0 - left;
    let text = match font::width(&long, SMALL) <= room {
        true => long,
        false => short,
    };
    let at = (left, middle + 4.0);
    canvas.text(at, SMALL, Anchor::Start, palette.text, &text);
}

/// How the durations are spread: a thin line from the shortest to the longest, a
/// thick one from the median to the 95th percentile.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a place on a canvas"
)]
fn spread(canvas: &Canvas, line: Place, axis: &Axis, kernel: &Kernel) {
    let marks = Marks {
        canvas,
        middle: (line.top + line.height / 2.0).round(),
    };
    let x = |ns: u64| (line.left + line.width * axis.along(ns as f64) as f32).round();
    marks.range(x(kernel.min_ns), x(kernel.max_ns));
    marks.usual(x(kernel.med_ns), x(kernel.p95_ns));
    marks.median(x(kernel.med_ns));
    marks.limit(x(kernel.p95_ns));
}

/// The marks of a spread, at one height.
struct Marks<'a> {
    canvas: &'a Canvas,
    middle: f32,
}

impl Marks<'_> {
    fn stroke(&self, from: f32, to: f32, height: f32, fill: Colour) {
        let place = Place {
            left: from,
            top: self.middle - height / 2.0,
            width: (to - from).max(2.0),
            height,
        };
        self.canvas.rectangle(place, fill);
    }

    /// A thin line with two ends.
    fn range(&self, from: f32, to: f32) {
        let fill = self.canvas.palette.others;
        self.stroke(from, to, 2.0, fill);
        self.stroke(from, from + 2.0, 10.0, fill);
        self.stroke(to.max(from + 2.0) - 2.0, to, 10.0, fill);
    }

    fn usual(&self, from: f32, to: f32) {
        self.stroke(from, to, 6.0, self.canvas.palette.target);
    }

    fn median(&self, at: f32) {
        let palette = &self.canvas.palette;
        for (radius, fill) in [(5.5, palette.background), (4.5, palette.target)] {
            let points = round((at, self.middle), radius);
            self.canvas.add(Shape::Polygon { points, fill });
        }
    }

    fn limit(&self, at: f32) {
        self.stroke(at - 1.0, at + 1.0, 16.0, self.canvas.palette.text);
    }
}

/// What the marks mean, each drawn as above. Where it ends.
fn key(canvas: &Canvas, top: f32) -> f32 {
    const LINE: f32 = 20.0;
    const MARK: f32 = 26.0;
    let entries = [
        "shortest and longest",
        "median",
        "from there up to the 95th percentile",
    ];
    let (mut left, mut line) = (MARGIN, top);
    for (which, text) in entries.into_iter().enumerate() {
        let text = font::shorten(text, SMALL, canvas.width - 2.0 * MARGIN - MARK - 6.0);
        let width = MARK + 6.0 + font::width(&text, SMALL);
        if left > MARGIN && left + width > canvas.width - MARGIN {
            left = MARGIN;
            line += LINE;
        }
        let marks = Marks {
            canvas,
            middle: line + 10.0,
        };
        match which {
            0 => marks.range(left, left + MARK),
            1 => marks.median(left + MARK / 2.0),
            _ => {
                marks.usual(left, left + MARK);
                marks.limit(left + MARK);
            }
        }
        let at = (left + MARK + 6.0, line + 14.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, &text);
        left += width + 18.0;
    }
    line + LINE
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
