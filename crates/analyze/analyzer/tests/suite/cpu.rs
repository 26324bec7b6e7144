//! Tests of the CPU samples of real recordings, if this machine has them.

use std::path::Path;

use metalens_analyzer::{
    CpuStacks, Error, Request, WeightUnit, cpu_stacks, idle_stacks, selection, stacks_selection,
};
use metalens_failure::Failure;
use metalens_simulator::{Scenario, write_export};
use metalens_trace::{Input, LoadOptions, ProcessId, Trace, Values};

use super::real::recordings;
use super::{report, write_table};

fn load(path: &Path) -> Trace {
    let input = Input::open(path).unwrap();
    input
        .load(&stacks_selection(), LoadOptions::default())
        .unwrap()
}

/// The bundle and xctrace's export of it have the same stacks.
#[test]
fn a_bundle_and_its_export_have_the_same_stacks() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-time-profiler-bundle-and-export");
    let [native, exported] = ["cpu_time_profiler.trace", "export"]
        .map(|name| cpu_stacks(&load(&folder.join(name)), &Request::default()).unwrap());
    // 68 rows of 1 ms each, by grep on the export.
    let stacks = &native.stacks;
    let weight: u64 = stacks.lines.iter().map(|(_, weight)| weight).sum();
    assert_eq!((weight, stacks.unit), (68_000_000, WeightUnit::Ns));
    assert_eq!((native.samples, native.weight), (68, 68_000_000));
    let in_main = stacks.lines.iter().filter(|line| line.0.ends_with(";main"));
    assert_eq!(in_main.map(|line| line.1).sum::<u64>(), 65_000_000);
    // The export's table of contents says record-waiting-threads="0".
    let running = |note: &String| note.starts_with("only running threads were sampled");
    assert!(exported.notes.iter().any(running), "{exported:?}");
    let without_notes = |stacks: CpuStacks| CpuStacks {
        notes: Vec::new(),
        ..stacks
    };
    assert_eq!(without_notes(native), without_notes(exported));
}

/// A recording without GPU data is an error, with a hint on what to do instead.
#[test]
fn a_recording_without_gpu_data_is_an_error() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-time-profiler-bundle-and-export/export");
    let error = report(&folder, None, &Request::default()).unwrap_err();
    assert!(
        matches!(error, Error::OnlyCpu { samples: 68, .. }),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("metalens stacks"));

    // Stacks of idle time need the GPU too, and say the same.
    let bundle = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace";
    let input = Input::open(&recordings.join(bundle)).unwrap();
    let trace = input.load(&selection(), LoadOptions::default()).unwrap();
    let error = idle_stacks(trace, &Request::default()).unwrap_err();
    assert!(
        matches!(error, Error::OnlyCpu { samples: 68, .. }),
        "{error}"
    );
}

/// Compares the samples in the window with a count of the table's rows.
#[test]
fn samples_in_the_window_are_counted() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-bundle-and-export/export");
    let report = report(&folder, None, &Request::default()).unwrap();
    let trace = load(&folder);
    let times = trace
        .table("time-profile")
        .unwrap()
        .integers("time")
        .unwrap();
    let window = report.window.start_ns.0..report.window.end_ns.0;
    let inside = times.iter().flatten().filter(|time| window.contains(time));
    let cpu = report.cpu.unwrap();
    // All rows of this recording are of the recorded process.
    assert_eq!(cpu.samples, inside.count() as u64);
    assert_eq!(cpu.samples, 65);
    assert_eq!(
        cpu.threads.iter().map(|thread| thread.samples).sum::<u64>(),
        65
    );
    // Its main thread encodes; the two others are the system's.
    let submits: Vec<_> = cpu.threads.iter().map(|thread| thread.submits).collect();
    assert_eq!(submits, [Some(false), Some(true), Some(false)]);
    // By an XML library on the export: rows of the window whose first frame is __kdebug_trace64.
    assert_eq!((cpu.tracing, cpu.tracing_weight), (16, 16_000_000));
    assert_eq!(
        (cpu.period, cpu.waiting_recorded),
        (Some(1_000_000), Some(false))
    );
}

