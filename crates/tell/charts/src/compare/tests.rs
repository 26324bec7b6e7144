//! Checks pictures of two recordings: layout, sentences, odd inputs.

use metalens_analyzer::{Analysis, GapParts, Note, Performance, Report, Request, StateTime};
use metalens_comparison::{Comparability, CompareOptions, Comparison, Number, compare};
use metalens_message::{Ns, Quantity, Share, message};

use super::circumstances;
use super::{BAR, alt_comparison, draw_comparison, parts, sentences};
use crate::palette::Palette;
use crate::scene::{Primitive, Scene};
use crate::tests::{check_texts, hash, small};
use crate::{ChartError, ChartOptions, Theme, png, svg};

fn whole() -> Analysis {
    small(&Request::default())
}

/// Returns the beginning of the window: one of this many parts.
fn part(parts: u64) -> Analysis {
    let window = whole().report.window;
    small(&Request {
        to_ns: Some((window.start_ns + window.span_ns / parts).0),
        ..Request::default()
    })
}

fn compared(base: &Report, new: &Report) -> Comparison {
    let (base, new) = (std::slice::from_ref(base), std::slice::from_ref(new));
    compare(base, new, &CompareOptions::default())
}

fn draw(base: &Analysis, new: &Analysis, options: &ChartOptions) -> Result<Scene, ChartError> {
    let comparison = compared(&base.report, &new.report);
    draw_comparison(&comparison, base, new, options)
}

fn alt(base: &Report, new: &Report) -> String {
    alt_comparison(&compared(base, new), base, new)
}

fn scene(base: &Analysis, new: &Analysis) -> Scene {
    draw(base, new, &ChartOptions::default()).unwrap()
}

#[test]
fn comparison_layout() {
    let (base, new) = (whole(), part(3));
    insta::assert_snapshot!(scene(&base, &new));
    insta::assert_snapshot!("alt_text", alt(&base.report, &new.report));
}

#[test]
fn picture_hashes() {
    let (base, new) = (whole(), part(3));
    let mut hashes = Vec::new();
    for (scale, theme) in [(1, Theme::Light), (2, Theme::Dark)] {
        let options = ChartOptions {
            scale,
            theme,
            ..ChartOptions::default()
        };
        let picture = png(&draw(&base, &new, &options).unwrap()).unwrap();
        assert!(picture.len() < 200_000, "{}", picture.len());
        hashes.push(format!("{scale} {theme:?} {}", hash(&picture)));
    }
    let alt = alt(&base.report, &new.report);
    let text = svg(&scene(&base, &new), &alt);
    hashes.push(format!("svg {}", hash(text.as_bytes())));
    insta::assert_snapshot!(hashes.join("\n"));
}

/// Checks that the bars of both sides are as long as these times, on the time scale of the longer one.
fn check_bars(scene: &Scene, times_ns: [f64; 2], full: f64) {
    let mut bars: Vec<(f32, f32)> = Vec::new();
    for shape in &scene.shapes {
        match shape {
            Primitive::Rectangle { at, size, .. } if size.1 == BAR => {
                match bars.iter_mut().find(|bar| bar.0 == at.1) {
                    Some(bar) => bar.1 += size.0,
                    None => bars.push((at.1, size.0)),
                }
            }
            _ => {}
        }
    }
    let widths: Vec<f64> = bars.iter().map(|bar| f64::from(bar.1)).collect();
    let most = widths.iter().copied().fold(0.0, f64::max);
    let expected = times_ns.map(|time_ns| time_ns / full * most);
    assert_eq!(widths.len(), 2);
    for (width, expected) in widths.iter().zip(expected) {
        assert!((width - expected).abs() <= 1.0, "{width} {expected}");
    }
}

/// Each bar is as long as its window.
#[test]
fn one_scale_for_both() {
    for (base, new) in [(whole(), part(3)), (part(7), whole()), (whole(), part(90))] {
        let spans = [&base, &new].map(|side| side.report.window.span_ns.number());
        check_bars(&scene(&base, &new), spans, spans[0].max(spans[1]));
    }
}

