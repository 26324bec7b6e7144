//! Two recordings on one picture: what is drawn where, what is said, what is odd.

use metalens_analyzer::{
    Analysis, GapParts, Note, Performance, Report, Request, StateTime, message,
};
use metalens_comparison::Comparable;

use super::alike;
use super::{BAR, alt_comparison, draw_comparison, table, words};
use crate::canvas::Canvas;
use crate::scene::{Scene, Shape};
use crate::tests::{check_texts, hash, small};
use crate::{Options, Theme, png, svg};

fn whole() -> Analysis {
    small(&Request::default())
}

/// The beginning: one part of so many of the window.
fn part(of: u64) -> Analysis {
    let window = whole().report.window;
    small(&Request {
        to_ns: Some(window.start_ns + window.span_ns / of),
        ..Request::default()
    })
}

fn scene(base: &Analysis, new: &Analysis) -> Scene {
    draw_comparison(base, new, &Options::default()).unwrap()
}

#[test]
fn two_recordings_are_laid_out() {
    let (base, new) = (whole(), part(3));
    insta::assert_snapshot!(scene(&base, &new));
    insta::assert_snapshot!("in_words", alt_comparison(&base.report, &new.report));
}

#[test]
fn the_same_bytes_as_ever() {
    let (base, new) = (whole(), part(3));
    let mut hashes = Vec::new();
    for (scale, theme) in [(1, Theme::Light), (2, Theme::Dark)] {
        let options = Options {
            scale,
            theme,
            ..Options::default()
        };
        let picture = png(&draw_comparison(&base, &new, &options).unwrap()).unwrap();
        assert!(picture.len() < 200_000, "{}", picture.len());
        hashes.push(format!("{scale} {theme:?} {}", hash(&picture)));
    }
    let alt = alt_comparison(&base.report, &new.report);
    let text = svg(&scene(&base, &new), &alt);
    hashes.push(format!("svg {}", hash(text.as_bytes())));
    insta::assert_snapshot!(hashes.join("\n"));
}

/// Each bar is as long as its window, at the nanoseconds per pixel of the longer one.
#[test]
fn one_scale_for_both() {
    for (base, new) in [(whole(), part(3)), (part(7), whole()), (whole(), part(90))] {
        let spans = [&base, &new].map(|one| one.report.window.span_ns as f64);
        let longest = spans[0].max(spans[1]);
        let mut bars: Vec<(f32, f32)> = Vec::new();
        for shape in &scene(&base, &new).shapes {
            match shape {
                Shape::Rectangle { at, size, .. } if size.1 == BAR => {
                    match bars.iter_mut().find(|bar| bar.0 == at.1) {
                        Some(bar) => bar.1 += size.0,
                        None => bars.push((at.1, size.0)),
                    }
                }
                _ => {}
            }
        }
        let widths: Vec<f32> = bars.iter().map(|bar| bar.1).collect();
        let full = widths.iter().copied().fold(0.0, f32::max);
        let expected = spans.map(|span| (span / longest * f64::from(full)).round());
        let widths: Vec<f64> = widths.into_iter().map(f64::from).collect();
        assert_eq!(widths, expected);
    }
}

/// What sums up, sums up: busy and idle are the window, and the causes the idle time.
#[test]
fn the_differences_sum_up() {
    let canvas = Canvas::new(&Options::default(), "");
    for (base, new) in [(whole(), part(3)), (part(2), part(5)), (whole(), whole())] {
        let (rows, _) = table::rows(&canvas, &base.report, &new.report);
        let changes = rows.iter().filter_map(|row| row.scale);
        let changes: Vec<i128> = changes
            .map(|(before, now)| i128::from(now) - i128::from(before))
            .collect();
        let [window, busy, idle, causes @ ..] = changes.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!(busy + idle, *window);
        assert_eq!(causes.iter().sum::<i128>(), *idle);
    }
}

