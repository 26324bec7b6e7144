//! Provides what all charts are drawn with: text, legends, plots with axes.

use std::cell::RefCell;
use std::convert::Infallible;

use metalens_analyzer::{Cause, Report};
use metalens_message::{Ns, Quantity};
use metalens_text::units::percent;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::{IntoFont, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::BackendColor;

use crate::axes::Axis;
use crate::backend::{SceneBackend, kept_inside};
use crate::font::{self, SMALL};
use crate::kernel_colors::KernelColors;
use crate::options::{ChartError, ChartOptions};
use crate::palette::{Color, Palette};
use crate::pixels::{nearest_length, nearest_px, px, times};
use crate::scene::{Anchor, Primitive, Scene};

/// Room around everything, in pixels.
pub(crate) const MARGIN: f32 = 16.0;
/// Width of every picture, which is that of a comment on a pull request.
const WIDTH: u32 = 830;
/// Text size of the headline.
pub(crate) const HEADLINE: f32 = 15.0;
const BODY: f32 = 12.0;

/// A picture that is being drawn.
pub(crate) struct Canvas {
    pub(crate) scene: RefCell<Scene>,
    pub(crate) palette: Palette,
    pub(crate) width: f32,
    /// Width of a device pixel.
    pub(crate) pixel: f32,
    has_header: bool,
}

/// A rectangular area of the canvas, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Area {
    pub(crate) fn right(self) -> f32 {
        self.left + self.width
    }

    pub(crate) fn bottom(self) -> f32 {
        self.top + self.height
    }
}

impl Canvas {
    pub(crate) fn new(options: &ChartOptions, title: &str) -> Self {
        let palette = Palette::for_theme(options.theme);
        Self {
            scene: RefCell::new(Scene {
                width: WIDTH,
                height: 0,
                scale: options.scale,
                background: palette.background,
                shapes: Vec::new(),
                title: title.to_owned(),
            }),
            palette,
            width: px(f64::from(WIDTH)),
            pixel: 1.0 / f32::from(options.scale),
            has_header: options.has_header,
        }
    }

    /// Finishes the picture with this height in pixels.
    pub(crate) fn finish(self, height: f32) -> Scene {
        let mut scene = self.scene.into_inner();
        scene.height = nearest_length(height.ceil());
        scene
    }

    pub(crate) fn add(&self, shape: Primitive) {
        self.scene.borrow_mut().shapes.push(shape);
    }

    pub(crate) fn rectangle(&self, place: Area, fill: Color) {
        self.add(Primitive::Rectangle {
            at: (place.left, place.top),
            size: (place.width, place.height),
            fill,
        });
    }

    /// Writes a text at its baseline, moved so that it stays on the canvas.
    pub(crate) fn text(
        &self,
        (x, y): (f32, f32),
        size: f32,
        anchor: Anchor,
        fill: Color,
        text: &str,
    ) {
        let text = font::clean(text);
        let x = kept_inside(x, font::width(&text, size), anchor, self.width);
        self.add(Primitive::Text {
            at: (x, y),
            size,
            anchor,
            fill,
            text,
        });
    }

    /// Writes the verdict and its explanation at the top, and the loud notes, which change the
    /// meaning of every number: a picture of a simulation must say so. Returns the bottom of the
    /// header.
    pub(crate) fn header(&self, report: &Report, headline: &str, lines: &[&str]) -> f32 {
        let loud = report.loud_notes().map(|note| note.text().to_owned());
        let loud: Vec<String> = loud.collect();
        self.header_lines(headline, lines, &loud)
    }

    /// Writes a headline, its explanation and the loud notes. Returns the bottom of the header, or
    /// the margin if no header is wanted.
    pub(crate) fn header_lines(&self, headline: &str, lines: &[&str], loud: &[String]) -> f32 {
        if !self.has_header {
            return MARGIN - 6.0;
        }
        let room = self.width - 2.0 * MARGIN;
        let mut bottom = MARGIN - 2.0;
        let mut write = |text: &str, size: f32, fill: Color| {
            for line in font::balanced(text, size, room) {
                bottom += size + 6.0;
                self.text((MARGIN, bottom - 4.0), size, Anchor::Start, fill, &line);
            }
        };

        write(headline, HEADLINE, self.palette.text);
        for line in lines {
            write(line, BODY, self.palette.faint);
        }
        for note in loud {
            write(note, BODY, self.palette.loud);
        }
        bottom + 6.0
    }

