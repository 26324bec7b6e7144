//! Tests readers who leave early, as `head` does. A closed pipe ends the printing only: the exit code
//! is that of the whole output, and nothing is said about the pipe.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use metalens_simulator::{Scenario, write_bundle};

use crate::SMALL;
use crate::verbs::record::Bench;
use crate::verbs::stacks::with_samples;

/// Bytes that a reader takes before it closes the pipe.
const TAKEN: [usize; 3] = [0, 1, 4096];

/// Runs of each verdict, of which METALENS_CLOSED may ask for more, and of each other command.
const VERDICT: usize = 4;
const OTHER: usize = 2;

/// A command, the exit code of a verdict, and how often it runs for each number of bytes. Other codes
/// depend on the machine.
type Case = (&'static str, Option<i32>, usize);

const CASES: &[Case] = &[
    (
        "compare --baseline base.json c1 c2 c3 --gate",
        Some(5),
        VERDICT,
    ),
    (
        "compare --baseline base.json c1 c2 c3 --gate --full",
        Some(5),
        VERDICT,
    ),
    (
        "compare --baseline base.json a1 a2 a3 --gate=at-least.toml --markdown",
        Some(5),
        VERDICT,
    ),
    ("analyze a1 --gate=at-least.toml", Some(5), VERDICT),
    ("analyze a1 --gate=at-least.toml --full", Some(5), VERDICT),
    ("analyze a1 missing --full", Some(1), VERDICT),
    (
        "batch a1 a2 -o checked --gate=at-least.toml",
        Some(5),
        VERDICT,
    ),
    ("batch a1 missing -o failed", Some(1), VERDICT),
    ("verify --compare a1.trace a2", Some(5), VERDICT),
    (
        "bench --simulate -r 1 --workload eager --workload fused --gate -o variants",
        Some(5),
        VERDICT,
    ),
    (
        "verify --simulate --only counts -o evidence --force",
        Some(5),
        OTHER,
    ),
    (
        "record-and-analyze --simulate -o recorded --force --gate=at-least.toml",
        Some(5),
        OTHER,
    ),
    (
        "record --simulate -o recorded.trace --force -- ./bench -c true",
        None,
        OTHER,
    ),
    ("compare a1 c1 --json", None, OTHER),
    ("baseline show base.json", None, OTHER),
    ("baseline save a1 a2 a3 -o again.json --force", None, OTHER),
    ("baseline figures", None, OTHER),
    ("chart a1 -o -", None, OTHER),
    ("what-if a1 --in-flight 2", None, OTHER),
    ("stacks samples", None, OTHER),
    ("tables a1", None, OTHER),
    ("tables a1 --schema metal-gpu-intervals", None, OTHER),
    ("export a1.trace -o exported --force", None, OTHER),
    ("synth --list", None, OTHER),
    ("pr report --dry-run", None, OTHER),
    ("doctor", None, OTHER),
    ("own a1.trace", None, OTHER),
    ("schema", None, OTHER),
    ("probe", None, OTHER),
    ("skill", None, OTHER),
    ("completions bash", None, OTHER),
    ("record --workload list", None, OTHER),
    ("workload eager", None, OTHER),
    ("fake-xctrace list templates", None, OTHER),
    ("help", None, OTHER),
];

/// Misbehavior of the fake `xctrace`, with which an experiment is not as expected.
const LOSES_ROWS: &[&str] = &["MISBEHAVE=loses-rows"];

/// Returns the settings of the fake `xctrace` for a case.
fn settings(words: &[&str]) -> &'static [&'static str] {
    if words.first() == Some(&"verify") {
        LOSES_ROWS
    } else {
        &[]
    }
}

