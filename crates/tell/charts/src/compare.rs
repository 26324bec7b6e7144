//! Draws two recordings of one program before and after a change, on one scale, and shows where the
//! difference comes from.
//!
//! Both begin at 0 and share one time scale. Busy time and the causes of idle time fill the whole
//! length of each, so a longer recording took longer.

use metalens_message::{Ns, Share};

mod circumstances;
mod parts;
mod sentences;
#[cfg(test)]
mod tests;

use metalens_analyzer::{Analysis, Cause, Report};
use metalens_comparison::{Comparison, Number};
use metalens_text::units::percent;

use crate::axes::Axis;
use crate::canvas::{AXIS, Area, Canvas, HEADLINE, MARGIN, Mesh, ratio};
use crate::coverage::{Grid, Sweep, height};
use crate::font::{self, SMALL};
use crate::idle::{BarPart, stacked_bar};
use crate::lanes;
use crate::options::{ChartError, ChartOptions};
use crate::panel::{cause_strip, label, ticks};
use crate::pixels::{px, times};
use crate::scene::{Anchor, Scene};
use crate::strip::{self, bars};

/// Room left of the lanes, for their names.
const NAMES: f32 = 64.0;
/// Room right of the lanes, for their sums.
const SUMS: f32 = 66.0;
const LANE: f32 = 38.0;
const STRIP: f32 = 18.0;
const BAR: f32 = 24.0;
const TITLE: f32 = 20.0;
/// Beginning of the legend.
const LEGEND: &str = "Change:";
/// Space between related parts, and between unrelated parts.
const NEAR: f32 = 3.0;
const FAR: f32 = 10.0;

/// Draws a comparison of one program: before and after a change. The timelines are those of one run
/// of each side; sentences and the legend have the figures of the comparison. Tables are beside the
/// picture wherever it is shown.
///
/// # Errors
///
/// If the chart has no room for its parts.
pub fn draw_comparison(
    comparison: &Comparison,
    base: &Analysis,
    new: &Analysis,
    options: &ChartOptions,
) -> Result<Scene, ChartError> {
    let (before, now) = (&base.report, &new.report);
    let canvas = Canvas::new(options, &title(before, now));
    let sides = side_times(&canvas, comparison, (before, now));
    let is_drawn = |color| {
        let mut drawn = sides.iter().flat_map(|side| &side.parts);
        drawn.any(|part| part.fill == color && part.ns > Ns(0))
    };
    let legend = parts::legend(&parts::parts(comparison, &canvas.palette, is_drawn));
    let top = header(&canvas, comparison, (before, now));
    let small = small_print(&canvas, comparison);

    let place = Area {
        left: MARGIN + NAMES,
        top,
        width: (canvas.width - 2.0 * MARGIN - NAMES - SUMS).floor(),
        height: 0.0,
    };

    let drawn = [before, now].map(|report| report.window.span_ns);
    let times = sides.iter().map(|side| side.total_ns).chain(drawn);
    let scale = TimeScale {
        place,
        longest_ns: times.max().unwrap_or_default().max(Ns(1)),
        has_several: has_several(comparison),
    };

    let bottom = scale.timelines(&canvas, base, new, options)?;
    let bottom = scale.window_bars(&canvas, &sides, bottom + 2.0);
    let bottom = canvas.legend(bottom + FAR, LEGEND, &legend);
    footer(&canvas, bottom, &small);
    Ok(canvas.finish(bottom + footer_height(&small) + MARGIN - 6.0))
}

/// Describes the comparison in words, for people who cannot see it. The reports are those of the
/// runs that are drawn.
pub fn alt_comparison(comparison: &Comparison, base: &Report, new: &Report) -> String {
    let mut loud = sentences::loud(base, new);
    loud.extend(circumstances::warnings(&comparison.comparable));
    let loud: String = loud.iter().map(|line| format!(" {line}.")).collect();
    let text = format!(
        "Before and after. {}. {}. {}.{loud} {}.",
        sentences::headline(comparison, base, new, str::to_owned),
        comparison.work_in_words().text,
        comparison.because().text,
        sentences::runs(comparison),
    );
    font::clean(&text)
}

fn title(base: &Report, new: &Report) -> String {
    if base.process.name == new.process.name {
        format!("{}: base and new", new.process.name)
    } else {
        format!(
            "{} and {}: base and new",
            base.process.name, new.process.name
        )
    }
}

fn header(canvas: &Canvas, comparison: &Comparison, (base, new): (&Report, &Report)) -> f32 {
    let work = comparison.work_in_words().with_short_kernels();
    let lines = [comparison.because().text, work.text];
    let mut loud = sentences::loud(base, new);
    loud.extend(circumstances::warnings(&comparison.comparable));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();

    // The rest of the line has to hold the figures.
    let room = (canvas.width - 2.0 * MARGIN) * 0.4;
    let shorten = |name: &str| font::shorten(name, HEADLINE, room);
    let headline = sentences::headline(comparison, base, new, shorten);
    canvas.header_lines(&headline, &lines, &loud)
}