    /// Returns legend entries for the kernels, with their shares of the GPU time.
    pub(crate) fn kernels(&self, report: &Report) -> Vec<(Color, String)> {
        /// Least room for a name, and the most of the width that names take.
        const NAME: f32 = 150.0;
        const NAMES: f32 = 0.7;
        let colors = KernelColors::of(report);
        let total: Ns = report.kernels.iter().map(|kernel| kernel.total_ns).sum();
        let mut sums = vec![Ns(0); self.palette.kernels.len()];
        for kernel in &report.kernels {
            if let Some(sum) = sums.get_mut(colors.number(&kernel.name)) {
                *sum += kernel.total_ns;
            }
        }
        let names: Vec<&str> = colors.names.iter().map(String::as_str).collect();
        let room = NAMES * self.width / times(names.len().max(1));
        let mut names = font::shorten_all(&names, SMALL, room.max(NAME));
        if colors.has_more {
            names.push("other kernels".to_owned());
        }
        let names = names.into_iter().zip(sums).enumerate();
        let entry = |(number, (name, ns)): (usize, (String, Ns))| {
            let share = percent(ratio(ns, total));
            (self.palette.kernel(number), format!("{name} {share}"))
        };
        names.map(entry).collect()
    }

    /// Returns legend entries for the causes of idle time, with their shares.
    pub(crate) fn causes(&self, report: &Report) -> Vec<(Color, String)> {
        let idle = &report.idle;
        let parts = idle.parts.by_cause().into_iter();
        let entry = |(cause, ns): (Cause, Ns)| {
            let share = percent(ratio(ns, idle.total_ns));
            let label = format!("{} {share}", cause.label());
            (self.palette.cause(cause), label)
        };
        parts.filter(|&(_, ns)| ns > Ns(0)).map(entry).collect()
    }

    /// Draws a legend that begins with what its entries have in common. Returns the bottom.
    pub(crate) fn legend(&self, top: f32, title: &str, entries: &[(Color, String)]) -> f32 {
        const LINE: f32 = 18.0;
        const SQUARE: f32 = 10.0;
        let (mut left, mut line) = (MARGIN, top);
        if !title.is_empty() && !entries.is_empty() {
            let at = (MARGIN, top + 12.0);
            self.text(at, SMALL, Anchor::Start, self.palette.faint, title);
            left += font::width(title, SMALL) + 12.0;
        }

        for (color, label) in entries {
            let room = self.width - 2.0 * MARGIN - SQUARE - 5.0;
            let label = font::shorten(label, SMALL, room);
            let width = SQUARE + 5.0 + font::width(&label, SMALL);
            if left > MARGIN && left + width > self.width - MARGIN {
                left = MARGIN;
                line += LINE;
            }
            let square = Area {
                left: left.round(),
                top: line + 3.0,
                width: SQUARE,
                height: SQUARE,
            };
            if *color == self.palette.panel {
                // As pale as the page: a border says that there is a square.
                self.rectangle(square, self.palette.axis);
                let inside = Area {
                    left: square.left + 1.0,
                    top: square.top + 1.0,
                    width: SQUARE - 2.0,
                    height: SQUARE - 2.0,
                };
                self.rectangle(inside, *color);
            } else {
                self.rectangle(square, *color);
            }
            let at = (square.right() + 5.0, line + 12.0);
            self.text(at, SMALL, Anchor::Start, self.palette.text, &label);
            left += width + 16.0;
        }

        if entries.is_empty() { top } else { line + LINE }
    }

    /// Draws a limit as dashes from the top of an area to its bottom.
    pub(crate) fn dashes_down(&self, x: f32, place: Area) {
        let mut top = place.top;
        while top < place.bottom() {
            let dash = Area {
                left: x,
                top,
                width: 1.0,
                height: 4.0_f32.min(place.bottom() - top),
            };
            self.dash(dash);
            top += 7.0;
        }
    }

    /// Draws a dash with a light border, so that it is visible on bars too.
    fn dash(&self, dash: Area) {
        let light = Area {
            left: dash.left - 1.0,
            top: dash.top - 1.0,
            width: dash.width + 2.0,
            height: dash.height + 2.0,
        };
        self.rectangle(light, self.palette.background);
        self.rectangle(dash, self.palette.mark);
    }

