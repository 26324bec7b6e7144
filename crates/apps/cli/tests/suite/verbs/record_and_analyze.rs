//! Tests `metalens record-and-analyze`, on any machine with the fake `xctrace`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::record::{Bench, each};
use crate::{stderr, stdout};

const ALL: [&str; 4] = ["record-and-analyze", "--simulate", "-o", "out"];

fn json(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Returns the sorted names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A simulated recording has no more tables with these options, and says so.
#[test]
fn options_that_a_simulator_ignores_are_named() {
    let check = |options: &[&str], expected: Option<&str>| {
        let bench = Bench::new();
        let record = ["record", "--simulate", "--count", "2", "-o", "x.trace"];
        let output = bench.fine(&[], &[&record, options].concat());
        let told = stderr(&output);
        let warnings = told.lines().filter(|line| line.contains(" ignores "));
        let warnings: Vec<&str> = warnings.collect();
        let expected =
            expected.map(|options| format!("warning: a simulated recording ignores {options}"));
        assert_eq!(warnings, expected.as_slice(), "{told}");
    };
    check(&["--time-limit", "5s"], None);
    check(&["--cpu"], Some("--cpu"));
    check(
        &["--shader-timeline", "--cpu"],
        Some("--cpu and --shader-timeline"),
    );
    check(
        &[
            "--instrument",
            "Metal Application",
            "--counters",
            "--no-signposts",
        ],
        Some("--instrument, --counters and --no-signposts"),
    );
    check(&["--template", "Time Profiler"], Some("--template"));
}

#[test]
fn every_output_says_that_the_recording_is_simulated() {
    let bench = Bench::new();
    let output = bench.fine(&[], &["record-and-analyze", "--simulate"]);
    let folder = bench.here().join("eager.report");
    let expected = [
        "charts",
        "eager.recording.json",
        "eager.trace",
        "eager.work.json",
        "manifest.json",
        "report.html",
        "report.json",
        "report.md",
    ];
    assert_eq!(names(&folder), expected);
    assert!(stderr(&output).contains("SIMULATED: a fake xctrace made this recording"));
    let screen = stdout(&output);
    assert!(
        screen.starts_with("SIMULATED: no GPU ran\n"),
        "the output of the workload"
    );
    assert!(screen.contains("SYNTHETIC: a simulator wrote this recording"));
    assert!(screen.contains("Biggest win: "), "a verdict");
    assert_eq!(json(&folder.join("report.json"))["run"]["synthetic"], true);
    assert_eq!(
        json(&folder.join("eager.recording.json"))["synthetic"],
        true
    );
    assert_eq!(
        json(&folder.join("eager.work.json"))["device"],
        "SIMULATED: no GPU ran"
    );
    for page in ["report.md", "report.html"] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains("SYNTHETIC"), "{page}");
    }
    let manifest = json(&folder.join("manifest.json"));
    assert_eq!(json(&folder.join("report.json"))["run"]["synthetic"], true);
    let pictures = manifest["files"].as_array().unwrap().iter();
    let are_marked: Vec<bool> = pictures
        .filter_map(|file| file["picture"]["alt"].as_str())
        .map(|alt| alt.contains("SYNTHETIC"))
        .collect();
    assert_eq!(are_marked, [true; 8]);
    let schema = bench.fine(&[], &["schema", "recording"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&json(&folder.join("eager.recording.json"))));
}