/// Time scale of everything between the header and the legend.
struct TimeScale {
    place: Area,
    longest_ns: Ns,
    /// True if the timelines are those of one of several runs.
    has_several: bool,
}

impl TimeScale {
    fn width(&self, canvas: &Canvas, ns: Ns) -> f32 {
        let width = self.place.width * px(ratio(ns, self.longest_ns));
        ((width / canvas.pixel).round() * canvas.pixel).max(canvas.pixel)
    }

    /// Draws busy time and the causes of idle time of both. Returns their bottom.
    fn timelines(
        &self,
        canvas: &Canvas,
        base: &Analysis,
        new: &Analysis,
        options: &ChartOptions,
    ) -> Result<f32, ChartError> {
        let mut place = self.place;
        let titles = if self.has_several {
            [
                "One run of each side: GPU busy above, idle time by cause below, on one scale",
                "One run of each side: busy, and idle by cause",
            ]
        } else {
            [
                "GPU busy above, idle time by cause below; both start at the left, on one scale",
                "Busy and idle time by cause, on one scale",
            ]
        };
        self.title(canvas, place.top, &titles);
        place.top += TITLE;
        let top = place.top;
        for (name, analysis) in [("base", base), ("new", new)] {
            place.top = self.timeline(canvas, place, name, analysis, options) + FAR;
        }

        let lanes = Area {
            top,
            height: place.top - FAR + NEAR - top,
            ..place
        };
        let axis = Axis::time(self.longest_ns.0, ticks(lanes.width));
        canvas.plot(lanes, (axis, Axis::share(1.0)), Mesh::Time)?;
        Ok(lanes.bottom() + AXIS)
    }

    /// Writes the first title that fits.
    fn title(&self, canvas: &Canvas, top: f32, texts: &[&str]) {
        let room = canvas.width - self.place.left - MARGIN;
        let mut fit = texts.iter().filter(|text| font::width(text, SMALL) <= room);
        let at = (self.place.left, top + 13.0);
        if let Some(text) = fit.next() {
            canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, text);
        }
    }

    /// Draws one recording: its busy lane and its causes. Returns its bottom.
    fn timeline(
        &self,
        canvas: &Canvas,
        place: Area,
        name: &str,
        analysis: &Analysis,
        options: &ChartOptions,
    ) -> f32 {
        let report = &analysis.report;
        let span_ns = report.window.span_ns;
        let lane = Area {
            width: self.width(canvas, span_ns),
            height: LANE,
            ..place
        };
        let strip = Area {
            top: lane.bottom() + NEAR,
            height: STRIP,
            ..lane
        };

        let palette = &canvas.palette;
        for place in [lane, strip] {
            canvas.rectangle(place, palette.panel);
        }
        let share = report
            .busy
            .ratio
            .map_or_else(|| "–".to_owned(), Share::text);
        label(canvas, lane, name, &share, palette.text);
        let idle = percent(ratio(report.gaps.total_ns, span_ns));
        label(canvas, strip, "idle", &idle, palette.faint);

        let start_ns = report.window.start_ns;
        let end_ns = start_ns.saturating_add(self.longest_ns);
        let grid = Grid::new(
            start_ns.0,
            end_ns.0,
            strip::columns(place.width, options.scale),
        );
        self.busy(canvas, lane, grid, analysis);
        self.causes(canvas, strip, grid, analysis);
        self.mark_end(canvas, lane, strip, span_ns);
        strip.bottom()
    }

    fn busy(&self, canvas: &Canvas, lane: Area, grid: Grid, analysis: &Analysis) {
        let mut sweep = Sweep::new(grid);
        for span in analysis.spans() {
            sweep.add(span.start_ns, span.end_ns);
        }
        let spans = sweep.shares().map(|share| {
            let height = height(share, lane.height, canvas.pixel.max(1.0));
            (lane.bottom() - height, lane.bottom())
        });
        let spans: Vec<(f32, f32)> = spans.collect();
        bars(canvas, self.full(lane), spans, canvas.palette.process);
    }

    /// Draws the causes' shares of each column, stacked.
    fn causes(&self, canvas: &Canvas, strip: Area, grid: Grid, analysis: &Analysis) {
        let sweeps = lanes::causes(analysis, &[grid]).into_iter().flatten();
        let causes = cause_strip(&canvas.palette, grid, sweeps.collect());
        causes.stack(canvas, self.full(strip));
    }

    /// Returns the area as wide as the longer recording.
    fn full(&self, lane: Area) -> Area {
        Area {
            width: self.place.width,
            ..lane
        }
    }

    /// Marks the end of the shorter recording.
    fn mark_end(&self, canvas: &Canvas, lane: Area, strip: Area, span_ns: Ns) {
        if span_ns == self.longest_ns {
            return;
        }
        let edge = Area {
            left: lane.right(),
            top: lane.top - 2.0,
            width: 1.0,
            height: strip.bottom() - lane.top + 4.0,
        };
        canvas.rectangle(edge, canvas.palette.mark);
        let left = edge.right() + 5.0;
        let run = if self.has_several { "run " } else { "" };
        let text = format!("{run}ends after {}", span_ns.text());
        if left + font::width(&text, SMALL) <= self.place.right() {
            let at = (left, (lane.top + lane.height / 2.0 + 4.0).round());
            canvas.text(at, SMALL, Anchor::Start, canvas.palette.faint, &text);
        }
    }

    /// Draws the time of each side as one bar of busy time and causes of idle time. Returns their bottom.
    fn window_bars(&self, canvas: &Canvas, sides: &[SideTime; 2], top: f32) -> f32 {
        let titles = if self.has_several {
            [
                "All runs: busy time and idle time by cause, on one scale",
                "All runs: busy and idle by cause",
            ]
        } else {
            [
                "Busy time and idle time by cause, on one scale",
                "Busy and idle by cause",
            ]
        };
        self.title(canvas, top, &titles);
        let mut place = Area {
            top: top + TITLE,
            height: BAR,
            ..self.place
        };
        for (name, side) in ["base", "new"].into_iter().zip(sides) {
            let total = side.total_ns.text();
            label(canvas, place, name, &total, canvas.palette.text);
            let bar = Area {
                width: self.width(canvas, side.total_ns),
                ..place
            };
            stacked_bar(canvas, bar, &side.parts);
            place.top += BAR + NEAR;
        }
        place.top
    }
}

