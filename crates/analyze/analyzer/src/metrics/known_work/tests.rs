//! Tests of the work file's format, and of timings against hand-made command buffers.

use metalens_failure::Failure;
use metalens_text::number::Float;
use proptest::prelude::*;

use super::*;
use crate::basics::spans::Span;
use crate::report::{TimingOrder, TimingVerdict};
use crate::request::work_file::Timing;

const FULL_FILE: &str = r#"{
  "schema": "metalens.work/1", "device": "Apple M3 Max", "gpu_cores": 40,
  "work": [
    {"label": "matmul", "channel": "Compute", "per": "instance",
     "operations": 1, "bytes": 50331648, "flops": 1.7179869184e10},
    {"label": "*", "per": "total", "bytes": 4096}
  ],
  "timings": [
    {"label": "first", "gpu_start_s": 1.5, "gpu_end_s": 1.5005},
    {"start_ns": 1600000000, "end_ns": 1600500000}
  ]
}"#;

#[test]
fn a_full_file_is_parsed() {
    let file = WorkFile::parse(FULL_FILE, "work.json").unwrap();
    assert_eq!(file.work[0].flops, Some(17_179_869_184));
    assert_eq!(file.work[1].per, AmountScope::Total);
    assert_eq!((file.timings.len(), file.file.as_str()), (2, "work.json"));
}