    /// Draws axes around an area, whose labels lie outside of it.
    pub(crate) fn plot(
        &self,
        place: Area,
        (across, up): (Axis, Axis),
        mesh: Mesh,
    ) -> Result<(), ChartError> {
        let across = across.spaced(place.width);
        let labels = match mesh {
            Mesh::Across => 52.0,
            Mesh::Up | Mesh::Time => 0.0,
        };
        let area = self.area(Area {
            left: place.left - labels,
            top: place.top,
            width: place.width + labels,
            height: place.height + AXIS,
        })?;

        let ticks = (across.tick_count(), up.tick_count());
        let mut plot = ChartBuilder::on(&area)
            .x_label_area_size(nearest_px(AXIS))
            .y_label_area_size(nearest_px(labels))
            .build_cartesian_2d(across, up)?;

        let faint = self.text_style(self.palette.faint);
        let clear = plotters::style::TRANSPARENT;
        let mut around = plot.configure_mesh();
        around
            .x_labels(ticks.0)
            .y_labels(ticks.1)
            .label_style(faint)
            .axis_style(stroke(self.palette.axis))
            .bold_line_style(stroke(self.palette.grid))
            .light_line_style(clear)
            .set_all_tick_mark_size(4);

        match mesh {
            Mesh::Across => {
                around.disable_x_mesh();
            }
            Mesh::Time => {
                around.disable_mesh().disable_y_axis();
            }
            Mesh::Up => {
                around.disable_y_mesh().disable_y_axis();
            }
        }
        Ok(around.draw()?)
    }

    fn text_style(&self, color: Color) -> TextStyle<'static> {
        let font = ("sans-serif", f64::from(SMALL)).into_font();
        let mut style = TextStyle::from(font);
        style.color = BackendColor {
            alpha: 1.0,
            rgb: (color.red, color.green, color.blue),
        };
        style
    }

    fn area(&self, place: Area) -> Result<DrawingArea<SceneBackend<'_>, Shift>, ChartError> {
        let backend = SceneBackend {
            scene: &self.scene,
            size: (nearest_length(self.width), nearest_length(place.bottom())),
        };
        let corner = (nearest_px(place.left), nearest_px(place.top));
        let size = (nearest_px(place.width), nearest_px(place.height));
        Ok(backend.into_drawing_area().shrink(corner, size))
    }
}

/// Lines and labels of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mesh {
    /// Horizontal lines, from the vertical axis.
    Across,
    /// Vertical lines, and no vertical axis.
    Up,
    /// Neither lines nor a vertical axis.
    Time,
}

/// Height of a time axis with its labels.
pub(crate) const AXIS: f32 = 24.0;

/// Returns the two main causes of idle time with their shares, if they have any.
pub(crate) fn main_causes(report: &Report) -> Option<String> {
    let idle = &report.idle;
    let parts = idle.parts.largest_first();
    let main: Vec<String> = parts
        .iter()
        .take(2)
        .map(|&(cause, ns)| (ratio(ns, idle.total_ns), cause.label()))
        // A cause with a negligible share explains nothing.
        .filter(|&(share, _)| share >= 0.005)
        .map(|(share, label)| format!("{label} {}", rounded(share)))
        .collect();
    (!main.is_empty()).then(|| format!("Main causes of idle time: {}", main.join(", ")))
}

/// Formats a share as whole percent. Only a full share is 100 %.
fn rounded(share: f64) -> String {
    match share {
        0.995..1.0 => percent(share),
        _ => format!("{:.0} %", 100.0 * share),
    }
}

/// Returns the limit that somebody set for a figure.
pub(crate) fn limit(report: &Report, figure: &str) -> Option<f64> {
    let mut rows = report.gate.iter().flat_map(|gate| &gate.rows);
    let row = rows.find(|row| row.of.is_none() && row.what == figure)?;
    Some(row.limit.get())
}

/// Returns a part as a share of the whole; 0 if the whole is 0.
pub(crate) fn ratio<Q: Quantity>(part: Q, whole: Q) -> f64 {
    metalens_message::ratio(part, whole).unwrap_or(0.0)
}

pub(crate) fn stroke(color: Color) -> ShapeStyle {
    ShapeStyle::from(plain(color)).stroke_width(1)
}

pub(crate) const fn plain(color: Color) -> RGBColor {
    RGBColor(color.red, color.green, color.blue)
}

impl From<DrawingAreaErrorKind<Infallible>> for ChartError {
    fn from(error: DrawingAreaErrorKind<Infallible>) -> Self {
        Self::Layout(error.to_string())
    }
}
