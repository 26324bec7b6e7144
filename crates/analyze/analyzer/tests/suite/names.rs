//! Tests of kernel names from other sources than labels: tables that are written by hand into a
//! synthetic export, in xctrace's format.

use std::path::Path;

use metalens_analyzer::{NamedBy, Report, Request};
use metalens_message::Ns;
use metalens_simulator::{Scenario, write_export};
use metalens_trace::{Input, LoadOptions, Selection};

use super::write_table;
use super::{report, report_of};

/// Scenario with one dispatch per buffer, and no labels.
const SCENARIO: &str = r#"
[[process]]
name = "bench"
pid = 12
role = "target"

[[process.stream]]
count = 6
duration = "10us"
host = "20us"
"#;

/// Returns start and duration of the six encodings.
fn encodings(folder: &Path) -> Vec<(u64, u64)> {
    let schema = "metal-application-encoders-list";
    let input = Input::open(folder).unwrap();
    let trace = input.load(&Selection::table(schema), LoadOptions::default());
    let trace = trace.unwrap();
    let table = trace.table(schema).unwrap();
    let starts = table.integers("start").unwrap().iter().map(Option::unwrap);
    let lengths = table.integers("duration").unwrap().iter();
    starts.zip(lengths.map(Option::unwrap)).collect()
}

/// Writes debug groups as rows of (start, duration, label).
fn debug_groups(folder: &Path, groups: &[(u64, u64, &str)]) {
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("event-type", "metal-event-name"),
        ("process", "process"),
        ("event-label", "formatted-label"),
    ];
    let row = |&(start, duration, label): &(u64, u64, &str)| {
        vec![
            start.to_string(),
            duration.to_string(),
            "Debug Groups".to_owned(),
            "bench (12)".to_owned(),
            format!("{label}  ( Main Thread 0x1 (bench, pid: 12) )"),
        ]
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    write_table(folder, "metal-application-event-interval", &columns, &rows);
}

fn kernels(report: &Report) -> Vec<(&str, u64)> {
    let kernels = report.kernels.iter();
    kernels
        .map(|kernel| (kernel.name.as_str(), kernel.instances))
        .collect()
}

/// Checks the names of encodings in nested debug groups.
///
/// ```text
/// encodings  ├0┤ ├1┤ ├2┤ ├3┤ ├4┤ ├5┤
/// decode     ├───────────────┤
/// attention      ├───┤
/// ```
#[test]
fn debug_groups_name_the_work_encoded_in_them() {
    let folder = metalens_testing::scratch();
    let scenario = Scenario::from_toml(SCENARIO).unwrap();
    write_export(&scenario, folder.path(), false).unwrap();
    let plain = report(folder.path(), None, &Request::default()).unwrap();
    assert_eq!(kernels(&plain), [("(unlabeled Compute)", 6)]);
    assert!(
        plain
            .findings
            .iter()
            .any(|finding| finding.id == "unlabeled")
    );

    let at = encodings(folder.path());
    let end = |place: usize| at[place].0 + at[place].1;
    debug_groups(
        folder.path(),
        &[
            (at[0].0 - 1_000, end(3) - at[0].0 + 2_000, "decode"),
            (at[1].0 - 10, end(1) - at[1].0 + 20, "attention"),
        ],
    );
    let grouped = report(folder.path(), None, &Request::default()).unwrap();
    assert_eq!(
        kernels(&grouped),
        [("decode", 3), ("(unlabeled Compute)", 2), ("attention", 1)]
    );
    assert_eq!(grouped.kernels[0].named_by, NamedBy::DebugGroup);
    // Names change nothing else.
    assert_eq!((grouped.busy, grouped.idle), (plain.busy, plain.idle));
}

/// Shaders name their intervals if the recording has the Shader Timeline.
#[test]
fn shaders_name_their_intervals() {
    let folder = metalens_testing::scratch();
    let text = SCENARIO.replace(
        "role = \"target\"",
        "role = \"target\"\nshaders = [\"mul_f16\"]",
    );
    let timed = format!("[recording]\nshader-timeline = true\n{text}");
    let scenario = Scenario::from_toml(&timed).unwrap();
    write_export(&scenario, folder.path(), false).unwrap();
    let found = report(folder.path(), None, &Request::default()).unwrap();
    assert_eq!(found.kernels[0].named_by, NamedBy::ShaderProfiler);
    assert_eq!(kernels(&found), [("mul_f16", 6)]);
    assert_eq!(found.shaders[0].name, "mul_f16");

    // The list of shaders has no times, and names no interval.
    let folder = metalens_testing::scratch();
    write_export(&Scenario::from_toml(&text).unwrap(), folder.path(), false).unwrap();
    let listed = report(folder.path(), None, &Request::default()).unwrap();
    assert_eq!(kernels(&listed), [("(unlabeled Compute)", 6)]);
    assert_eq!(listed.shaders[0].name, "mul_f16");
}

