//! Tests `metalens analyze`: the screen, the JSON, and the options.

mod existing_folder;
pub(crate) mod folder;
mod html;
mod known_work;
mod output_files;
mod refused_inputs;
mod settings;

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{command, export_of, metalens, stderr, stdout, transcript, with_scenario};

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["analyze", "--json"], arguments].concat();
    let output = metalens(folder, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "with --json, nothing else is printed");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Snapshots for people to read, one for each built-in scenario.
#[test]
fn screen_of_each_scenario() {
    let presets = metalens_simulator::presets()
        .iter()
        .map(|preset| preset.name);
    for name in presets.filter(|name| *name != "million") {
        let folder = with_scenario(name);
        let output = metalens(folder.path(), &["analyze", name, "--full"]);
        assert_snapshot!(format!("screen-{name}"), transcript(&output));
    }
}

/// Snapshots of the first screen, one for each built-in scenario. It fits forty lines.
#[test]
fn first_screen_of_each_scenario() {
    let presets = metalens_simulator::presets()
        .iter()
        .map(|preset| preset.name);
    for name in presets.filter(|name| *name != "million") {
        let folder = with_scenario(name);
        let output = metalens(folder.path(), &["analyze", name]);
        let lines = stdout(&output).lines().count();
        assert!(lines <= 40, "{name}: {lines} lines");
        assert_snapshot!(format!("brief-{name}"), transcript(&output));
    }
}

/// Errors that may make results wrong stand before every number, on every page.
#[test]
fn errors_of_command_buffers_stand_first() {
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../fixtures/findings/command-buffer-errors/fires.toml"
    );
    let folder = with_scenario(fixture);
    let first = "Command buffers ended in an error; read MTLCommandBuffer.error: results may be \
                 wrong.";
    for options in [&[][..], &["--full"], &["--markdown"]] {
        let output = metalens(folder.path(), &[&["analyze", "fires"], options].concat());
        let page = stdout(&output);
        let mut lines = page.lines();
        let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        assert!(line.unwrap().contains(first), "{options:?}: {page}");
    }
    let report = json(folder.path(), &["fires"]);
    assert_eq!(report["findings"][0]["id"], "command-buffer-errors");
    let gains = report["findings"].as_array().unwrap()[1..].iter();
    assert!(
        gains
            .clone()
            .any(|one| one["gain"]["saves_ns"].as_u64() > Some(0))
    );
}

/// A table alone names no process: the first lines say which one was taken, and how to take another.
#[test]
fn a_guessed_process_is_said_at_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let table = "fixtures/small-export/metal-gpu-intervals.xml";
    let screen = stdout(&metalens(&root, &["analyze", table]));
    let first = screen.split("\n\n").next().unwrap();
    let expected = "o process was named, so this report is about the one that kept the GPU busy \
                    longest, Compositor; choose another with --process";
    assert!(first.replace('\n', " ").contains(expected), "{screen}");
}

/// The same wait is a finding however busy the GPU is: what it can save grades it, and no share of busy
/// time silences it.
#[test]
fn a_busy_gpu_silences_no_finding() {
    let folder = metalens_testing::scratch();
    for (work_us, severity) in [
        (50, "high"),
        (600, "high"),
        (700, "high"),
        (900, "high"),
        (4_000, "medium"),
    ] {
        let scenario = format!(
            "[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n[[process.stream]]\n\
             count = 40\nsubmit = \"sync\"\nencoder-label = \"matmul\"\nduration = \"{work_us}us\"\n\
             completion = [\"62us\", \"68us\"]\n"
        );
        fs::write(folder.path().join("x.toml"), scenario).unwrap();
        let written = metalens(folder.path(), &["synth", "x.toml", "-o", "x", "--force"]);
        assert!(written.status.success(), "{}", stderr(&written));
        let report = json(folder.path(), &["x"]);
        let finding = &report["findings"][0];
        assert_eq!(finding["id"], "serialized", "{work_us}: {finding}");
        assert_eq!(finding["severity"], severity, "{work_us}: {finding}");
        assert!(
            report["summary"]["advice"]["text"]
                .as_str()
                .unwrap()
                .starts_with("Biggest win: ")
        );
    }
}

