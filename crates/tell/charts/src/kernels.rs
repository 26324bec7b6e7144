//! Draws the kernels with the most time, and the spread of their durations.

use std::collections::HashMap;

use metalens_analyzer::{Analysis, Kernel};
use metalens_message::{Ns, Quantity};
use metalens_text::number::Float;
use metalens_text::units::{count, counted, percent, short_time};

use crate::axes::Axis;
use crate::canvas::{AXIS, Area, Canvas, MARGIN, Mesh, ratio};
use crate::font::{self, SMALL};
use crate::kernel_colors::KernelColors;
use crate::options::{ChartError, ChartOptions};
use crate::palette::Color;
use crate::pixels::{px, times, whole_count};
use crate::scene::{Anchor, Scene};

const MOST: usize = 12;
/// Width of the columns of a row of durations, and height of the marks under them.
const COLUMN: f32 = 4.0;
const MARK: f32 = 6.0;
/// Height of a kernel.
const ROW: f32 = 24.0;

/// Draws the chart of kernels.
pub(crate) fn draw(analysis: &Analysis, options: &ChartOptions) -> Result<Scene, ChartError> {
    let report = &analysis.report;
    let title = format!("Kernels of {} with the most time", report.process.name);
    let canvas = Canvas::new(options, &title);
    let shown: Vec<&Kernel> = report.kernels.iter().take(MOST).collect();
    let more = report.kernels.len() - shown.len();
    let total: Ns = report.kernels.iter().map(|kernel| kernel.total_ns).sum();
    let kept: Ns = shown.iter().map(|kernel| kernel.total_ns).sum();
    let kernels = report.kernels.len() as u64;
    let left_out = match more {
        0 => format!("{} took all of the GPU time", counted(kernels, "kernel")),
        _ => format!(
            "The {} kernels shown took {} of the GPU time; {} more {} not shown",
            shown.len(),
            percent(ratio(kept, total)),
            count(more as u64),
            if more == 1 { "is" } else { "are" }
        ),
    };

    let top = canvas.header(report, &title, &[&left_out]);
    let inner = canvas.width - 2.0 * MARGIN;
    let columns = KernelColumns::of(&shown, inner, canvas.width);

    let place = Area {
        left: columns.spread(),
        top: (top + 22.0).round(),
        width: columns.right - columns.spread(),
        height: ROW * times(shown.len()),
    };

    heads(&canvas, place, &columns);
    let (Some(shortest), Some(longest)) = (
        shown.iter().map(|kernel| kernel.min_ns).min(),
        shown.iter().map(|kernel| kernel.max_ns).max(),
    ) else {
        return Ok(canvas.finish(top + MARGIN));
    };

    let axis = Axis::logarithmic_time(shortest.0 / 10 * 8, longest.0 / 10 * 13 + 2);
    let axis = axis.with_room(place.width);
    canvas.plot(place, (axis.clone(), Axis::share(1.0)), Mesh::Up)?;

    let channel = report.kernels.first().map(|kernel| &kernel.channel);
    let several = report
        .kernels
        .iter()
        .any(|kernel| Some(&kernel.channel) != channel);
    let largest = shown.first().map_or(Ns(1), |kernel| kernel.total_ns);
    let channels = shown.iter().map(|kernel| aside(&columns, kernel, several));
    let least_room = columns.names - channels.fold(0.0, f32::max) - 6.0;
    let names = shown.iter().map(|kernel| kernel.name.as_str());
    let names = font::shorten_all(&names.collect::<Vec<_>>(), SMALL, least_room);
    let colors = KernelColors::of(report);
    let spreads = spreads(analysis, &shown, &axis, place.width);
    for (at, (kernel, durations)) in shown.iter().zip(&spreads).enumerate() {
        let line = Area {
            top: place.top + ROW * times(at),
            height: ROW,
            ..place
        };
        let text = names.get(at).map_or("", String::as_str);
        name(&canvas, line, &columns, (text, kernel), several);
        let fill = canvas.palette.kernel(colors.number(&kernel.name));
        bar(&canvas, line, &columns, kernel, (largest, fill));
        spread(&canvas, line, &axis, durations, (kernel, fill));
    }
    let bottom = key(&canvas, place.bottom() + AXIS + 4.0);
    Ok(canvas.finish(bottom + MARGIN - 6.0))
}

