//! Windows of recordings that the simulator does not make: intervals without length and
//! on top of each other, buffers whose parts come in any order and stretch over others,
//! commits from before the recording, rows that contradict each other. The oracle asks of
//! each nanosecond what was so then; it knows the tables and no window.

pub(crate) mod tables;

use std::cell::RefCell;
use std::collections::BTreeMap;

use metalens_analyzer::{Cause, Distribution, Error, Latency, Report};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::tables::{Interval, Tables, begin, committed, end, tables};

/// Compares all that a report says of command buffers and of the idle time.
fn check(tables: &Tables, report: &Report) {
    let (from, to) = (report.window.start_ns, report.window.end_ns);
    let is_here = |one: &Interval| match one.duration {
        0 => from <= one.start && one.start <= to,
        _ => one.start < to && one.end() > from,
    };
    let all = tables.buffers();
    let here: Vec<(&u64, &Vec<Interval>)> = all
        .iter()
        .filter(|(_, rows)| rows.iter().any(is_here))
        .collect();

    let latency = &report.latency;
    let starts = here
        .iter()
        .filter_map(|(_, rows)| Some(begin(rows) - committed(rows)?));
    same(latency.submission, starts, "start");
    let completions = here.iter();
    let completions =
        completions.filter_map(|(id, rows)| Some(tables.completion(**id)? - end(rows)));
    same(latency.completion, completions, "completion");
    let mut commits: Vec<_> = all
        .iter()
        .filter_map(|(id, rows)| Some((committed(rows)?, id)))
        .collect();
    commits.sort_unstable();
    let is_in = |id: &u64| here.iter().any(|(one, _)| *one == id);
    let pairs = commits
        .windows(2)
        .filter(|two| is_in(two[0].1) && is_in(two[1].1));
    same(
        latency.commit_interval,
        pairs.map(|two| two[1].0 - two[0].0),
        "cadence",
    );

    let shape = &report.shape.command_buffers;
    assert_eq!(shape.count, here.len() as u64);
    assert_eq!(report.counts.command_buffers, here.len() as u64);
    same(
        shape.span,
        here.iter().map(|(_, rows)| end(rows) - begin(rows)),
        "span",
    );
    let encoders = here.iter().map(|(_, rows)| {
        let mut ids: Vec<u64> = rows
            .iter()
            .map(|one| one.encoder)
            .filter(|&id| id > 0)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len() as u64
    });
    let mut encoders: Vec<u64> = encoders.filter(|&count| count > 0).collect();
    encoders.sort_unstable();
    assert_eq!(shape.min_encoders, encoders.first().copied());
    assert_eq!(shape.max_encoders, encoders.last().copied());
    let middle = encoders.len().div_ceil(2).checked_sub(1);
    assert_eq!(shape.median_encoders, middle.map(|at| encoders[at]));

    check_queue(latency, (from, to), &all);
    let mine = tables.mine();
    let (mut parts, mut inside_ns) = ([0; 7], 0);
    for at in (from..to).filter(|&at| !mine.iter().any(|one| one.holds(at))) {
        let cause = tables.cause(at);
        parts[Cause::ALL.iter().position(|&one| one == cause).unwrap()] += 1;
        let around = tables.around(at);
        let buffers = around.map(|around| around.map(|one| one.buffer));
        inside_ns += u64::from(buffers.is_some_and(|[one, two]| one == two && one > 0));
    }
    assert_eq!(shape.gaps_inside_ns, inside_ns);
    assert_eq!(report.idle.parts.by_cause().map(|(_, ns)| ns), parts);
}

