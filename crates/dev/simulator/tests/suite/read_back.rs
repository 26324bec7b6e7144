//! Compares the tables with the truth: an analysis of the documents alone, by sorting and clamping
//! where the truth sweeps and counts, comes to the same figures.

use std::collections::{BTreeMap, HashMap};

use metalens_simulator::{Ledger, Scenario, Truth, TruthFile, presets, random_scenario};

use crate::details;
use crate::folder::exported;
use crate::xml::{self, Element, Table};

/// A row of `metal-gpu-intervals`.
struct Row {
    start: u64,
    end: u64,
    pid: Option<u64>,
    buffer: u64,
    encoder: u64,
    /// Its start, less its `start-latency`.
    committed: u64,
}

#[test]
fn the_documents_and_the_truth_agree() {
    let small = presets().iter().filter(|preset| preset.name != "million");
    let presets = small.map(|preset| preset.scenario().unwrap());
    for scenario in presets
        .filter(|preset| preset.runs == 1)
        .chain((0..300).map(random_scenario))
    {
        check(&scenario);
    }
}

fn check(scenario: &Scenario) {
    let files = exported(scenario);
    let truth: TruthFile = serde_json::from_str(&files["truth.json"]).unwrap();
    let truth = &truth.runs[0];
    let Some(target) = &truth.process else { return };
    let rows = rows(&files);
    let is_own = |row: &&Row| row.pid == Some(u64::from(target.pid));
    let own: Vec<&Row> = rows.iter().filter(is_own).collect();
    assert_eq!(
        truth.counts.intervals,
        own.len() as u64,
        "{}",
        scenario.name
    );
    let Some(busy) = truth.busy else { return };
    let busy_times = union(own.iter().map(|row| (row.start, row.end)));
    assert_eq!(busy.busy_ns, length(&busy_times), "{}", scenario.name);
    let foreign = union(
        rows.iter()
            .filter(|row| !is_own(row))
            .map(|row| (row.start, row.end)),
    );
    let (start, end) = (busy_times[0].0, busy_times[busy_times.len() - 1].1);
    assert_eq!(
        busy.others_busy_ns,
        length(&cut(&foreign, start, end)),
        "{}",
        scenario.name
    );
    gap_figures(truth, &busy_times);

    assert_eq!(
        truth.idle.unwrap(),
        ledger(&files, &own, &busy_times, &foreign, false),
        "{}",
        scenario.name
    );
    assert_eq!(
        truth.recovered_idle.or(truth.idle).unwrap(),
        ledger(&files, &own, &busy_times, &foreign, true),
        "{}",
        scenario.name
    );

    // The details read the documents a second time, which takes long for large ones.
    if scenario.intervals_planned() < 500 {
        details::check(truth, &files, scenario);
    }
}

fn rows(files: &BTreeMap<String, String>) -> Vec<Row> {
    let table = xml::table(&files["metal-gpu-intervals.xml"]);
    let number = |row: &[Element], name: &str| row[table.column(name)].number();
    let pid = |row: &[Element]| {
        let process = &row[table.column("process")];
        (process.tag == "process").then(|| process.child("pid").number())
    };

    // A row without a process has no latency either.
    let committed = |row: &[Element]| {
        let latency = &row[table.column("start-latency")];
        let is_known = latency.tag != "sentinel";
        is_known.then(|| row[0].number().saturating_sub(latency.number()))
    };

    let row = |row: &Vec<Element>| Row {
        start: row[0].number(),
        end: row[0].number() + row[1].number(),
        pid: pid(row),
        buffer: number(row, "cmdbuffer-id"),
        encoder: number(row, "encoder-id"),
        committed: committed(row).unwrap_or(0),
    };

    table.rows.iter().map(row).collect()
}

/// Returns sorted intervals that neither touch nor overlap.
fn union(intervals: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut intervals: Vec<_> = intervals.collect();
    intervals.sort_unstable();
    let mut union: Vec<(u64, u64)> = Vec::new();
    for (start, end) in intervals {
        match union.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => union.push((start, end)),
        }
    }
    union
}

fn cut(intervals: &[(u64, u64)], from: u64, to: u64) -> Vec<(u64, u64)> {
    let inside = intervals
        .iter()
        .map(|(start, end)| (*start.max(&from), *end.min(&to)));
    inside.filter(|(start, end)| start < end).collect()
}

fn length(intervals: &[(u64, u64)]) -> u64 {
    intervals.iter().map(|(start, end)| end - start).sum()
}

