//! Walks the workflow that people copy, as GitHub's runners do: its lines are filled in, and each step is executed
//! in its order.
//!
//! Stand-ins: a checkout is a folder with a program, an artifact a copy of its files, `metalens` on the Mac records
//! with the fake `xctrace`, `cargo` installs the program that is tested, and `gh` asks the test's server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::action::{self, Run};
use super::server::Server;
use super::{Bench, has_curl};

/// Program `metalens` of the Mac, which simulates, because nothing can be recorded here. Each side has a scenario of its own.
const METALENS: &str = r#"#!/usr/bin/env bash
case "$1" in
doctor) echo 'a stand-in for a Mac'; exit "${DOCTOR:-0}" ;;
bench) exec "$BUILT" "$@" --simulate --prepare 'cp {side}/built.toml scenario.toml' $MORE ;;
esac
"#;
/// Installs what is tested as the crate at the path.
const CARGO: &str = r#"#!/usr/bin/env bash
[ "$1 $4 $6" = 'install --path --root' ] && grep -q '^name = "metalens"$' "$5/Cargo.toml" || exit 9
mkdir -p "$7/bin"
ln -s "$BUILT" "$7/bin/metalens"
"#;

fn install(bench: &Bench, name: &str, script: &str) {
    let program = bench.path("bin").join(name);
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Returns the workflow with its lines filled in, as a person would.
fn filled_in() -> Value {
    let file = "../../../scripts/action/examples/gpu.yml";
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let lines = [
        (
            "BUILD_COMMAND",
            "cp source.toml built.toml; ln -s /bin/true infer",
        ),
        ("PROGRAM_COMMAND", "'{side}/infer --batch 4'"),
        (
            "OWNER/metalens/scripts/action@COMMIT",
            "acme/metalens/scripts/action@c0ffee",
        ),
    ];
    let text = lines.into_iter().fold(text, |text, (name, value)| {
        assert_eq!(text.matches(name).count(), 1, "{name}");
        text.replace(name, value)
    });
    yaml_serde::from_str(&text).unwrap()
}

/// Executes the steps of a job, and returns the exit code of the first that fails, or 0.
fn job(bench: &Bench, workflow: &Value, name: &str, run: &mut Run, head_us: u32) -> i32 {
    let job = &workflow["jobs"][name];
    let here = bench.path(name);
    fs::create_dir_all(&here).unwrap();
    let mut code = 0;
    for step in job["steps"].as_array().unwrap() {
        if code != 0 && step["if"] != "always()" {
            continue;
        }
        let with: BTreeMap<String, String> = step["with"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), run.filled(&text_of(value))))
            .collect();
        let uses = step["uses"].as_str().unwrap_or("");
        let done = match uses.split('@').next().unwrap() {
            "" => script(bench, workflow, job, step, run),
            "actions/checkout" => check_out(&here.join(&with["path"]), head_us),
            "actions/upload-artifact" => upload(bench, &here, &with),
            "actions/download-artifact" => {
                copy(
                    &bench.path("artifacts").join(&with["name"]),
                    with["path"].as_ref(),
                );
                0
            }
            other => {
                assert_eq!(other, "acme/metalens/scripts/action");
                let inputs: Vec<(&str, &str)> = with.iter().map(|(a, b)| (&**a, &**b)).collect();
                *run = action::run(bench, &inputs, "");
                run.code
            }
        };
        code = if code == 0 { done } else { code };
    }
    code
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Runs a script with the shell that the workflow names.
fn script(bench: &Bench, workflow: &Value, job: &Value, step: &Value, run: &mut Run) -> i32 {
    assert_eq!(workflow["defaults"]["run"]["shell"], "bash");
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c"])
        .arg(step["run"].as_str().unwrap())
        .current_dir(bench.path("bench"))
        .env_clear()
        .env("PATH", bench.search_path())
        .env(
            "METALENS_FAKE_XCTRACE_SCENARIO",
            bench.path("bench/scenario.toml"),
        )
        .envs(bench.environment.iter().cloned());
    for (name, value) in job["env"].as_object().into_iter().flatten() {
        command.env(name, text_of(value));
    }
    let output = command.output().unwrap();
    run.log += &crate::transcript(&output);
    output.status.code().unwrap()
}

