//! Tests `metalens bench`, on any machine with the fake `xctrace`: the workloads `eager` and `fused`
//! do the same steps, four dispatches each and one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::analyze::folder::files_of;
use super::record::Bench;
use crate::{signal, stderr, stdout, until};

const PATIENCE: Duration = Duration::from_secs(120);
const EAGER: &str = "eager --count 5";
const FUSED: &str = "fused --count 5";

/// Returns the arguments for eager and fused, so many times.
fn both<'a>(runs: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let start = ["bench", "--simulate", "--runs", runs];
    let variants = [
        "--workload",
        EAGER,
        "--workload",
        FUSED,
        "-n",
        "eager",
        "-n",
        "fused",
    ];
    [&start[..], &variants[..], more].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn read(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.here().join(file)).unwrap()
}

/// Returns the runs in the folder that are complete.
fn complete(folder: &Path) -> Vec<String> {
    let mut runs = Vec::new();
    for variant in fs::read_dir(folder).into_iter().flatten().flatten() {
        for run in fs::read_dir(variant.path()).into_iter().flatten().flatten() {
            if run.path().join("run.json").is_file() {
                let name = variant.file_name().into_string().unwrap();
                let run = run.file_name().into_string().unwrap();
                runs.push(format!("{name}/{run}"));
            }
        }
    }
    runs.sort();
    runs
}

#[test]
fn the_fused_program_wins_and_unequal_work_is_said_first() {
    let bench = Bench::new();
    let output = bench.fine(&[], &both("5", &["-o", "out"]));
    insta::assert_snapshot!("screen", bench.seen(&output));
    assert!(stdout(&output).lines().count() <= 40, "{}", stdout(&output));
    // Nothing is recorded again: the folder has all runs.
    let full = bench.fine(&[], &both("5", &["-o", "out", "--full"]));
    assert!(stdout(&full).contains("Clock, thermal state and other processes"));
    let some = bench.fine(&[], &both("5", &["-o", "out", "--section", "work"]));
    assert!(
        stdout(&some).trim_start().starts_with("Work\n"),
        "{}",
        stdout(&some)
    );

    let result = json(&read(&bench, "out/bench.json"));
    assert_eq!(result["synthetic"], true);
    assert_eq!(result["standing"]["best"], 1);
    assert_eq!(result["standing"]["wins"], true);
    // The truth of the simulation: a quarter of the dispatches, each waited for.
    let change = result["pairs"][0]["wall"]["relative"].as_f64().unwrap();
    assert!((-0.80..-0.70).contains(&change), "{change}");
    assert_eq!(
        result["pairs"][0]["comparison"]["work"]["amount"],
        "different"
    );
    let schema = bench.fine(&[], &["schema", "bench"]);
    let schema = json(&stdout(&schema));
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&result));
    for page in ["out/bench.md", "out/bench.html"] {
        let text = read(&bench, page);
        assert!(text.contains("SYNTHETIC"), "{page}");
        assert!(text.contains("different work"), "{page}");
    }
    let csv = read(&bench, "out/bench.csv");
    assert_eq!(csv.lines().count(), 11, "{csv}");
    // Each run has what record-and-analyze writes, and the page links to it.
    for name in ["report.html", "report.json", "manifest.json", "run.trace"] {
        assert!(
            bench.here().join("out/01-eager/run-1").join(name).exists(),
            "{name}"
        );
    }
    assert!(read(&bench, "out/bench.html").contains("href=\"02-fused/run-5/report.html\""));
}

/// The same program twice: nothing is found, and the recordings are not the same run.
#[test]
fn equal_programs_are_not_told_apart() {
    let bench = Bench::new();
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "5",
        "--json",
        "--workload",
        EAGER,
        "--workload",
        EAGER,
        "-n",
        "one",
        "-n",
        "two",
    ];
    let result = json(&stdout(&bench.fine(&[], &arguments)));
    assert_eq!(result["work"], Value::Null, "the same work");
    assert_eq!(result["standing"]["wins"], false);
    let class = result["pairs"][0]["wall"]["class"].as_str().unwrap();
    assert!(["unchanged", "unstable"].contains(&class), "{class}");
    assert!(result["pairs"][0]["wall"]["interval"].is_object());
    let values = result["variants"][0]["wall"]["values"].as_array().unwrap();
    assert_ne!(values[0], values[1], "each run has times of its own");
}

