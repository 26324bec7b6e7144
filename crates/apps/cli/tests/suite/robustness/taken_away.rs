//! Takes things away from verdicts that are bad, at random with a fixed seed: files of settings, of
//! limits and baselines, side files, runs, tables, the tail of tables, and the reader of the output; and
//! command buffers, numbers and ends from logs. No verdict becomes good by it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use metalens_simulator::{Scenario, presets, write_export};
use metalens_testing::{drawn, without_tail};
use serde_json::Value;
use tempfile::TempDir;

use crate::{metalens, stderr, stdout, transcript};

/// Things that are taken away from each command of each scenario.
const TAKEN: usize = 3;
/// A file of known work, which changes none of these verdicts.
const WORK_FILE: &str = r#"{"schema": "metalens.work/1", "work": [{"label": "x", "per": "instance",
    "operations": 1, "bytes": 1}]}"#;
/// Figures with an upper limit.
const LIMITED: [&str; 4] = [
    "window.span_ns",
    "busy.busy_ns",
    "gaps.total_ns",
    "counts.intervals",
];

const COMMANDS: [&str; 3] = [
    "compare --baseline base.json n1 n2 n3 --gate=gate.toml",
    "analyze n1 --full --gate=check.toml",
    "batch n1 n2 -o out --gate=check.toml",
];

/// Writes runs of a scenario, their baseline, and limits that they miss. Returns none
/// for a scenario without a report.
fn inputs(name: &str, toml: &str) -> Option<TempDir> {
    let folder = metalens_testing::scratch();
    let at = |file: &str| folder.path().join(file);
    let mut scenario = Scenario::from_toml(toml).unwrap();
    for run in ["b1", "b2", "b3", "n1", "n2", "n3"] {
        write_export(&scenario, &at(run), false).unwrap();
        scenario.seed += 1;
        fs::write(at(run).join("work.json"), WORK_FILE).unwrap();
    }
    let report = metalens(folder.path(), &["analyze", "n1", "--json"]);
    if name == "no-target-rows" {
        assert_eq!(report.status.code(), Some(4));
        return None;
    }
    assert!(report.status.success(), "{name}: {}", transcript(&report));
    let report: Value = serde_json::from_str(&stdout(&report)).unwrap();

    let mut gate = "[gate.metrics]\n".to_owned();
    for id in LIMITED {
        let value = &report[id.split_once('.').unwrap().0][id.split_once('.').unwrap().1];
        let half = value.as_u64().unwrap() / 2;
        let unit = if id.ends_with("_ns") { "ns" } else { "" };
        let half = if unit.is_empty() {
            half.to_string()
        } else {
            format!("\"{half}{unit}\"")
        };
        gate.push_str(&format!("\"{id}\" = {{ max = {half} }}\n"));
    }
    fs::write(at("gate.toml"), gate).unwrap();
    let alone = "[gate.metrics]\n\"gaps.mean_ns\" = { max = \"1ns\" }\n\"busy.ratio\" = { min = \"100%\" }\n";
    fs::write(at("check.toml"), alone).unwrap();
    let save = [
        "baseline",
        "save",
        "b1",
        "b2",
        "b3",
        "-o",
        "base.json",
        "--allow-spread",
    ];
    let saved = metalens(folder.path(), &save);
    assert!(saved.status.success(), "{name}: {}", transcript(&saved));
    Some(folder)
}

