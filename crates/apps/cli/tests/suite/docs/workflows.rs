//! Checks the example workflows: each is complete, stops by itself, keeps its artifacts whatever fails,
//! and uses options that exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{metalens, stderr};

const WORKFLOWS: [&str; 3] = [
    "scripts/action/examples/gpu.yml",
    "scripts/action/examples/gpu-record.yml",
    "scripts/action/examples/gpu-report.yml",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(file: &str) -> Value {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let read: Result<Value, _> = yaml_serde::from_str(&text);
    assert!(read.is_ok(), "{file}: {read:?}");
    read.unwrap()
}

#[test]
fn workflows_stop_keep_artifacts_and_may_do_little() {
    for file in WORKFLOWS {
        let workflow = read(file);
        // YAML 1.1 reads the key `on` as true.
        assert!(
            workflow.get("on").or(workflow.get("true")).is_some(),
            "{file}"
        );
        assert!(workflow["permissions"].is_object(), "{file}: permissions");
        for (name, job) in workflow["jobs"].as_object().unwrap() {
            let at = format!("{file}: {name}");
            assert!(job["timeout-minutes"].is_u64(), "{at}: no timeout");
            let is_on_mac = job["runs-on"].is_array();
            let steps = job["steps"].as_array().unwrap();
            let uses = |step: &&Value, what: &str| {
                step["uses"]
                    .as_str()
                    .is_some_and(|uses| uses.contains(what))
            };
            if is_on_mac {
                assert_eq!(
                    job["permissions"],
                    Value::Null,
                    "{at}: code of a stranger may write"
                );
                let uploads: Vec<&Value> = steps
                    .iter()
                    .filter(|step| uses(step, "upload-artifact"))
                    .collect();
                assert!(!uploads.is_empty(), "{at}: no artifact");
                for upload in uploads {
                    assert_eq!(upload["if"], "always()", "{at}: lost if a step fails");
                }
            } else {
                let checkouts: Vec<&Value> = steps
                    .iter()
                    .filter(|step| uses(step, "actions/checkout"))
                    .collect();
                for checkout in checkouts {
                    assert_eq!(
                        checkout["with"]["ref"],
                        Value::Null,
                        "{at}: code of a stranger"
                    );
                }
            }
            for checkout in steps.iter().filter(|step| uses(step, "actions/checkout")) {
                assert_eq!(checkout["with"]["persist-credentials"], false, "{at}");
            }
            for script in steps.iter().filter_map(|step| step["run"].as_str()) {
                assert!(
                    !script.contains("${{"),
                    "{at}: pasted into a script: {script}"
                );
            }
        }
    }
}

/// clap reads all options before it prints the help.
#[test]
fn their_commands_exist() {
    let mut seen = 0;
    for file in WORKFLOWS {
        let workflow = read(file);
        let jobs = workflow["jobs"].as_object().unwrap().values();
        let steps = jobs.flat_map(|job| job["steps"].as_array().unwrap());
        for script in steps.filter_map(|step| step["run"].as_str()) {
            let script = script.replace("\\\n", " ");
            let lines = script
                .lines()
                .filter_map(|line| line.trim().strip_prefix("metalens "));
            for line in lines {
                let line = line
                    .split(" | ")
                    .next()
                    .unwrap()
                    .replace("${limits:+=$limits}", "");
                let words = shell_words(&line);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let (options, program) = match words.iter().position(|word| *word == "--") {
                    Some(at) => words.split_at(at),
                    None => (words.as_slice(), &[][..]),
                };
                let asked = [options, &["--help"], program].concat();
                let output = metalens(".".as_ref(), &asked);
                assert!(
                    output.status.success(),
                    "{file}: {asked:?}: {}",
                    stderr(&output)
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "{seen}");
}

/// Splits a line at spaces that are not in quotation marks.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter == ' ' => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The inputs that workflows give the action are inputs of the action.
#[test]
fn their_inputs_of_the_action_exist() {
    let action = read("scripts/action/action.yml");
    let mut seen = 0;
    for file in WORKFLOWS {
        let workflow = read(file);
        let jobs = workflow["jobs"].as_object().unwrap().values();
        for step in jobs.flat_map(|job| job["steps"].as_array().unwrap()) {
            let uses = step["uses"].as_str().unwrap_or("");
            if uses.contains("/scripts/action@") {
                for input in step["with"].as_object().unwrap().keys() {
                    assert!(action["inputs"].get(input).is_some(), "{file}: {input}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 6, "{seen}");
}

/// The step of the release that fills in the formula and the workflow, run on archives of a made-up version.
#[test]
fn the_release_fills_in_its_formula_and_the_workflow() {
    let release = read(".github/workflows/release.yml");
    let mut steps = release["jobs"]["release"]["steps"]
        .as_array()
        .unwrap()
        .iter();
    let is_it = |step: &&Value| {
        step["name"]
            .as_str()
            .is_some_and(|name| name.contains("formula"))
    };
    let step = steps.find(is_it);
    let place = metalens_testing::scratch();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("scripts/homebrew")).unwrap();
    fs::create_dir(at("dist")).unwrap();
    fs::create_dir_all(at("scripts/action/examples")).unwrap();
    for template in ["scripts/homebrew/metalens.rb", WORKFLOWS[0]] {
        fs::copy(root().join(template), at(template)).unwrap();
    }
    let targets = [
        "aarch64-apple-darwin",
        "x86_64-apple-darwin",
        "aarch64-unknown-linux-gnu",
        "x86_64-unknown-linux-gnu",
    ];
    for (target, digit) in targets.iter().zip('1'..) {
        let name = format!("metalens-7.8.9-{target}.tar.gz");
        let sum = digit.to_string().repeat(64);
        fs::write(
            at("dist").join(format!("{name}.sha256")),
            format!("{sum}  {name}\n"),
        )
        .unwrap();
    }

    let filled = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c"])
        .arg(step.unwrap()["run"].as_str().unwrap())
        .env("GITHUB_REF_NAME", "v7.8.9")
        .env("GITHUB_SHA", "c0ffee")
        .env("GITHUB_SERVER_URL", "https://github.example")
        .env("GITHUB_REPOSITORY", "us/metalens")
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(filled.status.success(), "{filled:?}");
    let formula = fs::read_to_string(at("dist/metalens.rb")).unwrap();
    for (target, digit) in targets.iter().zip('1'..) {
        let address = "https://github.example/us/metalens/releases/download/v7.8.9";
        let sum = digit.to_string().repeat(64);
        let expected =
            format!("url \"{address}/metalens-7.8.9-{target}.tar.gz\"\n      sha256 \"{sum}\"");
        assert!(formula.contains(&expected), "{target}: {formula}");
    }
    let workflow = fs::read_to_string(at("dist/gpu.yml")).unwrap();
    for expected in [
        "uses: us/metalens/scripts/action@c0ffee # v7.8.9\n",
        "version: 7.8.9\n",
    ] {
        assert!(workflow.contains(expected), "{workflow}");
    }
    assert_eq!(
        names_to_replace(&workflow),
        ["BUILD_COMMAND", "PROGRAM_COMMAND"]
    );
}

/// Returns the words in capitals that are not those of a comment or a variable.
fn names_to_replace(workflow: &str) -> Vec<&str> {
    let lines = workflow
        .lines()
        .filter_map(|line| line.trim().split_once(": "));
    let values = lines
        .filter(|(key, _)| !key.starts_with('#'))
        .map(|(_, value)| value);
    let words = values
        .flat_map(|value| value.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    let is_name =
        |word: &&str| word.len() > 4 && !word.contains(|letter: char| letter.is_lowercase());
    let is_number = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
    words
        .filter(|word| is_name(word) && !is_number(word))
        .collect()
}

/// Before a release, the address of metalens is a third one.
#[test]
fn the_workflow_to_copy_has_three_names_to_replace() {
    let workflow = fs::read_to_string(root().join(WORKFLOWS[0])).unwrap();
    let expected = ["BUILD_COMMAND", "PROGRAM_COMMAND", "OWNER", "COMMIT"];
    assert_eq!(
        names_to_replace(&workflow),
        expected,
        "OWNER and COMMIT are of one address"
    );
}

/// A tag can be moved to other code, a commit cannot. Copies of the examples have these lines, too.
#[test]
fn actions_are_pinned_to_commits() {
    let mut files: Vec<PathBuf> = WORKFLOWS.iter().map(|file| root().join(file)).collect();
    files.push(root().join("scripts/action/action.yml"));
    for entry in fs::read_dir(root().join(".github/workflows")).unwrap() {
        files.push(entry.unwrap().path());
    }

    let mut seen = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let uses = text.lines().filter_map(|line| {
            let line = line.trim_start();
            line.trim_start_matches("- ").strip_prefix("uses: ")
        });
        for action in uses {
            seen += 1;
            let (name, version) = action.split_once('@').unwrap();
            if name == "OWNER/metalens/scripts/action" {
                assert_eq!(version, "COMMIT", "{}", file.display());
                continue;
            }
            let (commit, tag) = version.split_once(" # v").unwrap_or((version, ""));
            let is_commit =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit && !tag.is_empty(), "{}: {action}", file.display());
        }
    }
    assert!(seen > 24, "{seen}");
}
