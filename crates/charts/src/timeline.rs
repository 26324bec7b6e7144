//! The timeline: the window as lanes, why it was idle under them, and a typical
//! stretch of it enlarged.

use metalens_analyzer::units::{counted, percent, time};
use metalens_analyzer::{Analysis, Cause, GpuSpan, Report};

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, MARGIN, Mesh, Place, SMALL, fault, ratio};
use crate::chart::{Error, Options};
use crate::coverage::{Grid, Sweep, height};
use crate::font;
use crate::lanes::{causes, channels};
use crate::palette::Colour;
use crate::scene::{Anchor, Scene, Shape};
use crate::zoom::{self, Stretch};

/// Left of the lanes, for their names.
const NAMES: f32 = 96.0;
/// Right of the lanes, for their shares.
const SHARES: f32 = 58.0;
const BETWEEN: f32 = 4.0;
/// The names of more intervals than this would not fit anyway.
const NAMED: usize = 500;

/// Draws it.
pub(crate) fn draw(analysis: &Analysis, options: &Options) -> Result<Scene, Error> {
    let report = &analysis.report;
    let canvas = Canvas::new(options, &format!("GPU timeline of {}", report.target.name));
    let fault = fault(report);
    let lines: Vec<&str> = [report.summary.idle.as_str()]
        .into_iter()
        .chain(fault.as_deref())
        .collect();
    let top = canvas.header(report, &report.summary.busy, &lines);
    let across = Place {
        left: MARGIN + NAMES,
        top,
        width: (canvas.width - 2.0 * MARGIN - NAMES - SHARES).floor(),
        height: 0.0,
    };
    let stretch = zoom::stretch(analysis);
    let columns = columns(across.width, options.scale);
    let window = Grid::new(report.window.start_ns, report.window.end_ns, columns);
    let enlarged = stretch.map(|one| Grid::new(one.start_ns, one.end_ns, columns));
    let grids: Vec<Grid> = [window].into_iter().chain(enlarged).collect();
    let panels = panels(analysis, &grids);
    let stretched = stretched_by(&panels, top, report, &canvas, options);
    let mut bottom = top;
    let mut marked = None;
    for (at, panel) in panels.iter().enumerate() {
        let place = Place {
            top: bottom,
            ..across
        };
        if let (1, Some(stretch)) = (at, stretch) {
            let below = place.top + TITLE - 2.0;
            mark(&canvas, &window, stretch, marked.unwrap_or(place), below);
        }
        let title = title(report, panel.grid, stretch.filter(|_| at == 1));
        let lanes = panel.draw(&canvas, place, stretched, &title)?;
        marked = Some(lanes);
        bottom = lanes.bottom() + AXIS + 12.0;
    }
    let bottom = canvas.legend(bottom, &canvas.causes(report));
    canvas.finish(bottom + MARGIN - 6.0, options)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels"
)]
fn columns(width: f32, scale: u8) -> usize {
    (width * f32::from(scale)) as usize
}

/// What of a given height is left over, as a factor for the lanes.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
fn stretched_by(
    panels: &[Panel],
    top: f32,
    report: &Report,
    canvas: &Canvas,
    options: &Options,
) -> f32 {
    let Some(height) = options.height else {
        return 1.0;
    };
    let legend = canvas.legend_height(&canvas.causes(report), options);
    let lanes: f32 = panels.iter().map(|panel| panel.height(1.0)).sum();
    let rest: f32 = panels.iter().map(Panel::around).sum();
    let left = height as f32 - top - legend - (MARGIN - 6.0) - rest;
    // A pixel is lost in each lane to rounding.
    let rounding: usize = panels.iter().map(|panel| panel.lanes.len() + 1).sum();
    ((left - rounding as f32) / lanes).max(0.5)
}

/// A part of the window, as lanes.
struct Panel {
    grid: Grid,
    lanes: Vec<Lane>,
    /// Idle time by cause, in the order of `Cause::ALL`; none if there is none.
    causes: Vec<Sweep>,
}

struct Lane {
    name: String,
    kind: Kind,
    sweep: Sweep,
    /// Work that may have room for its name: start, end, name.
    named: Vec<(u64, u64, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Target,
    Others,
}

/// One pass over everything for all grids.
fn panels(analysis: &Analysis, grids: &[Grid]) -> Vec<Panel> {
    let names = channels(&analysis.report);
    let mut panels: Vec<Panel> = grids.iter().map(|&grid| Panel::new(grid, &names)).collect();
    for span in analysis.spans() {
        let lane = names
            .iter()
            .position(|name| name.as_deref() == span.channel);
        // Channels beyond the last lane share it.
        let lane = lane.unwrap_or(names.len().saturating_sub(1));
        for panel in &mut panels {
            panel.add(lane, &span);
        }
    }
    let others = analysis.report.busy.foreign_busy_ns > 0;
    let idle = analysis.report.gaps.total_ns > 0;
    for panel in &mut panels {
        if others {
            panel.lanes.push(panel.others(analysis));
        }
        if idle {
            panel.causes = causes(analysis, panel.grid);
        }
    }
    panels
}

const TITLE: f32 = 20.0;

impl Panel {
    fn new(grid: Grid, names: &[Option<String>]) -> Self {
        let lane = |name: &Option<String>| Lane {
            name: name.clone().unwrap_or_else(|| "no channel".to_owned()),
            kind: Kind::Target,
            sweep: Sweep::new(grid),
            named: Vec::new(),
        };
        Self {
            grid,
            lanes: names.iter().map(lane).collect(),
            causes: Vec::new(),
        }
    }

