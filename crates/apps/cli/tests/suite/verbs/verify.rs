//! Tests `metalens verify --simulate`: the verdicts for a fake `xctrace` that behaves, and for one that
//! misbehaves in each of the ways that the experiments are about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::verbs::record::each;
use crate::{command, left_in_tmp, metalens, output_with_tmp, stderr, stdout, until};

/// Misbehaviors that are tried here, and not by the tests of `record` and of the fake `xctrace`.
pub(crate) const TRIED: [&str; 8] = [
    "drops-environment",
    "drops-stderr",
    "no-signposts",
    "no-shaders-to-file",
    "loses-rows",
    "loses-children",
    "no-notification",
    "export-differs",
];

const EXPECTED: &str = "as-expected";
const OTHERWISE: &str = "otherwise";
const UNKNOWN: &str = "could-not-tell";

/// Secrets of the surroundings, which must not be in the evidence.
const USER: &str = "adalovelace";
const SECRET: &str = "tops3cretvalue";

/// Runs it with a home and a user of its own.
fn verify(folder: &Path, more: &[&str], misbehavior: &str) -> Output {
    let home = folder.join(format!("home-{USER}"));
    fs::create_dir_all(&home).unwrap();
    let arguments = ["verify", "--simulate", "--quiet", "--time-limit", "3s"];
    let mut command = command(folder, &[&arguments, more].concat());
    command
        .env("HOME", &home)
        .env("USER", USER)
        .env("PATH", "/usr/bin:/bin:/usr/sbin")
        .env("SOME_TOKEN", SECRET)
        .env("METALENS_FAKE_XCTRACE_MISBEHAVE", misbehavior)
        .env("METALENS_FAKE_XCTRACE_SLOW_MS", "3");
    output_with_tmp(command, folder)
}

fn evidence(folder: &Path) -> (String, Value) {
    let text = fs::read_to_string(folder.join("metalens-verify/evidence.json")).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

fn verdicts(evidence: &Value) -> BTreeMap<&str, &str> {
    let answers = evidence["answers"].as_array().unwrap().iter();
    let pairs = answers.map(|answer| {
        let text = |key: &str| answer[key].as_str().unwrap();
        (text("id"), text("verdict"))
    });
    pairs.collect()
}

#[test]
fn a_fake_xctrace_that_behaves_is_as_expected_and_the_evidence_names_nobody() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    let output = verify(folder, &[], "");
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{said}");
    let (text, evidence) = evidence(folder);
    let verdicts = verdicts(&evidence);
    assert_eq!(verdicts.len(), 19);
    for (id, verdict) in verdicts {
        // No program runs, so that the probe can be in none.
        let expected = if id.starts_with("probe") {
            UNKNOWN
        } else {
            EXPECTED
        };
        assert_eq!(verdict, expected, "{id}: {said}");
    }
    assert_eq!(evidence["synthetic"], true);
    assert!(
        said.contains("17 answers as expected, 0 not as expected, 2 could not tell"),
        "{said}"
    );
    assert!(said.contains("SIMULATED"), "{said}");

    // Nothing of the surroundings is in it.
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap().to_owned();
    let folders = [
        folder.display().to_string(),
        "/tmp".to_owned(),
        "/bin/".to_owned(),
    ];
    let own = env!("CARGO_MANIFEST_DIR").to_owned();
    let names = [USER, SECRET, "SOME_TOKEN", "home-", "Compositor", "worker"];
    let names = names.map(str::to_owned);
    for private in folders.iter().chain(&names).chain([&host, &own]) {
        assert!(!text.contains(private.as_str()), "{private}: {text}");
    }
    assert!(text.len() < 200_000, "{}", text.len());
    // What is needed is.
    let shown = &evidence["recordings"][0];
    let tables = shown["tables"].as_array().unwrap();
    let intervals = tables
        .iter()
        .find(|table| table["schema"] == "metal-gpu-intervals");
    let columns = intervals.unwrap()["columns"].as_array().unwrap();
    assert!(
        columns.iter().any(|column| column == "duration"),
        "{columns:?}"
    );
    assert_eq!(evidence["machine"]["xctrace"], "26.0");

    // Only the evidence is left, in the folder and elsewhere.
    let left = fs::read_dir(folder.join("metalens-verify")).unwrap();
    assert_eq!(left.count(), 1);
    assert_eq!(left_in_tmp(folder), 0);
}

