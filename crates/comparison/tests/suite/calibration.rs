//! Checks constructed runs and recordings; the expected results were worked out by hand.

use metalens_analyzer::{TimingCheck, TimingOrder, TimingVerdict};

use metalens_comparison::calibration::{
    Calibration, ClockShare, CountVerdict, NameCounts, RecordedWork,
};
use metalens_comparison::paired::PairedVerdict;
use metalens_testing::calibration::{ALL, measured, pair, recorded};

#[test]
fn lost_and_merged_work_is_found() {
    let check = |change: &dyn Fn(&mut RecordedWork), verdict, encoders, dispatches, said: &str| {
        let (whole, mut other) = (recorded(ALL), recorded(ALL));
        change(&mut other);
        let pairs = vec![pair(None, whole), pair(None, other)];
        let calibration = Calibration::from_pairs(pairs, true, false);

        let counts = &calibration.counts;
        assert_eq!(counts.verdict, verdict, "{counts:?}");
        assert_eq!(counts.encoders.found, [9, encoders]);
        assert_eq!(counts.dispatches.found, [30, dispatches]);

        let sentence = &calibration.verdicts[0];
        assert!(sentence.contains(said), "{sentence}");
    };
    use CountVerdict::{Coalesced, Different, Equal};
    let set = |name: &'static str, intervals, encoders| {
        move |recorded: &mut RecordedWork| {
            let found = NameCounts {
                intervals,
                encoders,
            };
            recorded.found.insert(name.to_owned(), found);
        }
    };
    let whole = "9 encoders with 30 dispatches in 3 command buffers";
    check(&|_| {}, Equal, 9, 30, whole);
    // An encoder in two parts is one encoder.
    check(&set("sin", 7, 6), Equal, 9, 30, "each of 2 recordings");
    let lost = "8 to 9 encoders, 5 to 6 encoders of `sin`";
    check(&set("sin", 5, 5), Different, 8, 29, lost);
    check(
        &set("scale", 2, 2),
        Different,
        8,
        22,
        "2 to 3 encoders of `scale`",
    );
    check(
        &set("present", 1, 1),
        Different,
        10,
        30,
        "0 to 1 intervals called `present`",
    );
    // The driver merged 4 and 2 encoders `sin` into two intervals.
    let coalesced = |recorded: &mut RecordedWork| {
        recorded.found.remove("sin");
        set("sin & sin", 2, 2)(recorded);
        recorded.coalesced = (2, 6);
    };
    check(
        &coalesced,
        Coalesced,
        9,
        24,
        "merged encoders into intervals called `sin & sin`",
    );
    let buffers = |recorded: &mut RecordedWork| recorded.command_buffers = 2;
    check(&buffers, Different, 9, 30, "2 to 3 command buffers");
}

/// Checks a wall time 2, 4, 3, 1 and 2.5 % longer, and a GPU time that differs by noise only.
#[test]
fn overhead_is_the_median_of_the_pairs() {
    let calibration = measured(&[
        [1_000, 500, 1_020, 505],
        [2_000, 500, 2_080, 495],
        [1_000, 500, 1_030, 510],
        [1_000, 500, 1_010, 490],
        [1_000, 500, 1_025, 500],
    ]);
    let wall = calibration.wall.relative.as_ref().unwrap();
    assert_eq!((wall.median, wall.min, wall.max), (0.025, 0.01, 0.04));
    let interval = wall.interval.unwrap();
    assert_eq!((interval.low, interval.high), (0.01, 0.04));
    assert_eq!(interval.confidence, 0.9375);
    // The range, 3 %, is wider than the median.
    assert_eq!(wall.verdict, PairedVerdict::Unstable);
    let ns = calibration.wall.difference_ns.as_ref().unwrap();
    assert_eq!((ns.median, ns.min, ns.max), (25.0, 10.0, 80.0));
    let without = calibration.wall.without.as_ref().unwrap();
    assert_eq!(
        (without.median_ns, without.min_ns, without.max_ns),
        (1_000, 1_000, 2_000)
    );
    assert_eq!(calibration.gpu.relative.as_ref().unwrap().median, 0.0);
    let said = &calibration.verdicts[3];
    assert!(
        said.contains("inconclusive") && said.contains("−2.0 % to +2.0 %"),
        "{said}"
    );

    let steady = measured(&[
        [1_000, 500, 1_020, 500],
        [1_000, 500, 1_021, 500],
        [1_000, 500, 1_022, 500],
        [1_000, 500, 1_023, 500],
        [1_000, 500, 1_024, 500],
    ]);
    let said = &steady.verdicts[2];
    let expected = "Overhead in wall time: +2.2 %, the median of 5 pairs (+2.0 % to +2.4 %, \
                    which contains the true median with 93.75 % confidence).";
    assert_eq!(said, expected);
    let few = measured(&[[1_000, 500, 1_020, 500], [1_000, 500, 1_022, 500]]);
    assert!(
        few.verdicts[2].contains("at least five pairs"),
        "{}",
        few.verdicts[2]
    );
}