/// A program that waits for each of its dispatches, beside a compositor that is sampled, too.
const SAMPLED: &str = r#"
seed = 1

[[process]]
name = "bench"
pid = 12
role = "target"

[process.samples]
period = "10us"
host-function = "tokenize"
blocked = true

[[process.stream]]
count = 200
submit = "sync"
encoder-label = "matmul"
duration = "30us"
encode = "9us"
launch = "20us"
completion = "20us"
host = "40us"

[[process]]
name = "compositor"
pid = 13

[process.samples]
period = "10us"

[[process.stream]]
channel = "Fragment"
count = 20
duration = "150us"
host = "1ms"
"#;

/// Counts the rows of `time-profile` by hand: those of the process, inside the window, and outside
/// of its GPU intervals.
#[test]
fn stacks_while_the_gpu_was_idle_are_counted() {
    let folder = metalens_testing::scratch();
    let scenario = Scenario::from_toml(SAMPLED).unwrap();
    write_export(&scenario, &folder.path().join("export"), false).unwrap();
    let load = || {
        let input = Input::open(&folder.path().join("export")).unwrap();
        input.load(&selection(), LoadOptions::default()).unwrap()
    };
    let found = idle_stacks(load(), &Request::default()).unwrap();

    let trace = load();
    let table = |name: &str| trace.table(name).unwrap();
    let is_bench = |name: &str| -> Vec<bool> {
        let processes =
            Vec::<Option<ProcessId>>::take(&mut table(name).clone(), "process").unwrap();
        let pid = |process| trace.names.process(process).unwrap().pid;
        processes
            .iter()
            .map(|process| pid(process.unwrap()) == Some(12))
            .collect()
    };
    let integers = |name: &str, column: &str| -> Vec<u64> {
        let column = table(name).integers(column).unwrap();
        column.iter().map(Option::unwrap).collect()
    };
    let starts = integers("metal-gpu-intervals", "start");
    let lengths = integers("metal-gpu-intervals", "duration");
    let busy: Vec<(u64, u64)> = std::iter::zip(starts, lengths)
        .zip(is_bench("metal-gpu-intervals"))
        .filter_map(|((start, length), is_bench)| is_bench.then_some((start, start + length)))
        .collect();
    let first = busy.iter().map(|span| span.0).min().unwrap();
    let last = busy.iter().map(|span| span.1).max().unwrap();

    let times = integers("time-profile", "time").into_iter();
    let times = times.zip(is_bench("time-profile"));
    let times = times.filter(|&(time, is_bench)| is_bench && time >= first && time < last);
    let is_idle =
        |&(time, _): &(u64, bool)| !busy.iter().any(|&(start, end)| time >= start && time < end);
    let in_window = times.clone().count() as u64;
    let idle = times.filter(is_idle).count() as u64;

    assert_eq!((found.samples, found.samples_in_window), (idle, in_window));
    assert!(idle > 1_000 && idle < in_window, "{idle} of {in_window}");
    let busy_ns: u64 = busy.iter().map(|span| span.1 - span.0).sum();
    assert_eq!(found.window_ns, last - first);
    assert_eq!(found.idle_ns, last - first - busy_ns);
    assert!(found.submitters_known);
    let weight: u64 = found.stacks.lines.iter().map(|(_, weight)| weight).sum();
    assert_eq!(weight, 10_000 * idle);
    let [first, ..] = found.stacks.lines.as_slice() else {
        panic!("{found:?}");
    };
    assert!(first.0.starts_with("bench;Main Thread;"), "{first:?}");
}

