//! A thin strip: what held when. Exact per column, as lanes are, however often it
//! changes; with names where there is room.

use metalens_analyzer::units::percent;

use crate::canvas::{Canvas, Place, ratio};
use crate::coverage::{Grid, Sweep, height};
use crate::font::{self, SMALL};
use crate::palette::{Colour, Palette};
use crate::scene::{Anchor, Shape};

/// The height of a strip that has names in it.
const HEIGHT: f32 = 15.0;
/// Fewer letters than this say nothing of a longer name.
const LEAST: usize = 8;
/// What is this many columns wide or wider is set apart from what it touches.
const APART: u64 = 6;

/// What held when, on no grid yet.
pub(crate) struct Band<'a> {
    pub(crate) name: String,
    /// What it tells apart.
    pub(crate) kinds: Vec<Kind>,
    /// In order of time.
    pub(crate) items: Vec<Item<'a>>,
    /// Whether neighbours of one kind are set apart: one step, the next step.
    pub(crate) is_cut: bool,
    /// Whether it says how much of the time anything held.
    pub(crate) has_share: bool,
    /// What the legend calls `is_marked`.
    pub(crate) marked: &'static str,
    /// What the legend calls the time in which nothing is known to have held.
    pub(crate) unknown: Option<&'static str>,
}

/// A colour, and what it stands for if the names do not say it.
pub(crate) struct Kind {
    pub(crate) fill: Colour,
    pub(crate) legend: Option<String>,
}

impl Band<'_> {
    /// Without anything in it.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kinds: Vec::new(),
            items: Vec::new(),
            is_cut: false,
            has_share: false,
            marked: "",
            unknown: None,
        }
    }
}

/// One thing held.
pub(crate) struct Item<'a> {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) name: std::borrow::Cow<'a, str>,
    /// Its place in `kinds`.
    pub(crate) kind: usize,
    /// Whether it has a line along it.
    pub(crate) is_marked: bool,
}

/// A band on a grid.
pub(crate) struct Strip {
    pub(crate) name: String,
    pub(crate) height: f32,
    grid: Grid,
    /// From below.
    layers: Vec<Layer>,
    /// When anything held.
    any_ns: u64,
    has_share: bool,
    is_cut: bool,
    named: Vec<(u64, u64, String, Colour)>,
    /// Where one of a kind ends and another begins.
    cuts: Vec<u64>,
    marked: Sweep,
}

/// How long something of one colour held.
pub(crate) struct Layer {
    pub(crate) fill: Colour,
    pub(crate) sweep: Sweep,
}

impl Strip {
    /// Without names; of its layers never two at a time.
    pub(crate) fn plain(name: &str, grid: Grid, layers: Vec<Layer>) -> Self {
        Self {
            name: name.to_owned(),
            height: HEIGHT,
            grid,
            any_ns: layers.iter().map(|one| one.sweep.total_ns()).sum(),
            has_share: true,
            is_cut: false,
            layers,
            named: Vec::new(),
            cuts: Vec::new(),
            marked: Sweep::new(grid),
        }
    }

    /// A band, as a grid has it.
    pub(crate) fn of(band: &Band<'_>, grid: Grid) -> Self {
        let kinds = band.kinds.iter();
        let layers = kinds.map(|kind| Layer {
            fill: kind.fill,
            sweep: Sweep::new(grid),
        });
        let mut strip = Self {
            is_cut: band.is_cut,
            has_share: band.has_share,
            ..Self::plain(&band.name, grid, layers.collect())
        };
        let mut any = Sweep::new(grid);
        let inside = |item: &&Item<'_>| item.start_ns < grid.end_ns && item.end_ns > grid.start_ns;
        for item in band.items.iter().filter(inside) {
            any.add(item.start_ns, item.end_ns);
            strip.add(item);
        }
        strip.any_ns = any.total_ns();
        strip
    }

    fn add(&mut self, item: &Item<'_>) {
        let Some(layer) = self.layers.get_mut(item.kind) else {
            return;
        };
        layer.sweep.add(item.start_ns, item.end_ns);
        if item.is_marked {
            self.marked.add(item.start_ns, item.end_ns);
        }
        let (start, end) = (
            item.start_ns.max(self.grid.start_ns),
            item.end_ns.min(self.grid.end_ns),
        );
        if self.grid.has_room(end - start) {
            let ink = layer.fill.ink_on_it();
            self.named.push((start, end, item.name.to_string(), ink));
        }
        if self.is_cut && start > self.grid.start_ns && self.grid.spans(end - start, APART) {
            self.cuts.push(start);
        }
    }

    /// How much of the time anything held, if that is worth saying.
    pub(crate) fn share(&self) -> String {
        match self.has_share {
            true => self.part(self.any_ns),
            false => String::new(),
        }
    }