/// Facts about the program are kept. A simulated program makes a note, unless the recording is
/// synthetic as well.
#[test]
fn a_simulated_program_makes_a_note() {
    let check = |program: &str, is_simulated: bool| {
        let text = format!(
            r#"{{"schema": "metalens.work/1", "work": [{{"label": "*", "per": "total", "bytes": 1}}]{program}}}"#
        );
        let file = WorkFile::parse(&text, "w").unwrap();
        assert_eq!(file.is_simulated(), is_simulated, "{program}");
        let note = simulated(&file, false);
        assert_eq!(note.is_some_and(|note| note.is_loud()), is_simulated);
        assert_eq!(simulated(&file, true), None);
        let written = serde_json::to_string(&file).unwrap();
        assert_eq!(WorkFile::parse(&written, "w").unwrap(), file);
    };
    check("", false);
    check(r#", "program": null"#, false);
    check(r#", "program": "anything""#, false);
    check(
        r#", "program": {"simulated": false, "steps": [1, 2]}"#,
        false,
    );
    check(r#", "program": {"simulated": "yes"}"#, false);
    check(r#", "program": {"simulated": true}"#, true);
}

/// Checks the error for a file's text.
fn check(text: &str, expected: &str) {
    let error = WorkFile::parse(text, "w").unwrap_err().to_string();
    assert!(error.contains(expected), "{text}\n  {error}\n  {expected}");
}

/// Returns a file with one entry of work.
fn entry(entry: &str) -> String {
    format!(r#"{{"schema": "metalens.work/1", "work": [{entry}]}}"#)
}

/// Returns a file with these timings.
fn timed(timings: &str) -> String {
    format!(r#"{{"schema": "metalens.work/1", "timings": [{timings}]}}"#)
}

#[test]
fn errors_name_the_place() {
    check("", "not JSON: EOF");
    check("{\n 1", "line 2 column 2");
    check("[]", "not a JSON object");
    check("{}", r#"missing "schema": "metalens.work/1""#);
    check(
        r#"{"schema": "metalens.work/2", "new": 1}"#,
        "unsupported schema `metalens.work/2`; this version reads `metalens.work/1`",
    );
    check(
        r#"{"schema": "metalens.work/1"}"#,
        "neither `work` nor `timings`",
    );
    check(
        &entry(r#"{"label": "a", "per": "instance", "flop": 1}"#),
        "unknown field `flop`, expected one of",
    );
    check(
        &entry(r#"{"label": "a", "bytes": 1}"#),
        "missing field `per`",
    );
    check(
        &entry(r#"{"label": "a", "per": "second", "bytes": 1}"#),
        "unknown variant `second`",
    );
    check(
        &entry(r#"{"label": "a", "per": "total"}"#),
        "work[0]: `a` has no amount",
    );
    check(
        &entry(r#"{"label": "", "per": "total", "bytes": 1}"#),
        "work[0]: empty label",
    );
    for wrong in ["-1", "1.5", "1e300", "\"1\""] {
        let text = format!(r#"{{"label": "a", "per": "total", "bytes": {wrong}}}"#);
        check(&entry(&text), "line 1 column");
    }
    let one = r#"{"label": "a", "per": "total", "bytes": 1}"#;
    check(
        &entry(&format!("{one}, {one}")),
        "work[1]: `a` has two entries",
    );
    check(
        &timed(r#"{"gpu_start_s": 1, "end_ns": 2}"#),
        "timings[0]: needs gpu_start_s and gpu_end_s, or start_ns and end_ns",
    );
    check(
        &timed(r#"{"start_ns": 2, "end_ns": 1}"#),
        "timings[0]: ends before it starts",
    );
    check(
        &timed(
            r#"{"start_ns": 1, "end_ns": 2, "command_buffer": 0}, {"start_ns": 1, "end_ns": 2}"#,
        ),
        "give it for all or for none",
    );
    check(
        &timed(
            r#"{"start_ns": 1, "end_ns": 2, "command_buffer": 4},
               {"start_ns": 1, "end_ns": 2, "command_buffer": 4}"#,
        ),
        "two have the same command_buffer",
    );
}

#[test]
fn the_example_in_the_hint_is_valid() {
    let hint = WorkFile::parse("", "w").unwrap_err().hint().unwrap();
    let example = &hint[hint.find('{').unwrap()..];
    WorkFile::parse(example, "w").unwrap();
}

proptest! {
    /// Mangled text is an error or a file, never a panic; a file that was read is the same after
    /// writing it.
    #[test]
    fn mangled_files(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..12), 1..6),
    ) {
        let mut bytes = FULL_FILE.as_bytes().to_vec();
        for (at, byte, cut) in cuts {
            let at = at.index(bytes.len());
            let to = (at + cut).min(bytes.len());
            bytes.splice(at..to, [byte]);
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(file) = WorkFile::parse(&text, "w") {
            let written = serde_json::to_string(&file).unwrap();
            prop_assert_eq!(WorkFile::parse(&written, "w").unwrap(), file);
        }
    }

    /// Timings that are the trace's own on another clock are fine; slowed by a share they drift by
    /// that share.
    #[test]
    fn drift_is_measured(
        lengths in prop::collection::vec((1_000_u64..1_000_000, 0_u64..1_000_000), 1..30),
        since in 0_u64..1_000_000_000_000, slower in 0_u32..40,
    ) {
        let mut at = 0;
        let mut buffers = Vec::new();
        for (length, gap) in lengths {
            buffers.push(Span::new(at, at + length));
            at += length + gap;
        }
        let factor = 1.0 + f64::from(slower) / 100.0;
        let seconds = |ns: u64| (since.float() + ns.float() / factor) / 1e9;
        let timings: Vec<Timing> = buffers
            .iter()
            .map(|span| Timing {
                gpu_start_s: Some(seconds(span.start_ns)),
                gpu_end_s: Some(seconds(span.end_ns)),
                ..Timing::default()
            })
            .collect();
        let found = timings::check(&timings, &buffers).unwrap();
        let drift = found.median_drift.unwrap();
        // Seconds as f64 are exact to a quarter of a nanosecond here.
        prop_assert!((drift - (factor - 1.0)).abs() < 1e-3, "{drift} of {factor}");
        let expected = match slower {
            0..5 => TimingVerdict::Fine,
            6..10 => TimingVerdict::Noted,
            5 | 10 => found.verdict,
            _ => TimingVerdict::ClockFault,
        };
        prop_assert_eq!(found.verdict, expected);
        prop_assert_eq!(found.matched, buffers.len() as u64);
    }
}

fn timing(command_buffer: Option<u64>, start_ns: u64, end_ns: u64) -> Timing {
    Timing {
        command_buffer,
        start_ns: Some(start_ns),
        end_ns: Some(end_ns),
        ..Timing::default()
    }
}

#[test]
fn timings_that_do_not_fit_are_not_paired() {
    use TimingVerdict::{ClockFault, Fine, NotComparable};
    // 0   10  20  30  40
    // ├─A─┤   ├─B─┤
    let buffers = [Span::new(0, 10), Span::new(20, 30)];
    let cases: [(&[Timing], u64, TimingOrder, TimingVerdict); 5] = [
        // One timing too few: its buffer is unknown.
        (&[timing(None, 0, 10)], 0, TimingOrder::Order, NotComparable),
        (&[timing(Some(1), 0, 10)], 1, TimingOrder::Number, Fine),
        (
            &[timing(Some(9), 0, 10)],
            0,
            TimingOrder::Number,
            NotComparable,
        ),
        // Lengths agree, distances do not: the timings are of another run.
        (
            &[timing(None, 100, 110), timing(None, 150, 160)],
            2,
            TimingOrder::Order,
            ClockFault,
        ),
        // A buffer that failed has no time.
        (
            &[timing(None, 0, 0), timing(None, 20, 30)],
            1,
            TimingOrder::Order,
            Fine,
        ),
    ];
    for (timings, matched, order, verdict) in cases {
        let found = timings::check(timings, &buffers).unwrap();
        assert_eq!(
            (found.matched, found.matched_by, found.verdict),
            (matched, order, verdict),
            "{timings:?}: {found:?}"
        );
    }
    assert_eq!(timings::check(&[], &buffers), None);
}
