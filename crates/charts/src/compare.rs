//! Before and after: two recordings of one program on one scale, and what of the
//! difference lies where.
//!
//! Both begin at 0, a nanosecond is as wide in both, and busy time and the causes
//! of idle time are the whole length of each: what is longer took longer.

mod alike;
mod table;
#[cfg(test)]
mod tests;
mod words;

use metalens_analyzer::units::{percent, time};
use metalens_analyzer::{Analysis, Report};
use metalens_comparison::Comparable;

use crate::axes::Axis;
use crate::canvas::{AXIS, Canvas, HEADLINE, MARGIN, Mesh, Place, ratio};
use crate::coverage::{Grid, Sweep, height};
use crate::font::{self, SMALL};
use crate::lanes;
use crate::ledger::{Part, parts};
use crate::options::{Error, Options, check};
use crate::panel::{cause_strip, ticks};
use crate::scene::{Anchor, Scene};
use crate::strip::bars;

/// Left of the lanes, for their names.
const NAMES: f32 = 64.0;
/// Right of the lanes, for what they sum to.
const SUMS: f32 = 66.0;
const LANE: f32 = 38.0;
const STRIP: f32 = 18.0;
const BAR: f32 = 24.0;
const TITLE: f32 = 20.0;
/// Between what belongs together, and between what does not.
const NEAR: f32 = 3.0;
const FAR: f32 = 10.0;

/// Draws two analyses of one program: before and after a change.
///
/// # Errors
///
/// If the options leave it no room.
pub fn draw_comparison(base: &Analysis, new: &Analysis, options: &Options) -> Result<Scene, Error> {
    check(options)?;
    let (before, now) = (&base.report, &new.report);
    let canvas = Canvas::new(options, &title(before, now));
    let (sums, others) = table::rows(&canvas, before, now);
    let found = Comparable::of(before, now);
    let top = header(&canvas, before, now, &found);
    let small = small_print(&canvas, &found);
    let below = FAR + table::height(&sums, &others) + footer_height(&small) + MARGIN - 6.0;
    let place = Place {
        left: MARGIN + NAMES,
        top,
        width: (canvas.width - 2.0 * MARGIN - NAMES - SUMS).floor(),
        height: 0.0,
    };
    let scale = TimeScale {
        place,
        longest_ns: before.window.span_ns.max(now.window.span_ns).max(1),
        lane: lane_height(top + below, options),
    };
    let bottom = scale.timelines(&canvas, base, new, options)?;
    let bottom = scale.ledgers(&canvas, before, now, bottom + 2.0);
    table::draw(&canvas, bottom + FAR, &sums, &others);
    let bottom = bottom + FAR + table::height(&sums, &others);
    footer(&canvas, bottom, &small);
    canvas.finish(bottom + footer_height(&small) + MARGIN - 6.0, options)
}

/// The comparison in words, for those who cannot see it.
#[must_use]
pub fn alt_comparison(base: &Report, new: &Report) -> String {
    let found = Comparable::of(base, new);
    let mut loud = words::loud(base, new);
    loud.extend(alike::warnings(&found));
    let loud: String = loud.iter().map(|one| format!(" {one}.")).collect();
    let said = format!(
        "Before and after. {}. {}. {}.{loud} One run each.",
        words::headline(base, new, str::to_owned),
        words::moved(base, new),
        table::in_words(base, new),
    );
    font::clean(&said)
}

fn title(base: &Report, new: &Report) -> String {
    match base.process.name == new.process.name {
        true => format!("{}: base and new", new.process.name),
        false => format!(
            "{} and {}: base and new",
            base.process.name, new.process.name
        ),
    }
}

fn header(canvas: &Canvas, base: &Report, new: &Report, found: &Comparable) -> f32 {
    let lines = [words::moved(base, new), words::work(base, new)];
    let mut loud = words::loud(base, new);
    loud.extend(alike::warnings(found));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    // The rest of the line is for the figures.
    let room = (canvas.width - 2.0 * MARGIN) * 0.4;
    let headline = words::headline(base, new, |name| font::shorten(name, HEADLINE, room));
    canvas.words_above(&headline, &lines, &loud)
}

