//! Tests how a recording treats files that exist: it keeps or replaces them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Bench, each, recording, stderr};

/// Returns every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    all
}

const OLD: &[&str] = &["record", "--simulate", "-o", "x.trace", "--count", "2"];

/// Records a bundled workload, with the files beside its bundle.
fn with_old() -> Bench {
    let bench = Bench::new();
    bench.fine(&[], OLD);
    assert_eq!(
        bench.disk(),
        "x.recording.json\nx.trace: whole\nx.work.json\n"
    );
    bench
}

#[test]
fn an_existing_bundle_is_kept() {
    let bench = with_old();
    let before = files(&bench.here());
    for more in [&[][..], &["--", "./bench", "-c", "exit 0"]] {
        let output = bench.run(&[], &[OLD, more].concat()[..]);

        // --count is only for a bundled workload.
        let code = if more.is_empty() { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    }
    let output = bench.run(&[], &recording(&[], "exit 0"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("exists; --force replaces it"));
    assert_eq!(files(&bench.here()), before);
}

#[test]
fn an_existing_bundle_survives_a_failed_recording() {
    let ways = [
        ("attach-refused", 1),
        ("silent", 1),
        ("output-exists", 1),
        ("exit-54-stub", 4),
        ("saves-stub", 4),
        ("no-target-rows", 4),
        ("disk-full", 4),
        ("saving-crashes", 4),
    ];
    each(&ways, |&(way, code)| {
        let bench = with_old();
        let before = files(&bench.here());
        let settings = format!("MISBEHAVE={way}");
        let output = bench.run(&[&settings], &[OLD, &["--force"]].concat());
        let seen = bench.seen(&output);
        assert_eq!(output.status.code(), Some(code), "{way}: {seen}");
        let is_kept = |path: &Path| {
            let path = path.display().to_string();
            path.contains("x.incomplete") || path.contains("x.empty")
        };
        let mut after = files(&bench.here());
        let all = after.len();
        after.retain(|path, _| !is_kept(path));
        assert_eq!(after.len() != all, code == 4, "{way}: {seen}");
        assert!(after == before, "{way}: {seen}");
    });
}

#[test]
fn force_replaces_the_bundle_and_the_files_beside_it() {
    let bench = with_old();
    let old = bench.json("x.work.json");
    let fused = [
        "record",
        "--simulate",
        "-o",
        "x.trace",
        "--workload",
        "fused",
        "--force",
    ];
    bench.fine(&[], &fused);
    assert_ne!(bench.json("x.work.json"), old);

    // The file of known work of another program is removed.
    bench.fine(&[], &recording(&["--force"], "exit 0"));
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
    assert_eq!(bench.report("x.trace")["process"]["name"], "bench");
}

/// The error comes before the recording.
#[test]
fn existing_files_beside_the_bundle_are_kept() {
    for name in ["x.recording.json", "x.work.json"] {
        let bench = Bench::new();
        let file = bench.here().join(name);
        fs::write(&file, "mine").unwrap();
        let check = |arguments: &[&str], code: i32| {
            let output = bench.run(&[], arguments);
            assert_eq!(output.status.code(), Some(code), "{}", bench.seen(&output));
            if code == 1 {
                let expected = format!("error: {name} exists; --force replaces it\n");
                assert_eq!(stderr(&output), expected);
                assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
                let log = fs::read_to_string(bench.path("log")).unwrap_or_default();
                assert!(!log.contains("record|"), "nothing was recorded: {log}");
            }
        };
        check(&recording(&[], "exit 0"), 1);
        check(OLD, 1);

        // Without --output, another free name is chosen.
        check(
            &[
                "record",
                "--simulate",
                "--count",
                "2",
                "--workload",
                "fused",
            ],
            0,
        );
        assert!(bench.here().join("fused.trace").exists());
        check(&recording(&["--force"], "exit 0"), 0);
        assert!(fs::read_to_string(&file).is_err() || name == "x.recording.json");
    }
}

/// The recorded program itself creates files with the names of the outputs. They and the recording
/// are kept.
#[test]
fn files_that_the_program_makes_meanwhile_are_kept() {
    let bench = Bench::new();
    let script = "mkdir x.trace && echo mine > x.trace/notes && echo mine > x.recording.json";
    let output = bench.run(&[], &recording(&[], script));
    let seen = bench.seen(&output);
    assert_eq!(output.status.code(), Some(1), "{seen}");
    assert!(seen.contains("It is kept as x.new.trace"), "{seen}");
    let text = |name: &str| fs::read_to_string(bench.here().join(name)).unwrap();
    assert_eq!(text("x.trace/notes"), "mine\n");
    assert_eq!(bench.report("x.new.trace")["process"]["name"], "bench");

    let bench = Bench::new();
    let output = bench.run(&[], &recording(&[], "echo mine > x.recording.json"));
    let seen = bench.seen(&output);
    assert_eq!(output.status.code(), Some(1), "{seen}");
    assert!(seen.contains("saved x.trace"), "{seen}");
    assert!(seen.contains("error: x.recording.json exists"), "{seen}");
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
    let text = fs::read_to_string(bench.here().join("x.recording.json"));
    assert_eq!(text.unwrap(), "mine\n");
}
