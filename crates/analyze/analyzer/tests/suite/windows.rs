//! Tests windows of recordings that the simulator does not make: intervals without length and
//! overlapping ones, buffers with parts in any order and across others, commits before the
//! recording, rows that contradict each other. The expected figures come from a look at each
//! nanosecond of the tables, without any window.

pub(crate) mod tables;

use std::cell::RefCell;
use std::collections::BTreeMap;

use metalens_analyzer::{Cause, Distribution, Error, Latency, Report};
use metalens_message::Ns;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::tables::{Interval, Tables, begin, committed, end, tables};

/// Compares all figures of command buffers and of the idle time.
fn check(tables: &Tables, report: &Report) {
    let (from, to) = (report.window.start_ns.0, report.window.end_ns.0);
    let is_here = |interval: &Interval| match interval.duration {
        0 => from <= interval.start && interval.start <= to,
        _ => interval.start < to && interval.end() > from,
    };
    let all = tables.buffers();
    let here: Vec<(&u64, &Vec<Interval>)> = all
        .iter()
        .filter(|(_, rows)| rows.iter().any(is_here))
        .collect();

    let once: BTreeMap<u64, Vec<Interval>> = all
        .iter()
        .filter(|&(&id, _)| !tables.is_reused(id))
        .map(|(&id, rows)| (id, rows.clone()))
        .collect();
    let here_once = || here.iter().filter(|(id, _)| once.contains_key(*id));

    let latency = &report.latency;
    let starts = here_once().filter_map(|(_, rows)| Some(begin(rows) - committed(rows)?));
    same(latency.submission, starts, "submission");
    let completions = here.iter();
    let completions =
        completions.filter_map(|(id, rows)| Some(tables.completion(**id)? - end(rows)));
    same(latency.completion, completions, "completion");
    let mut commits: Vec<_> = once
        .iter()
        .filter_map(|(id, rows)| Some((committed(rows)?, id)))
        .collect();
    commits.sort_unstable();
    let is_in = |id: &u64| here.iter().any(|(known, _)| *known == id);
    let pairs = commits
        .windows(2)
        .filter(|pair| is_in(pair[0].1) && is_in(pair[1].1));
    same(
        latency.commit_interval,
        pairs.map(|pair| pair[1].0 - pair[0].0),
        "commit interval",
    );

    let shape = &report.shape.command_buffers;
    assert_eq!(shape.count, here.len() as u64);
    assert_eq!(report.counts.command_buffers, here.len() as u64);
    let reused = here.len() - here_once().count();
    assert_eq!(report.counts.reused_command_buffers, reused as u64);
    same(
        shape.span,
        here_once().map(|(_, rows)| end(rows) - begin(rows)),
        "span",
    );
    let encoders = here_once().map(|(_, rows)| {
        let mut ids: Vec<u64> = rows
            .iter()
            .map(|interval| interval.encoder)
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

    if once.len() == all.len() {
        check_queue(latency, (from, to), &all);
    } else {
        assert_eq!(latency.queue, None, "a reused buffer makes it unknown");
        let mut absent = report.not_recorded.iter();
        assert!(absent.any(|part| part.what == "latency.queue"));
    }

    let mine = tables.mine();
    let (mut parts, mut inside_ns) = ([0; 10], 0);
    for at in (from..to).filter(|&at| !mine.iter().any(|interval| interval.contains(at))) {
        let cause = tables.cause(at);
        parts[Cause::ALL.iter().position(|&each| each == cause).unwrap()] += 1;
        let around = tables.around(at);
        let buffers = around.map(|around| around.map(|interval| interval.buffer));
        let is_inside =
            buffers.is_some_and(|[before, after]| before == after && once.contains_key(&before));
        inside_ns += u64::from(is_inside);
    }
    assert_eq!(shape.gaps_inside_ns, Ns(inside_ns));
    // What the next work waited for is inferred: that divides the time before the commit, and no other.
    let divided =
        |[completion, host, encoding, rest @ ..]: [u64; 10]| (completion + host + encoding, rest);
    let found = report.idle.parts.by_cause().map(|(_, ns)| ns.0);
    assert_eq!(divided(found), divided(parts));
}

/// Compares the queue depth with the number of buffers that were committed and not finished, at
/// each nanosecond.
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
    let time = |is_wanted: fn(u64) -> bool| {
        Ns((from..to).filter(|&at| is_wanted(depth(at))).count() as u64)
    };
    assert_eq!(found.mean_depth, mean(from, to));
    assert_eq!(Some(found.max_depth), (from..to).map(depth).max());
    assert_eq!(
        (found.empty_ns, found.one_ns, found.more_ns),
        (time(|n| n == 0), time(|n| n == 1), time(|n| n > 1))
    );
    let parts = (to - from).min(60);
    let edge = |part: u64| from + (to - from) * part / parts;
    let expected: Vec<(Ns, f64)> = (0..parts)
        .map(|part| (Ns(edge(part)), mean(edge(part), edge(part + 1))))
        .collect();
    let found = found
        .over_time
        .iter()
        .map(|part| (part.start_ns, part.mean_depth));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Compares a distribution with the durations that it summarizes.
fn same(found: Option<Distribution>, durations: impl Iterator<Item = i128>, what: &str) {
    let mut sorted: Vec<i128> = durations.collect();
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
    assert_eq!(
        found_ns.map(|ns| i128::from(ns.0)),
        expected,
        "{what} of {sorted:?}"
    );
    assert_eq!(found.count, sorted.len() as u64, "{what}");
    let off = i128::from(found.mean_ns.0) * sorted.len() as i128 - sorted.iter().sum::<i128>();
    assert!(
        off.abs() * 2 <= sorted.len() as i128,
        "{what}: mean of {sorted:?}"
    );
}

fn add(sum: &mut [Ns], more: &[Ns]) {
    sum.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += *more);
}

/// Returns the idle time by cause, and the time with a queue depth of none, one and more.
fn times(report: &Report) -> Vec<Ns> {
    let parts = report.idle.parts.by_cause().map(|(_, ns)| ns);
    let queue = report.latency.queue.as_ref();
    let queue = queue.map_or([Ns(0); 3], |queue| {
        [queue.empty_ns, queue.one_ns, queue.more_ns]
    });
    [parts.as_slice(), &queue].concat()
}

/// Figures of command buffers and of idle time in a window are those of the whole recording, and
/// two adjacent windows add up to both together.
#[test]
fn a_window_cuts_nothing_but_time() {
    let compared = RefCell::new(([Ns(0); 10], 0_u64, [0_u64; 2]));
    let mut runner = TestRunner::new(Config::with_cases(1_500));
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
                    let known = usize::from(report.latency.queue.is_some());
                    compared.borrow_mut().2[known] += 1;
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
            let mut sum = vec![Ns(0); together.len()];
            halves.iter().for_each(|half| add(&mut sum, half));
            prop_assert_eq!(&sum, together);
            let (causes, cuts, _) = &mut *compared.borrow_mut();
            add(causes, whole);
            *cuts += 1;
        }
        Ok(())
    });
    result.unwrap();
    let (causes, cuts, queues) = compared.into_inner();
    assert!(queues.iter().all(|&count| count > 150), "{queues:?}");
    assert!(cuts > 100, "only {cuts} windows were divided");
    assert!(
        causes.iter().all(|&ns| ns > Ns(0)),
        "not every cause: {causes:?}"
    );
}
