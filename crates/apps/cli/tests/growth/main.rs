//! Tests that no count that an input controls makes the work or the memory of a command grow faster
//! than itself: [`INPUTS`] × [`COMMANDS`].
//!
//! Work is the number of blocks of machine code that the program runs, which valgrind counts. A loop
//! runs at least one block a turn, also one that only compares and allocates nothing, and the number is
//! the same on a busy machine. One process runs all command lines, because valgrind takes seconds to
//! translate the program. So a small library, [`COUNTER`], lets it write its count between them. Where
//! valgrind, its header or a C compiler is missing, the test says so and is skipped.
//!
//! Each cell is run with few, with a count, and with twice or four times as many. What few take does not count.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a panic is the failure report, and figures are seen with --nocapture"
)]

mod commands;
mod inputs;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use self::commands::{COMMANDS, Written};
use self::inputs::{INPUTS, Input};

/// Largest factor of work for twice as much.
const MOST: f64 = 2.5;

/// Number of blocks that mean nothing. So does a twentieth of what few take.
const TRIFLE: f64 = 100_000.0;

/// How growth is measured: factor of the counts, part of a count that takes as much as any input does,
/// amount that means nothing, and number of doublings.
struct Measure {
    times: usize,
    few: usize,
    /// True if few take of each input what they take with the command that takes least.
    is_common: bool,
    trifle: f64,
    /// Amount by which the same run differs from one time to the next, such as by what its threads do meanwhile.
    noise: f64,
    doublings: u32,
}

const WORK: Measure = Measure {
    times: 1,
    few: 8,
    is_common: false,
    trifle: TRIFLE,
    noise: TRIFLE,
    doublings: 1,
};

/// Memory in KiB comes in pages, and lists grow by doubling: one doubling more tells that from a square.
/// A peak is the most of several parts of a command: few are so few that none of theirs stands out, and what
/// a command adds to the analysis may be the peak of few alone.
const MEMORY: Measure = Measure {
    times: 8,
    few: 64,
    is_common: true,
    // What the allocator has ready after the start hides a part of the first megabytes.
    trifle: 6_144.0,
    noise: 0.0,
    doublings: 2,
};

/// Variable with the file of the command lines of a child process.
const LINES: &str = "METALENS_GROWTH_LINES";

const COUNTER: &str = include_str!("counter.c");

/// What a command line took, and how it ended.
#[derive(Debug, Clone)]
struct Cost {
    figure: f64,
    code: String,
}

#[test]
fn work_grows_no_faster_than_the_input() {
    if let Ok(lines) = std::env::var(LINES) {
        return run(Path::new(&lines));
    }
    let folder = metalens_testing::scratch();
    let Some(library) = counter(folder.path()) else {
        eprintln!("skipped: no gcc, or no valgrind with its header; Debian has valgrind");
        return;
    };
    let costs = |lines: &[Vec<String>]| blocks(folder.path(), &library, lines);
    check(folder.path(), &WORK, &COMMANDS, costs);
}

#[test]
fn memory_grows_no_faster_than_the_input() {
    if std::env::var_os(LINES).is_some() {
        return;
    }
    let folder = metalens_testing::scratch();
    let costs =
        |lines: &[Vec<String>]| lines.iter().map(|line| peak(folder.path(), line)).collect();
    // The others read and analyze as these do.
    let commands = COMMANDS
        .into_iter()
        .filter(|(name, ..)| *name == "page and perfetto");
    let commands: Vec<_> = commands.collect();
    check(folder.path(), &MEMORY, &commands, costs);
}

/// Checks that twice as much of each input takes no more than [`MOST`] times as much with each command.
fn check(
    folder: &Path,
    measure: &Measure,
    commands: &[commands::Command],
    costs: impl FnOnce(&[Vec<String>]) -> Vec<Cost>,
) {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let only = set("METALENS_GROWTH_ONLY");
    let times = measure.times * set("METALENS_GROWTH_TIMES").parse().unwrap_or(1);
    // A recording has 64 channels at most: so few take no memory.
    let is_small = |name: &str| measure.times > 1 && name.contains("channels");
    let chosen = || {
        let inputs = INPUTS.iter();
        inputs.filter(|(name, ..)| name.contains(&only) && !is_small(name))
    };
    let more = 1 << measure.doublings;
    let most = MOST.powi(measure.doublings.cast_signed());
    let written = |name: String, input: &Input| Written::new(input, &folder.join(name));
    // What the program prepares once for all command lines counts for none.
    let warm_up = written("warm-up".to_owned(), &inputs::base());
    let mut lines: Vec<_> = commands.iter().map(|(.., line)| line(&warm_up)).collect();
    let mut cells = Vec::new();
    for (number, (name, count, write)) in chosen().enumerate() {
        let count = count * times;
        let sizes = [count / measure.few, count, count * more];
        let sizes = sizes.map(|count| written(format!("{number}-{count}"), &write(count)));
        for (command, _, line) in commands.iter().filter(|(_, part, _)| name.contains(part)) {
            cells.push((number, format!("{name} × {command}")));
            lines.extend(sizes.iter().map(line));
        }
    }

    let costs = costs(&lines);
    assert_eq!(costs.len(), lines.len());
    let mut unfair = Vec::new();
    let measured = || cells.iter().zip(costs[commands.len()..].chunks(3));
    for ((number, cell), costs) in measured() {
        let [mut few, once, many] = [0, 1, 2].map(|size| costs[size].figure);
        if measure.is_common {
            let same = measured().filter(|((other, _), _)| other == number);
            few = same.map(|(_, costs)| costs[0].figure).fold(few, f64::min);
        }
        let least = measure.trifle.max(few / 20.0);
        let factor = (many - few - measure.noise).max(0.0) / (once - few).max(least);
        let ends: Vec<&str> = costs.iter().map(|cost| cost.code.as_str()).collect();
        println!("{factor:.2} {cell}: few take {few}, once {once}, many {many}, ends {ends:?}");
        let is_run = ends.iter().all(|end| !["1", "2", "4"].contains(end));
        if factor > most || !is_run {
            unfair.push(format!("{factor:.2} {cell}, ends {ends:?}"));
        }
    }
    assert!(unfair.is_empty(), "{unfair:#?}");
}

