//! Checks painted pixels: draws random recordings and reads the busy and idle times back.

use metalens_analyzer::{Analysis, Cause, Request};
use metalens_message::Ns;
use metalens_simulator::random_scenario;
use metalens_testing::analyze_scenario;
use metalens_text::number::Float;
use proptest::prelude::*;

use crate::canvas::ratio;
use crate::lanes::channels;
use crate::palette::{Color, Palette};
use crate::pixels::whole_count;
use crate::raster::rasterize;
use crate::scene::{Primitive, Scene};
use crate::{Chart, ChartOptions, Theme, draw};

/// Analyzes a random recording; none if it has no process to report on.
fn random(seed: u64) -> Option<Analysis> {
    analyze_scenario(&random_scenario(seed), &Request::default()).ok()
}

/// A lane or strip of the overview, read back from the pixels.
struct PaintedLane {
    /// Colors of the layers.
    fills: Vec<Color>,
    /// Share of each color in each column.
    columns: Vec<Vec<f64>>,
    /// Height of a pixel as a share of the lane.
    pixel: f64,
}

/// Reads the lanes and strips of the overview, without the text on them, from the top.
fn lanes(scene: &Scene, palette: &Palette) -> Vec<PaintedLane> {
    let scale = usize::from(scene.scale);
    let mut bare = scene.clone();
    let is_plain = |shape: &Primitive| match shape {
        Primitive::Rectangle { fill, .. } => *fill == palette.panel,
        Primitive::Bars { .. } => true,
        _ => false,
    };
    bare.shapes.retain(is_plain);
    let picture = rasterize(&bare).unwrap();

    let mut lanes = Vec::new();
    let mut shapes = bare.shapes.iter().peekable();
    while let Some(shape) = shapes.next() {
        let Primitive::Rectangle { at, size, .. } = shape else {
            continue;
        };

        let (mut fills, mut step) = (Vec::new(), 0.0);
        while let Some(Primitive::Bars {
            step: bar_step,
            fill,
            ..
        }) = shapes.peek()
        {
            fills.push(*fill);
            step = *bar_step;
            shapes.next();
        }

        let [left, top, width, height] =
            [at.0, at.1, size.0, size.1].map(|length| whole_count(length) * scale);
        let count = if step > 0.0 {
            whole_count((size.0 / step).round())
        } else {
            0
        };
        // A column of a short window is many pixels wide; its middle is enough.
        let middle = |column: usize| left + (width * (2 * column + 1)) / (2 * count);
        let column = |x: usize| -> Vec<f64> {
            let pixels = (top..top + height).map(|y| {
                let pixel = picture.pixel(x.try_into().unwrap(), y.try_into().unwrap());
                let pixel = pixel.unwrap();
                Color {
                    red: pixel.red(),
                    green: pixel.green(),
                    blue: pixel.blue(),
                    alpha: 255,
                }
            });
            shares(pixels.collect(), &fills, palette.panel)
        };
        lanes.push(PaintedLane {
            columns: (0..count).map(|at| column(middle(at))).collect(),
            fills,
            pixel: 1.0 / (height as u64).float(),
        });
    }
    lanes
}

/// Returns the share of each color among some pixels. A color may be mixed with the background, but
/// never with another one.
fn shares(pixels: Vec<Color>, fills: &[Color], behind: Color) -> Vec<f64> {
    let parts = |color: &Color| [color.red, color.green, color.blue].map(f64::from);
    let ground = parts(&behind);
    // How much of a fill a pixel has, and how far it is from being a mixture with it.
    let mixture = |pixel: &Color, fill: &Color| {
        let (pixel, fill) = (parts(pixel), parts(fill));
        let along: f64 = (0..3).map(|at| (fill[at] - ground[at]).powi(2)).sum();
        let toward = (0..3).map(|at| (pixel[at] - ground[at]) * (fill[at] - ground[at]));
        let ink = toward.sum::<f64>() / along;
        let off = (0..3).map(|at| (pixel[at] - ground[at] - ink * (fill[at] - ground[at])).abs());
        (ink, off.sum::<f64>())
    };

    let mut shares = vec![0.0; fills.len()];
    for pixel in &pixels {
        let mixtures = fills.iter().map(|fill| mixture(pixel, fill)).enumerate();
        let best = mixtures.min_by(|(_, mixture), (_, other)| mixture.1.total_cmp(&other.1));
        let Some((at, (ink, off))) = best else {
            continue;
        };
        assert!(
            off < 6.0,
            "{pixel:?} is not a mixture of {behind:?} with one of {fills:?}"
        );
        shares[at] += ink / (pixels.len() as u64).float();
    }
    shares
}

