//! Draws a thin strip of intervals: exact per column, like lanes, and with names where there is
//! room.

use std::collections::{HashMap, HashSet};

use metalens_text::units::percent;

use crate::canvas::{Area, Canvas, ratio};
use crate::coverage::{Grid, Sweep, height};
use crate::font::{self, SMALL};
use crate::palette::{Color, Palette};
use crate::pixels::{times, whole_count};
use crate::scene::{Anchor, Primitive};

/// Height of a strip with names in it.
const HEIGHT: f32 = 15.0;
/// Fewest letters of a shortened name that are still useful.
const LEAST: usize = 8;
/// Smallest width, in columns, of an interval that is set apart from its neighbors.
const APART: u64 = 6;

/// A strip's intervals, not yet on a grid.
pub(crate) struct Band<'a> {
    pub(crate) name: String,
    /// Colors of the items, by kind.
    pub(crate) kinds: Vec<BandKind>,
    /// Items in the order of time.
    pub(crate) items: Vec<BandItem<'a>>,
    /// True if neighbors of one kind are set apart, as for repeated steps.
    pub(crate) is_cut: bool,
    /// True if the strip shows the share of time that its items cover.
    pub(crate) has_share: bool,
    /// Legend of the time without any item. None if it is not shown.
    pub(crate) unknown: Option<&'static str>,
}

/// Color of items, and its legend if their names do not explain it.
pub(crate) struct BandKind {
    pub(crate) fill: Color,
    pub(crate) legend: Option<String>,
}

impl Band<'_> {
    /// Makes a band without items.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kinds: Vec::new(),
            items: Vec::new(),
            is_cut: false,
            has_share: false,
            unknown: None,
        }
    }
}

/// An interval in a band.
pub(crate) struct BandItem<'a> {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) name: std::borrow::Cow<'a, str>,
    /// Index of its kind in `kinds`.
    pub(crate) kind: usize,
}

/// A band on a grid.
pub(crate) struct Strip {
    pub(crate) name: String,
    pub(crate) height: f32,
    grid: Grid,
    /// Layers, the lowest first.
    layers: Vec<Layer>,
    /// Time that any item covers.
    any_ns: u64,
    has_share: bool,
    is_cut: bool,
    named: Vec<(u64, u64, String, Color)>,
    /// Times at which one item of a kind ends and another begins.
    cuts: Vec<u64>,
}

/// Coverage of the columns by items of one color.
pub(crate) struct Layer {
    pub(crate) fill: Color,
    pub(crate) sweep: Sweep,
}

impl Strip {
    /// Makes a strip without names, of layers that never overlap.
    pub(crate) fn plain(name: &str, grid: Grid, layers: Vec<Layer>) -> Self {
        Self {
            name: name.to_owned(),
            height: HEIGHT,
            grid,
            any_ns: layers.iter().map(|layer| layer.sweep.total_ns()).sum(),
            has_share: true,
            is_cut: false,
            layers,
            named: Vec::new(),
            cuts: Vec::new(),
        }
    }

    /// Puts a band on a grid.
    pub(crate) fn on_grid(band: &Band<'_>, grid: Grid) -> Self {
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
        let inside =
            |item: &&BandItem<'_>| item.start_ns < grid.end_ns && item.end_ns > grid.start_ns;
        for item in band.items.iter().filter(inside) {
            any.add(item.start_ns, item.end_ns);
            strip.add(item);
        }

        strip.any_ns = any.total_ns();
        strip
    }

