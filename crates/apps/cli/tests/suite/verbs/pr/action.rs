//! Runs the composite action as a runner does: its scripts as they are, stand-ins for the actions that
//! upload, and the commands that a runner reads from output.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::server::{Server, TOKEN};
use super::{Bench, has_curl};
use crate::metalens;

/// Names of kernels that a runner would read as commands.
const HOSTILE: [&str; 3] = [
    "::set-output name=missed::false",
    "##[set-output name=missed;]false",
    "::stop-commands::x",
];

const COMMIT: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

fn action() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts/action")
}

/// A run of the action.
#[derive(Default)]
pub(super) struct Run {
    pub(super) code: i32,
    /// Values such as `steps.report.outputs.folder`.
    pub(super) values: BTreeMap<String, String>,
    /// Paths that were uploaded.
    uploads: Vec<PathBuf>,
    /// Commands that the runner read from the output of steps.
    pub(super) commands: Vec<String>,
    pub(super) log: String,
}

impl Run {
    /// Returns a text with its expressions replaced: `${{ a.b || c.d }}`.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut parts = text.split("${{");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (expression, rest) = part.split_once("}}").unwrap();
            let mut values = expression.split("||").map(|name| self.value(name.trim()));
            filled += values.find(|value| !value.is_empty()).unwrap_or("");
            filled += rest;
        }
        filled
    }

    fn value(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Reads the commands in the output of a step, as the runner does: not while they are stopped.
    fn read_commands(&mut self, output: &str) {
        let mut stopped: Option<String> = None;
        for line in output.lines() {
            let line = line.trim_start();
            if let Some(word) = &stopped {
                if line.starts_with(&format!("::{word}::")) {
                    stopped = None;
                }
            } else if let Some(word) = line.strip_prefix("::stop-commands::") {
                stopped = Some(word.to_owned());
            } else if line.starts_with("::") || line.contains("##[") {
                self.commands.push(line.to_owned());
            }
        }
        assert_eq!(stopped, None, "commands stay stopped after the step");
    }
}

/// Runs all steps. `refused` names a step whose upload fails.
pub(super) fn run(bench: &Bench, inputs: &[(&str, &str)], refused: &str) -> Run {
    let text = fs::read_to_string(action().join("action.yml")).unwrap();
    let action: Value = yaml_serde::from_str(&text).unwrap();
    let mut run = Run::default();
    for (name, value) in [
        ("token", TOKEN),
        ("run_id", "1"),
        ("run_attempt", "1"),
        ("sha", COMMIT),
    ] {
        run.values
            .insert(format!("github.{name}"), value.to_owned());
    }
    for (name, input) in action["inputs"].as_object().unwrap() {
        let default = run.filled(input["default"].as_str().unwrap_or(""));
        run.values.insert(format!("inputs.{name}"), default);
    }
    let program = assert_cmd::cargo::cargo_bin("metalens");
    let program = ("metalens", program.to_str().unwrap());
    for (name, value) in [&program].into_iter().chain(inputs) {
        let known = run
            .values
            .insert(format!("inputs.{name}"), (*value).to_owned());
        assert!(known.is_some(), "the action has no input {name}");
    }

    for step in action["runs"]["steps"].as_array().unwrap() {
        let id = step["id"].as_str().unwrap();
        let is_done = match step["uses"].as_str() {
            Some(uses) => {
                assert!(uses.starts_with("actions/upload-artifact@"), "{uses}");
                upload(&mut run, step, id, refused)
            }
            None => script(&mut run, bench, step, id),
        };
        if !is_done && step["continue-on-error"] != true {
            break;
        }
    }
    for (name, output) in action["outputs"].as_object().unwrap() {
        let value = run.filled(output["value"].as_str().unwrap());
        run.values.insert(format!("outputs.{name}"), value);
    }
    run
}

fn upload(run: &mut Run, step: &Value, id: &str, refused: &str) -> bool {
    let path = PathBuf::from(run.filled(step["with"]["path"].as_str().unwrap()));
    assert!(path.exists(), "{}", path.display());
    assert_eq!(path.is_file(), step["with"]["archive"] == false);
    refuse_private(&path);
    if id == refused {
        return false;
    }
    run.uploads.push(path);
    let url = format!("https://github.com/o/r/actions/runs/1/artifacts/{id}");
    run.values
        .insert(format!("steps.{id}.outputs.artifact-url"), url);
    true
}

