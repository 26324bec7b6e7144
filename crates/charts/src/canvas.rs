//! What all charts are drawn with: words, legends, plots with axes.

use std::cell::RefCell;
use std::convert::Infallible;

use metalens_analyzer::units::percent;
use metalens_analyzer::{Cause, Report};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::{IntoFont, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::BackendColor;

use crate::axes::Axis;
use crate::backend::{SceneBackend, inside};
use crate::font::{self, SMALL};
use crate::options::{Error, Options};
use crate::palette::{Colour, Palette};
use crate::scene::{Anchor, Scene, Shape};

/// Around everything.
pub(crate) const MARGIN: f32 = 16.0;
/// What a picture says.
pub(crate) const HEADLINE: f32 = 15.0;
const BODY: f32 = 12.0;

/// A picture in the making.
pub(crate) struct Canvas {
    pub(crate) scene: RefCell<Scene>,
    pub(crate) palette: Palette,
    pub(crate) width: f32,
    /// The width of a device pixel.
    pub(crate) pixel: f32,
    has_header: bool,
}

/// Where something is: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Place {
    pub(crate) fn right(self) -> f32 {
        self.left + self.width
    }

    pub(crate) fn bottom(self) -> f32 {
        self.top + self.height
    }
}

pub(crate) type Plot<'a> = ChartContext<'a, SceneBackend<'a>, Cartesian2d<Axis, Axis>>;

impl Canvas {
    #[expect(clippy::cast_precision_loss, reason = "a canvas's width")]
    pub(crate) fn new(options: &Options, title: &str) -> Self {
        let palette = Palette::of(options.theme);
        Self {
            scene: RefCell::new(Scene {
                width: options.width,
                height: 0,
                scale: options.scale,
                background: palette.background,
                shapes: Vec::new(),
                title: title.to_owned(),
            }),
            palette,
            width: options.width as f32,
            pixel: 1.0 / f32::from(options.scale),
            has_header: options.has_header,
        }
    }

