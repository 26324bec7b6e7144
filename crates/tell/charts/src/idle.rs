//! Draws the idle time by cause, as one bar that is all of it.

use metalens_analyzer::{Cause, Report};
use metalens_message::Ns;
use metalens_text::number::{Float, whole};
use metalens_text::units::{counted, percent};

use crate::canvas::{Area, Canvas, MARGIN, ratio};
use crate::font::{self, SMALL};
use crate::options::ChartOptions;
use crate::palette::Color;
use crate::pixels::px;
use crate::scene::{Anchor, Scene};

const ROW: f32 = 20.0;
/// Distance from the right margin to the right end of the shares.
const SHARE: f32 = 80.0;

/// Draws the chart of idle time by cause.
pub(crate) fn draw(report: &Report, options: &ChartOptions) -> Scene {
    let title = format!("Idle time of {} by cause", report.process.name);
    let canvas = Canvas::new(options, &title);
    let idle = &report.idle;

    let parts = idle.parts.largest_first();
    let headline = match idle.total_ns {
        Ns(0) => "The GPU was never idle in this window".to_owned(),
        total => format!(
            "{}: {} in {}",
            title,
            total.text(),
            counted(report.gaps.count, "gap")
        ),
    };
    let top = canvas.header(report, &headline, &[&report.summary.busy.text]) + 6.0;

    if parts.is_empty() {
        return canvas.finish(top + MARGIN - 6.0);
    }

    let place = Area {
        left: MARGIN,
        top: top.round(),
        width: canvas.width - 2.0 * MARGIN,
        height: 44.0,
    };

    bar(&canvas, place, &parts, idle.total_ns);
    let mut line = place.bottom() + 10.0;
    for &part in &parts {
        row(&canvas, line, part, idle.total_ns);
        line += ROW;
    }
    canvas.finish(line + MARGIN - 6.0)
}

/// Draws the causes side by side, the largest first, with their names where they fit.
fn bar(canvas: &Canvas, place: Area, causes: &[(Cause, Ns)], total_ns: Ns) {
    canvas.rectangle(place, canvas.palette.panel);
    let all = causes.iter().map(|&(cause, ns)| {
        let share = percent(ratio(ns, total_ns));
        BarPart {
            ns,
            fill: canvas.palette.cause(cause),
            labels: vec![format!("{} {share}", cause.label()), share],
        }
    });
    let all: Vec<BarPart> = all.collect();
    stacked_bar(canvas, place, &all);
}

/// A part of a stacked bar.
pub(crate) struct BarPart {
    pub(crate) ns: Ns,
    pub(crate) fill: Color,
    /// Labels for the part; the first that fits is written.
    pub(crate) labels: Vec<String>,
}

/// Draws a bar of parts, side by side in their order.
pub(crate) fn stacked_bar(canvas: &Canvas, place: Area, parts: &[BarPart]) {
    let lengths: Vec<u64> = parts.iter().map(|part| part.ns.0).collect();
    let pixels = whole(f64::from((place.width / canvas.pixel).round()));
    let mut left = place.left;
    for (part, width) in parts.iter().zip(widths(&lengths, pixels)) {
        let piece = Area {
            left,
            width: px(width.float()) * canvas.pixel,
            ..place
        };
        left = piece.right();
        if width == 0 {
            continue;
        }

        canvas.rectangle(piece, part.fill);
        let fits = |text: &&String| font::width(text, SMALL) + 10.0 <= piece.width;
        if let Some(label) = part.labels.iter().find(fits) {
            let at = (
                piece.left + piece.width / 2.0,
                piece.top + piece.height / 2.0 + 4.0,
            );
            canvas.text(at, SMALL, Anchor::Middle, part.fill.ink_on_it(), label);
        }
    }
}

/// Returns the width of each part in device pixels. Together they are all pixels. If there are
/// enough pixels, any part above 0 has at least one; the rest follows the shares.
fn widths(parts: &[u64], pixels: u64) -> Vec<u64> {
    let total: u128 = parts.iter().map(|&ns| u128::from(ns)).sum();
    let mut before = 0;
    let edge = |sum: u128| {
        let exact = (sum * u128::from(pixels) * 2 + total).checked_div(total * 2);
        exact.and_then(|at| u64::try_from(at).ok()).unwrap_or(0)
    };

    let shares = parts.iter().map(|&ns| {
        let from = edge(before);
        before += u128::from(ns);
        edge(before) - from
    });
    let mut widths: Vec<u64> = shares.collect();

    let there = parts.iter().filter(|&&ns| ns > 0).count() as u64;
    if there > pixels {
        return widths;
    }
    for at in 0..parts.len() {
        let is_lost = parts.get(at).is_some_and(|&ns| ns > 0) && widths.get(at) == Some(&0);
        // The widest part gives it a pixel.
        if is_lost && let Some(widest) = widths.iter_mut().max() {
            *widest -= 1;
            if let Some(width) = widths.get_mut(at) {
                *width = 1;
            }
        }
    }
    widths
}

/// Writes a cause with its share, time and explanation.
fn row(canvas: &Canvas, top: f32, (cause, ns): (Cause, Ns), total_ns: Ns) {
    let palette = &canvas.palette;
    let square = Area {
        left: MARGIN,
        top: top + 4.0,
        width: 10.0,
        height: 10.0,
    };
    canvas.rectangle(square, palette.cause(cause));

    let baseline = top + 13.0;
    let right = canvas.width - MARGIN;
    let end =
        |x: f32, text: &str| canvas.text((x, baseline), SMALL, Anchor::End, palette.text, text);
    end(right, &ns.text());
    end(right - SHARE, &percent(ratio(ns, total_ns)));

    let name = cause.label();
    let left = square.right() + 6.0;
    canvas.text((left, baseline), SMALL, Anchor::Start, palette.text, name);
    let left = left + 160.0;
    let room = right - SHARE - 55.0 - left;
    let words = cause.explanation();
    // All of them fit, or none does: they are short, and of like length.
    let explanations = Cause::ALL.map(|cause| font::width(cause.explanation(), SMALL));
    if explanations.into_iter().fold(0.0, f32::max) <= room {
        let at = (left, baseline);
        canvas.text(at, SMALL, Anchor::Start, palette.faint, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_parts_are_visible() {
        let cases = [
            (&[50, 50][..], 10, &[5, 5][..]),
            (&[1_000, 1, 0, 1], 10, &[8, 1, 0, 1]),
            (&[1, 1, 1], 10, &[3, 4, 3]),
            // More parts than pixels: only the shares count.
            (&[9, 1, 1, 1], 2, &[2, 0, 0, 0]),
            (&[0, 0], 10, &[0, 0]),
        ];
        for (parts, pixels, expected) in cases {
            assert_eq!(widths(parts, pixels), expected, "{parts:?} in {pixels}");
        }
    }

    proptest! {
        #[test]
        fn a_bar_is_all_of_its_parts(
            parts in prop::collection::vec(0_u64..1_000_000, 1..9),
            pixels in 9_u64..2_000,
        ) {
            let widths = widths(&parts, pixels);
            let total: u64 = parts.iter().sum();
            prop_assert_eq!(widths.iter().sum::<u64>(), if total > 0 { pixels } else { 0 });
            for (&ns, &width) in parts.iter().zip(&widths) {
                prop_assert_eq!(ns > 0, width > 0);
                let exact = ratio(ns, total) * pixels.float();
                // Rounding, and one pixel for each other part.
                prop_assert!((width.float() - exact).abs() <= 9.0, "{} {}", width, exact);
            }
        }
    }
}