/// Fails if a file is uploaded that is not made to be posted: an artifact is public. Recordings and
/// the report for programs name other processes and folders.
fn refuse_private(path: &Path) {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        entries.for_each(|entry| refuse_private(&entry.unwrap().path()));
        return;
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_public = matches!(ending, Some("html" | "md" | "svg" | "png" | "csv"));
    assert!(is_public && !path.is_symlink(), "{}", path.display());
}

fn script(run: &mut Run, bench: &Bench, step: &Value, id: &str) -> bool {
    assert_eq!(step["shell"], "bash");
    let text = step["run"].as_str().unwrap();
    assert!(
        !text.contains("${{"),
        "values reach scripts as variables only"
    );
    let outputs = bench.path("outputs");
    fs::write(&outputs, "").unwrap();
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text])
        .current_dir(bench.folder.path())
        .env_clear()
        .env("PATH", bench.search_path())
        .env("TMPDIR", bench.folder.path())
        .env("GITHUB_ACTION_PATH", action())
        .env("GITHUB_OUTPUT", &outputs)
        .envs(bench.environment.iter().cloned());
    for (name, value) in step["env"].as_object().into_iter().flatten() {
        command.env(name, run.filled(value.as_str().unwrap()));
    }
    let output = command.output().unwrap();
    let said = format!("{}{}", crate::stdout(&output), crate::stderr(&output));
    assert!(!said.contains(TOKEN), "{said}");
    run.read_commands(&said);
    run.log += &said;
    for line in fs::read_to_string(&outputs).unwrap().lines() {
        let (name, value) = line.split_once('=').unwrap();
        run.values
            .insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
    }
    run.code = output.status.code().unwrap();
    output.status.success()
}

/// Writes three runs of a program into a folder, and returns their paths. Its kernels have these names.
fn three_runs(bench: &Bench, folder: &str, kernels: &[&str], seed: u32) -> Vec<String> {
    fs::create_dir(bench.path(folder)).unwrap();
    let streams = kernels.iter().map(|kernel| {
        format!(
            "[[process.stream]]\ncount = 40\nsubmit = \"sync\"\nencoder-label = \"{kernel}\"\n\
             duration = [\"20us\", \"21us\"]\n"
        )
    });
    let streams: String = streams.collect();
    let runs = (0..3).map(|run| {
        let scenario = format!(
            "seed = {}\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n{streams}",
            seed + run
        );
        fs::write(bench.path("runs.toml"), scenario).unwrap();
        let bundle = format!("{folder}/run-{run}.trace");
        let made = metalens(bench.folder.path(), &["synth", "runs.toml", "-o", &bundle]);
        assert!(made.status.success(), "{}", crate::transcript(&made));
        bundle
    });
    runs.collect()
}

#[test]
fn a_failed_gate_is_posted_annotated_and_fails_the_job_last() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("eager", &server);
    let base = three_runs(&bench, "base", &["matmul"], 1);
    three_runs(&bench, "new", &HOSTILE, 11);
    let base: Vec<&str> = base.iter().map(String::as_str).collect();
    let save = [&["baseline", "save", "-o", "baseline.json"], &base[..]].concat();
    assert!(metalens(bench.folder.path(), &save).status.success());
    let limits = "[gate.metrics]\n\"busy.busy_ns\" = { grow = \"5%\" }\n\"window.span_ns\" = { max = \"1us\" }\n";
    fs::write(bench.path("limits.toml"), limits).unwrap();

    let inputs = [
        ("recordings", "new"),
        ("baseline", "baseline.json"),
        ("gate", "limits.toml"),
        ("per", "buffer"),
        ("text", "true"),
    ];
    let run = run(&bench, &inputs, "");
    server.check();
    assert_eq!(run.code, 5, "{}", run.log);
    assert_eq!(run.value("outputs.verdict"), "failure", "{}", run.log);
    // Names are shown, and are no commands.
    assert!(
        HOSTILE.iter().all(|name| run.log.contains(name)),
        "{}",
        run.log
    );
    let expected = "::error::The gate failed: the comment says which limits, and by how much.";
    assert_eq!(run.commands, [expected]);

    let comments = server.comments();
    let [comment] = comments.as_slice() else {
        panic!("{comments:?}");
    };
    for part in ["Gate failed: ", "Per command buffer, "] {
        assert!(comment.body.contains(part), "{}", comment.body);
    }
    let page = "https://github.com/o/r/actions/runs/1/artifacts/page";
    assert!(comment.body.contains(page), "{}", comment.body);
    assert_eq!(run.value("outputs.page-url"), page);
    assert_eq!(run.uploads.len(), 2);
    assert!(
        run.value("outputs.comment-url")
            .ends_with("#issuecomment-1")
    );
}