    fn part(&self, length_ns: u64) -> String {
        percent(ratio(length_ns, self.grid.span_ns()))
    }

    /// Whether one state held from end to end; of phases the name is news.
    pub(crate) fn is_constant(&self) -> bool {
        let span_ns = self.grid.span_ns();
        let layers = self.layers.iter();
        let is_one = layers.filter(|one| one.sweep.total_ns() > 0).count() == 1;
        let is_evenly_marked = [0, span_ns].contains(&self.marked.total_ns());
        is_one && is_evenly_marked && self.any_ns == span_ns && !self.is_cut
    }

    /// What its colours stand for, and how much of the time each held;
    /// nothing if the name in it says it all.
    pub(crate) fn legend(&self, band: &Band<'_>, palette: &Palette) -> Vec<(Colour, String)> {
        if self.is_constant() {
            return Vec::new();
        }
        let kinds = band.kinds.iter().zip(&self.layers);
        let kinds = kinds.filter_map(|(kind, layer)| {
            let label = kind.legend.as_deref()?;
            Some((kind.fill, label, layer.sweep.total_ns()))
        });
        let unknown_ns = self.grid.span_ns() - self.any_ns;
        let unknown = band.unknown.map(|label| (palette.panel, label, unknown_ns));
        let marked = (palette.mark, band.marked, self.marked.total_ns());
        kinds
            .chain(unknown)
            .chain([marked])
            .filter(|&(_, _, ns)| ns > 0)
            .map(|(fill, label, ns)| (fill, format!("{label} {}", self.part(ns))))
            .collect()
    }

    /// Its layers, one upon the other, and its names.
    pub(crate) fn draw(&self, canvas: &Canvas, place: Place) {
        canvas.rectangle(place, canvas.palette.panel);
        self.stack(canvas, place);
        for &cut in &self.cuts {
            let line = Place {
                left: self.grid.x(cut, place).round(),
                width: 1.0,
                ..place
            };
            canvas.rectangle(line, canvas.palette.background);
        }
        self.line(canvas, place);
        for (start, end, name, ink) in &self.named {
            name_inside(canvas, self.grid, place, (*start, *end), name, *ink);
        }
    }

    /// Its layers' shares of each column, one upon the other.
    pub(crate) fn stack(&self, canvas: &Canvas, place: Place) {
        let widths: Vec<u64> = self.grid.widths_ns().collect();
        let mut below: Vec<u64> = vec![0; widths.len()];
        let pixel = canvas.pixel;
        // Whole pixels: two colours never share one.
        let level = |below: u64, width: u64| {
            let height = height(ratio(below, width), place.height, pixel.max(1.0));
            place.bottom() - (height / pixel).round() * pixel
        };
        for layer in &self.layers {
            let columns = layer.sweep.columns().iter().zip(&widths);
            let spans = columns.zip(&mut below).map(|((&held, &width), below)| {
                let from = level(*below, width);
                *below += held;
                (level(*below, width), from)
            });
            let spans: Vec<(f32, f32)> = spans.collect();
            if spans.iter().any(|&(top, bottom)| bottom > top) {
                bars(canvas, place, spans, layer.fill);
            }
        }
    }

    /// Along the top of what is marked.
    fn line(&self, canvas: &Canvas, place: Place) {
        if self.marked.total_ns() == 0 {
            return;
        }
        let spans = self.marked.shares().map(|share| {
            let height = if share > 0.0 { 2.0 } else { 0.0 };
            (place.top, place.top + height)
        });
        bars(canvas, place, spans.collect(), canvas.palette.mark);
    }
}

/// Columns that fill a place side by side.
#[expect(clippy::cast_precision_loss, reason = "a few thousand columns")]
pub(crate) fn bars(canvas: &Canvas, place: Place, spans: Vec<(f32, f32)>, fill: Colour) {
    canvas.add(Shape::Bars {
        left: place.left,
        step: place.width / spans.len().max(1) as f32,
        spans,
        fill,
    });
}

/// The name of something that has room for it.
pub(crate) fn name_inside(
    canvas: &Canvas,
    grid: Grid,
    place: Place,
    (start, end): (u64, u64),
    name: &str,
    ink: Colour,
) {
    let (left, right) = (grid.x(start, place), grid.x(end, place));
    let text = font::shorten(name, SMALL - 1.0, right - left - 8.0);
    // Of a name that is cut to the bone nothing can be read.
    let is_cut = text != name;
    if text.is_empty() || place.height < 14.0 || (is_cut && text.chars().count() < LEAST) {
        return;
    }
    let at = (left.midpoint(right), place.top + place.height / 2.0 + 4.0);
    canvas.text(at, SMALL - 1.0, Anchor::Middle, ink, &text);
}

/// How many columns of device pixels are in a width.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels"
)]
pub(crate) fn columns(width: f32, scale: u8) -> usize {
    (width * f32::from(scale)) as usize
}
