//! Draws many recordings of one program by date: their busy share and the length of their window.
//! Each recording is a point, and a line shows the trend if there is one.

use std::collections::HashSet;

use metalens_text::units::{counted, percent, time};

use crate::axes::{Axis, date};
use crate::canvas::{AXIS, Area, Canvas, MARGIN, Mesh};
use crate::font::{self, SMALL};
use crate::options::{ChartError, ChartOptions};
use crate::palette::Color;
use crate::panel::ticks;
use crate::scene::{Anchor, Primitive, Scene};

/// Room left of the plots, for their axes.
const LEFT: f32 = 56.0;
/// Room above each plot, for its title.
const TITLE: f32 = 26.0;
/// Half the width of a point.
const POINT: f32 = 3.5;
/// Distance below which points are drawn as one.
const CELL: f32 = 2.0;

/// Contents of a trend chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrendView {
    /// Name of the group of recordings.
    pub name: String,
    /// Findings about the group, in sentences.
    pub lines: Vec<String>,
    /// Notes that must not be overlooked.
    pub loud: Vec<String>,
    /// The recordings, in any order.
    pub points: Vec<TrendPoint>,
    /// Trend of the busy share, if there is one.
    pub busy: Option<TrendLine>,
    /// Trend of the window's length in nanoseconds, if there is one.
    pub span: Option<TrendLine>,
}

/// A recording in a trend chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendPoint {
    /// Start of the recording, in milliseconds since 1970 UTC.
    pub at_ms: i64,
    /// Busy share of the window. None if the window has no length.
    pub busy: Option<f64>,
    /// Length of the window, in nanoseconds.
    pub span_ns: u64,
    /// True if the busy share is an outlier.
    pub is_busy_far: bool,
    /// True if the length is an outlier.
    pub is_span_far: bool,
}

/// A straight line, given by its values at the first and the last recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendLine {
    /// Value at the first recording.
    pub first: f64,
    /// Value at the last recording.
    pub last: f64,
}

/// Draws recordings by date.
///
/// # Errors
///
/// If the chart has no room for its parts.
pub fn draw_trend(view: &TrendView, options: &ChartOptions) -> Result<Scene, ChartError> {
    let title = format!("{} over time", view.name);
    let canvas = Canvas::new(options, &title);
    let lines: Vec<&str> = view.lines.iter().map(String::as_str).collect();
    let top = canvas.header_lines(&headline(view), &lines, &view.loud);

    let mut place = Area {
        left: MARGIN + LEFT,
        top: (top + TITLE).round(),
        width: (canvas.width - 2.0 * MARGIN - LEFT - 8.0).floor(),
        height: 120.0,
    };

    let dates = Dates::from_view(view);
    let busy = |point: &TrendPoint| Some((point.busy?, point.is_busy_far));
    let most = view.points.iter().filter_map(|point| point.busy);
    let share = Axis::share(most.fold(0.0, f64::max));
    panel_title(&canvas, place, "Busy share of the window");
    plot(&canvas, view, (&dates, place), share, busy, view.busy)?;

    place.top = (place.bottom() + AXIS + 6.0 + TITLE).round();
    panel_title(&canvas, place, "Length of the window");
    let longest = view.points.iter().map(|point| point.span_ns).max();
    let up = Axis::length(longest.unwrap_or(1));
    let span = |point: &TrendPoint| Some((to_float(point.span_ns), point.is_span_far));
    plot(&canvas, view, (&dates, place), up, span, view.span)?;

    Ok(canvas.finish(place.bottom() + AXIS + MARGIN))
}

/// Describes the picture in words, for people who cannot see it.
#[must_use]
pub fn alt_trend(view: &TrendView) -> String {
    let shares = || view.points.iter().filter_map(|point| point.busy);
    let busy = shares().reduce(f64::min).zip(shares().reduce(f64::max));
    let busy = busy.map_or(String::new(), |(least, most)| {
        format!(" Busy from {} to {}.", percent(least), percent(most))
    });
    let spans = || view.points.iter().map(|point| point.span_ns);
    let span = spans().min().zip(spans().max());
    let span = span.map_or(String::new(), |(least, most)| {
        format!(" Windows from {} to {} long.", time(least), time(most))
    });
    let sentences = view.lines.iter().chain(&view.loud);
    let sentences: String = sentences.map(|text| format!(" {text}.")).collect();
    font::clean(&format!("{}.{busy}{span}{sentences}", headline(view)))
}

fn headline(view: &TrendView) -> String {
    let dates = Dates::from_view(view);
    let count = counted(view.points.len() as u64, "recording");
    let (first, last) = (date(dates.first_ms), date(dates.last_ms));
    if first == last {
        format!("{}: {count} of {first}", view.name)
    } else {
        format!("{}: {count} from {first} to {last}", view.name)
    }
}

/// Dates of the first and the last recording.
struct Dates {
    first_ms: i64,
    last_ms: i64,
}

impl Dates {
    fn from_view(view: &TrendView) -> Self {
        let dates = || view.points.iter().map(|point| point.at_ms);
        Self {
            first_ms: dates().min().unwrap_or(0),
            last_ms: dates().max().unwrap_or(0),
        }
    }
}

