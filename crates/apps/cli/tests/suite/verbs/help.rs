//! Tests `--help`, `--version` and wrong usage.

use std::path::Path;

use insta::assert_snapshot;

use crate::{metalens, stderr, stdout, transcript};

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing_on_stdout() {
    let here = Path::new(".");
    let cases: [&[&str]; 7] = [
        &[],
        &["analyse"],
        &["analyze"],
        &["analyze", "x", "--from", "12"],
        &["analyze", "x", "--run", "first"],
        &["tables", "x", "--json", "--schema", "y"],
        &["synth", "eager"],
    ];
    for arguments in cases {
        let output = metalens(here, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

/// Words that people try lead to a command, or to the name that they meant.
#[test]
fn near_misses_are_answered() {
    let folder = metalens_testing::scratch();
    let made = metalens(folder.path(), &["synth", "eager", "-o", "x.trace", "-q"]);
    assert_eq!(made.status.code(), Some(0));
    std::fs::write(folder.path().join("x.tar.gz"), TAR_GZ).unwrap();
    std::fs::copy(folder.path().join("x.tar.gz"), folder.path().join("x.tgz")).unwrap();

    let check = |arguments: &[&str], code: i32, said: &str| {
        let output = metalens(folder.path(), arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.contains(said), "{arguments:?}: {told}");
    };
    for verb in ["report", "stats", "analyse", "analyze"] {
        check(&[verb, "x.trace"], 0, "");
    }
    check(&["x.trace"], 0, "");
    check(
        &["profile", "--simulate", "-o", "r"],
        0,
        "wrote r: open r/report.html",
    );
    check(&["reprot", "x.trace"], 2, "report");
    for (word, command) in [
        ("view", "analyze INPUT --open"),
        ("summary", "analyze INPUT"),
        ("timeline", "chart INPUT"),
        ("predict", "what-if INPUT"),
        ("trace", "record PROGRAM"),
        ("ci", "compare BASE NEW --gate"),
        ("ls", "tables INPUT"),
        ("version", "--version"),
    ] {
        check(
            &[word, "x.trace"],
            2,
            &format!("hint: `metalens {command}`"),
        );
    }
    check(&["no-such.trace"], 1, "no-such.trace: ");
    check(
        &["analyze", "x.trace", "--section", "kernal"],
        2,
        "did you mean `kernels`? ",
    );
    check(
        &[
            "analyze",
            "x.trace",
            "--section",
            "kernels",
            "--sort",
            "totl",
        ],
        2,
        "did you mean `total`? ",
    );
    check(
        &["analyze", "x.trace", "--process", "eager-bensh"],
        4,
        "did you mean `eager-bench`? ",
    );
    check(&["analyze", "x.trace", "--pid", "4101"], 0, "");
    check(&["analyze", "x.trace", "--pids", "4101"], 2, "--pid");
    check(&["analyze", "x.trace", "--run", "7"], 2, "its runs: 1");
    check(
        &["tables", "x.trace", "--schema", "metal-gpu-interval"],
        1,
        "did you mean `metal-gpu-intervals`? ",
    );
    check(
        &["chart", "x.trace", "--chart", "gap", "-o", "g.png"],
        2,
        "a similar value exists: 'gaps'",
    );
    check(&["synth", "eagr", "-o", "y"], 2, "did you mean `eager`? ");
    check(
        &["record", "--simulate", "--workload", "eagr"],
        2,
        "did you mean `eager`? ",
    );
    check(&["schema", "reprt"], 2, "a similar value exists: 'report'");
    check(
        &["baseline", "figurs"],
        2,
        "a similar subcommand exists: 'figures'",
    );
    check(&["batch", ".", "-o", "b", "--jobs", "0"], 2, "1 or more");
    std::fs::write(folder.path().join("notes.txt"), "hello\n").unwrap();
    std::fs::write(folder.path().join("chrome.json"), "{\"traceEvents\": []}").unwrap();
    check(
        &["analyze", "notes.txt"],
        4,
        "this is plain text, not a recording",
    );
    check(
        &["analyze", "notes.txt"],
        4,
        "metalens reads a .trace bundle",
    );
    check(&["analyze", "chrome.json"], 4, "open it at ui.perfetto.dev");
    check(
        &["analyze", "x.trace/form.template"],
        4,
        "give the bundle that it is in: x.trace",
    );
    check(&["analyze", "x.trac"], 1, "did you mean x.trace?");
    check(
        &["analyze", "x.trace", "x.trace", "-o", "d"],
        2,
        "`metalens batch`",
    );
    check(
        &["analyze", "x.trace", "--gate"],
        2,
        "--gate=FILE names the file",
    );
    check(
        &["analyze", "x.trace", "--html", "x.png"],
        2,
        "name it X.html",
    );
    check(
        &["analyze", "x.trace", "--format", "json"],
        2,
        "`--json` prints JSON",
    );
    check(&["analyze", "x.trace", "--csv"], 2, "--format csv");
    check(&["open", "x.trace"], 2, "metalens analyze INPUT --open");
    check(&["version"], 2, "metalens --version");
    check(&["diff", "x.trace", "x.trace"], 0, "");
    check(&["analyze", "x.trace", "--section", "kernels,idle"], 0, "");
    check(
        &["analyze", "x.tar.gz"],
        4,
        "unpack it first: `tar xf FILE`",
    );
    check(&["analyze", "x.tgz"], 4, "unpack it first: `tar xf FILE`");
}

/// A tape archive with one file, compressed: `tar czf`.
const TAR_GZ: &[u8] = include_bytes!("one-file.tar.gz");

/// Examples that do not run here: this one posts on GitHub. `query` is a program of its own, whose tests
/// run its examples.
#[cfg(unix)]
const NOT_RUN: [&str; 1] = ["metalens pr report"];

/// Each command of the first screen has examples, and what somebody copies from there works. The
/// programs and `xctrace` are stand-ins, and later examples use what earlier ones wrote.
#[cfg(unix)]
#[test]
fn examples_of_help_run() {
    let folder = metalens_testing::scratch();
    let here = folder.path();
    let bundles = [
        "run",
        "before",
        "after",
        "a1",
        "a2",
        "a3",
        "b1",
        "b2",
        "b3",
        "runs/1",
        "nightly/1",
    ];
    for (seed, name) in (0..).zip(bundles) {
        let mut scenario = metalens_simulator::Scenario::preset("eager").unwrap();
        scenario.seed = seed;
        let bundle = here.join(format!("{name}.trace"));
        std::fs::create_dir_all(bundle.parent().unwrap()).unwrap();
        metalens_simulator::write_bundle(&scenario, &bundle, false).unwrap();
    }
    for program in ["my-kernels", "eager", "fused", "infer"] {
        metalens_testing::write_program(here.join(program), "#!/bin/sh\n");
    }
    let xctrace = "#!/bin/sh\nexec metalens fake-xctrace -- \"$@\"\n";
    metalens_testing::write_program(here.join("xctrace"), xctrace);
    std::fs::write(here.join("small.toml"), crate::SMALL).unwrap();
    let runs = ["a1.trace", "a2.trace", "a3.trace"];
    let save = [&["baseline", "save", "-o", "main.json"], &runs[..]].concat();
    assert_eq!(metalens(here, &save).status.code(), Some(0));

    let screen = stdout(&metalens(here, &["--help"]));
    let (_, listed) = screen.split_once("Commands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let names = listed.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let name = line.split(' ').next()?;
        (!name.is_empty() && name != "help").then_some(name)
    });
    let program = assert_cmd::cargo::cargo_bin("metalens");
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut run = 0;
    for command in names {
        let help = stdout(&metalens(here, &["help", command]));
        let examples = help.lines().filter_map(|line| line.strip_prefix("  "));
        let examples: Vec<&str> = examples
            .filter(|line| line.starts_with("metalens "))
            .collect();
        let start = format!("metalens {command}");
        assert!((1..=3).contains(&examples.len()), "{command}: {examples:?}");
        for example in examples {
            assert!(example.starts_with(&start), "{command}: {example}");
            if NOT_RUN.contains(&example) || command == "query" {
                continue;
            }
            let output = std::process::Command::new("sh")
                .args(["-c", example])
                .current_dir(here)
                .env_clear()
                .env("PATH", &path)
                .env("METALENS_XCTRACE", here.join("xctrace"))
                .env("METALENS_FAKE_XCTRACE_SCENARIO", here.join("small.toml"))
                .env("METALENS_FAKE_XCTRACE_SLOW_MS", "3")
                .output();
            let output = output.unwrap();
            // A gate may be inconclusive, and this machine may be unable to record.
            let codes: &[i32] = match command {
                "compare" => &[0, 6],
                "doctor" => &[0, 3],
                _ => &[0],
            };
            let code = output.status.code().unwrap();
            assert!(codes.contains(&code), "{example}: {}", transcript(&output));
            run += 1;
        }
    }
    assert!(run > 20, "{run}");
}

/// An unknown option is a mistake, so nobody is told how to pass it as a value.
#[test]
fn usage_errors_have_no_tip_to_escape_options() {
    let output = metalens(Path::new("."), &["analyze", "--pidd", "5", "x.trace"]);
    let told = stderr(&output);
    assert!(told.contains("unexpected argument '--pidd'"), "{told}");
    assert!(!told.contains("as a value"), "{told}");
}

#[test]
fn completions_know_the_names_of_scenarios_and_workloads() {
    let check = |shell: &str, expected: [bool; 2]| {
        let script = stdout(&metalens(Path::new("."), &["completions", shell]));
        let found = ["shared-machine", "bandwidth"].map(|name| script.contains(name));
        assert_eq!(found, expected, "{shell}");
    };
    check("bash", [true, true]);
    check("zsh", [true, true]);
    // clap's generator completes values of options alone here, and no values there.
    check("fish", [false, true]);
    check("elvish", [false, false]);
    check("powershell", [false, false]);
}

#[test]
fn help_and_version_succeed() {
    let here = Path::new(".");
    for arguments in [["--help"], ["--version"]] {
        assert_eq!(metalens(here, &arguments).status.code(), Some(0));
    }
    assert_snapshot!("help", transcript(&metalens(here, &["--help"])));
    assert_snapshot!(
        "help-analyze",
        transcript(&metalens(here, &["analyze", "--help"]))
    );
}
