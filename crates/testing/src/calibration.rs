//! Runs of a workload without and with the recorder, for tests of calibrations.

use metalens_comparison::calibration::{
    Calibration, IssuedLabel, IssuedTotals, MeasuredRun, NameCounts, PairRuns, Program, ProgramRun,
    RecordedWork,
};

/// Names of a recording that has all that [`run`] issues: each with its intervals and encoders.
pub const ALL: &[(&str, u64, u64)] = &[("sin", 6, 6), ("scale", 3, 3)];

/// Returns a run with two labels: 6 encoders of 1 dispatch, 3 encoders of 8.
#[must_use]
pub fn run(wall_ns: Option<u64>, gpu_ns: Option<u64>) -> ProgramRun {
    let label = |label: &str, encoders, dispatches| IssuedLabel {
        label: label.to_owned(),
        encoders,
        dispatches,
    };
    ProgramRun {
        gpu_ns,
        program: Program {
            workload: "mixed".to_owned(),
            size: 64,
            count: 2,
            warm_up: 1,
            issued: IssuedTotals {
                command_buffers: 3,
                encoders: 9,
                dispatches: 30,
            },
            labels: vec![label("sin", 6, 6), label("scale", 3, 24)],
            command_buffer_labels: ["mixed warm-up", "mixed step"].map(str::to_owned),
            run: wall_ns.map(|measured_ns| MeasuredRun {
                device: "Apple M1".to_owned(),
                measured_ns,
            }),
        },
    }
}

/// Returns a recording with these names, each with its intervals and encoders.
#[must_use]
pub fn recorded(found: &[(&str, u64, u64)]) -> RecordedWork {
    let entry = |&(name, intervals, encoders): &(&str, u64, u64)| {
        let counts = NameCounts {
            intervals,
            encoders,
        };
        (name.to_owned(), counts)
    };
    RecordedWork {
        found: found.iter().map(entry).collect(),
        command_buffers: 3,
        ..RecordedWork::default()
    }
}

/// Returns a pair of runs with these wall and GPU times: without, then with the recorder.
#[must_use]
pub fn pair(times: Option<[u64; 4]>, recorded: RecordedWork) -> PairRuns {
    let time = |index: usize| times.map(|times| times[index]);
    PairRuns {
        is_with_first: false,
        without: run(time(0), time(1)),
        with: run(time(2), time(3)),
        recorded,
    }
}

/// Returns a calibration of pairs with these wall and GPU times: without, then with the recorder.
#[must_use]
pub fn measured(times: &[[u64; 4]]) -> Calibration {
    let pairs = times.iter().map(|&times| pair(Some(times), recorded(ALL)));
    Calibration::from_pairs(pairs.collect(), false, true)
}
