//! What is painted is what was so: random recordings, drawn, and read back pixel
//! by pixel.

use metalens_analyzer::{Analysis, Cause, Request, analyze, selection};
use metalens_simulator::{random_scenario, write_export};
use metalens_trace::{Input, LoadOptions};
use proptest::prelude::*;

use crate::lanes::channels;
use crate::palette::{Colour, Palette};
use crate::raster::painted;
use crate::scene::{Scene, Shape};
use crate::{Chart, Options, Theme, draw};

/// A random recording; some have nobody to report on.
fn random(seed: u64) -> Option<Analysis> {
    let folder = tempfile::tempdir().unwrap();
    write_export(&random_scenario(seed), folder.path(), false).unwrap();
    let input = Input::open(folder.path()).unwrap();
    let trace = input.load(&selection(), LoadOptions::default()).unwrap();
    analyze(trace, &Request::default()).ok()
}

/// A lane or a strip of the overview, read back from the picture's pixels.
struct Lane {
    /// The layers' colours.
    fills: Vec<Colour>,
    /// How much of each column has each of them.
    columns: Vec<Vec<f64>>,
    /// How high a pixel is, the lane being 1.
    pixel: f64,
}

/// The lanes and strips of the overview, without the words on them, from the top.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places on a canvas"
)]
fn lanes(scene: &Scene, palette: &Palette) -> Vec<Lane> {
    let scale = usize::from(scene.scale);
    let mut bare = scene.clone();
    let is_plain = |shape: &Shape| match shape {
        Shape::Rectangle { fill, .. } => *fill == palette.panel,
        Shape::Bars { .. } => true,
        _ => false,
    };
    bare.shapes.retain(is_plain);
    let picture = painted(&bare).unwrap();
    let mut lanes = Vec::new();
    let mut shapes = bare.shapes.iter().peekable();
    while let Some(shape) = shapes.next() {
        let Shape::Rectangle { at, size, .. } = shape else {
            continue;
        };
        let (mut fills, mut step) = (Vec::new(), 0.0);
        while let Some(Shape::Bars {
            step: one, fill, ..
        }) = shapes.peek()
        {
            fills.push(*fill);
            step = *one;
            shapes.next();
        }
        let [left, top, width, height] =
            [at.0, at.1, size.0, size.1].map(|length| length as usize * scale);
        let count = if step > 0.0 {
            (size.0 / step).round() as usize
        } else {
            0
        };
        // A column of a short window is many pixels wide: its middle will do.
        let middle = |column: usize| left + (width * (2 * column + 1)) / (2 * count);
        let column = |x: usize| -> Vec<f64> {
            let pixels = (top..top + height).map(|y| {
                let pixel = picture.pixel(x as u32, y as u32).unwrap();
                Colour {
                    red: pixel.red(),
                    green: pixel.green(),
                    blue: pixel.blue(),
                    alpha: 255,
                }
            });
            shares(pixels.collect(), &fills, palette.panel)
        };
        lanes.push(Lane {
            columns: (0..count).map(|at| column(middle(at))).collect(),
            fills,
            pixel: 1.0 / height as f64,
        });
    }
    lanes
}

/// How much of some pixels has each colour. One colour may be mixed with what
/// is behind it; several never are.
fn shares(pixels: Vec<Colour>, fills: &[Colour], behind: Colour) -> Vec<f64> {
    let ink = |pixel: &Colour, fill: &Colour| match fills {
        [only] => {
            let red = |colour: &Colour| f64::from(colour.red);
            (red(pixel) - red(&behind)) / (red(only) - red(&behind))
        }
        _ => f64::from(u8::from(pixel == fill)),
    };
    let share = |fill: &Colour| {
        let inks = pixels.iter().map(|pixel| ink(pixel, fill));
        inks.sum::<f64>() / pixels.len() as f64
    };
    fills.iter().map(share).collect()
}

/// How much of each column stretches cover, stretch by stretch:
/// slow and plain.
#[expect(clippy::cast_possible_truncation, reason = "no more than the window")]
fn covered(stretches: &[(u64, u64)], (start, end): (u64, u64), columns: usize) -> Vec<f64> {
    let edge = |at: usize| start + (u128::from(end - start) * at as u128 / columns as u128) as u64;
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
        inside.sum::<u64>() as f64 / (right - left) as f64
    };
    (0..columns).map(share).collect()
}

/// A mixed pixel has one of 256 shades, and single precision is not exact.
const SHADE: f64 = 0.01;

/// The target's lanes: each column's height is its share, but that what is not
/// nothing has a pixel, and what is not all leaves one free.
fn check_target(analysis: &Analysis, lane: &Lane, channel: Option<&str>, free: f64) {
    let spans = analysis.spans().filter(|span| span.channel == channel);
    let spans: Vec<(u64, u64)> = spans.map(|span| (span.start_ns, span.end_ns)).collect();
    let expected = covered(&spans, window(analysis), lane.columns.len());
    let (mut painted, mut busy) = (0.0, 0.0);
    for (at, (column, share)) in lane.columns.iter().zip(&expected).enumerate() {
        let height = column.iter().sum::<f64>();
        let what = format!("{channel:?}, column {at}: painted {height}, busy {share}");
        assert_eq!(height == 0.0, *share == 0.0, "{what}");
        assert_eq!(height == 1.0, *share == 1.0, "{what}");
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

/// The causes' strip: each cause has its share of each column to within two
/// pixels, and all together the idle time, as above.
fn check_causes(analysis: &Analysis, lane: &Lane, palette: &Palette, free: f64) {
    let columns = lane.columns.len();
    let mut idle = vec![0.0; columns];
    for cause in Cause::ALL {
        let stretches = analysis.idle().filter(|one| one.cause == cause);
        let stretches: Vec<(u64, u64)> = stretches.map(|one| (one.start_ns, one.end_ns)).collect();
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
    (window.start_ns, window.end_ns)
}

fn check(analysis: &Analysis, scale: u8) {
    let options = Options {
        scale,
        ..Options::default()
    };
    let scene = draw(Chart::Timeline, analysis, &options).unwrap();
    let palette = Palette::of(Theme::Light);
    let lanes = lanes(&scene, &palette);
    let channels = channels(&analysis.report);
    for (lane, channel) in lanes.iter().zip(&channels) {
        let free = lane.pixel * f64::from(scale);
        check_target(analysis, lane, channel.as_deref(), free);
    }
    let others = usize::from(analysis.report.busy.others_busy_ns > 0);
    if analysis.report.gaps.total_ns > 0 {
        let lane = &lanes[channels.len() + others];
        check_causes(analysis, lane, &palette, lane.pixel * f64::from(scale));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_painted_is_what_was_so(seed: u64) {
        if let Some(analysis) = random(seed) {
            check(&analysis, 1);
            check(&analysis, 2);
        }
    }
}