/// The bars of several runs end where the headline does, although one of them is drawn.
#[test]
fn bars_of_several_runs_end_where_the_headline_does() {
    let (base, new) = ([whole(), part(2)], [part(3), part(5)]);
    let reports =
        |runs: &[Analysis]| -> Vec<Report> { runs.iter().map(|run| run.report.clone()).collect() };
    let options = CompareOptions::default();
    let comparison = compare(&reports(&base), &reports(&new), &options);
    let mut metrics = comparison.metrics.iter();
    let wall = metrics
        .find(|metric| metric.id == "window.span_ns")
        .unwrap();
    let sides = [wall.change.base_value(), wall.change.new_value()];
    let sides = sides.map(|side| side.unwrap().get());
    for drawn in [(&base[0], &new[0]), (&base[1], &new[1])] {
        let options = ChartOptions::default();
        let scene = draw_comparison(&comparison, drawn.0, drawn.1, &options).unwrap();
        check_bars(&scene, sides, sides[0].max(sides[1]));
        check_texts(&scene, "several runs");
    }
}

/// Busy time and the causes of idle time sum to the window.
#[test]
fn the_differences_sum_up() {
    for (base, new) in [(whole(), part(3)), (part(2), part(5)), (whole(), whole())] {
        let comparison = compared(&base.report, &new.report);
        let parts = parts::parts(&comparison, &Palette::for_theme(Theme::Light), |_| false);
        let sum: f64 = parts
            .iter()
            .filter_map(|part| part.base_ns)
            .map(Number::get)
            .sum();
        assert_eq!(sum, base.report.window.span_ns.number());
        let sum: f64 = parts
            .iter()
            .filter_map(|part| part.new_ns)
            .map(Number::get)
            .sum();
        assert_eq!(sum, new.report.window.span_ns.number());
    }
}

/// A side that cannot tell a cause shows no 0.
#[test]
fn absent_is_not_zero() {
    let (base, mut new) = (whole().report, whole().report);
    new.idle.parts = GapParts {
        unknown_ns: new.idle.total_ns,
        ..GapParts::default()
    };
    let parts = parts::parts(
        &compared(&base, &new),
        &Palette::for_theme(Theme::Light),
        |_| false,
    );
    let [_, causes @ .., unknown] = parts.as_slice() else {
        panic!("{parts:?}");
    };
    assert!(!causes.is_empty());
    for part in causes {
        let label = part.label();
        assert!(label.ends_with(" not compared"), "{label}");
    }
    assert_eq!(unknown.new_ns, Number::new(new.idle.total_ns.number()));
}

/// Several runs: the figures are those of the comparison, and the picture says that one is drawn.
#[test]
fn figures_are_those_of_the_comparison() {
    let run = |span_ns: u64| {
        let mut report = whole().report;
        report.window.span_ns = Ns(span_ns);
        report
    };
    let base = [10_000_000, 10_100_000, 10_200_000].map(run);
    let new = [10_300_000, 10_310_000, 10_800_000].map(run);
    let comparison = compare(&base, &new, &CompareOptions::default());
    let alt = alt_comparison(&comparison, &base[1], &new[1]);
    // By hand: the differences are 100 110 200 210 300 310 600 700 800 µs.
    assert!(
        alt.contains(
            "takes 1.01 to 1.08 times as long (90 %), maybe less than the 2.0 % that counts"
        ),
        "{alt}"
    );
    assert!(alt.contains("10.10 ms → 10.40 ms"), "{alt}");
    assert!(alt.contains("3 against 3 runs: "), "{alt}");
}

#[test]
fn texts_do_not_overlap() {
    let long = "a_kernel_name_that_is_far_too_long_for_any_picture<float, 128, 4, true>".repeat(3);
    let names = ["", "bench", &long, "行列積 <&\"> \u{202E}\u{7}"];
    let nanosecond = |analysis: &Analysis| {
        let first = analysis.intervals().next().unwrap();
        small(&Request {
            from_ns: Some(first.start_ns),
            to_ns: Some(first.start_ns + 1),
            ..Request::default()
        })
    };
    for name in names {
        let (mut base, new) = (whole(), part(3));
        base.report.process.name = name.to_owned();
        base.report.run.device.gpu = Some(name.to_owned());
        let cut = message!("TRUNCATED: {}", metalens_message::name(name));
        base.report.notes.push(Note::loud("truncated", cut));
        let tiny = nanosecond(&new);
        for (base, new) in [(&base, &new), (&new, &base), (&base, &tiny), (&tiny, &tiny)] {
            check_texts(&scene(base, new), name);
        }
    }
}