/// Ways to misbehave, the experiments that are run, and their verdicts.
const MOODS: [(&str, &[(&str, &str)]); 23] = [
    (
        "no-target-rows",
        &[
            ("stock", OTHERWISE),
            ("counts", UNKNOWN),
            ("children", UNKNOWN),
        ],
    ),
    ("child-works", &[("stock", OTHERWISE)]),
    (
        "leaves-raw",
        &[
            ("stock", OTHERWISE),
            ("template", UNKNOWN),
            ("export", UNKNOWN),
        ],
    ),
    (
        "exit-54-stub",
        &[("stock", OTHERWISE), ("notification", UNKNOWN)],
    ),
    ("exit-54", &[("stock", EXPECTED)]),
    (
        "refuses-changed",
        &[("template", OTHERWISE), ("export", EXPECTED)],
    ),
    ("export-10", &[("template", UNKNOWN), ("export", OTHERWISE)]),
    (
        "shader-timeline-refused",
        &[("shaders", OTHERWISE), ("template", EXPECTED)],
    ),
    ("no-shaders-to-file", &[("shaders", EXPECTED)]),
    (
        "no-signposts",
        &[("signposts", OTHERWISE), ("stock", EXPECTED)],
    ),
    ("counters-unsupported", &[("counters", OTHERWISE)]),
    (
        "loses-children",
        &[("children", OTHERWISE), ("stock", EXPECTED)],
    ),
    ("holds-scratch", &[("scratch", OTHERWISE)]),
    ("export-differs", &[("export", OTHERWISE)]),
    (
        "drops-environment",
        &[("environment", OTHERWISE), ("stock", EXPECTED)],
    ),
    ("stderr-only", &[("streams", EXPECTED)]),
    (
        "drops-stderr",
        &[("stderr", OTHERWISE), ("children", EXPECTED)],
    ),
    (
        "no-configuration",
        &[("attach", OTHERWISE), ("stock", EXPECTED)],
    ),
    // The second recording would wait for a password, too.
    (
        "asks-password",
        &[("stock", OTHERWISE), ("counters", UNKNOWN)],
    ),
    ("loses-rows", &[("counts", OTHERWISE), ("export", EXPECTED)]),
    ("no-notification", &[("notification", OTHERWISE)]),
    ("leaves-target", &[("left", OTHERWISE), ("stock", EXPECTED)]),
    ("no-target-rows,loses-children", &[("left", UNKNOWN)]),
];

#[test]
fn misbehaviors_have_the_right_verdicts() {
    each(&MOODS, |(mood, expected)| {
        let folder = metalens_testing::scratch();
        let ids: Vec<&str> = expected.iter().map(|(id, _)| *id).collect();
        check(folder.path(), &["--only", &ids.join(",")], mood, expected);
    });
}

/// Runs experiments, and checks the verdicts and the exit code.
fn check(folder: &Path, more: &[&str], mood: &str, expected: &[(&str, &str)]) {
    let output = verify(folder, more, mood);
    let said = format!("{mood}: {}{}", stdout(&output), stderr(&output));
    let has = |word: &str| expected.iter().any(|(_, verdict)| *verdict == word);
    let code = match (has(OTHERWISE), has(EXPECTED)) {
        (true, _) => 5,
        (false, true) => 0,
        (false, false) => 3,
    };
    assert_eq!(output.status.code(), Some(code), "{said}");
    let (_, evidence) = evidence(folder);
    assert_eq!(
        verdicts(&evidence),
        expected.iter().copied().collect(),
        "{said}"
    );
}

/// Scratch files that `xctrace` leaves are removed by the recorder.
#[test]
fn scratch_files_that_can_be_removed_are_as_expected() {
    let folder = metalens_testing::scratch();
    check(
        folder.path(),
        &["--only", "scratch"],
        "leaves-scratch",
        &[("scratch", EXPECTED)],
    );
    let (_, evidence) = evidence(folder.path());
    let facts = &evidence["answers"][0]["facts"];
    assert_eq!(facts["most_new_bytes_when_xctrace_ended"], 3_000_000);
    assert_eq!(facts["new_bytes_left"], 0);
}