/// Shaders name an interval from half of its time on; below that its label stays. Nested samples
/// are not counted again.
#[test]
fn shaders_name_intervals_by_coverage() {
    fn check(sampled: &str, name: &str, named_by: NamedBy, shader_ns: u64) {
        let text = SCENARIO
            .replace(
                "role = \"target\"",
                "role = \"target\"\nshaders = [\"mul\", \"exp\"]",
            )
            .replace("count = 6", "count = 1\nencoder-label = \"layer\"");
        let text = format!("[recording]\nshader-timeline = true\n{text}sampled = {sampled}\n");
        let scenario = Scenario::from_toml(&text).unwrap();
        let found = report_of(&scenario, &Request::default()).unwrap();
        let [kernel] = found.kernels.as_slice() else {
            panic!("{sampled}: {:?}", found.kernels);
        };
        let found = (kernel.name.as_str(), kernel.named_by, kernel.shader_ns);
        assert_eq!(found, (name, named_by, Some(Ns(shader_ns))), "{sampled}");
    }
    use NamedBy::{EncoderLabel, ShaderProfiler};
    check("{ percent = 100 }", "mul", ShaderProfiler, 10_000);
    check("{ percent = 50 }", "mul", ShaderProfiler, 5_000);
    check(
        "{ percent = 50, nested = true }",
        "mul",
        ShaderProfiler,
        5_000,
    );
    check("{ percent = 49 }", "layer", EncoderLabel, 4_900);
    check(
        "{ percent = 49, nested = true }",
        "layer",
        EncoderLabel,
        4_900,
    );
}

/// A shader's own percentage counts if it is less than its times say, and nested samples count
/// in neither.
///
/// ```text
/// interval  ├─────── 10 µs ───────┤
/// depth 0   ├──── mul 6 µs ───┤
/// depth 1    ├── exp 4 µs ─┤
/// ```
#[test]
fn percentages_of_samples_are_read() {
    fn check(percents: [&str; 2], named_by: NamedBy, shader_ns: u64) {
        let folder = metalens_testing::scratch();
        let text = SCENARIO.replace("count = 6", "count = 1\nencoder-label = \"layer\"");
        let scenario = Scenario::from_toml(&text).unwrap();
        write_export(&scenario, folder.path(), false).unwrap();
        let start = report(folder.path(), None, &Request::default()).unwrap();
        let start = start.window.start_ns;

        let columns = [
            ("start", "start-time"),
            ("duration", "duration"),
            ("name", "metal-object-label"),
            ("percent-of-kick", "percent"),
            ("process", "process"),
            ("channel-name", "gpu-channel-name"),
            ("event-depth", "metal-nesting-level"),
        ];
        let row = |from: u64, length: &str, name: &str, percent: &str, depth: &str| {
            let start = (start.0 + from).to_string();
            [
                &start,
                length,
                name,
                percent,
                "bench (12)",
                "Compute",
                depth,
            ]
            .map(str::to_owned)
            .to_vec()
        };
        let [outer, inner] = percents;
        let rows = [
            row(0, "6000", "mul (4)", outer, "0"),
            row(500, "4000", "exp (5)", inner, "1"),
        ];
        write_table(
            folder.path(),
            "metal-shader-profiler-intervals",
            &columns,
            &rows,
        );
        let found = report(folder.path(), None, &Request::default()).unwrap();
        let kernel = &found.kernels[0];
        let expected = if named_by == NamedBy::ShaderProfiler {
            "mul"
        } else {
            "layer"
        };
        let told = (kernel.name.as_str(), kernel.named_by, kernel.shader_ns);
        assert_eq!(
            told,
            (expected, named_by, Some(Ns(shader_ns))),
            "{percents:?}"
        );
    }
    check(["60", "40"], NamedBy::ShaderProfiler, 6_000);
    check(["60", "0.24"], NamedBy::ShaderProfiler, 6_000);
    check(["0.24", "40"], NamedBy::EncoderLabel, 24);
    check(["90", "40"], NamedBy::ShaderProfiler, 6_000);
}

/// Where nobody named a process, the one that draws the screen is chosen only if it is alone. A
/// single table names none.
#[test]
fn the_window_server_is_not_the_program() {
    let stream = |name: &str, pid: u32, role: &str, duration: &str| {
        format!(
            "[[process]]\nname = \"{name}\"\npid = {pid}\nrole = \"{role}\"\n[[process.stream]]\n\
             count = 6\nduration = \"{duration}\"\n"
        )
    };
    let check = |scenario: &str, expected: &str, noted: &str| {
        let scenario = Scenario::from_toml(scenario).unwrap();
        let folder = metalens_testing::scratch();
        write_export(&scenario, folder.path(), false).unwrap();
        let table = folder.path().join("metal-gpu-intervals.xml");
        let report = report(&table, None, &Request::default()).unwrap();
        assert_eq!(report.process.name, expected);
        let mut notes = report.notes.iter();
        assert!(
            notes.any(|note| note.text().contains(noted)),
            "{:?}",
            report.notes
        );
    };

    let bench = stream("bench", 12, "target", "10us");
    let screen = stream("WindowServer", 301, "compositor", "500us");
    check(
        &format!("{bench}{screen}"),
        "bench",
        "longest besides WindowServer, bench;",
    );
    let alone = stream("WindowServer", 301, "target", "500us");
    check(&alone, "WindowServer", "longest, WindowServer;");
}
