//! Checks the recipes in `examples`: their commands run on a fake `xctrace`, and so do the programs
//! that this machine can run.
#![expect(clippy::print_stderr, reason = "a skipped program says so")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::{metalens, stderr, stdout};

const RECIPES: [&str; 4] = ["mlx", "pytorch-mps", "candle", "llama.cpp"];
/// Programs that the commands on the pages start, relative to the folder of the recipe.
const PROGRAMS: [&str; 3] = [
    "venv/bin/python",
    "target/release/candle-chain",
    "llama-bench",
];
/// The most lines of a page.
const PAGE: usize = 66;
/// Few enough that a slow machine runs them in a second.
const SMALL: [&str; 4] = ["--steps", "20", "--size", "4096"];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

/// Returns the page of a recipe.
fn page(recipe: &str) -> String {
    let page = fs::read_to_string(examples().join(recipe).join("README.md")).unwrap();
    let lines = page.lines().count();
    assert!(lines <= PAGE, "{recipe}: {lines} lines");
    page
}

/// Returns the arguments of each `metalens` command in the blocks of a page.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let blocks = page.split("```sh\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines);
    let commands = lines.filter_map(|line| line.strip_prefix("metalens "));
    let commands = commands.map(|line| line.split(" #").next().unwrap());
    commands
        .map(|line| line.split_whitespace().collect())
        .collect()
}

/// Returns the arguments of each part of a `metalens` command in the text of a page.
fn spans(page: &str) -> Vec<Vec<&str>> {
    let spans = page.split('`').skip(1).step_by(2);
    let verbs = ["record", "analyze", "compare"];
    spans
        .map(|span| span.strip_prefix("metalens ").unwrap_or(span))
        .map(|span| span.split_whitespace().collect::<Vec<&str>>())
        .filter(|words| words.len() > 1 && verbs.contains(&words[0]))
        .collect()
}

/// A page's commands run in their order. Only the programs are fakes.
#[test]
fn the_commands_on_the_pages_run_without_a_mac() {
    for recipe in RECIPES {
        let folder = metalens_testing::scratch();
        for program in PROGRAMS {
            let path = folder.path().join(program);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            metalens_testing::write_program(&path, "#!/bin/sh\necho \"asked: $@\"\n");
        }

        let page = page(recipe);
        let commands = commands(&page);
        for verb in ["record", "record", "compare", "analyze"] {
            assert!(commands.iter().any(|words| words[0] == verb), "{recipe}");
        }
        for mut words in commands {
            let records = words[0] == "record";
            if records {
                words.insert(1, "--simulate");
            }
            let output = metalens(folder.path(), &words);
            let (out, said) = (stdout(&output), stderr(&output));
            assert!(output.status.success(), "{recipe}: {words:?}: {said}");
            if records {
                assert!(out.starts_with("asked: "), "{recipe}: {words:?}: {out}");
                assert!(said.contains("SIMULATED: "), "{recipe}: {words:?}: {said}");
            }
        }
    }
}

/// clap reads all options before it prints the help.
#[test]
fn the_options_in_the_text_exist() {
    let parses = |words: &[&str]| metalens(".".as_ref(), &[words, &["--help"]].concat());
    let mut seen = 0;
    for recipe in RECIPES.iter().copied().chain(["."]) {
        for words in spans(&page(recipe)) {
            let output = parses(&words);
            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
    assert!(!parses(&["record", "--no-such"]).status.success());
}

/// Each program that is installed here runs in all its ways, and finds its own arithmetic wrong
/// after a change. All compute the same.
#[test]
fn the_programs_agree() {
    let mut means = BTreeMap::new();

    let python = std::env::var("METALENS_PYTHON").unwrap_or("python3".to_owned());
    let scripts: [(&str, &str, &[&[&str]]); 2] = [
        (
            "mlx",
            "mlx.core",
            &[
                &[],
                &["--compile"],
                &["--no-wait"],
                &["--compile", "--no-wait"],
            ],
        ),
        ("pytorch-mps", "torch", &[&[], &["--item"]]),
    ];
    for (recipe, module, ways) in scripts {
        let import = ["-c", &format!("import {module}")];
        let found = Command::new(&python).args(import).output();
        if !found.is_ok_and(|found| found.status.success()) {
            eprintln!("SKIPPED: examples/{recipe}: {python} has no module {module}");
            continue;
        }

        let script = examples().join(recipe).join("chain.py");
        for way in ways {
            let run = Command::new(&python)
                .arg(&script)
                .args(SMALL)
                .args(*way)
                .output();
            means.insert(format!("{recipe} {way:?}"), mean(&run.unwrap()));
        }

        let text = fs::read_to_string(&script).unwrap();
        let wrong = text.replace("(x * 1.25 + bias)", "(x * 1.26 + bias)");
        assert_ne!(wrong, text);
        let wrong = Command::new(&python)
            .args(["-c", &wrong])
            .args(SMALL)
            .output();
        let wrong = wrong.unwrap();
        assert_eq!(wrong.status.code(), Some(1));
        assert!(stderr(&wrong).contains("error: element"), "{wrong:?}");
    }

    let built = examples().join("candle/target/release/candle-chain");
    let candle = std::env::var_os("METALENS_CANDLE").map_or(built, PathBuf::from);
    if candle.exists() {
        for way in [&[][..], &["--read-each-step"]] {
            let run = Command::new(&candle).args(SMALL).args(way).output();
            means.insert(format!("candle {way:?}"), mean(&run.unwrap()));
        }
    } else {
        eprintln!("SKIPPED: examples/candle is not built (cargo build --release --locked there)");
    }

    eprintln!("{means:#?}");
    let mut values = means.values();
    if let Some(first) = values.next() {
        assert!(
            values.all(|value| (value - first).abs() < 1e-5),
            "{means:?}"
        );
    }
}

/// Returns the mean that a program printed.
fn mean(run: &Output) -> f64 {
    assert!(run.status.success(), "{}", stderr(run));
    let said = stdout(run);
    let (_, mean) = said.trim_end().rsplit_once("mean ").unwrap();
    mean.parse().unwrap()
}

#[test]
fn the_script_for_llama_cpp_records_both_micro_batches() {
    let folder = metalens_testing::scratch();
    metalens_testing::write_program(
        folder.path().join("llama-bench"),
        "#!/bin/sh\necho \"asked: $@\"\n",
    );
    fs::write(folder.path().join("model.gguf"), "").unwrap();
    let run = |arguments: &[&str]| {
        Command::new("bash")
            .arg(examples().join("llama.cpp/ubatch.sh"))
            .args(arguments)
            .current_dir(folder.path())
            .env("METALENS", assert_cmd::cargo::cargo_bin("metalens"))
            .env("LLAMA_BENCH", "./llama-bench")
            .env("RUNS", "1")
            .output()
            .unwrap()
    };

    let output = run(&["model.gguf", "128", "512", "--simulate"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let out = stdout(&output);
    let asked: Vec<&str> = out
        .lines()
        .filter_map(|line| line.strip_prefix("asked: "))
        .collect();
    let expected = ["128", "512"]
        .map(|ubatch| format!("-m model.gguf -p 2048 -n 0 -b 2048 -ub {ubatch} -r 3"));
    assert_eq!(asked, expected);
    assert!(out.contains("\nSYNTHETIC: "), "{out}");

    for (arguments, code, why) in [
        (&[][..], 2, "usage: "),
        (&["model.gguf", "128"], 2, "usage: "),
        (&["model.gguf", "512", "512"], 2, "are the same"),
        (&["none.gguf"], 1, "there is no none.gguf"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}
