//! Tests outputs of `analyze` besides the screen: Markdown, gaps as CSV, Perfetto traces.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{export_of, metalens, stderr, stdout, transcript, with_scenario};

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures");
    root.join(name).display().to_string()
}

/// Snapshots of a page with many findings and of one without.
#[test]
fn markdown_pages() {
    let all_well = fixture("findings/all-well/scenario.toml");
    for (name, scenario) in [("eager", "eager"), ("all-well", &all_well)] {
        let folder = with_scenario(scenario);
        let arguments = ["analyze", &export_of(scenario), "--markdown"];
        let output = metalens(folder.path(), &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_snapshot!(format!("markdown-{name}"), stdout(&output));
    }
}

/// Every row of a table has as many cells as its heading, and blank lines surround tables.
#[test]
fn markdown_tables_are_well_formed() {
    for scenario in ["awkward", "eager", "renderer", "shared-machine"] {
        let folder = with_scenario(scenario);
        let page = stdout(&metalens(
            folder.path(),
            &["analyze", scenario, "--markdown"],
        ));
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = page.lines().collect();
        let mut tables = 0;
        for pair in lines.windows(2) {
            match (pair[0].starts_with('|'), pair[1].starts_with('|')) {
                (true, true) => assert_eq!(cells(pair[0]), cells(pair[1]), "{}", pair[1]),
                (false, true) => {
                    tables += 1;
                    assert_eq!(
                        pair[0], "",
                        "a table begins after a blank line: {}",
                        pair[1]
                    );
                }
                (true, false) => assert_eq!(pair[1], "", "and ends before one: {}", pair[0]),
                (false, false) => {}
            }
        }
        assert!(tables >= 5, "{scenario}: {tables}");
        assert!(
            !page.contains("\n\n\n"),
            "{scenario}: two blank lines\n{page}"
        );
        assert!(page.ends_with("</sub>\n"), "{scenario}");
    }
}

/// Pages name neither other processes nor folders by default; JSON has both.
#[test]
fn pages_name_other_processes_only_with_show_names() {
    let folder = with_scenario("awkward");
    let input = folder.path().join("awkward");
    let input = input.to_str().unwrap();
    let secrets = [
        folder.path().to_str().unwrap(),
        "Helper (GPU) (Renderer)",
        "Compositor",
    ];
    let run = |arguments: &[&str]| {
        let output = metalens(folder.path(), &[&["analyze", input], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };

    run(&["-o", "out"]);
    let file = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    for page in [run(&["--markdown"]), file("report.md")] {
        for secret in secrets {
            assert!(!page.contains(secret), "{secret} in\n{page}");
        }
        assert!(page.contains("| Recording | `awkward`, run 1 |"), "{page}");
        assert!(page.contains("| `other process 1` |"), "{page}");
        assert!(
            page.contains("- other process 1, on the GPU for "),
            "in a finding's places:\n{page}"
        );
        assert!(page.contains("Übung"), "{page}");
        assert!(page.contains("--show-names"), "{page}");
    }
    let full = run(&["--markdown", "--show-names"]);
    assert!(full.contains("| `Helper (GPU) (Renderer)` |"), "{full}");
    assert!(!full.contains("other process 1"), "{full}");
    assert!(file("report.json").contains("Helper (GPU) (Renderer)"));
}

/// The existing file is unchanged, and no other file is written.
#[test]
fn an_existing_file_stops_all_outputs_without_force() {
    let folder = with_scenario("eager");
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("report.md"), "mine").unwrap();
    let arguments = ["analyze", "eager", "-o", "out", "--gaps", "gaps.csv"];
    let refused = metalens(folder.path(), &arguments);
    assert_snapshot!(transcript(&refused));
    assert_eq!(fs::read_to_string(out.join("report.md")).unwrap(), "mine");
    assert!(!out.join("report.json").exists());
    assert!(!folder.path().join("gaps.csv").exists());
    let forced = metalens(folder.path(), &[&arguments[..], &["--force"]].concat());
    assert!(forced.status.success(), "{}", stderr(&forced));
    assert_ne!(fs::read_to_string(out.join("report.md")).unwrap(), "mine");
}

#[test]
fn outputs_take_one_input() {
    let folder = with_scenario("eager");
    for file in [
        ["-o", "out"],
        ["--gaps", "gaps.csv"],
        ["--perfetto", "p.json"],
        ["--html", "page.html"],
    ] {
        let arguments = [&["analyze", "eager", "eager"], &file[..]].concat();
        let output = metalens(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            stderr(&output),
            "error: --output, --html, --open, --gaps and --perfetto take one input, not 2; `metalens batch` writes a folder for each\n"
        );
        assert!(!folder.path().join(file[1]).exists());
    }
}

#[test]
fn perfetto_traces_have_every_interval_and_need_force_to_overwrite() {
    let folder = with_scenario("awkward");
    let file = folder.path().join("p.json");
    let arguments = ["analyze", "awkward", "--json", "--perfetto", "p.json"];
    let first = metalens(folder.path(), &arguments);
    assert!(first.status.success(), "{}", stderr(&first));
    let plain = metalens(folder.path(), &["analyze", "awkward", "--json"]);
    assert_eq!(first.stdout, plain.stdout);
    let report: Value = serde_json::from_slice(&first.stdout).unwrap();
    let trace = fs::read(&file).unwrap();
    let trace: Value = serde_json::from_slice(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let intervals = events.iter().filter(|event| event["cat"] == "gpu");
    assert_eq!(report["counts"]["intervals"], intervals.count());

    fs::write(&file, "mine").unwrap();
    let refused = metalens(folder.path(), &arguments);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        stderr(&refused),
        "error: p.json exists; --force replaces it\n"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let forced = metalens(folder.path(), &[&arguments[..], &["--force"]].concat());
    assert!(forced.status.success(), "{}", stderr(&forced));
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
}

/// The sum of each cause is the report's.
#[test]
fn the_gaps_in_the_csv_sum_to_the_idle_time() {
    for scenario in ["eager", "awkward"] {
        let folder = with_scenario(scenario);
        let arguments = ["analyze", scenario, "--json", "--gaps", "gaps.csv"];
        let output = metalens(folder.path(), &arguments);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = fs::read_to_string(folder.path().join("gaps.csv")).unwrap();
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        assert_eq!(report["gaps"]["count"], rows.len());
        let number = |row: &[&str], at: usize| row[at].parse::<u64>().unwrap();
        let sum = |at: usize| rows.iter().map(|row| number(row, at)).sum::<u64>();
        let parts = names
            .iter()
            .enumerate()
            .filter(|(index, name)| *index > 2 && name.ends_with("_ns"));
        let parts: Vec<usize> = parts.map(|(at, _)| at).collect();
        assert_eq!(parts.len(), 10);
        for &at in &parts {
            assert_eq!(report["idle"][names[at]], sum(at), "{}", names[at]);
        }
        assert_eq!(names[1], "duration_ns");
        assert_eq!(report["idle"]["total_ns"], sum(1));
        for row in &rows {
            let whole = parts.iter().map(|&at| number(row, at)).sum::<u64>();
            assert_eq!(number(row, 1), whole, "{row:?}");
        }
        assert_eq!(
            report["idle"]["serialized"],
            rows.iter().filter(|row| row[13] == "true").count()
        );
        assert_eq!(names[13], "serialized");
    }
}

/// The encoder list lost rows: the recording is read again with a table that has them.
#[test]
fn lost_encodings_are_recovered_from_another_table() {
    let folder = metalens_testing::scratch();
    let scenario = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 40
duration = "10us"
gap = "0ns"
host = "20us"
encode = "6us"
launch = "40us"
completion = "40us"
submit = "sync"
encoder-label = ["sin", "cos"]

[process.stream.oddities]
lose-encoder-every = 5
"#;
    fs::write(folder.path().join("lost.toml"), scenario).unwrap();
    let written = metalens(folder.path(), &["synth", "lost.toml", "-o", "lost"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let idle_and_notes = |input: &str| {
        let output = metalens(folder.path(), &["analyze", input, "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report["idle"].clone(), report["notes"].to_string())
    };

    let (found, notes) = idle_and_notes("lost");
    assert_eq!(found["recovered"]["from_intervals"], 8);
    assert_eq!(found["joinable"], found["pairs"]);
    assert!(
        notes.contains("8 were found in metal-application-intervals"),
        "{notes}"
    );
    fs::remove_file(folder.path().join("lost/metal-application-intervals.xml")).unwrap();
    let submissions = "lost/metal-application-command-buffer-submissions.xml";
    if folder.path().join(submissions).exists() {
        fs::remove_file(folder.path().join(submissions)).unwrap();
    }
    let (lost, notes) = idle_and_notes("lost");
    assert_eq!(lost["recovered"], Value::Null);
    assert_eq!(lost["without_encoding"], 8);
    assert!(
        notes.contains("the encoding after 8 of 39 gaps is not recorded"),
        "{notes}"
    );
}

#[test]
fn a_broken_table_is_a_note_unless_the_analysis_needs_it() {
    let folder = with_scenario("eager");
    let whole = metalens(folder.path(), &["analyze", "eager", "--json"]);
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    let file = folder
        .path()
        .join("eager/device-thermal-state-intervals.xml");
    assert!(file.exists());
    fs::write(&file, "<trace-query-result><node>").unwrap();
    let output = metalens(folder.path(), &["analyze", "eager", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("device-thermal-state-intervals"), "{notes}");
    assert_eq!(report["machine"]["thermal"], Value::Null);
    assert_eq!(report["idle"], whole["idle"]);
    fs::write(
        folder.path().join("eager/metal-gpu-intervals.xml"),
        "<trace",
    )
    .unwrap();
    let output = metalens(folder.path(), &["analyze", "eager"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}