/// Returns the files that a command reads: those that it names, and those of its runs.
fn files(folder: &Path, words: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for word in words {
        let path = folder.join(word.strip_prefix("--gate=").unwrap_or(word));
        if path.is_dir() && *word != "out" {
            files.push(path.clone());
            files.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Takes a file or a folder away, or a part of it. Returns how.
fn take(path: &Path, seed: &mut u64) -> &'static str {
    let is_folder = path.is_dir();
    let text = fs::read_to_string(path).unwrap_or_default();
    if let Some(cut) = without_tail(&text, seed).filter(|_| drawn(seed, 2) == 0) {
        fs::write(path, cut.document).unwrap();
        return "cut at the end of a row";
    }
    if is_folder {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
    match drawn(seed, 4) {
        0 => "removed",
        1 => {
            symlink("nowhere", path).unwrap();
            "a link to nowhere"
        }
        2 if !is_folder => {
            fs::create_dir(path).unwrap();
            "a folder"
        }
        _ => {
            let made = Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
            "a pipe"
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .arg("-R")
        .arg(from.join("."))
        .arg(to)
        .status();
    assert!(copied.unwrap().success());
}

/// Returns the exit code of a command whose output nobody reads.
fn unread(folder: &Path, words: &[&str]) -> Option<i32> {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalens"));
    command.args(words).current_dir(folder).env_clear();
    command.stdout(writer).stderr(Stdio::null());
    command.status().unwrap().code()
}

fn check(name: &str, toml: &str) {
    let Some(whole) = inputs(name, toml) else {
        return;
    };
    let mut seed = 11;
    // A batch draws pictures, which takes long.
    let is_quick = |command: &&str| name == "eager" || !command.starts_with("batch");
    for command in COMMANDS.into_iter().filter(is_quick) {
        let words: Vec<&str> = command.split(' ').collect();
        let bad = metalens(whole.path(), &words);
        assert_eq!(
            bad.status.code(),
            Some(5),
            "{name} {command}: {}",
            transcript(&bad)
        );
        assert_eq!(unread(whole.path(), &words), Some(5), "{name} {command}");
        for _ in 0..TAKEN {
            let folder = metalens_testing::scratch();
            copy(whole.path(), folder.path());
            let all = files(folder.path(), &words);
            let path = &all[drawn(&mut seed, all.len())];
            let how = take(path, &mut seed);

            let found = metalens(folder.path(), &words);
            let seen = format!("{name} {command}: {} {how}", path.display());
            assert!(!found.status.success(), "{seen}: {}", transcript(&found));
        }

        // A run fewer, or several.
        let runs = words.iter().filter(|word| word.starts_with('n')).count();
        for missing in 1..runs {
            if command.starts_with("compare") {
                let mut fewer = words.clone();
                let first = fewer.iter().position(|word| *word == "n1").unwrap();
                fewer.drain(first..first + missing);
                let found = metalens(whole.path(), &fewer);
                assert!(
                    !found.status.success(),
                    "{name} {fewer:?}: {}",
                    transcript(&found)
                );
            }
        }
    }
}

#[test]
fn no_verdict_becomes_good_by_what_is_missing() {
    for preset in presets() {
        check(
            preset.name,
            &preset.toml.replace("count = 1000000", "count = 1000"),
        );
    }
}

/// Names of functions are no part of a verdict: without symbols, none becomes better.
#[test]
fn no_verdict_becomes_good_without_symbols() {
    let Some(real) = metalens_testing::real_recordings() else {
        return;
    };
    let folder = metalens_testing::scratch();
    let bundle = folder.path().join("x.trace");
    fs::create_dir(&bundle).unwrap();
    copy(
        &real.join("m1-bundle-and-export/gpu_baseline.trace"),
        &bundle,
    );
    let limits = "[gate.metrics]\n\"busy.ratio\" = { min = \"100%\" }\n";
    fs::write(folder.path().join("limits.toml"), limits).unwrap();
    let check = ["analyze", "x.trace", "--json", "--gate=limits.toml"];
    let verdict = || {
        let found = metalens(folder.path(), &check);
        let report: Value = serde_json::from_slice(&found.stdout).unwrap();
        (found.status.code(), report["verdict"]["bound"].clone())
    };
    let whole = verdict();
    assert_eq!(whole.0, Some(5));

    let stores: Vec<PathBuf> = fs::read_dir(bundle.join("symbols/stores"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!stores.is_empty());
    let mut seed = 11;
    for _ in 0..stores.len() {
        // What is removed stays so.
        let store = &stores[drawn(&mut seed, stores.len())];
        let _ = fs::remove_file(store);
        assert_eq!(verdict(), whole, "without {}", store.display());
    }
    fs::remove_dir_all(bundle.join("symbols")).unwrap();
    assert_eq!(verdict(), whole, "without symbols");
}

/// Writes a log of a program that waits: command buffers with these numbers, and this last line.
fn write_log(path: &Path, numbers: &[u64], last: &str) {
    let buffers = numbers.iter().map(|number| {
        let commit = 1_000_000 + number * 100_000;
        let [encode, start, end, completed] =
            [commit - 20_000, commit + 10_000, commit + 50_000, commit + 60_000];
        format!(
            r#"{{"command_buffer":{number},"encode":{encode},"commit":{commit},"gpu_start":{start},"gpu_end":{end},"completed":{completed}}}"#
        )
    });
    let header = r#"{"format":"command-buffer-log/1","program":"engine","pid":7}"#.to_owned();
    let lines = [header].into_iter().chain(buffers).chain([last.to_owned()]);
    fs::write(path, lines.collect::<Vec<_>>().join("\n")).unwrap();
}

/// What a log lacks is on every medium, and nothing follows from the rest.
#[test]
fn a_log_that_lacks_command_buffers_is_loud_everywhere() {
    let folder = metalens_testing::scratch();
    let at = |file: &str| folder.path().join(file);
    let limit = "[gate.metrics]\n\"busy.busy_ns\" = { max = \"3ms\" }\n";
    fs::write(at("gate.toml"), limit).unwrap();
    let all: Vec<u64> = (1..=100).collect();
    let odd: Vec<u64> = (1..=100).step_by(2).collect();
    let end = |count: usize, lost: u64| {
        format!(r#"{{"end":20000000,"command_buffers":{count},"lost":{lost}}}"#)
    };
    write_log(&at("whole.jsonl"), &all, &end(100, 0));
    write_log(&at("lost.jsonl"), &odd, &end(50, 50));
    write_log(&at("numbers.jsonl"), &odd, &end(50, 0));
    write_log(&at("cut.jsonl"), &all[..50], "");
    let run = |words: &str| metalens(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let code = |words: &str| run(words).status.code();

    assert_eq!(code("analyze whole.jsonl --gate=gate.toml"), Some(5));
    assert_eq!(code("what-if whole.jsonl --in-flight 0"), Some(0));
    for (log, lost) in [("lost.jsonl", "50 of 100"), ("numbers.jsonl", "49 of 99")] {
        assert_eq!(code(&format!("analyze {log} --gate=gate.toml")), Some(5));
        let why = format!("No verdict: {lost} command buffers are not in the log");
        let loud = format!("COMMAND BUFFERS LOST: {lost} are not in the log");
        for form in ["", " --full", " --markdown", " --html page.html --force"] {
            let found = run(&format!("analyze {log}{form}"));
            let page = if form.contains("html") {
                fs::read_to_string(at("page.html")).unwrap()
            } else {
                stdout(&found)
            };
            assert!(
                page.contains(&loud) && page.contains(&why),
                "{log}{form}: {page}"
            );
            assert!(!page.contains("× faster"), "{log}{form}: {page}");
        }
        let index = run(&format!("batch {log} -o out --force"));
        assert!(stdout(&index).contains(&loud), "{}", transcript(&index));
        let predicted = run(&format!("what-if {log} --in-flight 0"));
        assert_eq!(
            predicted.status.code(),
            Some(4),
            "{}",
            transcript(&predicted)
        );
        let report: Value =
            serde_json::from_slice(&run(&format!("analyze {log} --json")).stdout).unwrap();
        let checks = report["sanity"]["checks"].as_array().unwrap();
        let ran = checks
            .iter()
            .find(|check| check["id"] == "command-buffers-ran");
        assert_eq!(ran.unwrap()["ok"], false);
        assert_eq!(code(&format!("compare whole.jsonl {log}")), Some(6));
    }

    // A cut log has no half of its work, and needs permission in every command.
    for words in [
        "analyze cut.jsonl",
        "what-if cut.jsonl --in-flight 0",
        "compare whole.jsonl cut.jsonl",
        "chart cut.jsonl -o x.svg",
        "baseline save cut.jsonl whole.jsonl numbers.jsonl -o base.json",
        "analyze cut.jsonl --parquet data",
    ] {
        let refused = run(words);
        assert!(!refused.status.success(), "{words}");
        let said = stderr(&refused);
        assert!(
            said.contains("cut off after 50 complete rows"),
            "{words}: {said}"
        );
        assert!(said.contains("--allow-truncated"), "{words}: {said}");
    }
    assert_eq!(code("analyze cut.jsonl"), Some(4));
    let allowed = run("analyze cut.jsonl --allow-truncated --gate=gate.toml");
    assert_eq!(allowed.status.code(), Some(6), "{}", transcript(&allowed));
    assert!(
        stdout(&allowed).contains("TRUNCATED: "),
        "{}",
        transcript(&allowed)
    );
    let predicted = run("what-if cut.jsonl --in-flight 0 --allow-truncated");
    assert!(
        stdout(&predicted).starts_with("TRUNCATED: "),
        "{}",
        transcript(&predicted)
    );
}

/// A limit that a guessed process keeps is not kept: another may be meant.
#[test]
fn a_gate_of_a_guessed_process_is_inconclusive() {
    let folder = metalens_testing::scratch();
    let scenario = Scenario::preset("shared-machine").unwrap();
    write_export(&scenario, &folder.path().join("x"), false).unwrap();
    fs::write(
        folder.path().join("gate.toml"),
        "[gate.metrics]\n\"busy.ratio\" = { max = \"100%\" }\n",
    )
    .unwrap();
    let code = |words: &str| {
        let found = metalens(folder.path(), &words.split(' ').collect::<Vec<_>>());
        (found.status.code(), transcript(&found))
    };
    let gate = "analyze x --gate=gate.toml";
    assert_eq!(code(gate).0, Some(0));
    let process = code("analyze x --json").1;
    let (_, name) = process.split_once("\"name\": \"").unwrap();
    let name = name.split_once('"').unwrap().0.to_owned();
    fs::remove_file(folder.path().join("x/toc.xml")).unwrap();
    let (guessed, said) = code(gate);
    assert_eq!(guessed, Some(6), "{said}");
    assert!(
        said.contains("No process was named") || said.contains("no process was named"),
        "{said}"
    );
    assert!(
        said.contains("Gate inconclusive") || said.contains("INCONCLUSIVE"),
        "{said}"
    );
    assert_eq!(code(&format!("{gate} --process {name}")).0, Some(0));
}
