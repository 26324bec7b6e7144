//! Tests of counters on tables made by hand.

use proptest::prelude::*;

use super::*;
use crate::report::{CounterUnit, CounterValues};
use crate::subject::kernel_names::{KernelNames, NameHints};
use crate::tables;
use crate::tables::counters::{COUNTER_INFO, COUNTER_INTERVALS, COUNTER_VALUES};
use crate::testing::{Columns, TableText, trace};

const TIMED: Columns<'static> = &[
    ("start", "start-time"),
    ("duration", "duration"),
    ("counter-id", "uint32"),
    ("name", "gpu-counter-name"),
    ("value", "fixed-decimal"),
    ("percent-value", "percent"),
    ("is-percentage", "boolean"),
];

fn counters_of(
    tables: &[TableText<'_>],
    window: Span,
    busy: &[(u64, u64)],
) -> Result<Counters, NotRecorded> {
    let (recording, tables) = tables::take(trace(tables)).unwrap();
    read(tables.surroundings.counters, &recording, window, busy)
}

/// Reads counters of a process without kernels.
fn read(
    tables: CounterTables,
    recording: &Recording,
    window: Span,
    busy: &[(u64, u64)],
) -> Result<Counters, NotRecorded> {
    let named = NamedIntervals::new(
        [],
        &KernelNames::new(&recording.names, &[], &NameHints::default()),
    );
    let input = CounterInput {
        recording,
        window,
        busy: &spans(busy),
        mine: &[],
        others: &[],
        kernels: (&named, &[]),
    };
    counters(tables, &input).0
}

fn spans(list: &[(u64, u64)]) -> Vec<Span> {
    list.iter().map(|&(from, to)| Span::new(from, to)).collect()
}

fn counter_values(samples: u64, covered_ns: u64, figures: [f64; 5]) -> CounterValues {
    let [min, mean, median, p95, max] = figures;
    CounterValues {
        samples,
        covered_ns: Some(Ns(covered_ns)),
        min,
        mean,
        median,
        p95,
        max,
    }
}

/// Checks weights of samples that reach out of the window or of the busy time.
///
/// ```text
/// window        10├───────────────────┤30
/// busy          10├────┤15    22├──┤25
/// ALU       5├ 40 ────┤14 ├ 10 ──┤20  ├ 90 ────┤34
///                          16           28
/// ```
#[test]
fn samples_have_the_weight_of_their_part_inside() {
    let rows: &[&[&str]] = &[
        &["5", "9", "3", "ALU", "7", "40", "1"],
        &["16", "4", "3", "ALU", "7", "10", "1"],
        &["28", "6", "3", "ALU", "7", "90.5", "1"],
        &["12", "2", "4", "Bandwidth", "2.5", "", "0"],
        &["12", "2", "5", "Limiter", "", "", "0"],
        &["30", "2", "4", "Bandwidth", "2.5", "", "0"],
    ];
    let tables = [(COUNTER_INTERVALS.schema, TIMED, rows)];
    let found = counters_of(&tables, Span::new(10, 30), &[(10, 15), (22, 25)]).unwrap();
    assert_eq!((found.samples, found.without_value), (5, 1));
    let [alu, bandwidth] = found.counters.as_slice() else {
        panic!("{found:?}");
    };
    // 4 ns of 40, 4 ns of 10, 2 ns of 90.5.
    let window = counter_values(3, 10, [10.0, 38.1, 40.0, 90.5, 90.5]);
    assert_eq!((alu.window, alu.is_percentage), (window, Some(true)));
    assert_eq!(alu.busy, Some(counter_values(1, 4, [40.0; 5])));
    assert_eq!(bandwidth.window, counter_values(1, 2, [2.5; 5]));
    assert_eq!(bandwidth.busy, Some(counter_values(1, 2, [2.5; 5])));
    assert_eq!(
        (bandwidth.id, bandwidth.is_percentage),
        (Some(4), Some(false))
    );
}

const POINTS: Columns<'static> = &[
    ("timestamp", "event-time"),
    ("counter-id", "uint32"),
    ("value", "fixed-decimal"),
];
const INFO: Columns<'static> = &[
    ("counter-id", "uint32"),
    ("name", "gpu-counter-name"),
    ("max-value", "uint64"),
    ("description", "string"),
    ("type", "string"),
];

/// Points stand for the time to the next one, and another table names their counters.
///
/// ```text
/// window  10├────────────────────────────┤40
/// busy    10├────┤15
/// Reads  8├2──┼4──┼9──┼7?                ├5──┼1?
///             12  16  20                 36  40
/// ```
#[test]
fn points_cover_the_time_to_the_next_one_of_their_burst() {
    let rows: &[&[&str]] = &[
        &["8", "1", "2.000000000"],
        &["12", "1", "4.000000000"],
        &["16", "1", "9.000000000"],
        &["20", "1", "7.000000000"],
        &["36", "1", "5.000000000"],
        &["40", "1", "1.000000000"],
        &["20", "2", "-1.500000000"],
    ];
    let info: &[&[&str]] = &[&[
        "1",
        "Reads",
        "9223372036",
        "How much is read, in gigabytes per second",
        "Value",
    ]];
    let tables: [TableText<'_>; 3] = [
        (COUNTER_INTERVALS.schema, TIMED, &[]),
        (COUNTER_VALUES.schema, POINTS, rows),
        (COUNTER_INFO.schema, INFO, info),
    ];
    let found = counters_of(&tables, Span::new(10, 40), &[(10, 15)]).unwrap();
    let [reads] = found.counters.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!((found.samples, found.without_end), (6, 2));
    assert_eq!(found.step_ns, Some(Ns(4)));
    assert_eq!(reads.name, "Reads");
    assert_eq!(reads.unit, Some(CounterUnit::GigabytesPerSecond));
    assert_eq!(reads.is_percentage, Some(false));
    // 2 ns of 2, 4 ns of 4, of 9 and of 5.
    let window = [2.0, 76.0 / 14.0, 5.0, 9.0, 9.0];
    assert_eq!(reads.window, counter_values(4, 14, window));
    // 2 ns of 2, 3 ns of 4.
    let busy = [2.0, 3.2, 4.0, 4.0, 4.0];
    assert_eq!(reads.busy, Some(counter_values(2, 5, busy)));
}