/// A simulation has no times, and reports null instead of zero.
#[test]
fn no_time_is_not_zero() {
    let calibration = Calibration::from_pairs(vec![pair(None, recorded(ALL))], true, false);
    let value = serde_json::to_value(&calibration).unwrap();
    for cost in ["wall", "gpu"] {
        for figure in ["without", "with", "difference_ns", "relative"] {
            assert!(value[cost][figure].is_null(), "{value}");
        }
        let why = "no GPU ran, so no time was measured";
        assert_eq!(value[cost]["why"], why);
    }
    assert!(value["pairs"][0]["bundle"].is_null() && value["agreement"]["verdict"].is_null());
    assert!(calibration.notes[0].starts_with("SIMULATED"));
    assert_eq!(calibration.note_details[0].id, "simulated");
    // If one pair has no times, nothing is computed.
    let pairs = vec![
        pair(Some([1, 1, 1, 1]), recorded(ALL)),
        pair(None, recorded(ALL)),
    ];
    assert!(
        Calibration::from_pairs(pairs, false, false)
            .wall
            .relative
            .is_none()
    );
}

/// The worst recording decides the verdict, and a held clock is noted.
#[test]
fn the_worst_recording_decides_about_the_clocks() {
    let check = |verdict, bias| TimingCheck {
        timings: 3,
        command_buffers: 3,
        matched: 3,
        matched_by: TimingOrder::Number,
        verdict,
        why: String::new(),
        why_values: Vec::new(),
        median_drift: Some(0.01),
        median_bias: Some(bias),
        clock_drift: Some(0.0),
        worst: Vec::new(),
    };
    let recorded_pair = |verdict, bias| {
        let clocks = vec![ClockShare {
            state: "Minimum".to_owned(),
            busy_share: Some(1.0),
            induced: true,
        }];
        let timings = Some(check(verdict, bias));
        pair(
            Some([10, 5, 10, 5]),
            RecordedWork {
                timings,
                clocks,
                ..recorded(ALL)
            },
        )
    };
    let pairs = vec![
        recorded_pair(TimingVerdict::Fine, 0.01),
        recorded_pair(TimingVerdict::Noted, -0.06),
    ];
    let calibration = Calibration::from_pairs(pairs, false, false);
    assert_eq!(calibration.agreement.verdict, Some(TimingVerdict::Noted));
    assert_eq!(calibration.agreement.bias, [0.01, -0.06]);
    let said = &calibration.verdicts[1];
    assert!(said.contains("up to 10 % in GPU time"), "{said}");
    let notes = calibration.notes.join("\n");
    assert!(
        notes.contains("held at Minimum") && notes.contains("--gpu-clock default"),
        "{notes}"
    );
}

#[test]
fn calibrations_match_their_schema() {
    let schema = include_str!("../../../../docs/calibration.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for calibration in [
        measured(&[[1_000, 500, 1_020, 505]]),
        measured(&[[1_000, 500, 1_020, 505]; 5]),
        Calibration::from_pairs(vec![pair(None, recorded(ALL))], true, true),
    ] {
        let value = serde_json::to_value(&calibration).unwrap();
        assert!(validator.is_valid(&value), "{value}");
    }
}