/// What of a given height is left over is the lanes'.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
fn lane_height(around: f32, options: &Options) -> f32 {
    let fixed = 2.0 * (TITLE + STRIP + NEAR + FAR + BAR + NEAR) + AXIS;
    let spare = options
        .height
        .map_or(0.0, |height| height as f32 - around - fixed - 2.0 * LANE);
    LANE + (spare / 2.0).floor().clamp(0.0, 160.0)
}

/// Nanoseconds to pixels, for everything between the words and the table.
struct TimeScale {
    place: Place,
    longest_ns: u64,
    lane: f32,
}

impl TimeScale {
    #[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
    fn width(&self, canvas: &Canvas, ns: u64) -> f32 {
        let width = self.place.width * ratio(ns, self.longest_ns) as f32;
        ((width / canvas.pixel).round() * canvas.pixel).max(canvas.pixel)
    }

    /// When each was busy, and why it was not. Where they end.
    fn timelines(
        &self,
        canvas: &Canvas,
        base: &Analysis,
        new: &Analysis,
        options: &Options,
    ) -> Result<f32, Error> {
        let mut place = self.place;
        self.title(
            canvas,
            place.top,
            &[
                "When the GPU was busy, and below why it was not: both from their start, on one scale",
                "Busy, and why not: on one scale",
            ],
        );
        place.top += TITLE;
        let top = place.top;
        for (name, analysis) in [("base", base), ("new", new)] {
            place.top = self.timeline(canvas, place, name, analysis, options) + FAR;
        }
        let lanes = Place {
            top,
            height: place.top - FAR + NEAR - top,
            ..place
        };
        let axis = Axis::time(self.longest_ns, ticks(lanes.width));
        canvas.plot(lanes, (axis, Axis::percent()), Mesh::Time)?;
        Ok(lanes.bottom() + AXIS)
    }

    /// The first that fits.
    fn title(&self, canvas: &Canvas, top: f32, texts: &[&str]) {
        let room = canvas.width - self.place.left - MARGIN;
        let mut fit = texts.iter().filter(|text| font::width(text, SMALL) <= room);
        let at = (self.place.left, top + 13.0);
        if let Some(text) = fit.next() {
            canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, text);
        }
    }

    /// One of the two: its busy lane and its causes. Where it ends.
    fn timeline(
        &self,
        canvas: &Canvas,
        place: Place,
        name: &str,
        analysis: &Analysis,
        options: &Options,
    ) -> f32 {
        let report = &analysis.report;
        let span_ns = report.window.span_ns;
        let lane = Place {
            width: self.width(canvas, span_ns),
            height: self.lane,
            ..place
        };
        let strip = Place {
            top: lane.bottom() + NEAR,
            height: STRIP,
            ..lane
        };
        let palette = &canvas.palette;
        for place in [lane, strip] {
            canvas.rectangle(place, palette.panel);
        }
        let share = report.busy.ratio.map_or_else(|| "–".to_owned(), percent);
        self.beside(canvas, lane, name, &share, true);
        let idle = percent(ratio(report.gaps.total_ns, span_ns));
        self.beside(canvas, strip, "idle, why", &idle, false);
        let start_ns = report.window.start_ns;
        let end_ns = start_ns.saturating_add(self.longest_ns);
        let grid = Grid::new(start_ns, end_ns, columns(place.width, options.scale));
        self.busy(canvas, lane, grid, analysis);
        self.causes(canvas, strip, grid, analysis);
        self.end(canvas, lane, strip, span_ns);
        strip.bottom()
    }

    fn busy(&self, canvas: &Canvas, lane: Place, grid: Grid, analysis: &Analysis) {
        let mut sweep = Sweep::new(grid);
        for span in analysis.spans() {
            sweep.add(span.start_ns, span.end_ns);
        }
        let spans = sweep.shares().map(|share| {
            let height = height(share, lane.height, canvas.pixel.max(1.0));
            (lane.bottom() - height, lane.bottom())
        });
        let spans: Vec<(f32, f32)> = spans.collect();
        bars(canvas, self.full(lane), spans, canvas.palette.target);
    }

    /// The causes' shares of each column, one upon the other.
    fn causes(&self, canvas: &Canvas, strip: Place, grid: Grid, analysis: &Analysis) {
        let sweeps = lanes::causes(analysis, &[grid]).into_iter().flatten();
        let causes = cause_strip(&canvas.palette, grid, sweeps.collect());
        causes.stack(canvas, self.full(strip));
    }

    /// As wide as the longer of the two.
    fn full(&self, lane: Place) -> Place {
        Place {
            width: self.place.width,
            ..lane
        }
    }

    /// Where the shorter one is over.
    fn end(&self, canvas: &Canvas, lane: Place, strip: Place, span_ns: u64) {
        if span_ns == self.longest_ns {
            return;
        }
        let edge = Place {
            left: lane.right(),
            top: lane.top - 2.0,
            width: 1.0,
            height: strip.bottom() - lane.top + 4.0,
        };
        canvas.rectangle(edge, canvas.palette.mark);
        let left = edge.right() + 5.0;
        let text = format!("ends after {}", time(span_ns));
        if left + font::width(&text, SMALL) <= self.place.right() {
            let at = (left, (lane.top + lane.height / 2.0 + 4.0).round());
            canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, &text);
        }
    }

    /// A lane's name and what it sums to.
    fn beside(&self, canvas: &Canvas, lane: Place, name: &str, sum: &str, strong: bool) {
        let palette = &canvas.palette;
        let ink = if strong { palette.text } else { palette.faint };
        let baseline = (lane.top + lane.height / 2.0 + 4.0).round();
        canvas.text((MARGIN, baseline), SMALL, Anchor::Start, ink, name);
        let at = (canvas.width - MARGIN, baseline);
        canvas.text(at, SMALL, Anchor::End, ink, sum);
    }

    /// The same time, sorted by what it went to. Where it ends.
    fn ledgers(&self, canvas: &Canvas, base: &Report, new: &Report, top: f32) -> f32 {
        let titles = [
            "The same time on the same scale, by what it went to",
            "What the time went to: same scale",
        ];
        self.title(canvas, top, &titles);
        let mut place = Place {
            top: top + TITLE,
            height: BAR,
            ..self.place
        };
        for (name, report) in [("base", base), ("new", new)] {
            let span_ns = report.window.span_ns;
            self.beside(canvas, place, name, &time(span_ns), true);
            let bar = Place {
                width: self.width(canvas, span_ns),
                ..place
            };
            ledger(canvas, bar, report);
            place.top += BAR + NEAR;
        }
        place.top
    }
}