/// Widths and positions of the columns.
struct KernelColumns {
    names: f32,
    bars: f32,
    /// Room right of a bar, for its figures.
    figures: f32,
    /// True if there is room for the numbers of instances.
    has_counts: bool,
    right: f32,
}

impl KernelColumns {
    /// Returns columns as wide as their contents need, if that leaves room for the durations.
    fn of(shown: &[&Kernel], inner: f32, width: f32) -> Self {
        let widest = |text: &dyn Fn(&Kernel) -> String| {
            let widths = shown.iter().map(|kernel| font::width(&text(kernel), SMALL));
            widths.fold(0.0, f32::max)
        };
        let names = widest(&|kernel| format!("{}  {}", kernel.name, channel(kernel, true)));
        let names = (names + 8.0).clamp(inner * 0.2, inner * 0.36).round();
        let bars = (inner * 0.14).round();
        let [short, long] =
            [false, true].map(|has_counts| widest(&|kernel| figures(kernel, has_counts)));
        let has_counts = names + bars + long <= inner * 0.7;
        let figures = if has_counts { long } else { short };
        let head = font::width(head(has_counts), SMALL);
        Self {
            names,
            bars,
            figures: figures.max(head - bars) + 8.0,
            has_counts,
            right: width - MARGIN - 12.0,
        }
    }

    fn bars_left(&self) -> f32 {
        MARGIN + self.names + 8.0
    }

    /// Returns the left edge of the spreads, which leaves room for the figures of the bars.
    fn spread(&self) -> f32 {
        (self.bars_left() + self.bars + self.figures + 14.0).round()
    }
}

fn heads(canvas: &Canvas, place: Area, columns: &KernelColumns) {
    let write = |x: f32, text: &str| {
        let at = (x, place.top - 8.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, text);
    };
    write(MARGIN, "kernel");
    let figures = head(columns.has_counts);
    write(columns.bars_left(), figures);
    write(place.left, "duration");
}

/// Writes the name, and the channel if kernels ran on several.
fn name(
    canvas: &Canvas,
    line: Area,
    columns: &KernelColumns,
    (name, kernel): (&str, &Kernel),
    several: bool,
) {
    let palette = &canvas.palette;
    let baseline = (line.top + line.height / 2.0).round() + 4.0;
    let channel = channel(kernel, several);
    if aside(columns, kernel, several) > 0.0 {
        let at = (MARGIN + columns.names, baseline);
        canvas.text(at, SMALL, Anchor::End, palette.faint, &channel);
    }
    let at = (MARGIN, baseline);
    canvas.text(at, SMALL, Anchor::Start, palette.text, name);
}

/// Returns the channel to show beside a name; empty if all kernels ran on one.
fn channel(kernel: &Kernel, several: bool) -> String {
    let channel = kernel.channel.as_deref().filter(|_| several);
    font::clean(channel.unwrap_or(""))
}

/// Returns the room for the channel beside a name; none if it would take too much.
fn aside(columns: &KernelColumns, kernel: &Kernel, several: bool) -> f32 {
    match font::width(&channel(kernel, several), SMALL) {
        width if width <= columns.names * 0.4 => width,
        _ => 0.0,
    }
}

/// Draws the time as a bar, and as many figures as fit.
fn bar(
    canvas: &Canvas,
    line: Area,
    columns: &KernelColumns,
    kernel: &Kernel,
    (largest, fill): (Ns, Color),
) {
    let palette = &canvas.palette;
    let middle = (line.top + line.height / 2.0).round();
    let width = columns.bars * px(ratio(kernel.total_ns, largest));
    let bar = Area {
        left: columns.bars_left().round(),
        top: middle - 6.0,
        width: width.round().max(1.0),
        height: 12.0,
    };
    let mut left = columns.bars_left().round();
    if columns.bars > 0.0 {
        canvas.rectangle(bar, fill);
        left = bar.right() + 6.0;
    }

    let text = figures(kernel, columns.has_counts);
    let at = (left, middle + 4.0);
    canvas.text(at, SMALL, Anchor::Start, palette.text, &text);
}

/// Returns the heading of the figures.
const fn head(has_counts: bool) -> &'static str {
    if has_counts {
        "total time, share, count"
    } else {
        "total time, share"
    }
}