/// Returns a GPU clock with one state for this share of the busy time.
fn clocked(state: &str, share: f64) -> Option<Performance> {
    let state = StateTime {
        state: state.to_owned(),
        total_ns: Ns(1_000),
        share: Some(Share(share)),
        busy_ns: Ns(1_000),
        busy_share: Some(Share(share)),
        induced_ns: Ns(0),
    };
    Some(Performance {
        table: "metal-gpu-performance".to_owned(),
        requested: None,
        states: vec![state],
        unknown_ns: Ns(0),
        unknown_busy_ns: Ns(0),
        changes: 0,
        narratives: Vec::new(),
    })
}

/// Compares a report of a program whose GPU ran at its highest clock with a changed one.
fn changed(change: fn(&mut Report)) -> Comparability {
    let mut base = whole().report;
    base.machine.performance = clocked("Maximum", 1.0);
    base.busy.others_busy_ns = Some(base.window.span_ns / 50);
    let mut new = base.clone();
    change(&mut new);
    Comparability::of_reports(&base, &new)
}

/// Checks the warnings for two recordings that differ in one thing.
#[test]
fn differing_circumstances_are_named() {
    type Change = fn(&mut Report);
    let gpu: Change = |report| report.run.device.gpu = Some("Apple M4".to_owned());
    let clock: Change = |report| report.machine.performance = clocked("Minimum", 1.0);
    let nearly: Change = |report| report.machine.performance = clocked("Maximum", 0.97);
    let others: Change = |report| report.busy.others_busy_ns = Some(report.window.span_ns);
    let same: Change = |_| {};
    let cases = [
        (same, &[][..]),
        (gpu, &["DIFFERENT: GPU: base Synthetic GPU, new Apple M4"]),
        (
            clock,
            &[
                "DIFFERENT: GPU clock while busy: base Maximum 100 %, Minimum 0 %, new Maximum 0 %, \
               Minimum 100 %",
            ],
        ),
        (nearly, &[]),
        (
            others,
            &[
                "DIFFERENT: other processes on the GPU: base 2.0 % of the time, new 100 % of the time",
            ],
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(circumstances::warnings(&changed(change)), expected);
    }
}

/// A circumstance that is not recorded counts neither as equal nor as different.
#[test]
fn unknown_circumstances_are_not_called_equal() {
    type Change = fn(&mut Report);
    let system: Change = |report| report.run.device.os = None;
    let clock: Change = |report| report.machine.performance = None;
    for (change, expected) in [
        (system, "system (new)"),
        (clock, "GPU clock while busy (new)"),
    ] {
        let circumstances = changed(change);
        assert_eq!(
            circumstances::warnings(&circumstances),
            Vec::<String>::new()
        );
        let lines = circumstances::small_print(&circumstances);
        let line = lines.iter().find(|line| line.starts_with("Not recorded: "));
        assert!(
            line.is_some_and(|line| line.contains(expected)),
            "{lines:?}"
        );
    }
}

#[test]
fn many_differences_are_counted() {
    let (base, mut new) = (whole().report, whole().report);
    let run = &mut new.run;
    run.synthetic = !run.synthetic;
    for text in [
        &mut run.device.gpu,
        &mut run.device.os,
        &mut run.device.model,
        &mut run.template,
        &mut run.instruments_version,
        &mut run.recording_mode,
    ] {
        *text = Some("other".to_owned());
    }
    let warnings = circumstances::warnings(&Comparability::of_reports(&base, &new));
    assert_eq!(warnings.len(), 7);
    assert_eq!(warnings[6], "DIFFERENT: 1 other circumstance");
}

#[test]
fn loud_notes_name_their_sides() {
    let (mut base, mut new) = (whole().report, whole().report);
    base.notes.push(Note::loud("truncated", "TRUNCATED: here"));
    new.notes.retain(|note| !note.is_loud());
    new.notes.push(Note::loud("truncated", "TRUNCATED: there"));
    let notes = sentences::loud(&base, &new);
    let sides: Vec<&str> = notes
        .iter()
        .filter_map(|note| note.split(' ').next())
        .collect();
    assert_eq!(sides, ["base:", "base:", "new:"]);
    assert!(sentences::loud(&base, &base)[0].starts_with("base and new: SYNTHETIC"));
}
