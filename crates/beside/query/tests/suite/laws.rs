//! Checks laws: whoever sums up the rows of a dataset gets the figures of the report.

use metalens_analyzer::{Analysis, Cause, Error, Request};
use metalens_dataset::{WriteOptions, write};
use metalens_message::{Ns, message};
use metalens_query::Library;
use metalens_simulator::random_scenario;
use serde::Serialize;

use super::{analysis_of, ask_one, dataset_of, preset, rows, stored};

/// Formats a number as a query does.
fn number(value: impl Serialize) -> String {
    serde_json::to_value(value).unwrap().to_string()
}

/// Compares the figures of a report with queries for them.
fn check(library: &Library, analysis: &Analysis, name: &str) {
    let report = &analysis.report;
    let (busy, gaps, ledger) = (&report.busy, &report.gaps, &report.idle);
    let check = |sql: &str, expected: &[String]| {
        assert_eq!(ask_one(library, sql), expected, "{name}: {sql}");
    };
    check(
        "SELECT interval_count, kernel_count, busy_ns, sum_ns, machine_busy_ns, others_busy_ns, \
         gap_count, gaps_ns, gap_median_ns, window_ns FROM runs",
        &[
            number(report.counts.intervals),
            number(report.counts.kernels),
            number(busy.busy_ns),
            number(busy.sum_ns),
            number(busy.machine_busy_ns),
            number(busy.others_busy_ns.unwrap()),
            number(gaps.count),
            number(gaps.total_ns),
            number(gaps.median_ns),
            number(report.window.span_ns),
        ],
    );
    let of_process = "FROM intervals WHERE role = 'analyzed'";
    check(
        &format!("SELECT count(*), sum(duration_ns), sum(end_ns - start_ns) {of_process}"),
        &[
            number(report.counts.intervals),
            number(busy.sum_ns),
            number(busy.sum_ns),
        ],
    );
    check(
        "SELECT sum(instances), sum(total_ns), count(*) FROM kernels",
        &[
            number(report.counts.intervals),
            number(busy.sum_ns),
            number(report.kernels.len()),
        ],
    );
    let parts =
        Cause::ALL.map(|cause| format!("coalesce(sum({}_ns), 0)", cause.name().replace('-', "_")));
    let mut expected = vec![number(gaps.count), number(gaps.total_ns)];
    expected.extend(Cause::ALL.map(|cause| number(ledger.parts.get(cause))));
    let parts = parts.join(", ");
    check(
        &format!("SELECT count(*), coalesce(sum(duration_ns), 0), {parts} FROM gaps"),
        &expected,
    );
    kernels(library, analysis, name);
    unions(library, analysis, name);
}

/// The intervals, grouped by name, give the report's kernels.
fn kernels(library: &Library, analysis: &Analysis, name: &str) {
    let answer = library.ask(
        "SELECT kernel, channel, named_by, count(*), sum(duration_ns), min(duration_ns), \
         max(duration_ns) FROM intervals WHERE role = 'analyzed' GROUP BY kernel, channel, named_by",
    );
    let mut found = rows(&answer.unwrap());
    let kernel = |kernel: &metalens_analyzer::Kernel| {
        let named_by = serde_json::to_value(kernel.named_by).unwrap();
        vec![
            kernel.name.clone(),
            kernel.channel.clone().unwrap_or("null".to_owned()),
            named_by.as_str().unwrap().to_owned(),
            number(kernel.instances),
            number(kernel.total_ns),
            number(kernel.min_ns),
            number(kernel.max_ns),
        ]
    };
    let mut expected: Vec<_> = analysis.report.kernels.iter().map(kernel).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{name}");
}

/// A sweep over the rows' starts and ends gives the busy time.
fn unions(library: &Library, analysis: &Analysis, name: &str) {
    let busy = &analysis.report.busy;
    for (condition, expected) in [
        ("role = 'analyzed'", busy.busy_ns),
        ("role = 'other'", busy.others_busy_ns.unwrap()),
        ("TRUE", busy.machine_busy_ns),
    ] {
        let sql = format!("SELECT start_ns, end_ns FROM intervals WHERE {condition}");
        let rows = rows(&library.ask(&sql).unwrap());
        let mut edges: Vec<(u64, i32)> = Vec::new();
        for row in &rows {
            edges.push((row[0].parse().unwrap(), 1));
            edges.push((row[1].parse().unwrap(), -1));
        }
        edges.sort_unstable();
        let (mut open, mut since, mut total) = (0, 0, 0);
        for (time, step) in edges {
            if open > 0 {
                total += time - since;
            }
            open += step;
            since = time;
        }
        assert_eq!(Ns(total), expected, "{name}: {condition}");
    }
}

