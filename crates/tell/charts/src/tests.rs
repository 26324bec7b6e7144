//! Checks whole charts: their layout, that it stays the same, and odd inputs.

use std::fmt;
use std::path::Path;

use metalens_analyzer::{
    Analysis, GateResult, GateRow, GateSeverity, GateVerdict, LimitRule, Request,
};
use metalens_message::{Message, Ns, Number, Unit};
use metalens_testing::{analysis_of_toml, analyze_input};

use crate::pixels::{times, whole_count};
use crate::scene::{Primitive, Scene, number};
use crate::{Chart, ChartOptions, Theme, alt, draw, font, png, svg};

const ALL: [Chart; 4] = [Chart::Timeline, Chart::Idle, Chart::Gaps, Chart::Kernels];

pub(super) fn small(request: &Request) -> Analysis {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/small-export");
    analyze_input(&folder, request).unwrap()
}

/// Returns an analysis with the limits that charts draw.
fn with_limits() -> Analysis {
    let row = |what: &str, rule: LimitRule, limit: f64, unit: Unit| GateRow {
        what: what.to_owned(),
        channel: None,
        of: None,
        rule,
        limit: Number::new(limit).unwrap(),
        value: None,
        unit,
        by: None,
        severity: GateSeverity::Error,
        verdict: GateVerdict::Miss,
        why: Message::default(),
    };
    let mut analysis = small(&Request::default());
    analysis.report.gate = Some(GateResult {
        source: Message::default(),
        missed: true,
        inconclusive: false,
        rows: vec![row("gaps.mean_ns", LimitRule::Max, 1_000.0, Unit::Ns)],
    });
    analysis
}

fn scene(chart: Chart, analysis: &Analysis) -> Scene {
    draw(chart, analysis, &ChartOptions::default()).unwrap()
}

#[test]
fn timeline_layout() {
    let analysis = small(&Request::default());
    insta::assert_snapshot!(scene(Chart::Timeline, &analysis));
}