/// The fused workload has one kernel instead of four.
#[test]
fn fusion_reduces_the_work_and_the_time_to_a_quarter() {
    let bench = Bench::new();
    let report = |workload: &str| {
        let name = format!("{workload}.report");
        bench.fine(
            &[],
            &[
                "record-and-analyze",
                "--simulate",
                "--workload",
                workload,
                "-q",
            ],
        );
        json(&bench.here().join(name).join("report.json"))
    };

    let (eager, fused) = (report("eager"), report("fused"));
    let number = |report: &Value, pointer: &str| report.pointer(pointer).unwrap().as_u64().unwrap();
    let both = |pointer: &str| (number(&eager, pointer), number(&fused, pointer));

    // Both programs wait for each interval, so that a gap precedes all but the first.
    for pointer in [
        "/counts/intervals",
        "/counts/command_buffers",
        "/counts/encoders",
    ] {
        let (eager, fused) = both(pointer);
        assert_eq!(eager, 4 * fused, "{pointer}");
        assert_eq!(
            number(
                &json(&bench.here().join("eager.report/report.json")),
                "/gaps/count"
            ),
            eager - 1
        );
    }
    assert_eq!(both("/counts/kernels"), (4, 1));
    let (eager_gaps, fused_gaps) = both("/gaps/count");
    assert_eq!(eager_gaps + 1, 4 * (fused_gaps + 1));
    let (eager_time, fused_time) = both("/window/span_ns");
    assert!(eager_time > 3 * fused_time, "{eager_time} {fused_time}");
    let (eager_idle, fused_idle) = both("/gaps/total_ns");
    assert!(eager_idle > 3 * fused_idle, "{eager_idle} {fused_idle}");

    let arguments = [
        "chart",
        "-q",
        "--base",
        "eager.report/eager.trace",
        "fused.report/fused.trace",
        "-o",
        "both.svg",
    ];
    bench.fine(&[], &arguments);
    let picture = fs::read_to_string(bench.here().join("both.svg")).unwrap();
    assert!(
        picture.contains("SYNTHETIC") || picture.contains("simulator"),
        "the picture says so"
    );
}

/// Returns the paths of all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let all = names(folder).into_iter().map(|name| folder.join(name));
    let mut files: Vec<PathBuf> = all
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    files.sort();
    files
}

/// The report is, to the byte, what `analyze -o` writes.
#[test]
fn the_outputs_are_those_of_record_and_analyze() {
    let bench = Bench::new();
    let options = ["--count", "20", "--show-names", "--step=2"];
    let first = bench.fine(&[], &[&ALL[..], &options].concat());
    let analyzed = [
        "analyze",
        "out/eager.trace",
        "-o",
        "again",
        "--show-names",
        "--step=2",
    ];
    let again = bench.fine(&[], &analyzed);
    assert!(stdout(&first).ends_with(&stdout(&again)), "the screen");
    let of = |folder: &str| {
        let folder = bench.here().join(folder);
        let all = files(&folder).into_iter();
        let relative = all.map(|file| file.strip_prefix(&folder).unwrap().to_owned());
        relative.collect::<Vec<_>>()
    };

    let (first, again) = (of("out"), of("again"));
    let is_report = |file: &&PathBuf| {
        !file.starts_with("eager.trace") && !file.to_string_lossy().starts_with("eager.")
    };

    assert_eq!(
        first.iter().filter(is_report).collect::<Vec<_>>(),
        again.iter().collect::<Vec<_>>()
    );
    for file in again {
        let bytes = |folder: &str| fs::read(bench.here().join(folder).join(&file)).unwrap();
        assert!(bytes("out") == bytes("again"), "{}", file.display());
    }
}

/// The recorder's own analysis serves for a report without options: it is, to the byte, what `analyze`
/// writes.
#[test]
fn a_report_without_options_is_that_of_analyze() {
    let bench = Bench::new();
    let program = ["./bench", "-c", "exit 0"];
    bench.fine(
        &[],
        &[
            &["record-and-analyze", "-q", "-o", "out", "--"],
            &program[..],
        ]
        .concat(),
    );
    bench.fine(&[], &["analyze", "-q", "out/bench.trace", "-o", "again"]);
    for name in ["report.json", "report.html", "manifest.json"] {
        let bytes = |folder: &str| fs::read(bench.here().join(folder).join(name)).unwrap();
        assert!(bytes("out") == bytes("again"), "{name}");
    }
}

/// The output of the recorded program goes to stderr.
#[test]
fn with_json_stdout_has_only_the_report() {
    let bench = Bench::new();
    let script = "printf 'loud, and no end'; echo '{}' >&2";
    let arguments = [
        "record-and-analyze",
        "--json",
        "-o",
        "out",
        "--",
        "./bench",
        "-c",
        script,
    ];
    let output = bench.fine(&[], &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["process"]["name"], "bench");
    assert_eq!(report, json(&bench.here().join("out/report.json")));
    assert!(stderr(&output).contains("loud, and no end"));
}

