//! Tests of real recordings, if this machine has them, against independently known figures.

use metalens_analyzer::{ChosenBy, Error, Request};
use metalens_message::Ns;
use metalens_trace::{Input, LoadOptions, Selection};

use super::report;

pub(super) use metalens_testing::real_recordings as recordings;

/// Independently known figures of a recording.
struct KnownFigures {
    folder: &'static str,
    pid: u32,
    all_intervals: u64,
    span_ns: u64,
    busy_ns: u64,
    /// Union of all processes' intervals, and the GPU's own Active time.
    machine_ns: u64,
    /// Idle time by cause: completion, host, encoding, submission, queued, contention, unknown.
    /// Completion latency, host work, encoding, and the time from the commit to the GPU's start, with
    /// other processes on the GPU.
    idle: [u64; 4],
}

#[test]
fn figures_are_the_known_ones() {
    let Some(recordings) = recordings() else {
        return;
    };
    let cases = [
        KnownFigures {
            folder: "m1-launched-1000",
            pid: 37931,
            all_intervals: 3_839,
            span_ns: 200_189_875,
            busy_ns: 6_698_335,
            machine_ns: 10_591_919,
            idle: [74_243_711, 17_259_777, 9_418_299, 92_569_753],
        },
        KnownFigures {
            folder: "m1-bundle-and-export/export",
            pid: 88921,
            all_intervals: 1_260,
            span_ns: 181_480_625,
            busy_ns: 7_267_838,
            machine_ns: 11_086_173,
            idle: [68_235_324, 11_436_794, 6_528_964, 88_011_705],
        },
    ];
    for known in cases {
        let report = report(&recordings.join(known.folder), None, &Request::default()).unwrap();
        assert_eq!(
            (report.process.pid, report.process.chosen_by),
            (Some(known.pid), ChosenBy::Launched)
        );
        assert_eq!(report.counts.intervals, 1_000);
        assert_eq!(report.counts.all_intervals, known.all_intervals);
        assert_eq!(report.window.span_ns, Ns(known.span_ns));
        assert_eq!(report.busy.busy_ns, Ns(known.busy_ns));
        assert_eq!(report.busy.machine_busy_ns, Ns(known.machine_ns));
        assert_eq!(report.busy.machine_active_ns, Some(Ns(known.machine_ns)));
        assert_eq!(report.gaps.total_ns, Ns(known.span_ns - known.busy_ns));
        let parts = &report.idle.parts;
        let to_gpu_ns = parts.after_commit_ns() + parts.contention_ns;
        let found = [
            parts.completion_ns,
            parts.host_ns,
            parts.encoding_ns,
            to_gpu_ns,
        ];
        assert_eq!(found, known.idle.map(Ns));
        // The driver's rows join by their order, and split all time after the commit.
        assert_eq!(
            (parts.submission_ns, parts.queued_ns, parts.unknown_ns),
            (Ns(0), Ns(0), Ns(0))
        );
        assert!(
            parts.driver_wait_ns > Ns(0)
                && parts.driver_ns > Ns(0)
                && parts.start_latency_ns > Ns(0)
        );
        let idle = &report.idle;
        assert_eq!(
            (idle.joinable, idle.pairs, idle.serialized),
            (999, 999, 999)
        );
        assert!(!report.run.synthetic);
    }
}

#[test]
fn a_process_without_gpu_intervals_is_an_error() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-every-table-no-target-rows");
    match report(&folder, None, &Request::default()) {
        Err(Error::NoGpuIntervals {
            present, ending, ..
        }) => {
            let present: Vec<&str> = present
                .iter()
                .map(|process| process.name.as_str())
                .collect();
            assert_eq!(present, ["WindowServer", "Terminal"]);
            assert_eq!(ending.as_deref(), Some("exit(4)"));
        }
        other => panic!("{other:?}"),
    }
}

/// Compares two tables that Instruments computes independently: the GPU intervals of all
/// processes, and the times when the GPU was active. They agree to the nanosecond, for the window of
/// any process. Only the very first stretch of a recording may differ: for work that ran when
/// the recording began, one table has its start, and the other the first event of it (21 µs apart
/// in one of these).
#[test]
fn machine_busy_is_the_gpus_own_active_time() {
    let Some(recordings) = recordings() else {
        return;
    };
    let mut compared = 0;
    for folder in [
        "m1-launched-1000",
        "m1-bundle-and-export/export",
        "m1-every-table-no-target-rows",
    ] {
        let folder = recordings.join(folder);
        let everyone = Input::open(&folder).unwrap();
        let processes = Selection::columns(&[("metal-gpu-intervals", &["start", "process"])]);
        let trace = everyone.load(&processes, LoadOptions::default()).unwrap();
        let first_start = trace
            .table("metal-gpu-intervals")
            .unwrap()
            .integers("start")
            .unwrap()
            .get(0);
        for (_, process) in trace.names.processes() {
            let request = Request {
                processes: vec![process.pid.unwrap().to_string()],
                from_ns: first_start.map(|ns| ns + 1_000_000),
                ..Request::default()
            };
            let report = report(&folder, None, &request).unwrap();
            assert_eq!(
                report.busy.machine_active_ns,
                Some(report.busy.machine_busy_ns)
            );
            compared += 1;
        }
    }
    assert!(compared >= 9, "{compared}");
}

/// Over a whole recording the two tables may differ a little, as the docs say.
#[test]
fn whole_recordings_differ_by_less_than_a_fifth_of_a_millisecond() {
    let Some(recordings) = recordings() else {
        return;
    };
    let check = |bundle: &str, expected_ns: u64| {
        let tables = ["metal-gpu-intervals", "metal-gpu-state-intervals"].map(str::to_owned);
        let input = Input::open(&recordings.join(bundle)).unwrap();
        let trace = input.load(&Selection::tables(&tables), LoadOptions::default());
        let trace = trace.unwrap();
        let [intervals, states] = tables.map(|schema| {
            let table = trace.table(&schema).unwrap();
            let starts = table.integers("start").unwrap();
            let lengths = table.integers("duration").unwrap();
            let names = table.texts("state").unwrap();
            let rows = starts.iter().zip(lengths.iter()).zip(names.iter());
            let active = rows.filter(|(_, state)| {
                state.is_some_and(|state| trace.names.text(state) == "Active")
            });
            let spans = active.map(|((start, length), _)| (start.unwrap(), length.unwrap()));
            union_ns(spans.collect())
        });
        assert_eq!(intervals - states, expected_ns, "{bundle}");
    };
    check("m1-bundle-and-export/gpu_baseline.trace", 21_459);
    check("m2-counters-bundle/julia_1.trace", 0);
}

/// Returns the length of the union of stretches, each with its start and its length.
fn union_ns(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let union = spans.iter().fold((0, 0), |(total, end), (start, length)| {
        let until = end.max(start + length);
        (total + until - end.max(*start), until)
    });
    union.0
}
