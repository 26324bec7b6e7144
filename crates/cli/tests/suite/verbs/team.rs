//! Tests what a team keeps: versions of frameworks, thresholds beside their reference, findings with
//! their effort, what changed since the last page, and the same work across chips.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalens_simulator::{Scenario, write_export};
use serde_json::Value;

use super::record::Bench;
use crate::{metalens, stderr, stdout};

/// Writes the recording of a night: the same work on any chip, with gaps of this length.
fn night(folder: &Path, name: &str, gpu: &str, day: u32, gap_us: u32) {
    let counters = if gpu.ends_with('5') {
        "counter = [\n\
         { name = \"GPU Read Bandwidth\", unit = \"gigabytes-per-second\", busy = 90, period = \"50us\" },\n\
         { name = \"GPU Write Bandwidth\", unit = \"gigabytes-per-second\", busy = 30, period = \"50us\" },\n\
         ]\n"
    } else {
        ""
    };
    let scenario = format!(
        "seed = {day}\n[recording]\ngpu = \"{gpu}\"\nmodel = \"Mac of {gpu}\"\n{counters}\
         [[process]]\nname = \"infer\"\npid = 4321\nrole = \"target\"\n[[process.stream]]\n\
         count = 40\nsubmit = \"sync\"\nduration = \"300us\"\nencoder-label = \"matmul\"\n\
         completion = \"20us\"\nhost = [\"{gap_us}us\", \"{}us\"]\nencode = \"5us\"\nlaunch = \"20us\"\n",
        gap_us + 1
    );
    let export = folder.join("runs").join(name);
    write_export(&Scenario::from_toml(&scenario).unwrap(), &export, false).unwrap();
    let toc = export.join("toc.xml");
    let text = fs::read_to_string(&toc).unwrap();
    let dated = text.replace("2026-01-01T", &format!("2026-01-{day:02}T"));
    fs::write(toc, dated).unwrap();
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap()
}