/// A side that cannot tell a figure has not 0 of it, in the table and in words.
#[test]
fn absent_is_not_zero() {
    let (base, mut new) = (whole().report, whole().report);
    new.idle.parts = GapParts {
        unknown_ns: new.idle.total_ns,
        ..GapParts::default()
    };
    new.counts.command_buffers = 0;
    let canvas = Canvas::new(&Options::default(), "");
    let (sums, others) = table::rows(&canvas, &base, &new);
    let (causes, unexplained) = sums[3..].split_at(sums.len() - 4);
    assert!(!causes.is_empty());
    for row in causes {
        assert_eq!(row.cells[1..], ["unknown", "–", "–"], "{row:?}");
        assert_eq!(row.scale, None, "{row:?}");
    }
    assert_eq!(unexplained[0].scale, Some((0, new.idle.total_ns)));
    let buffers = others.iter().find(|row| row.name == "command buffers");
    assert_eq!(buffers.unwrap().cells[1..], ["unknown", "–", "–"]);
    let moved = words::moved(&base, &new);
    assert!(moved.contains("idle ±0 (unexplained +"), "{moved}");
    assert_eq!(moved.matches('−').count(), 0, "{moved}");
}

#[test]
fn texts_have_their_places() {
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
        let cut = message!("TRUNCATED: {}", message::name(name));
        base.report.add_note(Note::loud("truncated", cut));
        let tiny = nanosecond(&new);
        for (base, new) in [(&base, &new), (&new, &base), (&base, &tiny), (&tiny, &tiny)] {
            for (width, height, scale) in [(400, None, 1), (699, None, 1), (830, Some(1_200), 2)] {
                let options = Options {
                    width,
                    height,
                    scale,
                    ..Options::default()
                };
                let scene = draw_comparison(base, new, &options).unwrap();
                check_texts(&scene, &format!("{name}, {width}"));
                assert!(height.is_none_or(|height| scene.height == height));
            }
        }
    }
}

#[test]
fn what_has_no_room_is_refused() {
    let base = whole();
    for (width, height) in [(100, None), (830, Some(300))] {
        let options = Options {
            width,
            height,
            ..Options::default()
        };
        assert!(draw_comparison(&base, &base, &options).is_err());
    }
}

fn headline(before: u64, now: u64) -> String {
    let (mut base, mut new) = (whole().report, whole().report);
    base.window.span_ns = before;
    new.window.span_ns = now;
    words::headline(&base, &new, str::to_owned)
}

#[test]
fn headlines() {
    let cases = [
        (5_000_000, 5_000_000, "as long as base: 5.000 ms"),
        (
            5_000_000,
            3_050_000,
            "61.0 % of the time of base: 3.050 ms instead of 5.000 ms",
        ),
        (
            5_000_000,
            4_999_999,
            ">99.9 % of the time of base: 5.000 ms instead of 5.000 ms",
        ),
        (
            5_000_000,
            5_500_000,
            "10.0 % longer than base: 5.500 ms instead of 5.000 ms",
        ),
        (
            5_000_000,
            1_000_000_000,
            "200 times as long as base: 1.000 s instead of 5.000 ms",
        ),
        (0, 5_000_000, "5.000 ms instead of 0 ns"),
        (
            5_000_000,
            0,
            "0 % of the time of base: 0 ns instead of 5.000 ms",
        ),
    ];
    for (before, now, expected) in cases {
        assert_eq!(
            headline(before, now),
            format!("bench: new takes {expected}")
        );
    }
}

/// Absolute and relative.
#[test]
fn changes() {
    let cases = [
        (1_000, 250, "−750 ns", "−75.0 %"),
        (250, 1_000, "+750 ns", "×4.00"),
        (1_000, 1_100, "+100 ns", "+10.0 %"),
        (7, 7, "±0", "same"),
        (0, 0, "±0", "same"),
        (0, 5, "+5 ns", "from 0"),
        (5, 0, "−5 ns", "−100 %"),
        (1_000_000, 999_999, "−1 ns", "−<0.01 %"),
    ];
    for (before, now, absolute, relative) in cases {
        assert_eq!(words::change_of_time(before, now), absolute);
        assert_eq!(words::relative(before, now), relative);
    }
}