    /// The picture, `height` pixels high.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a canvas's height"
    )]
    pub(crate) fn finish(self, height: f32, options: &Options) -> Result<Scene, Error> {
        let needed = height.ceil() as u32;
        let height = options.height.unwrap_or(needed);
        if height < needed {
            return Err(Error::TooLow { height, needed });
        }
        let mut scene = self.scene.into_inner();
        scene.height = height;
        Ok(scene)
    }

    pub(crate) fn add(&self, shape: Shape) {
        self.scene.borrow_mut().shapes.push(shape);
    }

    pub(crate) fn rectangle(&self, place: Place, fill: Colour) {
        self.add(Shape::Rectangle {
            at: (place.left, place.top),
            size: (place.width, place.height),
            fill,
        });
    }

    /// A text at its baseline, moved so that it stays on the canvas.
    pub(crate) fn text(
        &self,
        (x, y): (f32, f32),
        size: f32,
        anchor: Anchor,
        fill: Colour,
        text: &str,
    ) {
        let text = font::clean(text);
        let canvas = self.scene.borrow().width;
        let x = inside(x, font::width(&text, size), anchor, canvas);
        self.add(Shape::Text {
            at: (x, y),
            size,
            anchor,
            fill,
            text,
        });
    }

    /// The verdict and what explains it, from the top on, and what changes the
    /// meaning of every number: a picture of a simulation must say so. Where it ends.
    pub(crate) fn header(&self, report: &Report, headline: &str, lines: &[&str]) -> f32 {
        let loud: Vec<String> = report.loud_notes().map(|note| note.text).collect();
        self.words_above(headline, lines, &loud)
    }

    /// A headline, what explains it, and what nobody may overlook. Where it ends: at
    /// the margin, if it is not wanted.
    pub(crate) fn words_above(&self, headline: &str, lines: &[&str], loud: &[String]) -> f32 {
        if !self.has_header {
            return MARGIN - 6.0;
        }
        let room = self.width - 2.0 * MARGIN;
        let mut bottom = MARGIN - 2.0;
        let mut write = |text: &str, size: f32, fill: Colour| {
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

    /// The causes that took time, and how much of the idle time each took, for a
    /// legend.
    pub(crate) fn causes(&self, report: &Report) -> Vec<(Colour, String)> {
        let ledger = &report.idle;
        let parts = ledger.parts.by_cause().into_iter();
        let entry = |(cause, ns): (Cause, u64)| {
            let share = percent(ratio(ns, ledger.total_ns));
            let label = format!("{} {share}", cause.label());
            (self.palette.cause(cause), label)
        };
        parts.filter(|&(_, ns)| ns > 0).map(entry).collect()
    }

    /// Coloured squares and what they stand for, in as many lines as it takes.
    /// Where it ends.
    pub(crate) fn legend(&self, top: f32, entries: &[(Colour, String)]) -> f32 {
        const LINE: f32 = 18.0;
        const SQUARE: f32 = 10.0;
        let (mut left, mut line) = (MARGIN, top);
        for (colour, label) in entries {
            let room = self.width - 2.0 * MARGIN - SQUARE - 5.0;
            let label = font::shorten(label, SMALL, room);
            let width = SQUARE + 5.0 + font::width(&label, SMALL);
            if left > MARGIN && left + width > self.width - MARGIN {
                left = MARGIN;
                line += LINE;
            }
            let square = Place {
                left: left.round(),
                top: line + 3.0,
                width: SQUARE,
                height: SQUARE,
            };
            self.rectangle(square, *colour);
            let at = (square.right() + 5.0, line + 12.0);
            self.text(at, SMALL, Anchor::Start, self.palette.text, &label);
            left += width + 16.0;
        }
        match entries.is_empty() {
            true => top,
            false => line + LINE,
        }
    }

    /// How high that is, for those who must know before they draw.
    pub(crate) fn legend_height(&self, entries: &[(Colour, String)], options: &Options) -> f32 {
        // It is drawn on a canvas that nobody sees.
        Self::new(options, "").legend(0.0, entries)
    }

    /// A limit: dashes from the top of a place to its bottom.
    pub(crate) fn dashes_down(&self, x: f32, place: Place) {
        let mut top = place.top;
        while top < place.bottom() {
            let dash = Place {
                left: x,
                top,
                width: 1.0,
                height: 4.0_f32.min(place.bottom() - top),
            };
            self.dash(dash);
            top += 7.0;
        }
    }

    /// A limit: dashes from the left of a place to its right.
    pub(crate) fn dashes_across(&self, y: f32, place: Place) {
        let mut left = place.left;
        while left < place.right() {
            let dash = Place {
                left,
                top: y,
                width: 4.0_f32.min(place.right() - left),
                height: 1.0,
            };
            self.dash(dash);
            left += 7.0;
        }
    }

    /// A dash with light around it, so that it is seen upon bars too.
    fn dash(&self, dash: Place) {
        let light = Place {
            left: dash.left - 1.0,
            top: dash.top - 1.0,
            width: dash.width + 2.0,
            height: dash.height + 2.0,
        };
        self.rectangle(light, self.palette.background);
        self.rectangle(dash, self.palette.mark);
    }

    /// A label that ends at its place, legible upon whatever is there.
    pub(crate) fn label_upon(&self, (x, y): (f32, f32), text: &str) {
        let width = font::width(text, SMALL) + 8.0;
        let light = Place {
            left: (x - width + 4.0).floor(),
            top: y - 11.0,
            width: width.ceil(),
            height: 14.0,
        };
        self.rectangle(light, self.palette.background);
        self.text((x, y), SMALL, Anchor::End, self.palette.text, text);
    }

    /// Axes around a place, which is theirs without their labels.
    pub(crate) fn plot(
        &self,
        place: Place,
        (across, up): (Axis, Axis),
        mesh: Mesh,
    ) -> Result<Plot<'_>, Error> {
        let across = across.spaced(place.width);
        let labels = Labels::of(mesh);
        let area = self.area(Place {
            left: place.left - labels.left,
            top: place.top,
            width: place.width + labels.left,
            height: place.height + labels.below,
        })?;
        let ticks = (across.tick_count(), up.tick_count());
        let mut plot = ChartBuilder::on(&area)
            .x_label_area_size(whole(labels.below))
            .y_label_area_size(whole(labels.left))
            .build_cartesian_2d(across, up)?;
        let faint = self.words(self.palette.faint);
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
        around.draw()?;
        Ok(plot)
    }

    fn words(&self, colour: Colour) -> TextStyle<'static> {
        let font = ("sans-serif", f64::from(SMALL)).into_font();
        let mut style = TextStyle::from(font);
        style.color = BackendColor {
            alpha: 1.0,
            rgb: (colour.red, colour.green, colour.blue),
        };
        style
    }

    fn area(&self, place: Place) -> Result<DrawingArea<SceneBackend<'_>, Shift>, Error> {
        let backend = SceneBackend {
            scene: &self.scene,
            size: (unsigned(self.width), unsigned(place.bottom())),
        };
        let corner = (whole(place.left), whole(place.top));
        let size = (whole(place.width), whole(place.height));
        Ok(backend.into_drawing_area().shrink(corner, size))
    }
}