/// Compares the queue: how many buffers were committed and not done, at each nanosecond.
fn check_queue(latency: &Latency, (from, to): (u64, u64), all: &BTreeMap<u64, Vec<Interval>>) {
    let queued: Vec<(i128, i128)> = all
        .values()
        .filter_map(|rows| Some((committed(rows)?, end(rows))))
        .collect();
    let Some(found) = &latency.queue else {
        assert!(queued.is_empty() || from == to, "a queue is known");
        return;
    };
    let depth = |at: u64| {
        let at = i128::from(at);
        queued
            .iter()
            .filter(|(from, to)| (*from..*to).contains(&at))
            .count() as u64
    };
    let mean = |from: u64, to: u64| (from..to).map(depth).sum::<u64>() as f64 / (to - from) as f64;
    let held = |wanted: fn(u64) -> bool| (from..to).filter(|&at| wanted(depth(at))).count() as u64;
    assert_eq!(found.mean_depth, mean(from, to));
    assert_eq!(Some(found.max_depth), (from..to).map(depth).max());
    assert_eq!(
        (found.empty_ns, found.one_ns, found.more_ns),
        (held(|n| n == 0), held(|n| n == 1), held(|n| n > 1))
    );
    let parts = (to - from).min(60);
    let edge = |part: u64| from + (to - from) * part / parts;
    let expected: Vec<(u64, f64)> = (0..parts)
        .map(|part| (edge(part), mean(edge(part), edge(part + 1))))
        .collect();
    let found = found
        .over_time
        .iter()
        .map(|one| (one.start_ns, one.mean_depth));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Compares a distribution with what it is of.
fn same(found: Option<Distribution>, of: impl Iterator<Item = i128>, what: &str) {
    let mut sorted: Vec<i128> = of.collect();
    sorted.sort_unstable();
    let Some(found) = found else {
        return assert_eq!(sorted, [], "{what}");
    };
    let rank = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
    let found_ns = [
        found.min_ns,
        found.median_ns,
        found.p95_ns,
        found.p99_ns,
        found.max_ns,
    ];
    let expected = [sorted[0], rank(50), rank(95), rank(99), rank(100)];
    assert_eq!(found_ns.map(i128::from), expected, "{what} of {sorted:?}");
    assert_eq!(found.count, sorted.len() as u64, "{what}");
    let off = i128::from(found.mean_ns) * sorted.len() as i128 - sorted.iter().sum::<i128>();
    assert!(
        off.abs() * 2 <= sorted.len() as i128,
        "{what}: mean of {sorted:?}"
    );
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// The idle time by cause, and the time that the queue had none, one, more.
fn times(report: &Report) -> Vec<u64> {
    let parts = report.idle.parts.by_cause().map(|(_, ns)| ns);
    let queue = report.latency.queue.as_ref();
    let queue = queue.map_or([0; 3], |one| [one.empty_ns, one.one_ns, one.more_ns]);
    [parts.as_slice(), &queue].concat()
}

/// What a window says of command buffers and of idle time is what the whole recording
/// says of them, and two windows that touch say what the two together do.
#[test]
fn a_window_cuts_nothing_but_time() {
    let seen = RefCell::new(([0_u64; 7], 0_u64));
    let mut runner = TestRunner::new(Config::with_cases(600));
    let cases = (tables(), [0_u64..340, 0_u64..340, 0_u64..340]);
    let result = runner.run(&cases, |(tables, mut cuts)| {
        cuts.sort_unstable();
        let [from, cut, to] = cuts;
        let windows = [
            (None, None),
            (Some(from), Some(to)),
            (Some(from), Some(cut)),
            (Some(cut), Some(to)),
        ];
        let mut found = Vec::new();
        for (from, to) in windows {
            match tables.report(from, to) {
                Ok(report) => {
                    check(&tables, &report);
                    found.push(times(&report));
                }
                Err(
                    Error::EmptyWindow { .. }
                    | Error::NoGpuIntervals { .. }
                    | Error::NoProcesses { .. },
                ) => {}
                Err(error) => panic!("{error}"),
            }
        }
        if let [whole, together, halves @ ..] = found.as_slice()
            && halves.len() == 2
        {
            let mut sum = vec![0; together.len()];
            halves.iter().for_each(|half| add(&mut sum, half));
            prop_assert_eq!(&sum, together);
            let (causes, cuts) = &mut *seen.borrow_mut();
            add(causes, whole);
            *cuts += 1;
        }
        Ok(())
    });
    result.unwrap();
    let (causes, cuts) = seen.into_inner();
    assert!(cuts > 100, "only {cuts} windows were cut in two");
    assert!(
        causes.iter().all(|&ns| ns > 0),
        "not every cause: {causes:?}"
    );
}