#[test]
fn a_folder_is_posted_without_a_gate_and_without_a_new_runner() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("eager", &server);
    let summary = bench.path("summary.md");
    fs::write(&summary, "").unwrap();
    let bench = bench.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let run = run(&bench, &[("folder", "out"), ("text", "true")], "page");
    server.check();
    assert_eq!(run.code, 0, "{}", run.log);
    assert_eq!(run.commands, [""; 0]);
    let body = &server.comments()[0].body;
    assert!(body.contains("/artifacts/artifact)"), "{body}");
    let summary = fs::read_to_string(summary).unwrap();
    assert_eq!(summary.trim(), body.trim(), "the job summary");
}

/// Logs are recordings; the one beside a bundle is of the same run.
#[test]
fn logs_are_found() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/command-buffer-log.md");
    let log = fs::read_to_string(log).unwrap();
    let log = log.split("```json\n").nth(1).unwrap();
    let log = log.split("```").next().unwrap();
    for (files, expected) in [
        (["a.jsonl", "b.txt"], "my-engine"),
        (["a.jsonl", "z.jsonl"], "my-engine"),
        (["run-0.jsonl", "b.txt"], "bench"),
    ] {
        let bench = Bench::with("eager", &server);
        three_runs(&bench, "new", &["matmul"], 1);
        if expected == "my-engine" {
            fs::remove_dir_all(bench.path("new")).unwrap();
            fs::create_dir(bench.path("new")).unwrap();
        }
        for file in files {
            fs::write(bench.path("new").join(file), log).unwrap();
        }
        let run = run(&bench, &[("recordings", "new"), ("text", "true")], "");
        assert_eq!(run.code, 0, "{}", run.log);
        let body = server.comments().last().unwrap().body.clone();
        assert!(body.contains(expected), "{body}");
    }
}

#[test]
fn a_release_is_installed_if_it_is_the_one_that_was_built() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let with_gh = |damaged: &str| {
        let bench = Bench::with("eager", &server);
        let log = bench.path("gh.log").display().to_string();
        let program = assert_cmd::cargo::cargo_bin("metalens");
        bench
            .set("LOG", &log)
            .set("PROGRAM", program.to_str().unwrap())
            .set("DAMAGED", damaged)
    };
    let inputs = [
        ("folder", "out"),
        ("text", "true"),
        ("version", "v1.2.3"),
        ("repository", "o/metalens"),
        ("metalens", "nowhere"),
    ];

    let bench = with_gh("");
    let installed = run(&bench, &inputs, "");
    assert_eq!(installed.code, 0, "{}", installed.log);
    assert!(installed.value("outputs.comment-url").contains("#issue"));
    let asked = fs::read_to_string(bench.path("gh.log")).unwrap();
    let asked: Vec<&str> = asked.lines().collect();
    assert!(
        asked[0].starts_with("release download v1.2.3 --repo o/metalens --pattern metalens-1.2.3-")
    );
    assert!(asked[1].starts_with("attestation verify metalens-1.2.3-"));

    let damaged = run(&with_gh("yes"), &inputs, "");
    assert_eq!(damaged.code, 1, "{}", damaged.log);
    assert!(damaged.log.contains("FAILED"), "{}", damaged.log);

    let missing = run(&Bench::with("eager", &server), &[inputs[0], inputs[4]], "");
    assert_eq!(missing.code, 1, "{}", missing.log);
    assert!(missing.log.contains("give the action a version to install"));
}

/// The verdict of a folder was found before the action began: `compare --gate` or `bench --gate` has
/// ended with 5, and the workflow went on to post.
#[test]
fn a_failed_gate_in_a_folder_fails_the_job_last() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("eager", &server);
    let limits = "[gate.metrics]\n\"window.span_ns\" = { max = \"1us\" }\n";
    fs::write(bench.path("limits.toml"), limits).unwrap();
    let compared = ["compare", "out", "out", "--gate=limits.toml", "-o", "c"];
    let compared = metalens(bench.folder.path(), &compared);
    assert_eq!(compared.status.code(), Some(5));
    // Neither is part of what is published.
    fs::create_dir(bench.path("c/run.trace")).unwrap();
    fs::write(bench.path("c/run.trace/page.html"), "private").unwrap();
    std::os::unix::fs::symlink("manifest.json", bench.path("c/link.html")).unwrap();

    for gate in ["", "limits.toml"] {
        let inputs = [("folder", "c"), ("text", "true"), ("gate", gate)];
        let run = run(&bench, &inputs, "");
        server.check();
        assert_eq!(run.code, 5, "{gate}: {}", run.log);
        assert_eq!(
            run.value("outputs.verdict"),
            "failure",
            "{gate}: {}",
            run.log
        );
        assert!(run.value("outputs.comment-url").contains("#issuecomment-"));
        assert!(run.uploads[0].join("comparison.html").is_file());
        assert!(!run.uploads[0].join("run.trace").exists());
        assert!(server.comments()[0].body.contains("Gate failed: "));
    }
}