/// Which lines and labels a plot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mesh {
    /// Lines across, from the upright axis.
    Across,
    /// Upright lines, and no upright axis.
    Up,
    /// No lines, and no upright axis.
    Time,
}

/// The room of labels.
struct Labels {
    left: f32,
    below: f32,
}

impl Labels {
    fn of(mesh: Mesh) -> Self {
        Self {
            left: match mesh {
                Mesh::Across => 52.0,
                Mesh::Up | Mesh::Time => 0.0,
            },
            below: AXIS,
        }
    }
}

/// The height of a time axis with its labels.
pub(crate) const AXIS: f32 = 24.0;

/// Returns the two largest causes of the idle time, in few words.
pub(crate) fn fault(report: &Report) -> Option<String> {
    let ledger = &report.idle;
    let parts = ledger.parts.largest_first();
    let mut said = parts
        .iter()
        .take(2)
        .map(|&(cause, ns)| (ratio(ns, ledger.total_ns), cause.label()))
        // A share that rounds to zero explains nothing.
        .filter(|&(share, _)| share >= 0.005)
        .map(|(share, cause)| format!("{} {cause}", rounded(share)));
    let first = said.next()?;
    Some(match said.next() {
        Some(second) => format!("Idle time: {first}, {second}"),
        None => format!("Idle time: {first}"),
    })
}

/// Whole percents, but that what is not all of it is not 100.
fn rounded(share: f64) -> String {
    match share {
        0.995..1.0 => percent(share),
        _ => format!("{:.0} %", 100.0 * share),
    }
}

/// What a target asks for.
pub(crate) fn limit(report: &Report, id: &str) -> Option<f64> {
    let target = report.thresholds.iter().find(|target| target.id == id)?;
    Some(target.limit)
}

/// A part of a whole; nothing of nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

pub(crate) fn stroke(colour: Colour) -> ShapeStyle {
    ShapeStyle::from(plain(colour)).stroke_width(1)
}

pub(crate) const fn plain(colour: Colour) -> RGBColor {
    RGBColor(colour.red, colour.green, colour.blue)
}

#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn whole(length: f32) -> i32 {
    length.round() as i32
}

fn unsigned(length: f32) -> u32 {
    u32::try_from(whole(length)).unwrap_or(0)
}

impl From<DrawingAreaErrorKind<Infallible>> for Error {
    fn from(error: DrawingAreaErrorKind<Infallible>) -> Self {
        Self::Layout(error.to_string())
    }
}