#[test]
fn six_rounds_are_compared_round_by_round() {
    let bench = Bench::new();
    let result = |runs: &str| json(&stdout(&bench.fine(&[], &both(runs, &["--json"]))));
    assert_eq!(result("2")["pairs"][0]["by_rounds"], false);
    assert_eq!(result("6")["pairs"][0]["by_rounds"], true);
}

#[test]
fn each_pair_of_two_parameters_is_a_variant() {
    let bench = Bench::new();
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "2",
        "-o",
        "out",
        "--workload",
        "{kind} --count {n}",
        "-L",
        "kind",
        "eager,fused",
        "-L",
        "n",
        "2,4,8",
    ];
    let output = bench.fine(&[], &arguments);
    let screen = stdout(&output);
    let (_, table) = screen.split_once("medians of their runs\n").unwrap();
    let rows: Vec<&str> = table.lines().take(7).map(str::trim).collect();
    assert!(rows[1].starts_with("kind=eager n=2"), "{rows:?}");
    assert!(rows[6].starts_with("kind=fused n=8"), "{rows:?}");
    let result = json(&read(&bench, "out/bench.json"));
    let variants = result["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 6);
    // Eager with n = 8 repeats its four kernels eight times.
    let steps = &variants[2]["recorded"]["metrics"]["counts.steps"];
    assert_eq!(steps[0], 8);
    // Four times the steps take four times as long, but for the first and the last gap.
    let wall = |at: usize| variants[at]["wall"]["median"].as_f64().unwrap();
    let factor = wall(2) / wall(0);
    assert!((3.8..5.2).contains(&factor), "{factor}");
    for page in ["out/bench.md", "out/bench.html"] {
        let page = read(&bench, page);
        assert!(page.contains("kind=fused n=8"));
    }
}

/// The page opens, the manifest lists what is there, and an old program's runs do not go on.
#[test]
fn the_folder_is_for_browsers_programs_and_the_next_run() {
    let bench = Bench::new();
    let browser = "#!/bin/sh\necho \"$@\" > opened\n";
    metalens_testing::write_program(bench.here().join("browser"), browser);
    let arguments = [
        "bench",
        "--runs",
        "1",
        "-o",
        "out",
        "--open",
        "./bench -c :",
    ];
    let run = || {
        let mut command = bench.command(&[], &arguments);
        command.env("BROWSER", bench.here().join("browser"));
        command.output().unwrap()
    };
    let output = run();
    assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
    assert!(read(&bench, "opened").trim().ends_with("/out/bench.html"));
    let manifest = json(&read(&bench, "out/manifest.json"));
    assert_eq!(manifest["report_schema"], "metalens.bench/1");
    for file in manifest["files"].as_array().unwrap() {
        let path = bench
            .here()
            .join("out")
            .join(file["path"].as_str().unwrap());
        assert_eq!(
            fs::metadata(path).unwrap().len(),
            file["bytes"].as_u64().unwrap()
        );
    }

    let again = run();
    assert_eq!(again.status.code(), Some(0), "{}", bench.seen(&again));
    let program = bench.here().join("bench");
    let mut bytes = fs::read(&program).unwrap();
    bytes.push(0);
    fs::write(&program, bytes).unwrap();
    let changed = run();
    assert_eq!(changed.status.code(), Some(2), "{}", bench.seen(&changed));
    let said = stderr(&changed);
    assert!(
        said.contains("./bench has changed since its first run"),
        "{said}"
    );
}

#[test]
fn gates_and_baselines() {
    let bench = Bench::new();
    // Fused as the first variant, so that eager regresses.
    let slower = [
        "bench",
        "--simulate",
        "--runs",
        "3",
        "--gate",
        "--workload",
        FUSED,
        "--workload",
        EAGER,
    ];
    let output = bench.run(&[], &slower);
    assert_eq!(output.status.code(), Some(5), "{}", bench.seen(&output));
    assert!(stdout(&output).contains("Gate: FAILED"));
    assert!(
        stderr(&output).contains("failed: counts.intervals"),
        "{}",
        stderr(&output)
    );

    let save = [
        "bench",
        "--simulate",
        "--runs",
        "3",
        "--workload",
        EAGER,
        "--save-baseline",
        "base.json",
    ];
    let alone = stdout(&bench.fine(&[], &save));
    assert!(
        alone.contains("3 runs, without anything to compare them with"),
        "{alone}"
    );
    assert!(read(&bench, "base.json").contains("metalens.baseline/1"));
    let judge = |workload: &str| {
        let arguments = [
            "bench",
            "--simulate",
            "--runs",
            "4",
            "--workload",
            workload,
            "--baseline",
            "base.json",
            "--gate",
        ];
        bench.run(&[], &arguments)
    };
    // A simulation has the runs of the baseline again.
    let same = judge(EAGER);
    assert_eq!(same.status.code(), Some(6), "{}", bench.seen(&same));
    let same = stdout(&same);
    assert!(same.contains("Gate: INCONCLUSIVE"));
    assert!(same.contains("the same run is on both sides"), "{same}");
    let method =
        "4 runs, compared with 3 runs of the baseline as two sides (Hodges–Lehmann); intervals";
    assert!(same.contains(method), "{same}");
    assert_eq!(judge(FUSED).status.code(), Some(5));
}