/// One counter that is always 0 is what a recording without counters has; a value is a value.
#[test]
fn a_placeholder_is_no_counter() {
    let check = |name: &str, value: &str, expected: bool| {
        let rows: &[&[&str]] = &[&["5", "9", "3", name, value, value, "1"]];
        let tables: [TableText<'_>; 1] = [(COUNTER_INTERVALS.schema, TIMED, rows)];
        let found = counters_of(&tables, Span::new(0, 30), &[]);
        assert_eq!(found.is_ok(), expected, "{name}, {value}: {found:?}");
        let why = found.err().map(|absent| absent.why);
        let is_told = why.is_none_or(|why| why.text.contains("RT Unit Active"));
        assert!(is_told, "{name}, {value}");
    };
    check("RT Unit Active", "0", false);
    check("RT Unit Active", "0.000000000", false);
    check("RT Unit Active", "0.000000001", true);
    check("ALU Limiter", "0", true);
}

#[test]
fn absent_counters_have_a_reason() {
    let check = |has_table: bool, set: Option<&str>, expected: &str| {
        let tables: &[_] = &[(COUNTER_INTERVALS.schema, TIMED, &[] as &[&[&str]])];
        let mut trace = trace(if has_table { tables } else { &[] });
        trace
            .run
            .settings
            .extend(set.map(|set| metalens_trace::Setting {
                instrument: "Metal Application".to_owned(),
                key: "GPU".to_owned(),
                values: vec![
                    "Shader Timeline: Disabled".to_owned(),
                    format!("Counter Set: {set}"),
                ],
            }));
        let (recording, tables) = tables::take(trace).unwrap();
        let found = read(
            tables.surroundings.counters,
            &recording,
            Span::new(0, 9),
            &[],
        );
        let why = found.unwrap_err().why;
        assert!(why.text.contains(expected), "{why}");
    };
    check(true, Some("(null)"), "Counter Set was (null)");
    check(
        true,
        Some("Performance Limiters"),
        "Counter Set was Performance Limiters",
    );
    check(true, None, "have no rows: record with");
    check(false, None, "is not in the input");
}

/// Whole numbers, which no version of Instruments writes so far, are values too.
#[test]
fn whole_numbers_are_values() {
    let whole: Columns = &[
        ("timestamp", "event-time"),
        ("counter-id", "uint32"),
        ("value", "uint64"),
    ];
    let rows: &[&[&str]] = &[&["1", "2", "3"], &["4", "2", "5"]];
    let tables: [TableText<'_>; 1] = [(COUNTER_VALUES.schema, whole, rows)];
    let found = counters_of(&tables, Span::new(0, 9), &[]).unwrap();
    assert_eq!(found.counters[0].window, counter_values(1, 3, [3.0; 5]));
}

proptest! {
    /// The busy time in a sample equals a count of its nanoseconds one by one.
    #[test]
    fn weights_are_lengths(
        mut busy in prop::collection::vec((0_u64..60, 1_u64..12), 0..8),
        start in 0_u64..70, duration in 0_u64..30,
        from in 0_u64..40, length in 0_u64..40,
    ) {
        busy.sort_unstable();
        let window = Span::new(from, from + length);
        let busy = busy.iter().map(|&(at, long)| Span::new(at, at + long).clip(window));
        let busy = crate::basics::spans::union(busy);
        let range = SampledTime::new(window, &busy);
        let sample = Span::new(start, start + duration);
        let inside = |t: &u64| window.start_ns <= *t && *t < window.end_ns;
        let is_busy = |t: &u64| busy.iter().any(|s| s.start_ns <= *t && *t < s.end_ns);
        let in_window = (start..start + duration).filter(inside).count() as u64;
        let in_busy = (start..start + duration).filter(is_busy).count() as u64;
        let expected = (in_window > 0).then_some((in_window, in_busy));
        prop_assert_eq!(range.weights(sample), expected);
    }

    /// Percentiles with equal weights are the plain nearest rank.
    #[test]
    fn equal_weights_change_nothing(list in prop::collection::vec(0_u32..50, 1..40)) {
        let mut sorted: Vec<f64> = list.iter().map(|&value| f64::from(value)).collect();
        sorted.sort_by(f64::total_cmp);
        let samples: Vec<Weighted> = sorted
            .iter()
            .map(|&value| Weighted { value, in_window: 7, in_busy: 0 })
            .collect();
        let found = values(&samples, |sample| sample.in_window).unwrap();
        let percentile = |p| crate::basics::statistics::percentile(&sorted, p).unwrap();
        prop_assert_eq!(found.median.to_bits(), percentile(50).to_bits());
        prop_assert_eq!(found.p95.to_bits(), percentile(95).to_bits());
        let busy = values(&samples, |sample| sample.in_busy);
        prop_assert_eq!(busy, None);
    }
}
