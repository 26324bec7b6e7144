//! Compares the documents with the truth besides the gaps: latencies, the queue, states, memory,
//! signposts, samples, errors and hangs, each counted from the rows alone.

use std::collections::{BTreeMap, HashMap};

use metalens_simulator::{Scenario, Spread, States, Truth};

use crate::xml::{self, Element, Table};

type Files = BTreeMap<String, String>;

/// Returns a document, or `None` if the recording has no such table.
fn table(files: &Files, name: &str) -> Option<Table> {
    files
        .get(&format!("{name}.xml"))
        .map(|text| xml::table(text))
}

pub(crate) fn check(truth: &Truth, files: &Files, scenario: &Scenario) {
    let at = &scenario.name;
    latencies_count_from_the_commit(files, at);
    work_in_flight(truth, files, at);
    let window = truth.window.unwrap();
    let window = (window.start_ns, window.end_ns);

    let states = |name, truth: &Option<States>| {
        let rows = table(files, name).unwrap().rows;
        same_states(&rows, truth.as_ref().unwrap(), window, at);
    };
    states(
        "gpu-performance-state-intervals",
        &truth.optional.performance,
    );
    states("device-thermal-state-intervals", &truth.optional.thermal);
    memory(truth, files, window, at);
    signposts(truth, files, at);

    let rows = |name| table(files, name).map_or_else(Vec::new, |table| table.rows);

    let hangs = rows("potential-hangs");
    let target = truth.process.as_ref().unwrap();
    let shown = format!("{} ({})", target.name, target.pid);
    let touching = hangs.iter().filter(|row| {
        let start = row[0].number();
        let own = row[4].attribute("fmt") == shown;
        own && start < window.1 && start + row[1].number() > window.0
    });
    assert_eq!(truth.optional.hangs, touching.count() as u64, "{at}");

    for row in rows("time-profile") {
        let running = row[4].text == "Running";
        let innermost = row[6].children[0].attribute("name");
        let idle = ["wait_until_completed", "sleep"].contains(&innermost);
        assert_eq!(running, !idle, "{at}: {innermost}");
        assert_eq!(row[6].children.last().unwrap().attribute("name"), "main");
    }
}

/// Returns the commit time of each command buffer by its id.
fn commits(files: &Files) -> HashMap<u64, u64> {
    let table = table(files, "metal-application-command-buffer-submissions").unwrap();
    let id = table.column("cmdbuffer-id");
    let end = |row: &Vec<Element>| (row[id].number(), row[0].number() + row[1].number());
    table.rows.iter().map(end).collect()
}

/// Checks that latencies count from the commit to the nanosecond, as in real recordings.
fn latencies_count_from_the_commit(files: &Files, at: &str) {
    let (commits, table) = (commits(files), table(files, "metal-gpu-intervals").unwrap());
    let (latency, id) = (table.column("start-latency"), table.column("cmdbuffer-id"));
    for row in table
        .rows
        .iter()
        .filter(|row| row[latency].tag != "sentinel")
    {
        if let Some(commit) = commits.get(&row[id].number()) {
            assert_eq!(row[0].number() - row[latency].number(), *commit, "{at}");
        }
    }
}