/// Checks that only the words above a chart are missing without a header.
#[test]
fn a_header_can_be_left_out() {
    let analysis = small(&Request::default());
    let texts = |scene: &Scene| -> Vec<String> {
        let texts = scene.shapes.iter().filter_map(|shape| match shape {
            Primitive::Text { text, .. } => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    };
    for chart in ALL {
        let options = ChartOptions {
            has_header: false,
            ..ChartOptions::default()
        };
        let (whole, bare) = (
            scene(chart, &analysis),
            draw(chart, &analysis, &options).unwrap(),
        );
        let (all, rest) = (texts(&whole), texts(&bare));
        assert!(bare.height < whole.height && !rest.is_empty(), "{chart:?}");
        assert!(all.ends_with(&rest), "{chart:?}");
        let said = all.get(..all.len() - rest.len()).unwrap();
        let is_loud = said
            .last()
            .is_some_and(|last| last.starts_with("SYNTHETIC"));
        assert!(is_loud, "{chart:?}: {said:?}");
    }
}

#[test]
fn idle_layout() {
    let analysis = small(&Request::default());
    insta::assert_snapshot!(scene(Chart::Idle, &analysis));
}

/// A scenario with a warm-up, a pause, nested phases, and three states that begin late.
const PHASES: &str = r#"
    seed = 3

    [[recording.performance]]
    state = "Minimum"
    start = "705ms"
    [[recording.performance]]
    state = "Medium"
    start = "712ms"
    [[recording.performance]]
    state = "Maximum"
    start = "722ms"

    [[process]]
    name = "trainer"
    pid = 4200
    role = "target"

    [[process.signpost]]
    name = "training"
    from = "690ms"
    to = "735ms"
    [[process.signpost]]
    name = "step"
    every = 20
    [[process.signpost]]
    name = "layer"
    every = 4

    [[process.stream]]
    count = 120
    duration = "40us"
    completion = "40us"
    host = "60us"
    encode = "20us"
    launch = "140us"
    buffer-label = "layer"
    encoder-label = ["matmul", "softmax", "rope", "add"]
    warm-up = { first = 10, factor = 6 }

    [[process.stream]]
    count = 20
    start = "760ms"
    duration = "40us"
    launch = "140us"
    buffer-label = "evaluate"
    encoder-label = "matmul"
"#;

#[test]
fn phases_and_states_layout() {
    let analysis = analysis_of_toml(PHASES);
    insta::assert_snapshot!("phases_Timeline", scene(Chart::Timeline, &analysis));
    check_all(&analysis, "phases");
}

/// Thousands of phases and of state changes are a few shapes each, and no texts overlap.
#[test]
fn thousands_of_phases_stay_legible() {
    let mut text = PHASES.replace("count = 120", "count = 5000");
    text = text.replace("to = \"735ms\"", "to = \"3s\"");
    for at in 0..3_000 {
        let state = ["Minimum", "Medium", "Maximum"][at % 3];
        let start = 730_000 + at * 400;
        text = text.replacen(
            "    [[process]]",
            &format!("[[recording.performance]]\nstate = \"{state}\"\nstart = \"{start}us\"\n    [[process]]"),
            1,
        );
    }
    let analysis = analysis_of_toml(&text);
    assert!(analysis.named_phases().len() > 1_000);
    assert!(analysis.performance().len() > 3_000);
    let scene = scene(Chart::Timeline, &analysis);
    assert!(scene.shapes.len() < 400, "{}", scene.shapes.len());
    check_all(&analysis, "thousands");
}

#[test]
fn alt_texts() {
    let analysis = with_limits();
    let all = ALL.map(|chart| alt(chart, &analysis.report));
    insta::assert_snapshot!(all.join("\n"));
}

/// The short iterator of intervals visits the same ones.
#[test]
fn spans_are_intervals() {
    let analysis = small(&Request::default());
    let spans = analysis.spans().map(|interval| {
        (
            interval.start_ns,
            interval.end_ns,
            interval.kernel,
            interval.channel,
        )
    });
    let intervals = analysis.intervals();
    let intervals = intervals.map(|interval| {
        (
            interval.start_ns,
            interval.end_ns,
            interval.kernel,
            interval.channel,
        )
    });
    assert!(spans.eq(intervals));
    assert_eq!(
        analysis.spans().count() as u64,
        analysis.report.counts.intervals
    );
}

/// Returns the FNV-1a hash.
pub(super) fn hash(bytes: &[u8]) -> String {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

#[test]
fn picture_hashes() {
    let analysis = with_limits();
    let mut hashes = Vec::new();
    for chart in ALL {
        for (scale, theme) in [(1, Theme::Light), (2, Theme::Dark)] {
            let options = ChartOptions {
                scale,
                theme,
                ..ChartOptions::default()
            };
            let scene = draw(chart, &analysis, &options).unwrap();
            let picture = png(&scene).unwrap();
            assert!(picture.len() < 200_000, "{chart:?}: {}", picture.len());
            assert_eq!(picture, png(&scene).unwrap());
            hashes.push(format!("{chart:?} {scale} {theme:?} {}", hash(&picture)));
        }
        let scene = scene(chart, &analysis);
        let text = svg(&scene, &alt(chart, &analysis.report));
        hashes.push(format!("{chart:?} svg {}", hash(text.as_bytes())));
    }
    insta::assert_snapshot!(hashes.join("\n"));
}

/// Returns left, right, top and bottom of a text.
fn extent(shape: &Primitive) -> Option<([f32; 4], &str)> {
    let Primitive::Text {
        at,
        size,
        anchor,
        text,
        ..
    } = shape
    else {
        return None;
    };
    let width = font::width(text, *size);
    let left = at.0 - anchor.share_before() * width;
    let (top, bottom) = (at.1 - size * 0.75, at.1 + size * 0.1);
    Some(([left, left + width, top, bottom], text))
}

/// Checks that no text leaves the canvas and no two overlap.
pub(super) fn check_texts(scene: &Scene, what: &str) {
    let texts: Vec<_> = scene.shapes.iter().filter_map(extent).collect();
    let (width, height) = (scene.width as f32, scene.height as f32);
    for (at, (a, text)) in texts.iter().enumerate() {
        let inside = a[0] >= 0.0 && a[1] <= width && a[2] >= 0.0 && a[3] <= height;
        assert!(inside, "{what}: `{text}` leaves the canvas: {a:?}");
        for (b, other) in texts.iter().skip(at + 1) {
            let apart = a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2];
            assert!(apart, "{what}: `{text}` {a:?} overlaps `{other}` {b:?}");
        }
    }
}

fn check_all(analysis: &Analysis, what: &str) {
    for chart in ALL {
        for scale in [1, 2] {
            let options = ChartOptions {
                scale,
                ..ChartOptions::default()
            };
            let scene = draw(chart, analysis, &options).unwrap();
            check_texts(&scene, &format!("{what}, {chart:?}"));
            assert!(!png(&scene).unwrap().is_empty());
        }
    }
}

#[test]
fn windows_of_every_kind() {
    let whole = small(&Request::default());
    check_all(&whole, "whole");
    let first = whole.intervals().next().unwrap();
    let last = whole.intervals().last().unwrap();
    let cut = |from: u64, to: u64| Request {
        from_ns: Some(from),
        to_ns: Some(to),
        ..Request::default()
    };
    let cases = [
        ("one interval", first.start_ns, first.end_ns),
        ("a nanosecond", first.start_ns, first.start_ns + 1),
        ("its end", last.end_ns - 1, last.end_ns),
        ("two nanoseconds", first.end_ns - 1, first.end_ns + 1),
    ];
    for (what, from, to) in cases {
        check_all(&small(&cut(from, to)), what);
    }
}

#[test]
fn a_window_of_a_day() {
    let mut analysis = small(&Request::default());
    // The process's work is the beginning of a day.
    analysis.report.window.end_ns = analysis.report.window.start_ns + Ns(86_400_000_000_000);
    analysis.report.window.span_ns = Ns(86_400_000_000_000);
    check_all(&analysis, "a day");

    let text = scene(Chart::Timeline, &analysis).to_string();
    assert!(text.contains(" 80000s\n"), "{text}");
}

#[test]
fn names_of_every_kind() {
    let names = [
        "",
        "a_kernel_name_that_is_far_too_long_for_any_picture<float, 128, 4, true>"
            .repeat(3)
            .leak(),
        "行列積カーネル 行列積カーネル 行列積カーネル 行列積カーネル 行列積カーネル 行列積カーネル",
        "<script>alert(\"&amp;\")</script>\n\u{202E}\u{7}",
    ];
    for name in names {
        let mut analysis = small(&Request::default());
        let summary = &mut analysis.report.summary;
        summary.busy.text = summary
            .busy
            .text
            .replace(&analysis.report.process.name, name);
        analysis.report.process.name = name.to_owned();
        for kernel in &mut analysis.report.kernels {
            kernel.name = name.to_owned();
        }
        for channel in &mut analysis.report.channels {
            channel.name = Some(name.to_owned());
        }
        check_all(&analysis, name);
        for chart in ALL {
            let text = svg(&scene(chart, &analysis), &alt(chart, &analysis.report));
            assert!(!text.contains("<script"), "{text}");
            assert!(
                text.chars()
                    .all(|letter| letter == '\n' || !letter.is_control())
            );
        }
    }
}

/// Lists the shapes, one per line.
impl fmt::Display for Scene {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, .. } = self;
        writeln!(out, "{width}x{height} on {}", self.background.hex())?;
        self.shapes.iter().try_for_each(|shape| match shape {
            Primitive::Rectangle { at, size, fill } => writeln!(
                out,
                "rectangle {} {}x{} {}",
                place(*at),
                number(size.0),
                number(size.1),
                fill.hex()
            ),
            Primitive::Bars {
                left,
                step,
                spans,
                fill,
            } => writeln!(
                out,
                "bars from {} step {} {} {}",
                number(*left),
                number(*step),
                fill.hex(),
                spark(spans)
            ),
            Primitive::Text {
                at,
                size,
                anchor,
                fill,
                text,
            } => writeln!(
                out,
                "text {} {} {} {} {text}",
                place(*at),
                number(*size),
                anchor.name(),
                fill.hex()
            ),
        })
    }
}

fn place((x, y): (f32, f32)) -> String {
    format!("{},{}", number(x), number(y))
}

/// Formats bars as a line of characters, each the mean of some neighbors.
fn spark(spans: &[(f32, f32)]) -> String {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = spans.iter().map(|span| span.1).fold(0.0, f32::max);
    let high = spans.iter().map(|span| span.0).fold(low, f32::min);
    let chunk = spans.len().div_ceil(80).max(1);
    let level = |some: &[(f32, f32)]| {
        let sum: f32 = some.iter().map(|span| span.1 - span.0).sum();
        let mean = sum / times(some.len());
        let share = if low > high { mean / (low - high) } else { 0.0 };
        let level = whole_count((share * 8.0).ceil().clamp(0.0, 8.0));
        LEVELS.get(level).copied().unwrap_or(' ')
    };
    let text: String = spans.chunks(chunk).map(level).collect();
    format!("{}..{} |{text}|", number(high), number(low))
}