/// Returns the checks that were created, each by its name and conclusion.
pub(super) fn checks(server: &Server) -> Vec<String> {
    let state = server.state.lock().unwrap();
    let shown = state.checks.iter().map(|check| {
        assert_eq!(check["head_sha"], COMMIT);
        assert_eq!(check["status"], "completed");
        let summary = check["output"]["summary"].as_str().unwrap();
        assert!(
            summary.starts_with("[The comment](https://github.com/o/r/pull/7#"),
            "{summary}"
        );
        format!("{} {}", check["name"], check["conclusion"]).replace('"', "")
    });
    shown.collect()
}

/// The word says what becomes of the job. The same run on both sides decides nothing that it keeps.
#[test]
fn an_undecided_gate_fails_passes_or_is_a_neutral_check() {
    if !has_curl() {
        return;
    }
    let check = |limit: &str,
                 inputs: &[(&str, &str)],
                 is_forbidden: bool,
                 code: i32,
                 said: &[&str],
                 shown: &[&str]| {
        let server = Server::start();
        let bench = Bench::with("eager", &server);
        let limits = format!("[gate.metrics]\n\"window.span_ns\" = {{ {limit} }}\n");
        fs::write(bench.path("limits.toml"), limits).unwrap();
        let compared = ["compare", "out", "out", "--gate=limits.toml", "-o", "c"];
        metalens(bench.folder.path(), &compared);
        if is_forbidden {
            let reason = "Resource not accessible by integration";
            server.fail("POST /repos/o/r/check-runs", 403, reason);
        }
        let inputs = [&[("folder", "c"), ("text", "true")], inputs].concat();
        let run = run(&bench, &inputs, "");
        server.check();
        assert_eq!(run.code, code, "{inputs:?}: {}", run.log);
        assert_eq!(run.commands.len(), said.len(), "{:?}", run.commands);
        for (command, said) in run.commands.iter().zip(said) {
            assert!(command.starts_with(said), "{command}");
        }
        assert_eq!(checks(&server), shown, "{inputs:?}");
        assert_eq!(server.comments().len(), 1);
    };
    const GROWS: &str = "grow = \"5%\"";
    const MAX: &str = "max = \"1us\"";
    const UNDECIDED: &str = "::error::The gate is undecided: ";
    const WARNING: &str = "::warning::The gate is undecided: ";
    const NO_CHECK: &str = "::warning::The verdict is no check of its own: ";
    const FAILED: &str = "::error::The gate failed: ";
    let neutral = ("undecided", "neutral");
    let pass = ("undecided", "pass");
    check(GROWS, &[], false, 6, &[UNDECIDED], &[]);
    check(GROWS, &[pass], false, 0, &[WARNING], &[]);
    check(
        GROWS,
        &[neutral],
        false,
        0,
        &[WARNING],
        &["metalens neutral"],
    );
    let named = [neutral, ("key", "k")];
    check(GROWS, &named, false, 0, &[WARNING], &["metalens k neutral"]);
    check(GROWS, &[neutral], true, 6, &[NO_CHECK, UNDECIDED], &[]);
    check(MAX, &[pass], false, 5, &[FAILED], &[]);
    check(MAX, &[neutral], false, 5, &[FAILED], &["metalens failure"]);
    check(MAX, &[neutral], true, 5, &[NO_CHECK, FAILED], &[]);
}

#[test]
fn inputs_that_cannot_be_judged_are_an_error() {
    let bench = Bench::new("eager");
    let check = |inputs: &[(&str, &str)], expected: &str| {
        let run = run(&bench, inputs, "");
        assert_eq!(run.code, 1, "{inputs:?}");
        assert!(run.log.contains(expected), "{inputs:?}: {}", run.log);
    };
    check(&[], "needs recordings or a folder");
    // Without anything to compare with, no limit would ever be missed.
    check(
        &[("recordings", "."), ("gate", "default")],
        "needs a baseline",
    );
    check(
        &[("folder", "out"), ("undecided", "gray")],
        "undecided is fail, neutral or pass",
    );
}