/// Checks latencies and the queue, if no submission was lost.
fn work_in_flight(truth: &Truth, files: &Files, at: &str) {
    let commits = commits(files);
    let gpu = table(files, "metal-gpu-intervals").unwrap();
    let pid = u64::from(truth.process.as_ref().unwrap().pid);
    let (id, process) = (gpu.column("cmdbuffer-id"), gpu.column("process"));
    let mut ends: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut starts = Vec::new();

    for row in &gpu.rows {
        if row[process].tag == "sentinel" || row[process].child("pid").number() != pid {
            continue;
        }
        let (start, end) = (row[0].number(), row[0].number() + row[1].number());
        let span = ends.entry(row[id].number()).or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
        starts.push(signed(row[gpu.column("start-latency")].number()));
    }

    let latency = truth.latency.as_ref().unwrap();
    assert_eq!(latency.start, spread(starts), "{at}");

    let completed = table(files, "metal-command-buffer-completed").unwrap();
    let delay = |row: &Vec<Element>| {
        let (_, end) = ends.get(&row[1].number())?;
        Some(signed(row[0].number()) - signed(*end))
    };
    let delays = completed.rows.iter().filter_map(delay).collect();
    assert_eq!(latency.completion, spread(delays), "{at}");
    if ends.keys().any(|id| !commits.contains_key(id)) {
        return;
    }
    let first = ends
        .iter()
        .map(|(id, (start, _))| signed(start - commits[id]));
    assert_eq!(latency.first_start, spread(first.collect()), "{at}");
    let window = truth.window.unwrap();
    let waits: Vec<(u64, u64)> = ends
        .iter()
        .map(|(id, (_, end))| (commits[id].max(window.start_ns), *end))
        .collect();
    let queue = truth.queue.unwrap();
    assert_eq!(
        queue.area_ns,
        waits.iter().map(|(from, to)| to - from).sum::<u64>(),
        "{at}"
    );
    // The queue is longest at a moment when a buffer joins it.
    let length = |now: u64| {
        waits
            .iter()
            .filter(|(from, to)| (*from..*to).contains(&now))
            .count()
    };
    let longest = waits.iter().map(|(from, _)| length(*from)).max();
    assert_eq!(queue.max, longest.unwrap() as u64, "{at}");
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap()
}

fn spread(mut values: Vec<i64>) -> Spread {
    values.sort_unstable();
    let rank = |percent: usize| {
        let place = (values.len() * percent).div_ceil(100).checked_sub(1)?;
        values.get(place).copied()
    };
    Spread {
        count: values.len() as u64,
        min_ns: values.first().copied(),
        median_ns: rank(50),
        p95_ns: rank(95),
        max_ns: values.last().copied(),
    }
}

fn inside(row: &[Element], (from, to): (u64, u64)) -> u64 {
    let (start, end) = (row[0].number(), row[0].number() + row[1].number());
    end.min(to).saturating_sub(start.max(from))
}

fn same_states(rows: &[Vec<Element>], truth: &States, window: (u64, u64), at: &str) {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        let state = row
            .iter()
            .find(|cell| cell.tag.ends_with("-state"))
            .unwrap();
        if inside(row, window) > 0 {
            *found.entry(&state.text).or_default() += inside(row, window);
        }
    }
    let expected = truth
        .states
        .iter()
        .map(|state| (state.state.as_str(), state.total_ns));
    assert_eq!(expected.collect::<BTreeMap<_, _>>(), found, "{at}");
    let covered: u64 = found.values().sum();
    assert_eq!(truth.uncovered_ns, window.1 - window.0 - covered, "{at}");
}

fn memory(truth: &Truth, files: &Files, window: (u64, u64), at: &str) {
    let pid = u64::from(truth.process.as_ref().unwrap().pid);
    let rows = table(files, "metal-current-allocated-size").unwrap().rows;
    let own = rows
        .iter()
        .filter(|row| row[3].child("pid").number() == pid);
    let during = own.filter(|row| inside(row, window) > 0);
    let bytes: Vec<u64> = during.map(|row| row[4].number()).collect();
    let expected = truth
        .optional
        .memory
        .map(|memory| (memory.first_bytes, memory.peak_bytes, memory.last_bytes));
    let found = bytes
        .iter()
        .max()
        .map(|peak| (bytes[0], *peak, bytes[bytes.len() - 1]));
    assert_eq!(expected, found, "{at}");
}

fn signposts(truth: &Truth, files: &Files, at: &str) {
    let mut open: HashMap<u64, u64> = HashMap::new();
    let (mut count, mut events, mut total) = (0, 0, 0);
    for row in table(files, "os-signpost").map_or_else(Vec::new, |table| table.rows) {
        let (time, id) = (row[0].number(), row[5].number());
        match row[3].text.as_str() {
            "Begin" => assert_eq!(open.insert(id, time), None, "{at}"),
            "End" => {
                count += 1;
                total += time - open.remove(&id).unwrap();
            }
            _ => events += 1,
        }
    }
    assert!(open.is_empty(), "{at}");

    let expected = truth
        .optional
        .signposts
        .iter()
        .fold((0, 0, 0), |sum, total| {
            (
                sum.0 + total.count,
                sum.1 + total.events,
                sum.2 + total.total_ns,
            )
        });
    assert_eq!(expected, (count, events, total), "{at}");
}