#[test]
fn a_missed_limit_exits_with_5() {
    let missed = "[gate.metrics]\n\"busy.ratio\" = { min = 0.99 }\n";
    let met = "[gate.metrics]\n\"busy.ratio\" = { min = 0.0001 }\n\"gaps.mean_ns\" = { max = \"1s\" }\n\
        \"efficiency.of_program\" = { min = 0.0001 }\n";
    each(&[(missed, 5), (met, 0)], |(limits, code)| {
        let bench = Bench::new();
        fs::write(bench.here().join("limits.toml"), limits).unwrap();
        let gated = ["--count", "3", "-q", "--gate=limits.toml"];
        let output = bench.run(&[], &[&ALL[..], &gated].concat());
        assert_eq!(output.status.code(), Some(*code), "{}", stderr(&output));
        let report = bench.json("out/report.json");
        assert_eq!(report["gate"]["missed"], *code == 5, "{limits}");
    });
}

/// A folder that existed stays, and an incomplete bundle is kept in the new folder.
#[test]
fn a_failed_recording_leaves_no_new_folder_without_files() {
    let run = |misbehave: &str, output: &str, bench: &Bench| {
        let settings = format!("MISBEHAVE={misbehave}");
        let arguments = [
            "record-and-analyze",
            "--simulate",
            "--count",
            "2",
            "-o",
            output,
        ];
        bench.run(&[&settings], &arguments).status.code()
    };

    let check = |misbehave: &str, output: &str, code: i32, left: &[&str]| {
        let bench = Bench::new();
        assert_eq!(run(misbehave, output, &bench), Some(code), "{misbehave}");
        let all = files(&bench.here());
        let is_program = |file: &PathBuf| file.ends_with("bench");
        let tops: Vec<_> = all.iter().filter(|file| !is_program(file)).collect();
        assert_eq!(tops.is_empty(), left.is_empty(), "{misbehave}: {tops:?}");
        let top = names(&bench.here());
        let expected = if left.is_empty() {
            vec!["bench"]
        } else {
            vec!["bench", "new"]
        };
        assert_eq!(top, expected, "{misbehave}");
        if !left.is_empty() {
            assert_eq!(names(&bench.here().join(output)), left, "{misbehave}");
        }
    };

    check("attach-refused", "new", 1, &[]);
    check("silent", "new/and/deep", 1, &[]);
    check("no-xcode", "new", 3, &[]);
    check(
        "exit-54-stub",
        "new/and/deep",
        4,
        &["eager.incomplete.trace"],
    );
    check("no-target-rows", "new", 4, &["eager.empty.trace"]);

    let bench = Bench::new();
    fs::create_dir(bench.here().join("mine")).unwrap();
    assert_eq!(run("attach-refused", "mine", &bench), Some(1));
    assert_eq!(names(&bench.here()), ["bench", "mine"]);
}

#[test]
fn invalid_requests_are_refused_before_recording() {
    let bench = Bench::new();
    bench.fine(&[], &[&ALL[..], &["--count", "2", "-q"]].concat());
    let before = files(&bench.here());
    let check = |more: &[&str], code: i32, expected: &str| {
        let _ = fs::remove_file(bench.path("log"));
        let output = bench.run(&[], &[&["record-and-analyze", "--simulate"], more].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("xctrace prepares"), "{said}");
        assert_eq!(files(&bench.here()), before);
    };

    check(&["-o", "out"], 1, "exists; --force replaces it");
    check(
        &["-o", "new", "--from", "2s", "--to", "1s"],
        2,
        "--from must lie before --to",
    );
    check(&["-o", "new", "--gate=no-such.toml"], 2, "no-such.toml");
    check(&["-o", "new", "--workload", "no-such"], 2, "no-such");
    check(&["-o", "bench"], 1, "bench");
}