/// Returns the page without its last line, which has the version.
fn page(folder: &Path, file: &str) -> String {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.contains("metalens.index/"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_page_says_what_changed_and_puts_chips_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let batch = || {
        let arguments = [
            "batch",
            "runs",
            "-o",
            "out",
            "--threshold",
            "average-gap=70us",
        ];
        let output = metalens(here, &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    for day in 1..=5 {
        night(here, &format!("m2-{day}"), "Apple M2", day, 10 + day);
    }
    batch();
    let first = json(here, "out/index.json");
    assert_eq!(first["since"], Value::Null);
    assert_eq!(first["devices"], serde_json::json!([]));

    // The nights on the M5 are the same work, and those on the M2 have become slower.
    for day in 6..=9 {
        night(here, &format!("m2-{day}"), "Apple M2", day, 60 + day);
        night(here, &format!("m5-{day}"), "Apple M5", day, day);
    }
    let screen = batch();
    assert!(screen.contains("Since the last page"), "{screen}");
    insta::assert_snapshot!("page", page(here, "out/index.md"));

    let index = json(here, "out/index.json");
    let since = &index["since"];
    assert_eq!(since["recordings"], 5);
    assert_eq!(since["added"].as_array().unwrap().len(), 8);
    let [slower] = since["groups"].as_array().unwrap().as_slice() else {
        panic!("{since}")
    };
    // Each of 39 gaps is 53 µs longer, as the scenarios say.
    let grown = slower["window"]["absolute"].as_f64().unwrap();
    assert!(
        (39.0 * 50_000.0..39.0 * 56_000.0).contains(&grown),
        "{grown}"
    );
    assert_eq!(slower["window"]["class"], "grown");
    assert_eq!(slower["busy"]["class"], "unchanged");

    let [work] = index["devices"].as_array().unwrap().as_slice() else {
        panic!("{}", index["devices"])
    };
    let chips = work["devices"].as_array().unwrap();
    let bandwidth = |at: usize| chips[at]["bandwidth_gb_per_s"].as_f64();
    assert_eq!(bandwidth(0), None);
    // 90 and 30 GB/s while a kernel runs; a sample may reach into a gap.
    let counted = bandwidth(1).unwrap();
    assert!((100.0..=120.0).contains(&counted), "{counted}");
    for chip in chips {
        let idle = chip["idle"].as_object().unwrap().values();
        let idle: u64 = idle.map(|ns| ns.as_u64().unwrap()).sum();
        let whole = idle + chip["busy_ns"].as_u64().unwrap();
        assert_eq!(Some(whole), chip["span_ns"].as_u64(), "{chip}");
    }
    let html = fs::read_to_string(here.join("out/index.html")).unwrap();
    assert!(html.contains("class=\"times\"") && html.contains("id=\"chips-table\""));

    // Nothing is new: the page still says what the last change was.
    let before = page(here, "out/index.html");
    batch();
    assert_eq!(page(here, "out/index.html"), before);

    // A recording that is gone is named.
    fs::remove_dir_all(here.join("runs/m5-9")).unwrap();
    batch();
    let since = &json(here, "out/index.json")["since"];
    assert_eq!(since["left_out"], serde_json::json!(["m5-9"]));
}

/// Makes an environment of Python with this version of MLX. Its Python is the shell of the bench.
fn environment(bench: &Bench, name: &str, mlx: &str) {
    let root = bench.here().join(name);
    let package = format!("lib/python3.12/site-packages/mlx-{mlx}.dist-info");
    for folder in ["bin", &package] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    let metadata =
        format!("Metadata-Version: 2.1\nName: mlx\nVersion: {mlx}\n\nAn array framework");
    fs::write(root.join(package).join("METADATA"), metadata).unwrap();
    symlink(bench.here().join("bench"), root.join("bin/python")).unwrap();
}

#[test]
fn versions_of_frameworks_are_recorded_shown_and_compared() {
    let bench = Bench::new();
    environment(&bench, "old", "0.28.0");
    environment(&bench, "new", "0.29.1");
    for name in ["old", "new"] {
        let (bundle, python) = (format!("{name}.trace"), format!("{name}/bin/python"));
        bench.fine(
            &[],
            &["record", "-o", &bundle, "--", &python, "-c", "exit 0"],
        );
    }
    let recording = bench.json("new.recording.json");
    let mlx = serde_json::json!([
        { "package": "mlx", "version": "0.29.1", "source": "python-package" }
    ]);
    assert_eq!(recording["frameworks"], mlx);
    assert_eq!(bench.report("new.trace")["run"]["frameworks"], mlx);

    let output = bench.run(
        &[],
        &["compare", "old.trace", "new.trace", "--allow-different"],
    );
    let seen = bench
        .seen(&output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let note = "different versions of mlx: base 0.28.0, new 0.29.1; a change may come from it";
    assert!(seen.contains(note), "{seen}");

    // The fake xctrace records the same run twice, which counts once in a batch of both.
    let page = || {
        bench.fine(&[], &["batch", "old.trace", "-o", "out"]);
        fs::read_to_string(bench.here().join("out/index.md")).unwrap()
    };
    assert!(page().contains("mlx 0.28.0"), "{}", page());

    // The file beside a recording is a part of it.
    fs::remove_file(bench.here().join("old.recording.json")).unwrap();
    let without = page();
    assert!(!without.contains("mlx 0.28.0"), "{without}");
    assert!(without.contains("not known"), "{without}");
}

#[test]
fn a_benchmark_has_environments_and_its_last_page() {
    let bench = Bench::new();
    environment(&bench, "old", "0.28.0");
    environment(&bench, "new", "0.29.1");
    let run = |runs: &str| {
        let commands = ["old/bin/python -c 'exit 0'", "new/bin/python -c 'exit 0'"];
        let names = [
            "-n", "old", "-n", "new", "--gate", "-o", "out", "--runs", runs,
        ];
        let arguments = [&["bench", "--simulate"], &commands[..], &names].concat();
        let output = bench.run(&[], &arguments);
        assert!(
            bench.here().join("out/bench.json").is_file(),
            "{}",
            bench.seen(&output)
        );
        bench.json("out/bench.json")
    };
    let first = run("2");
    let environments = first["environments"].as_array().unwrap();
    let versions: Vec<&str> = environments
        .iter()
        .map(|one| one["frameworks"][0]["version"].as_str().unwrap())
        .collect();
    assert_eq!(versions, ["0.28.0", "0.29.1"]);
    assert_eq!(environments[1]["of"], serde_json::json!(["new"]));
    let warnings = first["warnings"].to_string();
    assert!(
        warnings.contains("versions of mlx differ: old 0.28.0, new 0.29.1"),
        "{warnings}"
    );
    assert_eq!(first["last"], Value::Null);
    let page = fs::read_to_string(bench.here().join("out/bench.md")).unwrap();
    for part in [
        "## Environment",
        "mlx 0.29.1",
        "Reference: old",
        "## Findings and their effort",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }

    let second = run("3");
    assert_eq!(second["last"]["runs"], 4);
    assert_eq!(second["last"]["verdict"], first["verdict"]);
    // Nothing was added: the page still says what the last change was.
    assert_eq!(run("3")["last"]["runs"], 4);
}