    fn add(&mut self, lane: usize, span: &GpuSpan<'_>) {
        let grid = self.grid;
        if span.end_ns <= grid.start_ns || span.start_ns >= grid.end_ns {
            return;
        }
        let Some(lane) = self.lanes.get_mut(lane) else {
            return;
        };
        lane.sweep.add(span.start_ns, span.end_ns);
        // Only what is at least a fortieth of the panel wide can hold a word.
        let wide = (span.end_ns - span.start_ns).saturating_mul(40) >= grid.span_ns();
        if wide && lane.named.len() < NAMED {
            let name = span.kernel.to_owned();
            lane.named.push((span.start_ns, span.end_ns, name));
        }
    }

    fn others(&self, analysis: &Analysis) -> Lane {
        let mut sweep = Sweep::new(self.grid);
        for (start, end) in analysis.others() {
            sweep.add(start, end);
        }
        Lane {
            name: "Others".to_owned(),
            kind: Kind::Others,
            sweep,
            named: Vec::new(),
        }
    }

    /// How high its lanes are.
    fn height(&self, factor: f32) -> f32 {
        let lanes: f32 = self.lanes.iter().map(|lane| self.lane(lane, factor)).sum();
        match self.causes.is_empty() {
            true => lanes,
            false => lanes + strip(factor),
        }
    }

    /// How much it has above, between and below its lanes.
    #[expect(clippy::cast_precision_loss, reason = "a few lanes")]
    fn around(&self) -> f32 {
        let strips = self.lanes.len() + usize::from(!self.causes.is_empty());
        TITLE + strips as f32 * BETWEEN + AXIS + 12.0
    }

    fn lane(&self, lane: &Lane, factor: f32) -> f32 {
        let mine = self.lanes.iter().filter(|lane| lane.kind == Kind::Target);
        let height = match (lane.kind, mine.count()) {
            (Kind::Others, _) => 16.0,
            (Kind::Target, ..3) => 40.0,
            (Kind::Target, 3..5) => 28.0,
            (Kind::Target, _) => 20.0,
        };
        (height * factor).round()
    }

    /// Draws it from `place` down. Where its lanes are.
    fn draw(
        &self,
        canvas: &Canvas,
        place: Place,
        factor: f32,
        title: &str,
    ) -> Result<Place, Error> {
        let room = canvas.width - place.left - MARGIN;
        let title = font::shorten(title, SMALL, room);
        let at = (place.left, place.top + 13.0);
        canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, &title);
        let mut lane_place = Place {
            top: place.top + TITLE,
            ..place
        };
        for lane in &self.lanes {
            lane_place.height = self.lane(lane, factor);
            self.draw_lane(canvas, lane, lane_place);
            lane_place.top = lane_place.bottom() + BETWEEN;
        }
        if !self.causes.is_empty() {
            lane_place.height = strip(factor);
            self.draw_causes(canvas, lane_place);
            lane_place.top = lane_place.bottom() + BETWEEN;
        }
        let lanes = Place {
            top: place.top + TITLE,
            height: lane_place.top - place.top - TITLE,
            ..place
        };
        let axis = Axis::time(self.grid.span_ns(), ticks(place.width));
        canvas.plot(lanes, (axis, Axis::percent()), Mesh::Time)?;
        Ok(lanes)
    }

    fn draw_lane(&self, canvas: &Canvas, lane: &Lane, place: Place) {
        let palette = &canvas.palette;
        let (fill, ink) = match lane.kind {
            Kind::Target => (palette.target, palette.text),
            Kind::Others => (palette.others, palette.faint),
        };
        canvas.rectangle(place, palette.panel);
        let share = ratio(lane.sweep.total_ns(), self.grid.span_ns());
        beside(canvas, place, &lane.name, &percent(share), ink);
        let spans = lane.sweep.shares().map(|share| {
            let height = height(share, place.height, canvas.pixel.max(1.0));
            (place.bottom() - height, place.bottom())
        });
        let spans: Vec<(f32, f32)> = spans.collect();
        self.bars(canvas, place, spans, fill);
        let line = fill.ink_on_it();
        for (start, end, name) in &lane.named {
            self.name(canvas, place, (*start, *end), name, line);
        }
    }