    fn add(&mut self, item: &BandItem<'_>) {
        let Some(layer) = self.layers.get_mut(item.kind) else {
            return;
        };
        layer.sweep.add(item.start_ns, item.end_ns);

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

    /// Returns the share of time that items cover, or nothing if it is not shown.
    pub(crate) fn share(&self) -> String {
        if self.has_share {
            self.percent_of_grid(self.any_ns)
        } else {
            String::new()
        }
    }

    fn percent_of_grid(&self, length_ns: u64) -> String {
        percent(ratio(length_ns, self.grid.span_ns()))
    }

    /// Returns whether one state fills the whole strip. Strips of phases never count, because their
    /// names are informative.
    pub(crate) fn is_constant(&self) -> bool {
        let span_ns = self.grid.span_ns();
        let layers = self.layers.iter();
        let is_one = layers.filter(|layer| layer.sweep.total_ns() > 0).count() == 1;
        is_one && self.any_ns == span_ns && !self.is_cut
    }

    /// Returns the legend of the colors with their shares of time; empty if the name in the strip
    /// explains everything.
    pub(crate) fn legend(&self, band: &Band<'_>, palette: &Palette) -> Vec<(Color, String)> {
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
        // Shades that only part neighbors have one meaning.
        let mut entries: Vec<(Color, &str, u64)> = Vec::new();
        for (fill, label, ns) in kinds.chain(unknown).filter(|&(_, _, ns)| ns > 0) {
            match entries.last_mut() {
                Some(last) if last.1 == label => last.2 += ns,
                _ => entries.push((fill, label, ns)),
            }
        }
        let entries = entries.into_iter();
        entries
            .map(|(fill, label, ns)| (fill, format!("{label} {}", self.percent_of_grid(ns))))
            .collect()
    }

    /// Draws the layers, one above the other, and the names.
    pub(crate) fn draw(&self, canvas: &Canvas, place: Area) {
        canvas.rectangle(place, canvas.palette.panel);
        self.stack(canvas, place);
        for &cut in &self.cuts {
            let line = Area {
                left: self.grid.x(cut, place).round(),
                width: 1.0,
                ..place
            };
            canvas.rectangle(line, canvas.palette.background);
        }
        let named = self.named.iter();
        let named = named.map(|(start, end, name, ink)| (*start, *end, name.as_str(), *ink));
        names_inside(canvas, self.grid, place, &named.collect::<Vec<_>>());
    }

    /// Draws the layers' shares of each column, stacked.
    pub(crate) fn stack(&self, canvas: &Canvas, place: Area) {
        let widths: Vec<u64> = self.grid.widths_ns().collect();
        let mut below: Vec<u64> = vec![0; widths.len()];
        let pixel = canvas.pixel;
        // Rounded to whole pixels, so that two colors never share one.
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
}

/// Draws columns that fill an area side by side.
pub(crate) fn bars(canvas: &Canvas, place: Area, spans: Vec<(f32, f32)>, fill: Color) {
    canvas.add(Primitive::Bars {
        left: place.left,
        step: place.width / times(spans.len().max(1)),
        spans,
        fill,
    });
}

/// An interval with its name, and the color in which the name is written on it.
pub(crate) type NamedSpan<'a> = (u64, u64, &'a str, Color);

/// Writes names inside of their intervals, where there is room. No two different names read alike.
pub(crate) fn names_inside(canvas: &Canvas, grid: Grid, place: Area, named: &[NamedSpan<'_>]) {
    if place.height < 14.0 {
        return;
    }
    let edges = |start: u64, end: u64| (grid.x(start, place), grid.x(end, place));
    let rooms = named.iter().map(|&(start, end, name, _)| {
        let (left, right) = edges(start, end);
        (name, right - left - 8.0)
    });
    let texts = texts_inside(&rooms.collect::<Vec<_>>());
    for (&(start, end, _, ink), text) in named.iter().zip(texts) {
        let (left, right) = edges(start, end);
        let at = (left.midpoint(right), place.top + place.height / 2.0 + 4.0);
        if !text.is_empty() {
            canvas.text(at, SMALL - 1.0, Anchor::Middle, ink, &text);
        }
    }
}

/// Returns each name as far as its room allows. A name that is cut too much, or that would read like
/// another one, is left out.
fn texts_inside(rooms: &[(&str, f32)]) -> Vec<String> {
    const SIZE: f32 = SMALL - 1.0;
    let useful = |text: String, name: &str| {
        let is_useless = text != name && text.chars().count() < LEAST;
        if is_useless { String::new() } else { text }
    };
    let each = rooms.iter();
    let mut texts: Vec<String> = each
        .map(|&(name, room)| useful(font::shorten(name, SIZE, room), name))
        .collect();

    // Names that are cut one by one may read alike: then they are shortened together.
    let alike = alike(rooms, &texts);
    let mut names: Vec<&str> = rooms
        .iter()
        .zip(&texts)
        .filter(|(_, text)| alike.contains(*text))
        .map(|((name, _), _)| *name)
        .collect();
    names.sort_unstable();
    names.dedup();
    for (&(name, room), text) in rooms.iter().zip(&mut texts) {
        if let Some(at) = names
            .iter()
            .position(|&known| known == name && alike.contains(text))
        {
            let mut together = font::shorten_all(&names, SIZE, room);
            *text = useful(together.swap_remove(at), name);
        }
    }

    // In other rooms they may still be cut to the same.
    let alike = self::alike(rooms, &texts);
    for text in texts.iter_mut().filter(|text| alike.contains(*text)) {
        text.clear();
    }
    texts
}

/// Returns the texts that stand for several names.
fn alike(rooms: &[(&str, f32)], texts: &[String]) -> HashSet<String> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut alike = HashSet::new();
    for (&(name, _), text) in rooms.iter().zip(texts) {
        if *names.entry(text).or_insert(name) != name && !text.is_empty() {
            alike.insert(text.clone());
        }
    }
    alike
}

/// Returns the number of device pixel columns in a width.
pub(crate) fn columns(width: f32, scale: u8) -> usize {
    whole_count(width * f32::from(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the texts of names in intervals of these widths.
    fn check(rooms: &[(&str, f32)], expected: &[&str]) {
        assert_eq!(texts_inside(rooms), expected, "{rooms:?}");
    }

    #[test]
    fn names_inside_of_intervals_never_read_alike() {
        let (first, second) = (
            "gemm_fused_bfloat16_bm64_bn64_bk16_nt_axpby",
            "gemm_fused_bfloat16_bm32_bn64_bk16_nt_axpby",
        );
        // Cut one by one, both would be `gemm_fu…_axpby`.
        let texts = texts_inside(&[(first, 90.0), (second, 90.0), (first, 90.0)]);
        assert!(texts.iter().all(|text| !text.is_empty()), "{texts:?}");
        assert_eq!(texts[0], texts[2]);
        assert_ne!(texts[0], texts[1]);
        for room in [20.0, 40.0, 60.0, 80.0, 110.0, 160.0, 400.0] {
            let texts = texts_inside(&[(first, room), (second, 90.0), (second, room)]);
            let is_first = |text: &&String| !text.is_empty();
            let [one, other, third] = [0, 1, 2].map(|at| texts.get(at).filter(is_first));
            assert!(one.is_none() || (one != other && one != third), "{texts:?}");
        }

        check(&[("add", 100.0), ("add", 100.0)], &["add", "add"]);
        check(&[("add", 2.0), ("mul", 100.0)], &["", "mul"]);
        check(&[], &[]);
    }
}
