//! Tests the laws in the crate's documentation, on random scenarios and random windows.

use metalens_analyzer::{Distribution, Error, Report, Request};
use metalens_message::{Ns, Quantity, SignedNs};
use metalens_simulator::{Role, Scenario, random_scenario};
use proptest::prelude::*;

use super::report_of;

fn check(report: &Report) {
    let (busy, gaps, counts) = (&report.busy, &report.gaps, &report.counts);
    let window = &report.window;
    assert_eq!(window.span_ns, window.end_ns - window.start_ns);
    assert_eq!(
        busy.busy_ns + gaps.total_ns,
        window.span_ns,
        "busy + gaps = window"
    );
    assert_eq!(
        busy.machine_busy_ns + busy.others_overlap_ns.unwrap(),
        busy.busy_ns + busy.others_busy_ns.unwrap(),
        "machine busy = busy + others - overlap"
    );
    assert_eq!(
        busy.machine_active_ns,
        Some(busy.machine_busy_ns),
        "the two tables agree"
    );
    assert!(
        busy.busy_ns <= busy.sum_ns,
        "a union is no longer than the sum"
    );

    let buckets = &gaps.histogram;
    assert_eq!(
        buckets.iter().map(|bucket| bucket.count).sum::<u64>(),
        gaps.count
    );
    assert_eq!(
        buckets.iter().map(|bucket| bucket.total_ns).sum::<Ns>(),
        gaps.total_ns
    );
    assert_eq!(gaps.below_1us, buckets[0].count);
    assert_eq!(gaps.top.first().map(|gap| gap.duration_ns), gaps.max_ns);
    assert!(gaps.top.is_sorted_by(|a, b| a.duration_ns >= b.duration_ns));

    let idle = &report.idle;
    assert_eq!(idle.total_ns, gaps.total_ns, "every gap has causes");
    assert_eq!(
        idle.parts.total_ns(),
        gaps.total_ns,
        "the parts sum to the idle time"
    );
    assert!(idle.serialized <= idle.joinable && idle.joinable <= idle.pairs);
    assert_eq!(idle.pairs, gaps.count);
    for gap in &gaps.top {
        assert_eq!(
            gap.parts.total_ns(),
            gap.duration_ns,
            "the parts of each gap sum to it"
        );
        if let Some(event) = &gap.driver_event {
            let in_order = event.longest_ns <= event.total_ns && event.total_ns <= gap.duration_ns;
            assert!(in_order, "the driver's events fit into the gap");
        }
    }
    let queue = report.latency.queue.as_ref();
    if let Some(queue) = queue {
        let times = queue.empty_ns + queue.one_ns + queue.more_ns;
        assert_eq!(times, window.span_ns, "the queue's times tile the window");
    }

    let kernels = &report.kernels;
    assert_eq!(
        kernels.iter().map(|kernel| kernel.instances).sum::<u64>(),
        counts.intervals
    );
    assert_eq!(
        kernels.iter().map(|kernel| kernel.total_ns).sum::<Ns>(),
        busy.sum_ns
    );
    assert_eq!(kernels.len() as u64, counts.kernels);
    let channels = &report.channels;
    assert_eq!(
        channels
            .iter()
            .map(|channel| channel.intervals)
            .sum::<u64>(),
        counts.intervals
    );
    assert_eq!(
        channels.iter().map(|channel| channel.sum_ns).sum::<Ns>(),
        busy.sum_ns
    );
    assert!(
        channels
            .iter()
            .all(|channel| channel.busy_ns <= busy.busy_ns)
    );
    let processes = &report.processes;
    let named: u64 = processes.iter().map(|process| process.intervals).sum();
    assert_eq!(named + counts.unattributed, counts.all_intervals);
    let analyzed = processes.iter().filter(|process| process.is_analyzed);
    assert_eq!(
        analyzed
            .map(|process| process.window_intervals)
            .sum::<u64>(),
        counts.intervals
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn laws_hold_in_any_window(seed: u64, from in 0_u64..120, to in 0_u64..120) {
        let scenario = random_scenario(seed);
        // Some scenarios have no process to report on.
        let Ok(whole) = report_of(&scenario, &Request::default()) else { return Ok(()) };
        check(&whole);
        let at = |percent: u64| whole.window.start_ns + whole.window.span_ns * percent / 100;
        let request = Request {
            from_ns: Some(at(from).0),
            to_ns: Some(at(to).0),
            ..Request::default()
        };
        match report_of(&scenario, &request) {
            Ok(cut) => {
                check(&cut);
                prop_assert!(cut.window.start_ns >= at(from).max(whole.window.start_ns));
                prop_assert!(cut.window.end_ns <= at(to).min(whole.window.end_ns));
                let excluded: Ns = cut.window.excluded.iter().map(|e| e.to_ns - e.from_ns).sum();
                prop_assert_eq!(excluded + cut.window.span_ns, whole.window.span_ns);
                prop_assert_eq!(&cut.processes[0].intervals, &whole.processes[0].intervals);
            }
            Err(Error::EmptyWindow { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Causes and queue depths of two adjacent windows add up to those of both together: a gap at the
    /// cut is split by cause as a whole, and then divided.
    #[test]
    fn causes_of_adjacent_windows_add_up(seed: u64, cut in 1_u64..1_000) {
        let scenario = random_scenario(seed);
        let Ok(whole) = report_of(&scenario, &Request::default()) else { return Ok(()) };
        let at = whole.window.start_ns + whole.window.span_ns * cut / 1_000;
        let part = |from_ns, to_ns| {
            let request = Request { from_ns, to_ns, ..Request::default() };
            report_of(&scenario, &request)
        };
        let mut sum = [Ns(0); 10];
        let mut total_ns = Ns(0);
        let mut queued = ([Ns(0); 3], 0.0);
        for half in [part(None, Some(at.0)), part(Some(at.0), None)] {
            match half {
                Ok(half) => {
                    let parts = half.idle.parts.by_cause();
                    for (sum, (_, ns)) in sum.iter_mut().zip(parts) {
                        *sum += ns;
                    }
                    total_ns += half.idle.total_ns;
                    let (times, area) = queue_of(&half);
                    queued.0 = [0, 1, 2].map(|class| queued.0[class] + times[class]);
                    queued.1 += area;
                }
                // The cut lies at the window's edge.
                Err(Error::EmptyWindow { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        prop_assert_eq!(sum, whole.idle.parts.by_cause().map(|(_, ns)| ns));
        prop_assert_eq!(total_ns, whole.idle.total_ns);
        let (times, area) = queue_of(&whole);
        prop_assert_eq!(queued.0, times);
        prop_assert!((queued.1 - area).abs() <= area * 1e-9, "{} {area}", queued.1);
    }
}

/// Returns the time with a queue depth of none, one and more, and the sum of depth times time.
fn queue_of(report: &Report) -> ([Ns; 3], f64) {
    report
        .latency
        .queue
        .as_ref()
        .map_or_else(Default::default, |queue| {
            let times = [queue.empty_ns, queue.one_ns, queue.more_ns];
            (times, queue.mean_depth * report.window.span_ns.number())
        })
}

/// Every command buffer of this preset has the same latencies and six encoders, also in windows
/// that cut some of them.
#[test]
fn a_window_does_not_cut_command_buffers() {
    let scenario = Scenario::preset("renderer").unwrap();
    for (from, to) in [(334_139_534, 411_539_977), (340_000_000, 341_000_000)] {
        let request = Request {
            from_ns: Some(from),
            to_ns: Some(to),
            ..Request::default()
        };
        let report = report_of(&scenario, &request).unwrap();
        let (latency, buffers) = (&report.latency, &report.shape.command_buffers);
        let ends = |found: Option<Distribution>| found.map(|found| (found.min_ns, found.max_ns));
        assert_eq!(
            ends(latency.submission),
            Some((SignedNs(85_000), SignedNs(85_000)))
        );
        assert_eq!(
            ends(latency.completion),
            Some((SignedNs(65_000), SignedNs(65_000)))
        );
        assert_eq!(
            (buffers.min_encoders, buffers.max_encoders),
            (Some(6), Some(6))
        );
    }
}

/// The busy times of two halves add up to that of the whole window.
#[test]
fn busy_times_of_halves_add_up() {
    let scenario = Scenario::preset("renderer").unwrap();
    let whole = report_of(&scenario, &Request::default()).unwrap();
    let middle = whole.window.start_ns + whole.window.span_ns / 2;
    let half = |from_ns, to_ns| {
        let request = Request {
            from_ns,
            to_ns,
            ..Request::default()
        };
        report_of(&scenario, &request).unwrap().busy
    };
    let (first, second) = (half(None, Some(middle.0)), half(Some(middle.0), None));
    assert_eq!(first.busy_ns + second.busy_ns, whole.busy.busy_ns);
    assert_eq!(
        first.machine_busy_ns + second.machine_busy_ns,
        whole.busy.machine_busy_ns
    );
    assert_eq!(first.sum_ns + second.sum_ns, whole.busy.sum_ns);
}

/// A process chosen by name, by pid, or by default has the same report; all processes together have
/// the machine's.
#[test]
fn ways_to_choose_a_process_agree() {
    let scenario = Scenario::preset("shared-machine").unwrap();
    let recorded = scenario
        .process
        .iter()
        .find(|p| p.role == Role::Target)
        .unwrap();
    let report_on = |processes: Vec<String>| {
        let request = Request {
            processes,
            ..Request::default()
        };
        report_of(&scenario, &request).unwrap()
    };
    let default = report_on(vec![]);
    for request in [recorded.name.clone(), recorded.pid.to_string()] {
        let report = report_on(vec![request]);
        assert_eq!((&report.busy, &report.gaps), (&default.busy, &default.gaps));
    }
    let everyone = report_on(scenario.process.iter().map(|p| p.name.clone()).collect());
    assert_eq!(everyone.busy.busy_ns, everyone.busy.machine_busy_ns);
    assert_eq!(everyone.busy.others_busy_ns, Some(Ns(0)));
    let nobody = Request {
        processes: vec!["nobody".to_owned()],
        ..Request::default()
    };
    let error = report_of(&scenario, &nobody).unwrap_err().to_string();
    assert!(error.starts_with("nobody has no GPU interval"), "{error}");
    assert!(error.contains(&recorded.name), "{error}");
}