/// Copies a folder without those of symbols.
fn copy_without_symbols(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() && name != "symbols" {
            copy_without_symbols(&path, &to.join(name));
        } else if path.is_file() {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Without the names of functions it is unknown whether threads were running or waiting: the samples
/// that wait in a bundle with symbols never run in one without.
#[test]
fn samples_without_names_are_unknown() {
    let Some(recordings) = recordings() else {
        return;
    };
    let whole = recordings.join("m1-bundle-and-export/gpu_baseline.trace");
    let folder = metalens_testing::scratch();
    let without = folder.path().join("without.trace");
    copy_without_symbols(&whole, &without);

    let [named, nameless] = [&whole, &without].map(|bundle| {
        let report = report(bundle, None, &Request::default()).unwrap();
        let note = report.notes.iter();
        let mut note = note.filter(|note| note.id == "functions-unnamed");
        let note = note.next().map(|note| note.text().to_owned());
        (report.cpu.unwrap(), note)
    });
    let activity = |cpu: &metalens_analyzer::Cpu| {
        let host = cpu.host.as_ref().unwrap();
        assert_eq!(host.running + host.waiting + host.unknown, host.samples);
        (host.running, host.waiting, host.unknown)
    };
    assert_eq!(activity(&named.0), (3, 4, 0));
    let (running, waiting, unknown) = activity(&nameless.0);
    assert!(running <= 3 && waiting == 0 && unknown >= 4, "{nameless:?}");
    assert_eq!(nameless.0.unnamed, nameless.0.samples);
    let start = format!("{0} of {0} CPU samples have functions", nameless.0.samples);
    assert!(nameless.1.unwrap().starts_with(&start));
}

/// Weights of this table are a time or a number of events, so that samples are counted.
#[test]
fn samples_of_counters_have_stacks() {
    let row = "<row><sample-time>10</sample-time><backtrace><frame name=\"step\" addr=\"0x5\"/></backtrace>\
               <pmc-event>1000000</pmc-event></row>";
    let column = |(mnemonic, kind): (&str, &str)| {
        format!(
            "<col><mnemonic>{mnemonic}</mnemonic><name>x</name><engineering-type>{kind}</engineering-type></col>"
        )
    };
    let columns = [
        ("time", "sample-time"),
        ("stack", "backtrace"),
        ("weight", "any"),
    ];
    let columns: String = columns.map(column).concat();
    let folder = metalens_testing::scratch();
    let file = folder.path().join("counters-profile.xml");
    let text = format!(
        "<trace-query-result><node><schema name=\"counters-profile\">{columns}</schema>{}</node></trace-query-result>",
        row.repeat(3)
    );
    std::fs::write(&file, text).unwrap();
    let found = cpu_stacks(&load(&file), &Request::default()).unwrap();
    assert_eq!((found.samples, found.stacks.unit), (3, WeightUnit::Samples));
    let [(line, 3)] = found.stacks.lines.as_slice() else {
        panic!("{:?}", found.stacks.lines);
    };
    assert!(line.ends_with("step"), "{line}");
}

/// A phone's recording has no GPU intervals: the error says what it has.
#[test]
fn a_recording_without_gpu_intervals_says_what_it_has() {
    let folder = metalens_testing::scratch();
    let table = |schema: &str, columns: &[(&str, &str)], rows: &[[&str; 3]]| {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.map(str::to_owned).to_vec())
            .collect();
        write_table(folder.path(), schema, columns, &rows);
    };
    table(
        "core-animation-fps-estimate",
        &[
            ("period", "duration"),
            ("fps", "fps"),
            ("device-utilization", "percent"),
        ],
        &[
            ["9", "60.000000000", "4.000000000"],
            ["9", "57.250000000", "90.000000000"],
            ["9", "14.000000000", "5.500000000"],
            ["9", "", ""],
        ],
    );
    table(
        "device-thermal-state-intervals",
        &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("thermal-state", "thermal-state"),
        ],
        &[
            ["1", "9", "Nominal"],
            ["10", "9", "Nominal"],
            ["19", "9", "Fair"],
        ],
    );
    table(
        "potential-hangs",
        &[
            ("start", "start-time"),
            ("duration", "duration"),
            ("process", "process"),
        ],
        &[["1", "300000000", "app (7)"]],
    );
    let error = report(folder.path(), None, &Request::default()).unwrap_err();
    let expected = "; what it has: frames per second 57.3 in the middle, 90 % from 14.0 to 60.0 (3 values); \
                    GPU utilization 5.5 % in the middle, 90 % from 4.0 % to 90.0 % (3 values); 1 hang, \
                    longest 300.0 ms; thermal state Nominal, Fair";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert!(error.hint().is_some());
}