/// Creates a bench with the inputs of all cases.
fn inputs() -> Bench {
    let bench = Bench::new();
    let here = bench.here();
    for name in ["a1", "a2", "a3", "c1", "c2", "c3"] {
        let seed = name.as_bytes()[1];
        let duration = if name.starts_with('c') {
            "[\"40us\", \"41us\"]"
        } else {
            "[\"10us\", \"11us\"]"
        };
        let toml = format!("seed = {seed}\n{}", SMALL.replace("\"10us\"", duration));
        fs::write(here.join("x.toml"), &toml).unwrap();
        bench.fine(&[], &["synth", "x.toml", "-o", name]);
        if name == "a1" {
            let scenario = Scenario::from_toml(&toml).unwrap();
            write_bundle(&scenario, &here.join("a1.trace"), false).unwrap();
        }
    }
    let samples = with_samples();
    fs::rename(samples.path().join("cpu"), here.join("samples")).unwrap();
    fs::write(
        here.join("at-least.toml"),
        "[gate.metrics]\n\"counts.intervals\" = { min = 9 }\n\"busy.ratio\" = { min = \"99%\" }\n",
    )
    .unwrap();
    bench.fine(
        &[],
        &["baseline", "save", "a1", "a2", "a3", "-o", "base.json"],
    );
    bench.fine(&[], &["analyze", "a1", "-o", "report"]);
    bench
}

/// Runs a command whose reader leaves after some bytes of its standard output, or of both streams.
/// Returns the exit code, and what standard error has otherwise.
fn run(bench: &Bench, words: &[&str], taken: usize, both: bool) -> (Option<i32>, String) {
    let (mut reader, writer) = io::pipe().unwrap();
    let mut command = bench.command(settings(words), words);
    if both {
        command.stderr(writer.try_clone().unwrap());
    } else {
        command.stderr(Stdio::piped());
    }
    command.stdout(writer);
    if taken == 0 {
        // Nobody reads, from the first byte on.
        drop(reader);
        let child = command.spawn().unwrap();
        drop(command);
        return ended(child);
    }
    let child = command.spawn().unwrap();
    drop(command);
    // A short output ends before.
    let _ = reader.read_exact(&mut vec![0; taken]);
    drop(reader);
    ended(child)
}

fn ended(child: std::process::Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

fn check(bench: &Bench, &(arguments, code, times): &Case) {
    let asked = std::env::var("METALENS_CLOSED");
    let asked = asked.ok().and_then(|text| text.parse().ok());
    let times = asked.filter(|_| times == VERDICT).unwrap_or(times);
    let words: Vec<&str> = arguments.split(' ').collect();
    let whole = bench.run(settings(&words), &words);
    let code = code.or(whole.status.code());
    assert_eq!(whole.status.code(), code, "{}", bench.seen(&whole));

    for taken in TAKEN {
        for time in 0..times {
            let both = time % 4 == 3;
            let (found, said) = run(bench, &words, taken, both);
            let seen = format!("{arguments}, closed after {taken} bytes, time {time}: {said}");
            assert_eq!(found, code, "{seen}");
            assert!(!said.contains("cannot write to"), "{seen}");
            assert!(!said.contains("closed it"), "{seen}");
        }
    }
}

#[test]
fn a_reader_who_leaves_changes_no_exit_code() {
    let bench = inputs();
    let next = AtomicUsize::new(0);
    // Cases write to files of their own, so they run side by side.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(&bench, case);
                }
            });
        }
    });
}

#[test]
fn every_command_has_a_case() {
    let bench = Bench::new();
    let script = bench.fine(&[], &["completions", "bash"]);
    let script = String::from_utf8(script.stdout).unwrap();
    let all = script.split("metalens__subcmd__").skip(1);
    let all = all.map(|rest| rest.split([')', '"', ' ', '\n', ',']).next().unwrap());
    let all = all.filter_map(|name| name.split("__subcmd__help").next());
    let all = all.filter(|name| !name.starts_with("help__"));
    let names = all.map(|name| name.replace("__subcmd__", "-"));
    let words = |name: &str| name.replace('-', " ");
    let run: Vec<String> = CASES.iter().map(|(line, ..)| words(line)).collect();
    let names: BTreeSet<String> = names.map(|name| words(&name)).collect();
    assert!(names.len() > 25, "{names:?}");
    // This one prints only through another program, which has doors of its own.
    for name in names.iter().filter(|name| *name != "query") {
        assert!(
            run.iter().any(|line| line.starts_with(name.as_str())),
            "no case runs {name}"
        );
    }
}