/// Puts the source of a side there, whose kernel takes so long if it is that of the pull request.
fn check_out(side: &Path, head_us: u32) -> i32 {
    fs::create_dir(side).unwrap();
    let us = if side.ends_with("head") { head_us } else { 100 };
    let more = format!("duration = [\"{us}us\", \"{}us\"]", us + 5);
    let source = crate::SMALL.replace("count = 3", "count = 40");
    let source = source.replace("duration = \"10us\"", &more);
    fs::write(side.join("source.toml"), source).unwrap();
    0
}

/// Keeps the files that are named and not left out.
fn upload(bench: &Bench, here: &Path, with: &BTreeMap<String, String>) -> i32 {
    let kept = bench.path("artifacts").join(&with["name"]);
    for line in with["path"].lines().filter(|line| !line.starts_with('!')) {
        let from = here.join(line);
        if from.exists() {
            copy(&from, &kept.join(line));
        }
    }
    0
}

/// Copies a file or a folder, without recordings.
fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    } else if from.extension().is_none_or(|ending| ending != "trace") {
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    }
}

/// Walks both jobs for a pull request whose kernel takes so long, and the base 100 µs. Returns the exit codes of the
/// jobs, what the second told, and the checks.
fn walk(head_us: u32, more: &[(&str, &str)]) -> (i32, Option<i32>, String, Vec<String>) {
    let server = Server::start();
    let program = assert_cmd::cargo::cargo_bin("metalens");
    let mut bench = Bench::with("eager", &server).set("BUILT", program.to_str().unwrap());
    for (name, value) in more {
        bench = bench.set(name, value);
    }
    install(&bench, "metalens", METALENS);
    install(&bench, "cargo", CARGO);
    let workflow = filled_in();
    let mut run = Run::default();
    let temp = bench.path("temp").display().to_string();
    run.values.insert("runner.temp".to_owned(), temp);
    let recorded = job(&bench, &workflow, "bench", &mut run, head_us);
    for artifact in ["recordings/recordings.tar.gz", "bench/doctor.txt"] {
        assert!(
            bench.path("artifacts").join(artifact).is_file(),
            "{artifact}"
        );
    }
    assert_eq!(workflow["jobs"]["report"]["needs"], "bench");
    let told = (recorded == 0).then(|| job(&bench, &workflow, "report", &mut run, head_us));
    server.check();
    let body = server
        .comments()
        .pop()
        .map_or(run.log, |comment| comment.body);
    (recorded, told, body, action::checks(&server))
}

#[test]
fn the_workflow_to_copy_ends_in_a_comment_and_a_check() {
    if !has_curl() {
        return;
    }
    let check = |head_us: u32,
                 more: &[(&str, &str)],
                 codes: (i32, Option<i32>),
                 said: &str,
                 shown: &[&str]| {
        let (recorded, told, body, checks) = walk(head_us, more);
        assert_eq!((recorded, told), codes, "{body}");
        assert!(body.contains(said), "{body}");
        assert_eq!(checks, shown);
    };
    let equal = "head beside base: not slower by more than 5.0\u{a0}%, after ";
    check(100, &[], (0, Some(0)), equal, &["metalens success"]);
    let slower = "head beside base: slower, after ";
    check(112, &[], (0, Some(5)), slower, &["metalens failure"]);
    let few = [("MORE", "--runs 2")];
    let undecided = "head beside base: undecided, after 2 pairs.";
    check(112, &few, (0, Some(0)), undecided, &["metalens neutral"]);
    // A Mac that cannot record, and a recorder that does not know the option: nothing is told, and the job is red.
    check(100, &[("DOCTOR", "3")], (3, None), "a stand-in", &[]);
    check(100, &[("MORE", "--no-such")], (2, None), "--no-such", &[]);
}