    /// The name of work that has room for it.
    #[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
    fn name(
        &self,
        canvas: &Canvas,
        place: Place,
        (start, end): (u64, u64),
        name: &str,
        ink: Colour,
    ) {
        let x = |time: u64| {
            let into = time.clamp(self.grid.start_ns, self.grid.end_ns) - self.grid.start_ns;
            place.left + place.width * ratio(into, self.grid.span_ns()) as f32
        };
        let (left, right) = (x(start), x(end));
        let text = font::shorten(name, SMALL - 1.0, right - left - 8.0);
        // Of a name that is cut to the bone nothing can be read.
        if text.chars().count() < 6 && text != name {
            return;
        }
        let at = (left.midpoint(right), place.top + place.height / 2.0 + 4.0);
        if place.height >= 14.0 {
            canvas.text(at, SMALL - 1.0, Anchor::Middle, ink, &text);
        }
    }

    /// The causes' shares, one upon the other.
    fn draw_causes(&self, canvas: &Canvas, place: Place) {
        canvas.rectangle(place, canvas.palette.panel);
        let total: u64 = self.causes.iter().map(Sweep::total_ns).sum();
        let share = percent(ratio(total, self.grid.span_ns()));
        beside(canvas, place, "Idle, why", &share, canvas.palette.faint);
        let shares: Vec<Vec<f64>> = self
            .causes
            .iter()
            .map(|one| one.shares().collect())
            .collect();
        let mut below: Vec<f64> = vec![0.0; self.grid.columns()];
        let pixel = canvas.pixel;
        // Whole pixels: two colours never share one.
        let level = |share: f64| {
            let height = height(share.min(1.0), place.height, pixel.max(1.0));
            place.bottom() - (height / pixel).round() * pixel
        };
        for (cause, shares) in Cause::ALL.into_iter().zip(shares) {
            let mut spans = Vec::with_capacity(shares.len());
            for (share, below) in shares.iter().zip(&mut below) {
                let from = level(*below);
                *below += share;
                spans.push((level(nearly_all(*below)), from));
            }
            if spans.iter().any(|&(top, bottom)| bottom > top) {
                self.bars(canvas, place, spans, canvas.palette.cause(cause));
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a few thousand columns")]
    fn bars(&self, canvas: &Canvas, place: Place, spans: Vec<(f32, f32)>, fill: Colour) {
        canvas.add(Shape::Bars {
            left: place.left,
            step: place.width / self.grid.columns() as f32,
            spans,
            fill,
        });
    }
}

/// Sums of shares are off by a little.
fn nearly_all(share: f64) -> f64 {
    match share > 1.0 - 1e-9 {
        true => 1.0,
        false => share,
    }
}

fn strip(factor: f32) -> f32 {
    (22.0 * factor).round()
}

/// One tick per so many pixels.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of ticks"
)]
pub(crate) fn ticks(width: f32) -> usize {
    (width / 70.0).max(2.0) as usize
}

/// A lane's name and its share.
fn beside(canvas: &Canvas, place: Place, name: &str, share: &str, ink: Colour) {
    let baseline = (place.top + place.height / 2.0 + 4.0).round();
    let name = font::shorten(name, SMALL, NAMES - 8.0);
    canvas.text((MARGIN, baseline), SMALL, Anchor::Start, ink, &name);
    let at = (canvas.width - MARGIN, baseline);
    canvas.text(at, SMALL, Anchor::End, ink, share);
}

fn title(report: &Report, grid: Grid, stretch: Option<Stretch>) -> String {
    let start = report.window.start_ns;
    match stretch {
        None => format!(
            "Whole window: {}, from {} into the recording",
            time(grid.span_ns()),
            time(start)
        ),
        Some(stretch) => format!(
            "Enlarged: {} with {} of typical length, from {} into the window",
            time(grid.span_ns()),
            counted(stretch.gaps as u64, "gap"),
            time(stretch.start_ns - start)
        ),
    }
}

/// The stretch that is enlarged: a frame in the overview, and a funnel to its panel.
#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn mark(canvas: &Canvas, window: &Grid, stretch: Stretch, lanes: Place, below: f32) {
    let x = |time: u64| {
        let share = ratio(time - window.start_ns, window.span_ns()) as f32;
        (lanes.left + lanes.width * share).round()
    };
    let (mut left, mut right) = (x(stretch.start_ns), x(stretch.end_ns));
    if right - left < 3.0 {
        left = (left - 1.0).clamp(lanes.left, lanes.right() - 3.0);
        right = left + 3.0;
    }
    let mark = canvas.palette.mark;
    let faint = Colour { alpha: 26, ..mark };
    let bottom = lanes.bottom();
    canvas.add(Shape::Polygon {
        points: vec![
            (left, bottom),
            (right, bottom),
            (lanes.right(), below),
            (lanes.left, below),
        ],
        fill: faint,
    });
    let (top, thin) = (lanes.top - 3.0, 1.0);
    let frame = |left: f32, top: f32, width: f32, height: f32| {
        let place = Place {
            left,
            top,
            width,
            height,
        };
        canvas.rectangle(place, mark);
    };
    frame(left - 1.0, top, thin, bottom - top);
    frame(right, top, thin, bottom - top);
    frame(left - 1.0, top, right - left + 2.0, 2.0);
}