/// The GPU's clock: one state for so much of the busy time.
fn clocked(state: &str, share: f64) -> Option<Performance> {
    let state = StateTime {
        state: state.to_owned(),
        total_ns: 1_000,
        share: Some(share),
        busy_ns: 1_000,
        busy_share: Some(share),
        induced_ns: 0,
    };
    Some(Performance {
        table: "metal-gpu-performance".to_owned(),
        requested: None,
        states: vec![state],
        unknown_ns: 0,
        unknown_busy_ns: 0,
        changes: 0,
        narratives: Vec::new(),
    })
}

/// A report of a program whose GPU ran at its highest clock, and a changed one.
fn changed(change: fn(&mut Report)) -> Comparable {
    let mut base = whole().report;
    base.machine.performance = clocked("Maximum", 1.0);
    base.busy.others_busy_ns = base.window.span_ns / 50;
    let mut new = base.clone();
    change(&mut new);
    Comparable::of(&base, &new)
}

/// What is said of two recordings that differ in one thing.
#[test]
fn circumstances() {
    type Change = fn(&mut Report);
    let gpu: Change = |report| report.run.device.gpu = Some("Apple M4".to_owned());
    let clock: Change = |report| report.machine.performance = clocked("Minimum", 1.0);
    let nearly: Change = |report| report.machine.performance = clocked("Maximum", 0.97);
    let others: Change = |report| report.busy.others_busy_ns = report.window.span_ns;
    let same: Change = |_| {};
    let cases = [
        (same, &[][..]),
        (gpu, &["NOT ALIKE: GPU: base Synthetic GPU, new Apple M4"]),
        (
            clock,
            &[
                "NOT ALIKE: GPU clock at work: base Maximum 100 %, Minimum 0 %, new Maximum 0 %, \
               Minimum 100 %",
            ],
        ),
        (nearly, &[]),
        (
            others,
            &[
                "NOT ALIKE: other processes on the GPU: base 2.0 % of the time, new 100 % of the time",
            ],
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(alike::warnings(&changed(change)), expected);
    }
}

/// Untold is not the same, and no difference either.
#[test]
fn what_is_not_told() {
    type Change = fn(&mut Report);
    let system: Change = |report| report.run.device.os = None;
    let clock: Change = |report| report.machine.performance = None;
    for (change, expected) in [
        (system, "system of new"),
        (clock, "GPU clock at work of new"),
    ] {
        let found = changed(change);
        assert_eq!(alike::warnings(&found), Vec::<String>::new());
        let said = alike::small_print(&found);
        let said = said
            .iter()
            .find(|line| line.starts_with("Not known to be the same: "));
        assert!(said.is_some_and(|line| line.contains(expected)), "{said:?}");
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
    let warnings = alike::warnings(&Comparable::of(&base, &new));
    assert_eq!(warnings.len(), 7);
    assert_eq!(warnings[6], "NOT ALIKE: 1 other circumstance");
}

#[test]
fn loud_notes_say_whose_they_are() {
    let (mut base, mut new) = (whole().report, whole().report);
    base.add_note(Note::loud("truncated", "TRUNCATED: here"));
    (new.notes, new.note_details) = Note::lists(new.quiet_notes());
    new.add_note(Note::loud("truncated", "TRUNCATED: there"));
    let said = words::loud(&base, &new);
    let whose: Vec<&str> = said
        .iter()
        .filter_map(|note| note.split(' ').next())
        .collect();
    assert_eq!(whose, ["base:", "base:", "new:"]);
    assert!(words::loud(&base, &base)[0].starts_with("base and new: SYNTHETIC"));
}