/// Returns the total time of a kernel and its share, with or without the number of instances.
fn figures(kernel: &Kernel, has_counts: bool) -> String {
    let share = percent(kernel.time_pct / 100.0);
    let text = format!("{}, {share}", short_time(kernel.total_ns.0));
    if has_counts {
        format!("{text}, {}×", count(kernel.instances))
    } else {
        text
    }
}

/// Number of instances of a kernel in each column of a row of durations.
type Spread = Vec<u64>;

/// Returns the spreads of the shown kernels, in rows of this width.
fn spreads(analysis: &Analysis, shown: &[&Kernel], axis: &Axis, width: f32) -> Vec<Spread> {
    let columns = f64::from(width / COLUMN).max(1.0);
    let mut spreads = vec![vec![0; whole_count(columns)]; shown.len()];
    let names = shown.iter().enumerate();
    let rows: HashMap<(&str, Option<&str>), usize> = names
        .map(|(at, kernel)| ((kernel.name.as_str(), kernel.channel.as_deref()), at))
        .collect();
    for interval in analysis.intervals() {
        let row = rows.get(&(interval.kernel, interval.channel));
        let spread = row.and_then(|&row| spreads.get_mut(row));
        let along = axis.along(interval.end_ns.saturating_sub(interval.start_ns).float());
        let at = whole_count((along * columns).clamp(0.0, columns - 1.0));
        if let Some(number) = spread.and_then(|spread| spread.get_mut(at)) {
            *number += 1;
        }
    }
    spreads
}

/// Draws how many instances took how long, and the median and the 95th percentile.
fn spread(
    canvas: &Canvas,
    line: Area,
    axis: &Axis,
    spread: &Spread,
    (kernel, fill): (&Kernel, Color),
) {
    let most = spread.iter().copied().max().unwrap_or(0);
    let foot = line.bottom() - MARK - 2.0;
    for (at, &number) in spread.iter().enumerate().filter(|(_, number)| **number > 0) {
        // A single outlier is visible beside thousands.
        let height = (foot - line.top - 2.0) * px(ratio(number, most));
        let column = (line.left + times(at) * COLUMN, height.round().max(3.0));
        bar_up(canvas, foot, column, COLUMN, fill);
    }

    let x = |ns: Ns| (line.left + line.width * px(axis.along(ns.number()))).round();
    let palette = &canvas.palette;
    mark(canvas, foot, x(kernel.p95_ns), palette.others);
    mark(canvas, foot, x(kernel.med_ns), palette.text);
}

/// Draws a bar from its foot up: from a place, as high and as wide as given.
fn bar_up(canvas: &Canvas, foot: f32, (left, height): (f32, f32), width: f32, fill: Color) {
    let top = foot - height;
    let bar = Area {
        left,
        top,
        width,
        height,
    };
    canvas.rectangle(bar, fill);
}

/// Draws a mark under the foot of bars, which hides none of them.
fn mark(canvas: &Canvas, foot: f32, at: f32, fill: Color) {
    bar_up(canvas, foot + MARK, (at - 1.0, MARK), 3.0, fill);
}

/// Draws the marks with their meaning. Returns the bottom.
fn key(canvas: &Canvas, top: f32) -> f32 {
    const LINE: f32 = 20.0;
    const ROOM: f32 = 22.0;
    let entries = ["instances that took this long", "median", "95th percentile"];
    let (mut left, mut line) = (MARGIN, top);
    for (which, text) in entries.into_iter().enumerate() {
        let text = font::shorten(text, SMALL, canvas.width - 2.0 * MARGIN - ROOM - 6.0);
        let width = ROOM + 6.0 + font::width(&text, SMALL);
        if left > MARGIN && left + width > canvas.width - MARGIN {
            left = MARGIN;
            line += LINE;
        }

        let (palette, middle) = (&canvas.palette, left + ROOM / 2.0);
        match which {
            0 => {
                let lefts = (0_u8..).map(|at| left + 1.0 + f32::from(at) * COLUMN);
                for column in lefts.zip([4.0, 9.0, 13.0, 6.0, 3.0]) {
                    bar_up(canvas, line + 16.0, column, COLUMN, palette.faint);
                }
            }
            1 => mark(canvas, line + 7.0, middle, palette.text),
            _ => mark(canvas, line + 7.0, middle, palette.others),
        }

        let at = (left + ROOM + 6.0, line + 14.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, &text);
        left += width + 18.0;
    }
    line + LINE
}
