//! Draws the roofline: the work rate of each kernel over its arithmetic intensity, under the roofs of
//! the chip. Only kernels whose bytes and operations are both known have a point.
//!
//! ```text
//! TFLOP/s        ________  peak
//!              /    x 2
//!   bandwidth / x 1
//!            /
//!             flop/byte
//! ```

use metalens_analyzer::{ChipLimits, Report, WorkRow};
use metalens_message::Quantity;
use metalens_text::number::float;
use metalens_text::units::percent;

use crate::axes::Axis;
use crate::canvas::{AXIS, Area, Canvas, MARGIN, Mesh};
use crate::font::{self, SMALL};
use crate::options::{ChartError, ChartOptions};
use crate::pixels::px;
use crate::scene::{Anchor, Primitive, Scene};

/// Room left of the plot, for its axis.
const LEFT: f32 = 56.0;
/// Room above the plot, for its title; and for the name of the axis below it.
const TITLE: f32 = 26.0;
/// Height of the plot if none is given.
const HEIGHT: f32 = 300.0;
/// Half the width of a point.
const POINT: f32 = 4.0;
/// Height of a line in the list of kernels.
const LINE: f32 = 17.0;
/// Kernels that have a point.
const KERNELS: usize = 12;

/// Kernel in the roofline.
pub(crate) struct RooflinePoint<'a> {
    pub(crate) label: &'a str,
    /// Floating-point operations per byte.
    pub(crate) intensity: f64,
    /// Work rate while it ran, in TFLOP/s.
    pub(crate) tflop_per_s: f64,
    /// Share of the roof above it; `None` if the chip is unknown.
    pub(crate) of_roof: Option<f64>,
}

/// Returns whether any kernel of a report has a place in a roofline: its bytes and its operations are
/// known.
#[must_use]
pub fn has_roofline(report: &Report) -> bool {
    !points(report).is_empty()
}

/// Returns the kernels whose bytes and operations are both known, the most time first.
pub(crate) fn points(report: &Report) -> Vec<RooflinePoint<'_>> {
    let rows = report.work.iter().flat_map(|work| &work.rows);
    let points = rows.filter_map(|row| point(report, row));
    points.take(KERNELS).collect()
}

fn point<'a>(report: &Report, row: &'a WorkRow) -> Option<RooflinePoint<'a>> {
    let rates = &row.gpu_time;
    let (flops, bytes) = (float(rates.flops?), rates.bytes?.number());
    let intensity = flops / bytes;
    let tflop_per_s = rates.tflop_per_s?;
    let roof = roof(report, intensity);
    let is_drawable = intensity.is_finite() && intensity > 0.0 && tflop_per_s > 0.0;
    is_drawable.then(|| RooflinePoint {
        label: &row.label,
        intensity,
        tflop_per_s,
        of_roof: roof.map(|roof| tflop_per_s / roof),
    })
}

/// Returns the memory bandwidth in GB/s and the FP32 peak in TFLOP/s, the most that the chip's name
/// allows.
fn roofs(report: &Report) -> (Option<f64>, Option<f64>) {
    let chip = report.work.as_ref().and_then(|work| work.chip.as_ref());
    let most = |limits: Option<ChipLimits>| limits.map(|limits| limits.max);
    let bandwidth = most(chip.and_then(|chip| chip.bandwidth_gb_s));
    (bandwidth, most(chip.and_then(|chip| chip.peak_tflops)))
}

/// Returns the most that the chip can do at an arithmetic intensity, in TFLOP/s.
fn roof(report: &Report, intensity: f64) -> Option<f64> {
    let (bandwidth, peak) = roofs(report);
    let by_memory = bandwidth.map(|bandwidth| bandwidth * intensity / 1e3);
    match (by_memory, peak) {
        (Some(by_memory), Some(peak)) => Some(by_memory.min(peak)),
        (by_memory, _) => by_memory,
    }
}

/// Draws the roofline.
pub(crate) fn draw(report: &Report, options: &ChartOptions) -> Result<Scene, ChartError> {
    let points = points(report);
    let canvas = Canvas::new(options, &format!("Roofline of {}", report.process.name));
    let top = canvas.header(report, &headline(report, &points), &[]);
    if points.is_empty() {
        return Ok(canvas.finish(top + MARGIN));
    }

    let place = Area {
        left: MARGIN + LEFT,
        top: (top + TITLE).round(),
        width: (canvas.width - 2.0 * MARGIN - LEFT - 8.0).floor(),
        height: HEIGHT,
    };

    let axes = axes(report, &points);
    let at = |intensity: f64, rate: f64| place_of(&axes, place, (intensity, rate));
    let faint = canvas.palette.faint;
    canvas.text(
        (MARGIN, place.top - 9.0),
        SMALL,
        Anchor::Start,
        faint,
        "TFLOP/s of GPU time",
    );

    canvas.plot(place, axes.clone(), Mesh::Across)?;
    draw_roofs(&canvas, report, &axes, place);
    for (number, point) in (1..).zip(&points) {
        let (x, y) = at(point.intensity, point.tflop_per_s);
        let square = Area {
            left: x - POINT,
            top: y - POINT,
            width: 2.0 * POINT,
            height: 2.0 * POINT,
        };
        canvas.rectangle(square, canvas.palette.process);
        let label = format!("{number}");
        let text = canvas.palette.text;
        canvas.text(
            (x + POINT + 3.0, y + 4.0),
            SMALL,
            Anchor::Start,
            text,
            &label,
        );
    }

    let mut y = place.bottom() + AXIS + 12.0;
    let name = "floating-point operations per byte";
    canvas.text((place.right(), y), SMALL, Anchor::End, faint, name);
    y += TITLE - 12.0;
    for line in lines(&points, canvas.width - 2.0 * MARGIN) {
        y += LINE;
        canvas.text(
            (MARGIN, y - 4.0),
            SMALL,
            Anchor::Start,
            canvas.palette.text,
            &line,
        );
    }
    Ok(canvas.finish(y + MARGIN - 6.0))
}