/// Runs command lines one after another, and says in the file beside them how each ended.
fn run(lines: &Path) {
    let text = fs::read_to_string(lines).unwrap();
    let all: Vec<Vec<OsString>> = serde_json::from_str::<Vec<Vec<String>>>(&text)
        .unwrap()
        .into_iter()
        .map(|line| line.into_iter().map(OsString::from).collect())
        .collect();
    let mut codes = Vec::new();
    for line in all {
        std::env::set_current_dir("/").unwrap();
        codes.push(format!("{:?}", metalens_cli::main_of(line)));
    }
    std::env::set_current_dir("/").unwrap();
    let peak = fs::read_to_string("/proc/self/status").unwrap();
    let peak = peak
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix(" kB"));
    let said = serde_json::json!({ "codes": codes, "peak": peak.unwrap().trim() });
    fs::write(lines.with_extension("said"), said.to_string()).unwrap();
}

/// Runs command lines in a child process of a program, and returns what it says.
fn in_child(mut program: Command, folder: &Path, lines: &[Vec<String>]) -> (Vec<String>, f64) {
    let lines = lines.iter().map(|line| {
        let ends = ["--quiet"]
            .into_iter()
            .chain(line.iter().map(String::as_str));
        ["metalens"].into_iter().chain(ends).collect::<Vec<_>>()
    });
    let file = folder.join("lines");
    fs::write(
        &file,
        serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap(),
    )
    .unwrap();
    let status = program
        .args(["work_grows", "--nocapture", "--test-threads=1"])
        .current_dir(folder)
        .env(LINES, &file)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let said = fs::read_to_string(file.with_extension("said")).unwrap();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let codes = said["codes"].as_array().unwrap().iter().map(|code| {
        let digits = code
            .as_str()
            .unwrap()
            .matches(|letter: char| letter.is_ascii_digit());
        digits.collect::<String>()
    });
    (
        codes.collect(),
        said["peak"].as_str().unwrap().parse().unwrap(),
    )
}

/// Returns the numbers of blocks that command lines take.
fn blocks(folder: &Path, library: &Path, lines: &[Vec<String>]) -> Vec<Cost> {
    let log = folder.join("log");
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=none", "--vex-iropt-level=1"])
        .arg(format!("--log-file={}", log.display()))
        .arg(std::env::current_exe().unwrap())
        .env("LD_PRELOAD", library);
    let (codes, _) = in_child(valgrind, folder, lines);
    let log = fs::read_to_string(log).unwrap();
    let counts = log.lines().filter_map(|line| {
        let count = line
            .split_once("scheduler: ")?
            .1
            .strip_suffix(" event checks.")?;
        count.replace(',', "").parse::<f64>().ok()
    });
    let counts: Vec<f64> = counts.collect();
    assert_eq!(counts.len(), lines.len() + 1);
    let costs = counts.windows(2).zip(codes);
    let costs = costs.map(|(counts, code)| Cost {
        figure: counts[1] - counts[0],
        code,
    });
    costs.collect()
}

/// Returns the most memory that a command line had, in KiB.
fn peak(folder: &Path, line: &[String]) -> Cost {
    let program = Command::new(std::env::current_exe().unwrap());
    let (codes, figure) = in_child(program, folder, &[line.to_vec()]);
    Cost {
        figure,
        code: codes.concat(),
    }
}

/// Builds the library that lets a program write its count; none where valgrind or a compiler is missing.
fn counter(folder: &Path) -> Option<std::path::PathBuf> {
    let (source, library) = (folder.join("counter.c"), folder.join("counter.so"));
    fs::write(&source, COUNTER).unwrap();
    let is_done =
        |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source]);
    let mut valgrind = Command::new("valgrind");
    (is_done(&mut gcc) && is_done(valgrind.arg("--version"))).then_some(library)
}
