//! Tests of allocations against a second reader, in Python, and against real rows.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use metalens_analyzer::{Report, Request};
use metalens_message::{Bytes, Ns};
use metalens_simulator::{Table, random_scenario, write_export};

use super::real::recordings;
use super::report;

/// Compares 200 random scenarios with a reader that shares no code with this one.
#[test]
#[expect(
    clippy::print_stderr,
    reason = "who reads the log must see what was skipped"
)]
fn a_second_reader_finds_the_same() {
    let python = std::env::var_os("METALENS_PYTHON").unwrap_or("python3".into());
    let folder = metalens_testing::scratch();
    let (mut asked, mut expected) = (String::new(), String::new());
    for seed in 0..400 {
        let scenario = random_scenario(seed);
        let tables: Vec<Table> = Table::recorded(&scenario).collect();
        if !tables.contains(&Table::MetalResourceAllocations) {
            continue;
        }
        let has_events = tables.contains(&Table::MetalDriverEventIntervals);
        let export = folder.path().join(seed.to_string());
        write_export(&scenario, &export, false).unwrap();
        // A process without GPU work has no report.
        if let Ok(report) = report(&export, None, &Request::default()) {
            let pid = report.process.pid.unwrap();
            writeln!(asked, "{}\t{pid}", export.display()).unwrap();
            let wired = if has_events {
                wired(&report)
            } else {
                String::new()
            };
            writeln!(expected, "{}{wired}{}", figures(&report), phases(&report)).unwrap();
        }
    }
    assert!(
        expected.lines().count() > 100,
        "{}",
        expected.lines().count()
    );

    // Each part was compared: 9 figures of allocations, 4 of wired memory, 4 of phases.
    let parts = [9, 13, 17].map(|figures| {
        let mut lines = expected.lines();
        lines.any(|line| line.split(' ').count() == figures)
    });
    assert_eq!(parts, [true; 3]);

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/second_reader.py");
    let child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no Python (METALENS_PYTHON names it)");
        return;
    };
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

/// Returns the figures as the second reader prints them.
fn figures(report: &Report) -> String {
    let memory = report.memory.as_ref().unwrap();
    let whole = memory.whole;
    let figures = [
        whole.allocations,
        whole.inside_others,
        whole.bytes.0,
        whole.freed,
        whole.freed_bytes.0,
        memory.freed_from_before.count,
        memory.peak_bytes.0,
        memory.live.count,
        memory.live.bytes.0,
    ];
    figures.map(|figure| figure.to_string()).join(" ")
}

/// Returns what the driver wired and was asked to unwire, as the second reader prints it.
fn wired(report: &Report) -> String {
    let wiring = report.machine.wiring.unwrap();
    let parts = [wiring.before_window, wiring.in_window, wiring.after_window];
    let count: u64 = parts.iter().map(|part| part.count).sum();
    let bytes: u64 = parts.iter().map(|part| part.bytes.0).sum();
    let unwired = wiring.unwire_requests;
    format!(" {count} {bytes} {} {}", unwired.count, unwired.bytes.0)
}

/// Returns the sums over phases, and what lies in none, as the second reader prints them.
fn phases(report: &Report) -> String {
    let memory = report.memory.as_ref().unwrap();
    let Some(outside) = memory.outside_phases else {
        return String::new();
    };
    let parts = memory.phases.iter().map(|phase| phase.turnover);
    let allocations: u64 = parts.clone().map(|part| part.allocations).sum();
    let bytes: u64 = parts.map(|part| part.bytes.0).sum();
    let (none, none_bytes) = (outside.allocations, outside.bytes.0);
    format!(" {allocations} {bytes} {none} {none_bytes}")
}

/// Checks real rows, counted by hand: 2 of 14 have memory of their own. Metal's own figure rises by
/// just that with each of them, and not with the others; the rest was made without a row.
#[test]
fn real_rows_are_the_counted_ones() {
    let Some(recordings) = recordings() else {
        return;
    };
    let bundle = recordings.join("m1-bundle-and-export/gpu_baseline.trace");
    let found = report(&bundle, None, &Request::default()).unwrap();
    assert_eq!(figures(&found), "14 12 262144 1 0 0 262144 13 262144");
    let memory = found.memory.unwrap();
    let of_metal = found.machine.allocated.unwrap().peak_bytes.unwrap();
    assert_eq!(of_metal, memory.peak_bytes + Bytes(128 << 10));
    assert_eq!(memory.before_window.allocations, 14);
    assert_eq!(memory.after_window.freed, 1);
    assert_eq!(memory.lifetimes.unwrap().max_ns, Ns(182_612_458));
    assert_eq!(memory.callers_count, 1);
    assert_eq!(memory.callers[0].name.as_deref(), Some("main"));
    assert_eq!((memory.unread, memory.without_stack), (0, 0));
    let wiring = found.machine.wiring.unwrap();
    assert_eq!(
        (wiring.before_window.count, wiring.before_window.bytes),
        (13, Bytes(2_129_920))
    );
}

/// Checks real rows of an older table: all are inside others, and Metal's own figure does not rise.
#[test]
fn real_rows_of_the_older_table_are_read() {
    let Some(recordings) = recordings() else {
        return;
    };
    let bundle = recordings.join("m2-counters-bundle/julia_1.trace");
    let memory = report(&bundle, None, &Request::default())
        .unwrap()
        .memory
        .unwrap();
    let whole = memory.whole;
    assert_eq!(
        (whole.allocations, whole.inside_others, whole.bytes),
        (3, 3, Bytes(0))
    );
}