#[test]
fn rows_add_up_to_the_report() {
    let named = ["eager", "renderer", "shared-machine", "awkward"];
    let named = named.map(|name| (name.to_owned(), Ok(preset(name))));
    let random = (0..25).map(|seed| (format!("seed {seed}"), analysis_of(&random_scenario(seed))));
    let mut checked = 0;
    for (name, analysis) in named.into_iter().chain(random) {
        let analysis = match analysis {
            Ok(analysis) => analysis,
            Err(
                Error::NoGpuIntervals { .. } | Error::NoRows { .. } | Error::NoProcesses { .. },
            ) => {
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let (_dataset, library) = dataset_of(&analysis);
        check(&library, &analysis, &name);
        checked += 1;
    }
    assert!(checked > 15, "{checked} scenarios had a target");
}

/// Figures that a report leaves open are null, never zero. Figures that it counts as zero are zero.
#[test]
fn absent_is_not_zero() {
    let analysis = preset("eager");
    let (_dataset, library) = dataset_of(&analysis);
    let report = serde_json::to_value(&analysis.report).unwrap();
    for (column, pointer) in [
        ("machine_active_ns", "/busy/machine_active_ns"),
        ("process_pid", "/process/pid"),
        ("step_median_ns", "/steps/0/kinds/0/median_ns"),
        ("run_duration_ns", "/run/duration_ns"),
        ("end_reason", "/run/end_reason"),
        ("excluded_ns", "/idle/unknown_ns"),
    ] {
        let expected = match report.pointer(pointer).unwrap() {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert_eq!(
            ask_one(&library, &format!("SELECT {column} FROM runs")),
            [expected],
            "{column}"
        );
    }
    let others = "FROM intervals WHERE role = 'other'";
    let counts = ask_one(
        &library,
        &format!("SELECT count(*), count(kernel), count(process), count(pid) {others}"),
    );
    assert_eq!(counts[1..], ["0", "0", "0"]);
}

/// A dataset names other processes only if `show_names` is set.
#[test]
fn other_processes_are_named_only_with_show_names() {
    let analysis = preset("shared-machine");
    let others = analysis
        .report
        .processes
        .iter()
        .filter(|process| !process.is_analyzed);
    let others: Vec<&str> = others.map(|process| process.name.as_str()).collect();
    assert!(!others.is_empty());
    for show_names in [false, true] {
        let dataset = metalens_testing::scratch();
        write(&analysis, dataset.path(), WriteOptions { show_names }).unwrap();
        let answer = stored(dataset.path())
            .ask("SELECT DISTINCT process FROM intervals")
            .unwrap();
        let found: Vec<String> = rows(&answer).concat();
        for other in &others {
            assert_eq!(found.iter().any(|one| one == other), show_names, "{other}");
        }
    }
}

/// A dataset of a part of a recording has the rows of that part.
#[test]
fn a_part_of_a_recording_has_only_its_rows() {
    let folder = metalens_testing::scratch();
    metalens_simulator::write_export(&super::scenario("shared-machine"), folder.path(), false)
        .unwrap();
    let whole = super::analysis(folder.path(), Request::default()).unwrap();
    let window = &whole.report.window;
    let third = window.span_ns / 3;
    let request = Request {
        from_ns: Some((window.start_ns + third).0),
        to_ns: Some((window.end_ns - third).0),
        ..Request::default()
    };
    let part = super::analysis(folder.path(), request).unwrap();
    let (_dataset, library) = dataset_of(&part);
    check(&library, &part, "a third");
    let cut = part
        .report
        .window
        .excluded
        .iter()
        .map(|cut| cut.to_ns - cut.from_ns)
        .sum::<Ns>();
    assert_eq!(
        ask_one(&library, "SELECT excluded_ns FROM runs"),
        [number(cut)]
    );
}

/// A finding that names another process is kept; its texts are there only with `show_names`.
#[test]
fn findings_hide_the_names_of_others() {
    let mut analysis = preset("shared-machine");
    let expected = analysis.report.findings.len().to_string();
    let mut others = analysis.report.processes.iter();
    let other = others
        .find(|process| !process.is_analyzed)
        .unwrap()
        .name
        .clone();
    let finding = analysis.report.findings.first_mut().unwrap();
    let named = message!("{} held the GPU", metalens_message::process(&other, false));
    finding.evidence = named;
    for show_names in [false, true] {
        let dataset = metalens_testing::scratch();
        write(&analysis, dataset.path(), WriteOptions { show_names }).unwrap();
        let library = stored(dataset.path());
        let count = ask_one(&library, "SELECT count(*) FROM findings");
        assert_eq!(count.concat(), expected);
        let texts = library.ask("SELECT title, evidence, advice FROM findings");
        let texts = rows(&texts.unwrap()).concat().join("\n");
        assert_eq!(texts.contains(&other), show_names, "{texts}");
    }
}