/// Returns a line for each kernel, no wider than `room`: its figures in full, and its name as far as
/// the rest of the room allows.
fn lines(points: &[RooflinePoint<'_>], room: f32) -> Vec<String> {
    let figures = (1..).zip(points);
    let figures: Vec<String> = figures
        .map(|(number, point)| figures_of(number, point))
        .collect();
    let widest = figures.iter().map(|text| font::width(text, SMALL));
    let rest = room - widest.fold(0.0, f32::max) - font::width(": ", SMALL);
    let names: Vec<&str> = points.iter().map(|point| point.label).collect();
    let names = font::shorten_all(&names, SMALL, rest);
    let lines = figures.iter().zip(names);
    lines
        .map(|(figures, name)| font::shorten(&format!("{figures}: {name}"), SMALL, room))
        .collect()
}

/// Returns a sentence on the kernel with the most GPU time.
pub(crate) fn headline(report: &Report, points: &[RooflinePoint<'_>]) -> String {
    if report.work.is_none() {
        return "No work is known: give a file with the bytes and operations of kernels with --work"
            .to_owned();
    }
    let Some(first) = points.first() else {
        return "No kernel has both known bytes and known floating-point operations".to_owned();
    };
    match first.of_roof {
        Some(share) => format!("{} reaches {} of its roof", first.label, percent(share)),
        None => format!(
            "{} does {:.3} TFLOP/s; the limits of this chip are unknown",
            first.label, first.tflop_per_s
        ),
    }
}

/// Describes a point: its number, rate, intensity, share of its roof and name.
pub(crate) fn words(number: usize, point: &RooflinePoint<'_>) -> String {
    format!("{}: {}", figures_of(number, point), point.label)
}

fn figures_of(number: usize, point: &RooflinePoint<'_>) -> String {
    let share = point.of_roof.map_or(String::new(), |share| {
        format!(", {} of its roof", percent(share))
    });
    format!(
        "{number}  {:.3} TFLOP/s at {:.2} flop/byte{share}",
        point.tflop_per_s, point.intensity
    )
}

/// Returns the axes: intensity, and rate. They have room for all points and for the knee of the
/// roofs.
fn axes(report: &Report, points: &[RooflinePoint<'_>]) -> (Axis, Axis) {
    let (bandwidth, peak) = roofs(report);
    let knee = bandwidth
        .zip(peak)
        .map(|(bandwidth, peak)| peak * 1e3 / bandwidth);
    let intensities = points.iter().map(|point| point.intensity).chain(knee);
    let (low, high) = ends(intensities);
    let across = Axis::decades(low / 1.5, high * 1.5);

    let rates = points.iter().map(|point| point.tflop_per_s);
    let roofs = points
        .iter()
        .filter_map(|point| roof(report, point.intensity));
    let (low, high) = ends(rates.chain(roofs).chain(peak));
    (across, Axis::decades(low / 1.5, high * 1.5))
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

fn place_of(axes: &(Axis, Axis), place: Area, (across, up): (f64, f64)) -> (f32, f32) {
    let x = place.left + place.width * px(axes.0.along(across));
    let y = place.bottom() - place.height * px(axes.1.along(up));
    (x, y)
}

/// Draws the slope of the memory bandwidth and the line of the peak, with their values.
fn draw_roofs(canvas: &Canvas, report: &Report, axes: &(Axis, Axis), place: Area) {
    let (bandwidth, peak) = roofs(report);
    let ((left, right), (bottom, top)) = (axes.0.ends(), axes.1.ends());
    let at = |intensity: f64, rate: f64| place_of(axes, place, (intensity, rate));
    let line = |points: Vec<(f32, f32)>| {
        canvas.add(Primitive::Line {
            points,
            width: 1.5,
            stroke: canvas.palette.mark,
        });
    };
    let faint = canvas.palette.faint;

    if let Some(bandwidth) = bandwidth {
        let rate = |intensity: f64| bandwidth * intensity / 1e3;
        let intensity = |rate: f64| rate * 1e3 / bandwidth;
        let first = left.max(intensity(bottom));
        let last = right.min(intensity(peak.unwrap_or(top).min(top)));
        line(vec![at(first, rate(first)), at(last, rate(last))]);
        let middle = libm::sqrt(first * last);
        let (x, y) = at(middle, rate(middle));
        let words = format!("{bandwidth:.0} GB/s");
        canvas.text((x - 8.0, y - 8.0), SMALL, Anchor::End, faint, &words);
    }
    if let Some(peak) = peak {
        let knee = bandwidth.map_or(left, |bandwidth| peak * 1e3 / bandwidth);
        line(vec![at(knee.max(left), peak), at(right, peak)]);
        let (x, y) = at(right, peak);
        let words = format!("{peak:.2} TFLOP/s FP32");
        canvas.text((x, y - 6.0), SMALL, Anchor::End, faint, &words);
    }
}
