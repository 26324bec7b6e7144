//! Tests that no count that an input controls makes work or memory grow faster than itself.
//!
//! Each input is read, analyzed and written for viewers in a process of its own, once with a count and
//! once with four times as many. What is compared is the processor time of that process and the most
//! memory that it had, not the time on a clock, and each is the least of several tries: other
//! programs make them larger, never smaller.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a panic is the failure report, and a child process tells its figures"
)]

mod inputs;

use std::io::sink;
use std::path::Path;
use std::process::Command;

use metalens_analyzer::Request;
use rustix::time::{ClockId, clock_gettime};

use self::inputs::INPUTS;

/// Factor of the count from the small to the large input.
const TIMES: usize = 4;

/// Largest factor of work and memory: two doublings by 2.5 each. With a square it would be 16.
const MOST: f64 = 2.5 * 2.5;

/// Number of tries, of which the least counts.
const TRIES: usize = 5;

/// Variable with the input of a child process.
const INPUT: &str = "METALENS_GROWTH_INPUT";

/// Processor time and memory that an input took.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Processor time of all threads, in milliseconds.
    work: f64,
    /// Most memory at once, in KiB; 0 on systems that do not tell.
    memory: f64,
}

#[test]
fn work_and_memory_grow_no_faster_than_the_input() {
    if let Some(input) = std::env::var_os(INPUT) {
        return analyze(Path::new(&input));
    }

    let folder = metalens_testing::scratch();
    let path = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let nothing = path("nothing");
    inputs::base().write(&nothing);
    let nothing = least((0..TRIES).map(|_| cost(&nothing)));

    let mut unfair = Vec::new();
    for (name, count, write) in INPUTS {
        let [small, large] = [1, TIMES].map(|times| {
            let path = path(&format!("{name} {times}"));
            write(count * times).write(&path);
            path
        });
        let (mut few, mut many) = (cost(&small), cost(&large));
        for _ in 1..TRIES {
            if is_fair(nothing, few, many) {
                break;
            }
            few = least([few, cost(&small)]);
            many = least([many, cost(&large)]);
        }
        println!("{name}: {count} take {few:?}, {TIMES} times as many {many:?}");
        unfair.extend((!is_fair(nothing, few, many)).then_some(name));
    }
    assert!(unfair.is_empty(), "{unfair:?}");
}

/// Returns whether many took not much more than [`TIMES`] times as much as few. What an input without any
/// takes does not count, nor do differences that mean nothing.
fn is_fair(nothing: Cost, few: Cost, many: Cost) -> bool {
    let fair = |nothing: f64, few: f64, many: f64, trifle: f64| {
        many - nothing <= (few - nothing).max(trifle) * MOST
    };
    fair(nothing.work, few.work, many.work, 10.0)
        && fair(nothing.memory, few.memory, many.memory, 1_024.0)
}

fn least(costs: impl IntoIterator<Item = Cost>) -> Cost {
    let costs = costs.into_iter();
    let least = costs.reduce(|a, b| Cost {
        work: a.work.min(b.work),
        memory: a.memory.min(b.memory),
    });
    least.unwrap()
}

/// Measures what an input takes, in a child process.
fn cost(input: &Path) -> Cost {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--nocapture", "--test-threads=1"])
        .env(INPUT, input)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|figure| figure.trim().parse().ok())
    };
    let found = figure("work:").zip(figure("memory:"));
    let (work, memory) = found.unwrap_or_else(|| panic!("{}: {output:?}", input.display()));
    Cost { work, memory }
}

/// Reads, analyzes and writes an input, and tells what that took.
fn analyze(input: &Path) {
    let request = Request {
        processes: vec!["bench".to_owned()],
        ..Request::default()
    };
    let analysis = metalens_testing::analyze_input(input, &request).unwrap();
    serde_json::to_writer(sink(), &analysis.report).unwrap();
    metalens_perfetto::write(&analysis, &mut sink()).unwrap();

    let time = clock_gettime(ClockId::ProcessCPUTime);
    let work = time.tv_sec * 1_000_000 + time.tv_nsec / 1_000;
    println!("\nwork: {}.{:03}", work / 1_000, work % 1_000);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix(" kB"));
    println!("memory: {}", most.map_or("0", str::trim));
}