fn panel_title(canvas: &Canvas, place: Area, text: &str) {
    let at = (MARGIN, place.top - 12.0);
    canvas.text(at, SMALL, Anchor::Start, canvas.palette.text, text);
}

/// Draws a point for each recording that has the value, and the trend line.
fn plot(
    canvas: &Canvas,
    view: &TrendView,
    (dates, place): (&Dates, Area),
    up: Axis,
    value: impl Fn(&TrendPoint) -> Option<(f64, bool)>,
    line: Option<TrendLine>,
) -> Result<(), ChartError> {
    // The axis has room at both ends, so that no point leaves the plot.
    let across = Axis::dates(dates.first_ms, dates.last_ms, ticks(place.width));
    drop(canvas.plot(place, (across.clone(), up.clone()), Mesh::Across)?);
    let at = |ms: i64, value: f64| {
        let x = place.left + place.width * along(&across, to_float_signed(ms));
        (x, place.bottom() - place.height * along(&up, value))
    };

    if let Some(line) = line {
        canvas.add(Primitive::Line {
            points: vec![at(dates.first_ms, line.first), at(dates.last_ms, line.last)],
            width: 2.0,
            stroke: canvas.palette.faint,
        });
    }

    let mut points: Vec<&TrendPoint> = view.points.iter().collect();
    points.sort_by_key(|point| (point.at_ms, point.span_ns));
    let mut drawn = HashSet::new();
    for (value, is_far, ms) in points
        .into_iter()
        .filter_map(|point| value(point).map(|(value, is_far)| (value, is_far, point.at_ms)))
    {
        let middle = at(ms, value);
        // One of many points in one place is enough.
        let cell = ((middle.0 / CELL).round(), (middle.1 / CELL).round());
        if !drawn.insert((to_integer(cell.0), to_integer(cell.1), is_far)) {
            continue;
        }
        let color = if is_far {
            canvas.palette.loud
        } else {
            canvas.palette.process
        };
        diamond(canvas, middle, color);
    }
    Ok(())
}

/// Draws a point with a light border, so that overlapping points are distinguishable.
fn diamond(canvas: &Canvas, (x, y): (f32, f32), color: Color) {
    for (half, fill) in [(POINT + 1.0, canvas.palette.background), (POINT, color)] {
        canvas.add(Primitive::Polygon {
            points: vec![(x - half, y), (x, y - half), (x + half, y), (x, y + half)],
            fill,
        });
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn along(axis: &Axis, value: f64) -> f32 {
    axis.along(value) as f32
}

#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn to_integer(place: f32) -> i32 {
    place as i32
}

#[expect(clippy::cast_precision_loss, reason = "a place on a canvas")]
fn to_float(ns: u64) -> f64 {
    ns as f64
}

#[expect(clippy::cast_precision_loss, reason = "a place on a canvas")]
fn to_float_signed(ms: i64) -> f64 {
    ms as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    /// Returns twelve days with a falling busy share; the eighth is an outlier.
    fn view() -> TrendView {
        let points = (0..12_i32).map(|day| {
            let is_far = day == 7;
            TrendPoint {
                // 2026-01-28T09:00Z.
                at_ms: 1_769_590_800_000 + i64::from(day) * DAY,
                busy: Some(if is_far {
                    0.41
                } else {
                    0.9 - 0.01 * f64::from(day)
                }),
                span_ns: 8_000_000 + 10_000 * u64::try_from(day).unwrap(),
                is_busy_far: is_far,
                is_span_far: false,
            }
        });
        TrendView {
            name: "bench on Apple M1".to_owned(),
            lines: vec!["Busy falls".to_owned()],
            loud: vec!["SYNTHETIC".to_owned()],
            points: points.collect(),
            busy: Some(TrendLine {
                first: 0.9,
                last: 0.79,
            }),
            span: None,
        }
    }

    #[test]
    fn trend_layout() {
        insta::assert_snapshot!(draw_trend(&view(), &ChartOptions::default()).unwrap());
        assert_eq!(
            alt_trend(&view()),
            "bench on Apple M1: 12 recordings from 2026-01-28 to 2026-02-08. Busy from 41.0 % to \
             90.0 %. Windows from 8.000 ms to 8.110 ms long. Busy falls. SYNTHETIC."
        );
    }

    /// Checks that no point leaves its plot, with one date or many.
    #[test]
    fn points_stay_inside() {
        let check = |points: Vec<TrendPoint>| {
            let view = TrendView { points, ..view() };
            let scene = draw_trend(&view, &ChartOptions::default()).unwrap();
            let (width, height) = (scene.width as f32, scene.height as f32);
            for shape in &scene.shapes {
                if let Primitive::Polygon { points, .. } = shape {
                    let inside =
                        |&(x, y): &(f32, f32)| x >= 0.0 && x <= width && y >= 0.0 && y <= height;
                    assert!(points.iter().all(inside), "{points:?}");
                }
            }
        };
        let point = view().points[0];
        check(vec![]);
        check(vec![point]);
        check(vec![point; 3]);
        check(vec![
            TrendPoint {
                busy: None,
                span_ns: 0,
                ..point
            },
            point,
        ]);
        check(vec![
            TrendPoint {
                busy: Some(1.0),
                at_ms: 0,
                span_ns: u64::MAX,
                ..point
            },
            point,
        ]);
    }
}