fn gap_figures(truth: &Truth, busy_times: &[(u64, u64)]) {
    let mut gaps: Vec<u64> = busy_times
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].1)
        .collect();
    gaps.sort_unstable();
    let rank = |percent: usize| {
        gaps.get((gaps.len() * percent).div_ceil(100).wrapping_sub(1))
            .copied()
    };
    let found = truth.gaps.as_ref().unwrap();
    assert_eq!(found.count, gaps.len() as u64);
    assert_eq!(found.total_ns, gaps.iter().sum::<u64>());
    assert_eq!(
        (found.median_ns, found.p95_ns, found.p99_ns),
        (rank(50), rank(95), rank(99))
    );
}

/// Returns start and end of each row by its id.
fn times(table: &Table, id: &str, end: impl Fn(&[Element]) -> u64) -> HashMap<u64, (u64, u64)> {
    let at = table.column(id);
    let entry = |row: &Vec<Element>| (row[at].number(), (row[0].number(), end(row)));
    table.rows.iter().map(entry).collect()
}

fn ledger(
    files: &BTreeMap<String, String>,
    own: &[&Row],
    busy_times: &[(u64, u64)],
    foreign: &[(u64, u64)],
    recovered: bool,
) -> Ledger {
    let completed = xml::table(&files["metal-command-buffer-completed.xml"]);
    let completed = times(&completed, "cmdbuffer-id", |row| row[0].number());
    let encoded = xml::table(&files["metal-application-encoders-list.xml"]);
    let encoded = times(&encoded, "encoder-id", |row| {
        row[0].number() + row[1].number()
    });
    let mut encoded = encoded;
    if recovered {
        let lived = xml::table(&files["metal-application-intervals.xml"]);
        let lived = times(&lived, "encoder-id", |row| {
            row[0].number() + row[1].number()
        });
        for (id, time) in lived.into_iter().filter(|(id, _)| *id != 0) {
            let listed = encoded.entry(id).or_insert(time);
            assert_eq!(*listed, time, "both tables say the same");
        }
    }

    // The driver's times are known if both tables are there.
    let begins = files.get("metal-command-buffer-to-accelerator-id.xml");
    let submitted = files.get("metal-gpu-submission-to-command-buffer-id.xml");
    let driver = begins.zip(submitted).map(|(begins, submitted)| {
        let time = |row: &[Element]| row[0].number();
        let begins = times(&xml::table(begins), "cmdbuffer-id", time);
        (begins, times(&xml::table(submitted), "encoder-id", time))
    });

    let mut ledger = Ledger::default();
    for pair in busy_times.windows(2) {
        let (a, b) = (pair[0].1, pair[1].0);
        let closing = own.iter().rfind(|row| row.end == a).unwrap();
        let opening = own.iter().find(|row| row.start == b).unwrap();
        ledger.pairs += 1;
        ledger.total_ns += b - a;
        match (
            completed.get(&closing.buffer),
            encoded.get(&opening.encoder),
        ) {
            (Some((done, _)), Some(encoding)) => {
                let committed = opening.committed.max(encoding.1);
                let encoding = (encoding.0, committed);
                let driver = driver.as_ref().map(|(begins, submitted)| {
                    (begins[&opening.buffer].0, submitted[&opening.encoder].0)
                });
                add_gap(&mut ledger, (a, b), *done, encoding, driver, foreign);
            }
            _ => ledger.unknown_ns += b - a,
        }
    }
    ledger
}

/// Adds the parts of a gap from `a` to `b`, each clamped to the rest of the gap. `encoding` ends
/// with the commit; `driver` begins with the driver's work, and ends with the submission.
fn add_gap(
    ledger: &mut Ledger,
    (a, b): (u64, u64),
    done: u64,
    encoding: (u64, u64),
    driver: Option<(u64, u64)>,
    foreign: &[(u64, u64)],
) {
    ledger.joinable += 1;
    let is_serialized = encoding.0 >= done;
    ledger.serialized += u64::from(is_serialized);
    let others = |from, to| length(&cut(foreign, from, to));
    if encoding.1.max(driver.map_or(0, |(_, submitted)| submitted)) <= a {
        ledger.contention_ns += others(a, b);
        ledger.queued_ns += b - a - others(a, b);
        return;
    }

    // Completion delays only a host that waits for it.
    let notified = if is_serialized { done.clamp(a, b) } else { a };
    let starts = encoding.0.clamp(notified, b);
    let ends = encoding.1.clamp(starts, b);
    ledger.completion_ns += notified - a;
    ledger.host_ns += starts - notified;
    ledger.encoding_ns += ends - starts;
    let Some((begins, submitted)) = driver else {
        ledger.contention_ns += others(ends, b);
        ledger.submission_ns += b - ends - others(ends, b);
        return;
    };
    let begins = begins.clamp(ends, b);
    let submitted = submitted.clamp(begins, b);
    ledger.driver_wait_ns += begins - ends;
    ledger.driver_ns += submitted - begins;
    ledger.contention_ns += others(submitted, b);
    ledger.start_latency_ns += b - submitted - others(submitted, b);
}