/// Busy time and the causes of idle time, end to end: all of the window.
fn ledger(canvas: &Canvas, bar: Place, report: &Report) {
    let mut all = vec![Part {
        ns: report.busy.busy_ns,
        fill: canvas.palette.target,
        labels: vec![
            format!("busy {}", time(report.busy.busy_ns)),
            "busy".to_owned(),
        ],
    }];
    let causes = report.idle.parts.by_cause().into_iter();
    all.extend(causes.map(|(cause, ns)| Part {
        ns,
        fill: canvas.palette.cause(cause),
        labels: vec![format!("{} {}", cause.label(), time(ns)), time(ns)],
    }));
    parts(canvas, bar, &all);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a width in pixels"
)]
fn columns(width: f32, scale: u8) -> usize {
    (width * f32::from(scale)) as usize
}

const PRINT: f32 = 10.0;

/// What a reader must not forget.
fn small_print(canvas: &Canvas, found: &Comparable) -> Vec<String> {
    let mut said = vec![
        "One run each: this picture does not tell a change from noise. Causes are what was \
         waited for while the GPU was idle."
            .to_owned(),
    ];
    said.extend(alike::small_print(found));
    let room = canvas.width - 2.0 * MARGIN;
    said.iter()
        .flat_map(|text| font::wrap(text, PRINT, room, 2))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few lines")]
fn footer_height(lines: &[String]) -> f32 {
    8.0 + lines.len() as f32 * (PRINT + 4.0)
}

fn footer(canvas: &Canvas, top: f32, lines: &[String]) {
    let mut baseline = top + 6.0;
    for line in lines {
        baseline += PRINT + 4.0;
        let at = (MARGIN, baseline);
        canvas.text(at, PRINT, Anchor::Start, canvas.palette.faint, line);
    }
}