/// What a variant does is the scenario that a hook puts in place.
#[test]
fn a_gate_ends_when_it_is_decided() {
    let bench = Bench::new();
    let small = fs::read_to_string(bench.path("small.toml")).unwrap();
    for (name, factor) in [("good", 100), ("same", 100), ("slow", 112)] {
        let duration = format!("duration = [\"{factor}us\", \"{}us\"]", factor + 5);
        let lines = small.lines().map(|line| {
            let is_duration = line.starts_with("duration");
            if is_duration { duration.as_str() } else { line }
        });
        let text = lines.collect::<Vec<&str>>().join("\n");
        fs::write(bench.here().join(format!("{name}.toml")), text).unwrap();
    }
    let check = |variants: &str, more: &[&str], code: i32, expected: &str| {
        let arguments = [
            "bench",
            "--simulate",
            "./bench -c true {v}",
            "-L",
            "v",
            variants,
            "--prepare",
            "cp {v}.toml ../small.toml",
            "--gate",
            "--until-decided",
        ];
        let output = bench.run(&[], &[&arguments[..], more].concat());
        assert_eq!(output.status.code(), Some(code), "{}", bench.seen(&output));
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains(expected), "{said}");
    };
    check(
        "good,same",
        &[],
        0,
        "v=same beside v=good: not slower by more than 5.0 %, after",
    );
    check("good,slow", &[], 5, "v=slow beside v=good: slower, after");
    check(
        "good,slow",
        &["--runs", "2"],
        125,
        "v=slow beside v=good: undecided, after 2 pairs",
    );
    check(
        "good,same",
        &["--within", "0s"],
        125,
        "undecided, after 3 pairs",
    );
    check("good,none", &[], 125, "cp: ");
}

#[test]
fn a_variant_that_fails_stops_the_benchmark() {
    let bench = Bench::new();
    let arguments = |more: &'static str| {
        let mut all = vec!["bench", "--simulate", "--runs", "2", "./bench -c 'exit 3'"];
        all.extend(["./bench -c 'exit 0'", "-n", "bad", "-n", "good"]);
        all.extend((!more.is_empty()).then_some(more));
        all
    };
    let output = bench.run(&[], &arguments(""));
    assert_eq!(output.status.code(), Some(1), "{}", bench.seen(&output));
    assert!(
        stderr(&output).contains(
            "error: bad, round 1: the program ended abnormally: status 3; --ignore-failure measures it \
             anyway"
        ),
        "{}",
        stderr(&output)
    );
    let output = bench.fine(&[], &arguments("--ignore-failure"));
    assert!(
        stdout(&output).contains("status 3 in 2 of 2 runs"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn hooks_run_in_their_places() {
    let bench = Bench::new();
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "2",
        "--warmup",
        "1",
        "-L",
        "x",
        "a,b",
        "./bench -c 'echo run {x} >> log'",
        "--setup",
        "echo setup {x} >> log",
        "--prepare",
        "echo prepare {x} >> log",
        "--cleanup",
        "echo cleanup {x} >> log",
    ];
    bench.fine(&[], &arguments);
    let log = read(&bench, "log").replace('\n', ", ");
    assert_eq!(
        log,
        "setup a, setup b, prepare a, run a, prepare b, run b, prepare a, run a, prepare b, run b, \
         prepare b, run b, prepare a, run a, cleanup a, cleanup b, "
    );

    let failing = [
        "bench",
        "--simulate",
        "./bench",
        "--prepare",
        "echo why >&2; exit 4",
        "--cleanup",
        "echo cleaned > cleaned",
    ];
    let output = bench.run(&[], &failing);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("): why"), "{}", stderr(&output));
    assert_eq!(read(&bench, "cleaned"), "cleaned\n");
}

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let mut command = bench.command(&[], arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// A program that waits until the file `go` is there.
const SLEEPY: &str = "./bench -c 'test -e go || exec sleep 600'";

#[test]
fn an_interrupted_benchmark_shows_and_keeps_its_runs() {
    let bench = Bench::new();
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "2",
        "-o",
        "out",
        "./bench -c true",
        SLEEPY,
        "-n",
        "quick",
        "-n",
        "slow",
    ];
    let child = start(&bench, &arguments);
    let out = bench.here().join("out");
    until(PATIENCE, "the run that waits", || {
        out.join("02-slow/run-1").is_dir()
    });
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", bench.seen(&output));
    let screen = stdout(&output);
    assert!(
        screen.contains("STOPPED: only 1 run of the benchmark"),
        "{screen}"
    );
    assert_eq!(complete(&out), ["01-quick/run-1"]);
    assert_eq!(json(&read(&bench, "out/bench.json"))["complete"], false);

    fs::write(bench.here().join("go"), "").unwrap();
    let output = bench.fine(&[], &arguments);
    assert!(stderr(&output).contains("1 of 4 runs are already in the folder"));
    assert_eq!(complete(&out).len(), 4);
    assert_eq!(json(&read(&bench, "out/bench.json"))["complete"], true);
}

