//! Tests of counters on tables made by hand.

use proptest::prelude::*;

use super::*;
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
    counters(
        tables.surroundings.counters,
        &recording,
        window,
        &spans(busy),
    )
}

fn spans(list: &[(u64, u64)]) -> Vec<Span> {
    list.iter().map(|&(from, to)| Span::new(from, to)).collect()
}

fn counter_values(samples: u64, covered_ns: Option<u64>, figures: [f64; 5]) -> CounterValues {
    let [min, mean, median, p95, max] = figures;
    CounterValues {
        samples,
        covered_ns,
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
    let window = counter_values(3, Some(10), [10.0, 38.1, 40.0, 90.5, 90.5]);
    assert_eq!((alu.window, alu.is_percentage), (window, Some(true)));
    assert_eq!(alu.busy, Some(counter_values(1, Some(4), [40.0; 5])));
    assert_eq!(bandwidth.window, counter_values(1, Some(2), [2.5; 5]));
    assert_eq!(bandwidth.busy, Some(counter_values(1, Some(2), [2.5; 5])));
    assert_eq!(
        (bandwidth.id, bandwidth.is_percentage),
        (Some(4), Some(false))
    );
}

/// Points in time all have the same weight, and another table names their counters.
#[test]
fn points_are_named_by_the_list() {
    let points: Columns = &[
        ("timestamp", "event-time"),
        ("counter-id", "uint32"),
        ("value", "fixed-decimal"),
    ];
    let info: Columns = &[
        ("counter-id", "uint32"),
        ("name", "gpu-counter-name"),
        ("max-value", "uint64"),
        ("description", "string"),
    ];
    let rows: &[&[&str]] = &[
        &["10", "1", "4"],
        &["14", "1", "2"],
        &["15", "1", "9"],
        &["30", "1", "99"],
        &["20", "2", "-1.5"],
    ];
    let tables: [TableText<'_>; 3] = [
        (COUNTER_INTERVALS.schema, TIMED, &[]),
        (COUNTER_VALUES.schema, points, rows),
        (
            COUNTER_INFO.schema,
            info,
            &[&["1", "Reads", "100", "How many reads"]],
        ),
    ];
    let found = counters_of(&tables, Span::new(10, 30), &[(10, 15)]).unwrap();
    let [unnamed, reads] = found.counters.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (reads.name.as_str(), reads.max_value),
        ("Reads", Some(100.0))
    );
    assert_eq!(reads.description.as_deref(), Some("How many reads"));
    assert_eq!(
        reads.window,
        counter_values(3, None, [2.0, 5.0, 4.0, 9.0, 9.0])
    );
    assert_eq!(
        reads.busy,
        Some(counter_values(2, None, [2.0, 3.0, 2.0, 4.0, 4.0]))
    );
    assert_eq!((unnamed.name.as_str(), unnamed.busy), ("(counter 2)", None));
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
        let found = counters(
            tables.surroundings.counters,
            &recording,
            Span::new(0, 9),
            &[],
        );
        let why = found.unwrap_err().why;
        assert!(why.contains(expected), "{why}");
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
    let tables: [TableText<'_>; 1] = [(COUNTER_VALUES.schema, whole, &[&["1", "2", "3"]])];
    let found = counters_of(&tables, Span::new(0, 9), &[]).unwrap();
    assert_eq!(found.counters[0].window, counter_values(1, None, [3.0; 5]));
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
        prop_assert_eq!(range.weights(sample, true), expected);
        let point = inside(&start).then(|| (1, u64::from(is_busy(&start))));
        prop_assert_eq!(range.weights(sample, false), point);
    }

    /// Percentiles with equal weights are the plain nearest rank.
    #[test]
    fn equal_weights_change_nothing(list in prop::collection::vec(0_u32..50, 1..40)) {
        let mut sorted: Vec<f64> = list.iter().map(|&value| f64::from(value)).collect();
        sorted.sort_by(f64::total_cmp);
        let samples: Vec<Sample> = sorted
            .iter()
            .map(|&value| Sample { value, in_window: 7, in_busy: 0 })
            .collect();
        let found = values(&samples, |sample| sample.in_window, true).unwrap();
        let percentile = |p| crate::basics::statistics::percentile(&sorted, p).unwrap();
        prop_assert_eq!(found.median.to_bits(), percentile(50).to_bits());
        prop_assert_eq!(found.p95.to_bits(), percentile(95).to_bits());
        let busy = values(&samples, |sample| sample.in_busy, true);
        prop_assert_eq!(busy, None);
    }
}