/// A length that the recording does not tell is left out of every page, and is null in JSON.
#[test]
fn an_unknown_length_of_the_recording_is_not_a_dash() {
    const SHARE: &str = "of the whole recording";
    let folder = with_scenario("eager");
    let page = || {
        let arguments = [
            "analyze",
            "eager",
            "--html",
            "page.html",
            "--force",
            "--json",
        ];
        let report = stdout(&metalens(folder.path(), &arguments));
        let report: Value = serde_json::from_str(&report).unwrap();
        let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
        (html, report["efficiency"]["of_wall"].clone())
    };
    let (html, share) = page();
    assert!(share.is_number() && html.contains(SHARE));

    let toc = folder.path().join("eager/toc.xml");
    let text = fs::read_to_string(&toc).unwrap();
    let (before, rest) = text.split_once("<duration>").unwrap();
    let (_, after) = rest.split_once("</duration>").unwrap();
    fs::write(&toc, format!("{before}{after}")).unwrap();
    let (html, share) = page();
    assert!(share.is_null() && !html.contains(SHARE), "{share}");
    assert!(html.contains("from first encoding to last completion"));
}

#[test]
fn sections_rows_and_order_are_chosen() {
    let folder = with_scenario("eager");
    let screen = |arguments: &[&str]| {
        let output = metalens(folder.path(), &[&["analyze", "eager"], arguments].concat());
        transcript(&output)
    };
    assert_snapshot!(screen(&[
        "--section",
        "kernels",
        "--section",
        "gaps",
        "--top",
        "2",
        "--sort",
        "name"
    ]));
    assert_snapshot!(screen(&[
        "--section",
        "kernels",
        "--format",
        "csv",
        "--sort",
        "med"
    ]));
    let idle = screen(&["--section", "idle", "--format", "csv"]);
    assert!(idle.contains("cause,time (ns),share,meaning\n"), "{idle}");

    for (arguments, expected) in [
        (
            &["--section", "kernel"][..],
            "no section kernel; did you mean `kernels`? it has verdict",
        ),
        (&["--sort", "size"], "no column size; it has cause, "),
        (
            &["--format", "csv"],
            "choose it with --section and one of step, idle, ",
        ),
        (&["--gate"], "--gate has no limit for a recording alone"),
    ] {
        let output = metalens(folder.path(), &[&["analyze", "eager"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

/// The sums of the CSV are those of the report, to the nanosecond.
#[test]
fn the_csv_of_kernels_is_exact() {
    let folder = with_scenario("eager");
    let report = json(folder.path(), &["eager"]);
    let arguments = [
        "analyze",
        "eager",
        "--section",
        "kernels",
        "--format",
        "csv",
    ];
    let csv = stdout(&metalens(folder.path(), &arguments));
    let mut lines = csv.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("time,total (ns),instances")
    );
    let totals = lines.map(|line| line.split(',').nth(1).unwrap().parse::<u64>().unwrap());
    let kernels = report["kernels"].as_array().unwrap().iter();
    let expected = kernels.map(|kernel| kernel["total_ns"].as_u64().unwrap());
    assert_eq!(totals.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    let presets = metalens_simulator::presets()
        .iter()
        .map(|preset| preset.name.to_owned());
    let presets = presets.filter(|name| !["million", "no-target-rows"].contains(&name.as_str()));
    for name in presets.chain(findings_scenarios()) {
        let folder = with_scenario(&name);
        for more in [&["--full"][..], &[]] {
            let export = export_of(&name);
            let arguments = [&["analyze", export.as_str()], more].concat();
            let output = metalens(folder.path(), &arguments);
            assert!(output.status.success(), "{name}: {}", stderr(&output));
            // Away from a terminal names are not shortened: only their lines may be longer.
            let names = kernel_names(folder.path(), &export);
            let is_named = |line: &str| {
                let is_heading = line.trim_start().starts_with("time ") && line.contains(" name ");
                is_heading || names.iter().any(|name| line.contains(name))
            };
            for line in stdout(&output).lines().filter(|line| !is_named(line)) {
                let width = unicode_width::UnicodeWidthStr::width(line);
                assert!(width <= 100, "{name}: {width} columns: {line}");
            }
        }
    }
}

/// Returns the names of kernels that have no room in a table of a hundred columns.
fn kernel_names(folder: &Path, export: &str) -> Vec<String> {
    let report = json(folder, &[export]);
    let kernels = report["kernels"].as_array().unwrap().iter();
    let names = kernels.map(|kernel| kernel["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.chars().count() > 15).collect()
}

/// Returns the scenarios that fire one finding each.
fn findings_scenarios() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/findings");
    let kinds = fs::read_dir(folder.canonicalize().unwrap()).unwrap();
    let files = kinds.map(|kind| kind.unwrap().path().join("fires.toml"));
    let files = files.filter(|file| file.is_file());
    files.map(|file| file.display().to_string()).collect()
}

#[test]
fn the_json_matches_its_schema() {
    let schema = metalens(Path::new("."), &["schema"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for name in ["eager", "awkward", "two-runs", "renderer"] {
        let folder = with_scenario(name);
        let mut report = json(folder.path(), &[name]);
        let errors: Vec<String> = schema.iter_errors(&report).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        report["gaps"]["count"] = "many".into();
        assert!(!schema.is_valid(&report), "the schema takes anything");
    }
}

#[test]
fn same_input_gives_same_bytes() {
    let folder = with_scenario("awkward");
    let once = metalens(folder.path(), &["analyze", "awkward", "--json"]);
    let again = metalens(folder.path(), &["analyze", "awkward", "--json"]);
    assert_eq!(once.stdout, again.stdout);
}

#[test]
fn one_table_from_standard_input_gives_the_same_figures_as_the_export() {
    let folder = with_scenario("eager");
    let table = folder.path().join("eager/metal-gpu-intervals.xml");
    let mut command = command(folder.path(), &["analyze", "-", "--json"]);
    let output = command.pipe_stdin(table).unwrap().output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let whole = json(folder.path(), &["eager"]);
    assert_eq!(report["source"]["path"], "-");
    assert_eq!(report["process"]["chosen_by"], "busiest");
    assert_eq!(report["run"]["synthetic"], true);
    assert_eq!(report["kernels"], whole["kernels"]);
    for figure in ["count", "total_ns", "median_ns", "max_ns", "histogram"] {
        assert_eq!(report["gaps"][figure], whole["gaps"][figure], "{figure}");
    }

    // Without the other tables the causes of idle time are unknown.
    let idle = &report["idle"];
    assert_eq!(idle["unknown_ns"], idle["total_ns"]);
    assert_eq!(report["busy"]["busy_ns"], whole["busy"]["busy_ns"]);
    assert_eq!(report["busy"]["machine_active_ns"], Value::Null);
}

#[test]
fn from_and_to_limit_the_window() {
    let folder = with_scenario("eager");
    let whole = json(folder.path(), &["eager"]);
    let part = json(folder.path(), &["eager", "--from", "750ms", "--to", "0.8s"]);
    assert_eq!(part["window"]["start_ns"], 750_000_000);
    assert_eq!(part["window"]["end_ns"], 800_000_000);
    assert_eq!(part["window"]["excluded"].as_array().unwrap().len(), 2);
    assert!(part["counts"]["intervals"].as_u64() < whole["counts"]["intervals"].as_u64());
    let output = metalens(folder.path(), &["analyze", "eager", "--from", "2s"]);
    assert_snapshot!(transcript(&output));
}

#[test]
fn run_selects_a_run_and_the_last_is_the_default() {
    let folder = with_scenario("two-runs");
    let last = json(folder.path(), &["two-runs"]);
    let first = json(folder.path(), &["two-runs", "--run", "1"]);
    assert_eq!(
        (&last["run"]["number"], &first["run"]["number"]),
        (&2.into(), &1.into())
    );
    let notes = last["notes"].to_string();
    assert!(
        notes.contains("the recording has runs 1, 2; this is run 2"),
        "{notes}"
    );
    assert!(!first["notes"].to_string().contains("this is run"));
}

/// The good inputs are reported; the failed one is an error, with exit code 1.
#[test]
fn a_failed_input_does_not_stop_the_others() {
    let folder = with_scenario("eager");
    let output = metalens(
        folder.path(),
        &["analyze", "eager", "nothing", "eager", "--json"],
    );
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports.as_array().unwrap().len(), 2);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("error: nothing: No such file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_pipe_gets_no_colors() {
    let folder = with_scenario("eager");
    let output = stdout(&metalens(folder.path(), &["analyze", "eager"]));
    assert!(!output.contains('\u{1b}'));
}

/// The window lists what is beside a step. The error of an unknown name lists the known ones.
#[test]
fn one_step_is_chosen_and_unknown_names_are_errors() {
    let folder = with_scenario("eager");
    let one = json(folder.path(), &["eager", "--step", "token=softmax:7"]);
    assert_eq!(one["selected_step"]["number"], 7);
    assert_eq!(one["counts"]["intervals"], 4);
    assert_eq!(one["window"]["excluded"][0]["why"]["text"], "before step 7");
    let output = metalens(folder.path(), &["analyze", "eager", "--step", "decode"]);
    assert_eq!(output.status.code(), Some(4));
    assert_snapshot!("no_such_step", transcript(&output));
}

/// A stored export, so that reader and writer cannot drift together.
#[test]
fn the_stored_export_gives_its_stored_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = root.join("fixtures/small-export");
    let truth = fs::read(folder.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let report = metalens(&root, &["analyze", "fixtures/small-export", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    for part in ["window", "counts", "busy", "gaps"] {
        for (key, value) in truth["runs"][0][part].as_object().unwrap() {
            assert_eq!(&report[part][key], value, "{part}.{key}");
        }
    }
}