/// Time of a side from its first to its last GPU work, as the headline has it, and the parts that fill
/// its bar: busy time and the causes of idle time. Figures of several runs need not add up.
struct SideTime {
    total_ns: Ns,
    parts: Vec<BarPart>,
}

impl SideTime {
    fn new(canvas: &Canvas, total_ns: Ns, busy_ns: Ns, idle: &[(Cause, Ns)]) -> Self {
        let busy = BarPart {
            ns: busy_ns,
            fill: canvas.palette.process,
            labels: vec![format!("busy {}", busy_ns.text()), "busy".to_owned()],
        };
        let causes = idle.iter().map(|&(cause, ns)| BarPart {
            ns,
            fill: canvas.palette.cause(cause),
            labels: vec![format!("{} {}", cause.label(), ns.text()), ns.text()],
        });
        Self {
            total_ns,
            parts: [busy].into_iter().chain(causes).collect(),
        }
    }
}

/// Returns whether a side has several runs, of which one is drawn.
fn has_several(comparison: &Comparison) -> bool {
    [&comparison.base, &comparison.new]
        .iter()
        .any(|side| side.runs.len() > 1)
}

/// Returns the times of both sides: the figures of the comparison, if a side has several runs.
fn side_times(
    canvas: &Canvas,
    comparison: &Comparison,
    (base, new): (&Report, &Report),
) -> [SideTime; 2] {
    let [of_base, of_new] = comparison.time_parts();
    let has_several = has_several(comparison);
    [(of_base, base), (of_new, new)].map(|(parts, report)| match parts {
        Some(parts) if has_several => {
            let whole = |ns: Number| Ns(ns.to_whole());
            let idle = parts.idle.iter().map(|(cause, ns)| (*cause, whole(*ns)));
            let idle: Vec<(Cause, Ns)> = idle.collect();
            SideTime::new(canvas, whole(parts.total), whole(parts.busy), &idle)
        }
        _ => {
            let (total_ns, busy_ns) = (report.window.span_ns, report.busy.busy_ns);
            SideTime::new(canvas, total_ns, busy_ns, &report.idle.parts.by_cause())
        }
    })
}

const PRINT: f32 = 10.0;

/// Returns the caveats under the legend.
fn small_print(canvas: &Canvas, comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![format!(
        "{}. A cause is what the GPU waited for while it was idle.",
        sentences::runs(comparison)
    )];
    lines.extend(circumstances::small_print(&comparison.comparable));
    let room = canvas.width - 2.0 * MARGIN;
    lines
        .iter()
        .flat_map(|text| font::wrap(text, PRINT, room, 4))
        .collect()
}

fn footer_height(lines: &[String]) -> f32 {
    8.0 + times(lines.len()) * (PRINT + 4.0)
}

fn footer(canvas: &Canvas, top: f32, lines: &[String]) {
    let mut baseline = top + 6.0;
    for line in lines {
        baseline += PRINT + 4.0;
        let at = (MARGIN, baseline);
        canvas.text(at, PRINT, Anchor::Start, canvas.palette.faint, line);
    }
}