/// Returns the share of each column that stretches cover, computed plainly, stretch by stretch.
fn covered(stretches: &[(u64, u64)], (start, end): (u64, u64), columns: usize) -> Vec<f64> {
    let edge = |at: usize| {
        let into = u128::from(end - start) * at as u128 / columns as u128;
        start + u64::try_from(into).unwrap()
    };
    let mut union: Vec<(u64, u64)> = Vec::new();
    for &(from, to) in stretches {
        match union.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => union.push((from, to)),
        }
    }

    let share = |at: usize| {
        let (left, right) = (edge(at), edge(at + 1));
        let inside = union
            .iter()
            .map(|&(from, to)| to.min(right).saturating_sub(from.max(left)));
        ratio(inside.sum(), right - left)
    };
    (0..columns).map(share).collect()
}

/// Tolerance: a mixed pixel has one of 256 shades, and single precision is not exact.
const SHADE: f64 = 0.01;

/// Checks a lane of the process: each column is as high as its share, but any share above 0 has a
/// pixel, and any share below 1 leaves one free.
fn check_process(analysis: &Analysis, lane: &PaintedLane, channel: Option<&str>, free: f64) {
    let spans = analysis.spans().filter(|span| span.channel == channel);
    let spans: Vec<(u64, u64)> = spans.map(|span| (span.start_ns, span.end_ns)).collect();
    let expected = covered(&spans, window(analysis), lane.columns.len());
    let (mut painted, mut busy) = (0.0, 0.0);

    for (at, (column, share)) in lane.columns.iter().zip(&expected).enumerate() {
        let height = column.iter().sum::<f64>();
        let what = format!("{channel:?}, column {at}: painted {height}, busy {share}");
        assert_eq!(height == 0.0, *share == 0.0, "{what}");
        assert_eq!(height > 1.0 - 1e-9, *share == 1.0, "{what}");
        let is_exact = (free..=1.0 - free).contains(share);
        let slack = if is_exact { SHADE } else { free + SHADE };
        assert!((height - share).abs() <= slack, "{what}");
        if is_exact {
            painted += height;
            busy += share;
        }
    }

    let off = f64::abs(painted - busy);
    assert!(off <= 1.0, "{channel:?}: {painted} columns, not {busy}");
}

/// Checks the causes' strip: each cause has its share of each column to within two pixels, and all
/// together have the idle time.
fn check_causes(analysis: &Analysis, lane: &PaintedLane, palette: &Palette, free: f64) {
    let columns = lane.columns.len();
    let mut idle = vec![0.0; columns];
    for cause in Cause::ALL {
        let stretches = analysis.idle().filter(|stretch| stretch.cause == cause);
        let stretches: Vec<(u64, u64)> = stretches
            .map(|stretch| (stretch.start_ns, stretch.end_ns))
            .collect();
        let expected = covered(&stretches, window(analysis), columns);
        let layer = lane
            .fills
            .iter()
            .position(|&fill| fill == palette.cause(cause));
        for (at, (column, share)) in lane.columns.iter().zip(&expected).enumerate() {
            let painted = layer.map_or(0.0, |layer| column[layer]);
            let what = format!("{cause:?}, column {at}: painted {painted}, was {share}");
            assert!((painted - share).abs() <= 2.0 * free + SHADE, "{what}");
        }
        idle.iter_mut()
            .zip(expected)
            .for_each(|(idle, share)| *idle += share);
    }

    let gaps: Vec<(u64, u64)> = analysis.gap_times().collect();
    let gaps = covered(&gaps, window(analysis), columns);
    for (at, (column, share)) in lane.columns.iter().zip(&gaps).enumerate() {
        let painted: f64 = column.iter().sum();
        let what = format!("idle, column {at}: painted {painted}, was {share}");
        assert!(
            (idle[at] - share).abs() < 1e-9,
            "{what}, causes {}",
            idle[at]
        );
        assert_eq!(painted < 1e-9, *share == 0.0, "{what}");
        assert_eq!(painted > 1.0 - 1e-9, *share == 1.0, "{what}");
        assert!((painted - share).abs() <= free + SHADE, "{what}");
    }
}

fn window(analysis: &Analysis) -> (u64, u64) {
    let window = &analysis.report.window;
    (window.start_ns.0, window.end_ns.0)
}

fn check(analysis: &Analysis, scale: u8) {
    let options = ChartOptions {
        scale,
        ..ChartOptions::default()
    };
    let scene = draw(Chart::Timeline, analysis, &options).unwrap();
    let palette = Palette::for_theme(Theme::Light);
    let lanes = lanes(&scene, &palette);
    let channels = channels(&analysis.report);
    for (lane, channel) in lanes.iter().zip(&channels) {
        let free = lane.pixel * f64::from(scale);
        check_process(analysis, lane, channel.as_deref(), free);
    }
    let others = usize::from(analysis.report.busy.others_busy_ns > Some(Ns(0)));
    if analysis.report.gaps.total_ns > Ns(0) {
        let lane = &lanes[channels.len() + others];
        check_causes(analysis, lane, &palette, lane.pixel * f64::from(scale));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn painted_times_are_measured_times(seed: u64) {
        if let Some(analysis) = random(seed) {
            check(&analysis, 1);
            check(&analysis, 2);
        }
    }
}