#[test]
fn a_killed_benchmark_goes_on_where_it_stopped() {
    let bench = Bench::new();
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "2",
        "-o",
        "out",
        "--workload",
        EAGER,
        SLEEPY,
        "-n",
        "slow",
        "-n",
        "eager",
    ];
    let mut child = start(&bench, &arguments);
    // The program waits in its first run.
    let folder = bench.here().join("out/01-slow/run-1");
    until(PATIENCE, "the first run", || folder.is_dir());
    signal(child.id(), "KILL");
    child.wait().unwrap();
    assert_eq!(complete(&bench.here().join("out")), [""; 0]);

    fs::write(bench.here().join("go"), "").unwrap();
    bench.fine(&[], &arguments);
    let all = complete(&bench.here().join("out"));
    assert_eq!(all.len(), 4, "{all:?}");
    // Nothing is recorded again, and more runs are added to those that are there.
    let when = |run: &str| {
        let file = bench.here().join("out").join(run).join("run.json");
        fs::metadata(file).unwrap().modified().unwrap()
    };
    let before = when("01-slow/run-1");
    let mut more = arguments;
    more[3] = "3";
    let output = bench.fine(&[], &more);
    assert!(stderr(&output).contains("4 of 6 runs are already in the folder"));
    assert_eq!(when("01-slow/run-1"), before);
    assert_eq!(complete(&bench.here().join("out")).len(), 6);

    let mut other = arguments;
    other[12] = "other";
    let output = bench.run(&[], &other);
    assert_eq!(output.status.code(), Some(2), "{}", bench.seen(&output));
    assert!(
        stderr(&output).contains("has another benchmark"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_usage_is_refused_before_any_run() {
    let bench = Bench::new();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let all = [&["bench", "--simulate"], arguments].concat();
        let output = bench.run(&[], &all);
        assert_eq!(output.status.code(), Some(code), "{}", bench.seen(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    check(&["./bench | cat"], 2, "no shell reads it");
    check(&["./bench", "--gate"], 2, "--gate has nothing to compare");
    check(
        &["./bench", "--runs", "2", "--save-baseline", "x"],
        2,
        "at least 3 runs",
    );
    check(
        &["./bench", "-L", "x", "1,2"],
        2,
        "no command or variable contains `{x}`",
    );
    check(&["--workload", "eagle"], 2, "eagle");
    check(
        &["--workload", "eager --speed 4"],
        2,
        "--workload 'eager --speed 4'",
    );
    check(&["./no-such-program"], 1, "no-such-program");
    assert!(!bench.here().join("out").exists());
}

/// Returns the paths of everything in a folder, without what is in bundles: folders, then files.
fn entries(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    let mut left = vec![folder.to_owned()];
    while let Some(outer) = left.pop() {
        for entry in fs::read_dir(outer).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                files.push(path);
                continue;
            }
            if path.extension().is_none_or(|ending| ending != "trace") {
                left.push(path.clone());
            }
            folders.push(path);
        }
    }
    (folders, files)
}

/// Links are planted at every path that a benchmark writes or removes. What they lead to stays, with
/// `--force` too, and in the middle of a benchmark.
#[test]
fn no_link_in_the_folder_leads_outside() {
    let bench = Bench::new();
    let arguments = ["bench", "--simulate", "-o", "out", "./bench -c :", "-q"];
    let run = |more: &[&str]| bench.run(&[], &[&arguments[..], more].concat());
    let at = |name: &str| bench.here().join(name);
    assert!(run(&["--runs", "1"]).status.success());
    let (folders, files) = entries(&at("out"));
    assert!(
        folders.len() > 2 && files.len() > 10,
        "{folders:?} {files:?}"
    );

    let alone = ["plan.json", "run.json"];
    let is_alone = |file: &&PathBuf| alone.iter().any(|name| file.ends_with(name));
    let mut cases: Vec<Vec<&PathBuf>> = folders.iter().map(|folder| vec![folder]).collect();
    cases.extend(files.iter().filter(is_alone).map(|file| vec![file]));
    let others = files.iter().filter(|file| !is_alone(file));
    for folder in folders.iter().chain([&at("out")]) {
        let inside = others.clone().filter(|file| file.parent() == Some(folder));
        cases.push(inside.collect());
    }
    cases.retain(|case| !case.is_empty());

    let copy = |from: &str, to: &str| {
        let mut command = Command::new("cp");
        let copied = command.args(["-R", from, to]).current_dir(bench.here());
        assert!(copied.status().unwrap().success());
    };
    copy("out", "whole");
    for case in cases {
        for more in [&["--runs", "2"][..], &["--runs", "1", "--force"]] {
            for name in ["out", "victims"] {
                let _ = fs::remove_dir_all(at(name));
            }
            copy("whole", "out");
            for (number, path) in case.iter().enumerate() {
                let victim = at(&format!("victims/{number}"));
                fs::create_dir_all(at("victims")).unwrap();
                // It has what was there, so that it is as good as that.
                fs::rename(path, &victim).unwrap();
                if victim.is_dir() {
                    fs::create_dir_all(victim.join("run-1/deep")).unwrap();
                    fs::write(victim.join("run-1/precious"), "mine").unwrap();
                }
                std::os::unix::fs::symlink(&victim, path).unwrap();
            }
            let before = files_of(&at("victims"));
            let output = run(more);
            assert_eq!(files_of(&at("victims")), before, "{case:?} {more:?}");
            assert!(
                output.status.code().is_some_and(|code| code < 100),
                "{}",
                bench.seen(&output)
            );
        }
    }
}

/// Secrets in a command reach the program, and no file that is written.
#[test]
fn secrets_in_commands_are_in_no_file() {
    let bench = Bench::new();
    let command = "./bench -c 'test $1 = --password=hunter2 && test $2 = $TOKEN' x --password=hunter2 \
                   ghp_0123456789abcdefghijklmnop";
    let arguments = [
        "bench",
        "--simulate",
        "--runs",
        "1",
        "--env",
        "TOKEN=ghp_0123456789abcdefghijklmnop",
        "-o",
        "out",
        "--prepare",
        "true --token hunter2",
        "-L",
        "secret",
        "hunter2",
        command,
        "./bench -c ': {secret}'",
    ];
    let output = bench.fine(&[], &arguments);
    let resumed = bench.fine(&[], &arguments);
    assert!(stderr(&resumed).contains("2 of 2 runs are already in the folder"));
    let comment = bench.fine(&[], &["pr", "out", "--dry-run"]);
    let mut written: Vec<(String, String)> = [output, resumed, comment]
        .iter()
        .map(|output| ("output".to_owned(), stdout(output) + &stderr(output)))
        .collect();
    assert!(written[2].1.contains("secret"), "{}", written[2].1);
    // Bundles and their reports are as private as recordings are.
    for file in entries(&bench.here().join("out")).1 {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        written.push((file.display().to_string(), text));
    }
    for (name, text) in written {
        for secret in ["hunter2", "ghp_0"] {
            assert!(
                !name.contains(secret) && !text.contains(secret),
                "{name}: {text}"
            );
        }
    }
}

/// The output that nobody wants takes no room: a file of that length would end the program.
#[test]
fn output_that_is_discarded_takes_no_room() {
    let bench = Bench::new();
    let run = |option: &str| {
        let command = bench.command(&[], &[""; 0]);
        let script = format!(
            "ulimit -f 20000; exec \"$0\" bench --simulate --runs 1 -q 'head -c 50000000 /dev/zero' {option}"
        );
        let mut limited = Command::new("bash");
        limited.args(["-c", &script]).arg(command.get_program());
        limited.current_dir(bench.here()).env_clear();
        let variables = command.get_envs();
        limited.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        limited.output().unwrap()
    };
    let discarded = run("");
    assert!(discarded.status.success(), "{}", bench.seen(&discarded));
    // With the file, the limit is noticed.
    assert!(!run("--show-output").status.success());
}