/// The transcript of a recording that failed is evidence, too.
#[test]
fn what_xctrace_said_is_evidence() {
    let folder = metalens_testing::scratch();
    verify(
        folder.path(),
        &["--only", "counters"],
        "counters-unsupported",
    );
    let (_, evidence) = evidence(folder.path());
    let lines = evidence["recordings"][0]["transcript"].as_array().unwrap();
    let has = |text: &str| {
        lines
            .iter()
            .any(|line| line.as_str().unwrap().contains(text))
    };
    assert!(
        has("Selected counter profile is not supported"),
        "{lines:?}"
    );
    assert!(has("exit code "), "{lines:?}");
}

/// The answers of several machines are one table, for docs/trust.md.
#[test]
fn evidence_is_read_as_a_table() {
    let folder = metalens_testing::scratch();
    let at = |path: &str| folder.path().join(path);
    let answer = |id: &str, verdict: &str| serde_json::json!({"id": id, "question": "?", "expected": "!", "verdict": verdict, "why": "it is so"});
    let evidence = |chip: &str, verdict: &str| {
        serde_json::json!({
            "schema": "metalens.verification/1",
            "synthetic": false,
            "machine": {"chip": chip, "macos": "26.1", "xcode_build": "27A266a"},
            "answers": [answer("stock", verdict), answer("counters", "could-not-tell")],
        })
    };
    fs::write(at("a.json"), evidence("M1", EXPECTED).to_string()).unwrap();
    fs::write(at("b.json"), evidence("M5 Pro", OTHERWISE).to_string()).unwrap();
    let read = ["verify", "--read", "a.json", "b.json", "--markdown"];
    let printed = stdout(&metalens(folder.path(), &read));
    insta::assert_snapshot!(printed);

    fs::write(at("c.json"), "{}").unwrap();
    let refused = metalens(folder.path(), &["verify", "--read", "c.json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("c.json is no evidence file"));
}

#[test]
fn an_interrupt_keeps_the_answers_so_far() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metalens"));
    let child = command
        .args(["verify", "--simulate", "--only", "stock,counts,counters"])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin")
        .env("TMPDIR", folder)
        // The first recording ends; the second takes long to save.
        .env("METALENS_FAKE_XCTRACE_SLOW_MS", "1500")
        .stdout(std::process::Stdio::piped())
        .stderr(fs::File::create(folder.join("said")).unwrap())
        .spawn()
        .unwrap();
    let second = std::time::Duration::from_secs(120);
    until(second, "the second recording", || {
        let said = fs::read_to_string(folder.join("said")).unwrap();
        said.contains("recording: --counters")
    });
    crate::signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stdout(&output));
    let (_, evidence) = evidence(folder);
    assert_eq!(evidence["stopped"], true);
    // Experiments run in an order of their own: `counts` comes after `counters`.
    let verdicts = verdicts(&evidence);
    assert_eq!((verdicts["stock"], verdicts["counts"]), (EXPECTED, UNKNOWN));
    assert_ne!(verdicts["counters"], OTHERWISE);
}

#[test]
fn machines_and_arguments_that_cannot_work_are_refused() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    let check = |output: Output, code: i32, expected: &str| {
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!folder.join("metalens-verify").exists());
    };
    if !cfg!(target_os = "macos") {
        check(
            metalens(folder, &["verify"]),
            3,
            "the experiments need a Mac",
        );
    }
    check(metalens(folder, &["verify", "--only", "sine"]), 2, "sine");

    fs::create_dir(folder.join("there")).unwrap();
    fs::write(folder.join("there/evidence.json"), "mine").unwrap();
    let again = metalens(folder, &["verify", "--simulate", "-o", "there"]);
    check(again, 1, "--force replaces it");
    let list = stdout(&metalens(folder, &["verify", "--list"]));
    assert_eq!(list.matches("\n  expected ").count(), 19, "{list}");
}

/// Experiments that need no `xctrace` have answers where none runs, and those that need one do not stop them.
#[test]
fn without_an_xctrace_that_runs_the_other_experiments_answer() {
    let folder = metalens_testing::scratch();
    let only = ["--only", "stock,counts,pythons"];
    let output = verify(folder.path(), &only, "no-license");
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("no xctrace: ") && said.contains("license"),
        "{said}"
    );
    let (_, evidence) = evidence(folder.path());
    let verdicts = verdicts(&evidence);
    assert_eq!(
        (verdicts["stock"], verdicts["pythons"]),
        (UNKNOWN, EXPECTED)
    );
    assert_eq!(evidence["machine"]["xctrace"], Value::Null);

    // Nothing is known: that is no success.
    let arguments = ["--only", "stock", "--force"];
    let output = verify(folder.path(), &arguments, "no-license");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}
