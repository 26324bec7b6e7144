use proptest::prelude::*;

use super::*;
use crate::change::{Floor, Judge, Preference};

fn numbers(values: &[f64]) -> Vec<Option<Number>> {
    // NaN stands for a run without a value.
    values.iter().map(|&value| Number::new(value)).collect()
}

/// Judges runs with these values, and these counts of the things that they sum up.
fn judged(
    rule: LimitRule,
    limit: f64,
    (base, new): (&[f64], &[f64]),
    counts: Option<(&[f64], &[f64])>,
) -> (GateVerdict, Option<f64>) {
    let judge = Judge::new(Floor::default(), base.len(), new.len());
    let change = judge.change(
        &numbers(base),
        &numbers(new),
        Unit::Count,
        Preference::Lower,
    );
    let counts = counts.map(|(base, new)| (numbers(base), numbers(new)));

    let subject = GateSubject {
        what: "x",
        channel: None,
        figure: None,
        unit: Unit::Count,
        base: Presence::from_values(&change.base.values, counts.as_ref().map(|counts| &counts.0)),
        new: Presence::from_values(&change.new.values, counts.as_ref().map(|counts| &counts.1)),
        change: Some(&change),
        whole: None,
        together: None,
        chance: None,
        has_one_session: false,
        excuse: None,
        meant: None,
    };

    let limit = Number::new(limit).unwrap();
    let (row, is_measured) = subject.row(rule, limit, GateSeverity::Error, false);
    assert!(is_measured || row.value.is_none(), "{row:?}");

    let (optional, _) = subject.row(rule, limit, GateSeverity::Error, true);
    let expected = if is_measured {
        row.verdict
    } else {
        GateVerdict::NotMeasurable
    };
    assert_eq!(optional.verdict, expected, "{optional:?}");
    (row.verdict, row.by.map(|by| (by.get() * 1e6).round() / 1e6))
}

/// Judges figures that some or all runs lack.
#[test]
fn limits_with_missing_values_are_judged() {
    use GateVerdict::{Miss, NotMeasurable, Pass};
    const NONE: f64 = f64::NAN;
    type Case<'a> = (LimitRule, &'a [f64], &'a [f64], GateVerdict);
    let cases: [Case<'_>; 12] = [
        (LimitRule::Max, &[1.0], &[NONE], Miss),
        (LimitRule::Max, &[NONE], &[NONE], Miss),
        (LimitRule::Max, &[NONE], &[10.0], Pass),
        (LimitRule::Min, &[1.0], &[NONE], Miss),
        (LimitRule::Grow, &[1.0], &[NONE], Miss),
        (LimitRule::Grow, &[NONE], &[1.0], Miss),
        (LimitRule::Shrink, &[1.0], &[NONE], Miss),
        (LimitRule::Range, &[1.0], &[NONE], Miss),
        // A run of new lacks it: exactly that run may have missed the limit.
        (LimitRule::Grow, &[9.0, 9.0, 9.0], &[9.0, NONE, 9.0], Miss),
        (LimitRule::Max, &[9.0, 9.0, 9.0], &[9.0, 9.0, NONE], Miss),
        // The remaining values of base are enough to compare with.
        (LimitRule::Grow, &[9.0, NONE, 9.0], &[9.0, 9.0, 9.0], Pass),
        (
            LimitRule::Grow,
            &[9.0, NONE, 9.0],
            &[19.0, 19.0, 19.0],
            Miss,
        ),
    ];
    for (rule, base, new, expected) in cases {
        let (found, _) = judged(rule, 10.0, (base, new), None);
        let found = match rule {
            LimitRule::Max | LimitRule::Min => found,
            _ => judged(rule, 0.1, (base, new), None).0,
        };
        assert_eq!(found, expected, "{rule:?} {base:?} {new:?}");
    }

    // Without a gap no gap is too long, and nothing can have grown from none.
    let cases: [Case<'_>; 8] = [
        (LimitRule::Max, &[5.0], &[NONE], Pass),
        (LimitRule::Grow, &[5.0], &[NONE], Pass),
        (LimitRule::Range, &[NONE], &[NONE], Pass),
        (LimitRule::Min, &[5.0], &[NONE], Miss),
        (LimitRule::Shrink, &[5.0], &[NONE], Miss),
        (LimitRule::Grow, &[NONE], &[5.0], NotMeasurable),
        (LimitRule::Max, &[NONE], &[15.0], Miss),
        (LimitRule::Grow, &[5.0, 5.0, 5.0], &[5.0, NONE, 5.0], Pass),
    ];
    for (rule, base, new, expected) in cases {
        let count = |values: &[f64]| -> Vec<f64> {
            let counts = values
                .iter()
                .map(|value| f64::from(u8::from(!value.is_nan())));
            counts.collect()
        };
        let (was, now) = (count(base), count(new));
        let (found, _) = judged(rule, 10.0, (base, new), Some((&was, &now)));
        assert_eq!(found, expected, "{rule:?} {base:?} {new:?}");
    }
}

#[test]
fn limits_are_judged_as_computed_by_hand() {
    use GateVerdict::{Inconclusive, Miss, Pass};
    type Case<'a> = (
        LimitRule,
        f64,
        &'a [f64],
        &'a [f64],
        (GateVerdict, Option<f64>),
    );
    let cases: [Case<'_>; 16] = [
        (LimitRule::Max, 10.0, &[1.0], &[10.0], (Pass, None)),
        (LimitRule::Max, 10.0, &[], &[12.0], (Miss, Some(2.0))),
        (LimitRule::Min, 10.0, &[1.0], &[7.0], (Miss, Some(3.0))),
        (
            LimitRule::Grow,
            0.05,
            &[100.0],
            &[110.0],
            (Miss, Some(0.05)),
        ),
        (LimitRule::Grow, 0.05, &[100.0], &[105.0], (Pass, None)),
        (LimitRule::Grow, 0.05, &[0.0], &[1.0], (Miss, None)),
        (LimitRule::Shrink, 0.05, &[0.0], &[1.0], (Pass, None)),
        (LimitRule::Grow, 0.0, &[0.0], &[0.0], (Pass, None)),
        // Growth from 0 within the noise.
        (
            LimitRule::Grow,
            0.05,
            &[0.0, 0.0, 3.0],
            &[0.0, 5.0, 9.0],
            (Inconclusive, None),
        ),
        (
            LimitRule::Shrink,
            0.05,
            &[100.0],
            &[80.0],
            (Miss, Some(0.15)),
        ),
        // Beyond the limit, and 6 apart: more than the spread of either side.
        (
            LimitRule::Grow,
            0.05,
            &[99.0, 100.0, 101.0],
            &[107.0, 108.0, 109.0],
            (Miss, Some(0.03)),
        ),
        // With many runs the interval is not the whole range and decides alone.
        (
            LimitRule::Shrink,
            0.05,
            &[101.0, 106.0, 111.0, 103.0, 104.0, 108.0],
            &[90.0, 95.0, 100.0, 92.0, 93.0, 97.0],
            // Of base's median of 105, not of the lower of the two in its middle.
            (Miss, Some(0.054762)),
        ),
        (
            LimitRule::Range,
            0.05,
            &[90.0, 100.0, 80.0],
            &[103.0, 104.0, 105.0],
            (Pass, None),
        ),
        (
            LimitRule::Range,
            0.05,
            &[90.0, 100.0, 80.0],
            &[110.0, 112.0, 90.0],
            (Miss, Some(0.05)),
        ),
        (LimitRule::Range, 0.0, &[0.0], &[3.0], (Miss, None)),
        (LimitRule::Range, 0.0, &[0.0], &[0.0], (Pass, None)),
    ];
    for (rule, limit, base, new, expected) in cases {
        let found = judged(rule, limit, (base, new), None);
        assert_eq!(found, expected, "{rule:?} {limit} {base:?} {new:?}");
    }
}

/// Each verdict follows from the values: the limit is 5 %, and few runs are inconclusive up to 25 %.
#[test]
fn noise_makes_times_inconclusive_and_no_counts() {
    use GateVerdict::{Inconclusive, Miss, Pass};
    use LimitRule::{Grow, Shrink};
    use Unit::{Count, Ns};
    type Case<'a> = (Unit, LimitRule, &'a [f64], &'a [f64], GateVerdict);
    let cases: [Case<'_>; 22] = [
        // Apart, but 101 is not 5 % above 100.
        (
            Ns,
            Grow,
            &[90.0, 95.0, 100.0],
            &[101.0, 106.0, 111.0],
            Inconclusive,
        ),
        (
            Count,
            Grow,
            &[90.0, 95.0, 100.0],
            &[101.0, 106.0, 111.0],
            Miss,
        ),
        // 106 is 6 % above 100, however much the worse runs of new vary.
        (Ns, Grow, &[90.0, 95.0, 100.0], &[106.0, 106.0, 107.0], Miss),
        (Ns, Grow, &[90.0, 95.0, 100.0], &[106.0, 300.0, 900.0], Miss),
        (Ns, Grow, &[20.0, 20.0, 20.0], &[33.0, 40.0, 60.0], Miss),
        (
            Count,
            Grow,
            &[300.0, 300.0, 300.0],
            &[500.0, 600.0, 900.0],
            Miss,
        ),
        (Ns, Shrink, &[90.0, 95.0, 100.0], &[85.0, 40.0, 10.0], Miss),
        (
            Ns,
            Shrink,
            &[90.0, 95.0, 100.0],
            &[86.0, 40.0, 10.0],
            Inconclusive,
        ),
        // The runs of the sides overlap.
        (
            Ns,
            Grow,
            &[90.0, 95.0, 100.0],
            &[99.0, 120.0, 130.0],
            Inconclusive,
        ),
        (
            Count,
            Grow,
            &[90.0, 95.0, 100.0],
            &[99.0, 120.0, 130.0],
            Inconclusive,
        ),
        // A fourth run makes the interval sure enough to decide alone.
        (
            Ns,
            Grow,
            &[90.0, 95.0, 100.0],
            &[101.0, 106.0, 111.0, 111.0],
            Miss,
        ),
        // The middle of the change is within the limit, however much the runs vary.
        (Ns, Grow, &[90.0, 95.0, 100.0], &[60.0, 99.0, 130.0], Pass),
        (
            Ns,
            Grow,
            &[100.0, 100.0, 148.0],
            &[137.0, 137.0, 138.0],
            Inconclusive,
        ),
        // Certainly too small a change to count.
        (Ns, Grow, &[0.9, 0.95, 1.0], &[0.8, 1.0, 1.1], Inconclusive),
        (Ns, Grow, &[0.09, 0.095, 0.1], &[0.08, 0.1, 0.11], Pass),
        // Few runs.
        (Ns, Grow, &[100.0], &[110.0], Inconclusive),
        (Ns, Grow, &[100.0], &[126.0], Miss),
        (Ns, Grow, &[100.0, 101.0], &[110.0, 190.0], Miss),
        (Ns, Grow, &[100.0, 101.0], &[102.0, 190.0], Inconclusive),
        (Ns, Grow, &[90.0, 100.0, 150.0], &[130.0], Inconclusive),
        (Count, Grow, &[300.0], &[310.0], Pass),
        (Count, Grow, &[300.0], &[330.0], Miss),
    ];
    for (unit, rule, base, new, expected) in cases {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        // In units that are above the floor of times.
        let large = |side: &[f64]| side.iter().map(|value| value * 1e3).collect::<Vec<f64>>();
        let sides = (numbers(&large(base)), numbers(&large(new)));
        let found = verdict_on_share(&judge, rule, &sides.0, &sides.1, unit);
        assert_eq!(found, expected, "{unit:?} {rule:?} {base:?} {new:?}");
    }
}

/// Returns the verdict on a limit of 5 %.
fn verdict_on_share(
    judge: &Judge,
    rule: LimitRule,
    base: &[Option<Number>],
    new: &[Option<Number>],
    unit: Unit,
) -> GateVerdict {
    let change = judge.change(base, new, unit, Preference::Lower);
    let subject = GateSubject {
        what: "x",
        channel: None,
        figure: None,
        unit,
        change: Some(&change),
        base: Presence::Known,
        new: Presence::Known,
        whole: None,
        together: None,
        chance: None,
        has_one_session: false,
        excuse: None,
        meant: None,
    };
    let limit = Number::new(0.05).unwrap();
    let (row, _) = subject.row(rule, limit, GateSeverity::Error, false);
    row.verdict
}

/// Runs of both sides, in steps that are about the limit; the rule; and the unit.
fn any_case() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, LimitRule, Unit)> {
    let side = || proptest::collection::vec(0_u8..8, 1..9);
    let rule = prop_oneof![
        Just(LimitRule::Grow),
        Just(LimitRule::Shrink),
        Just(LimitRule::Range)
    ];
    (
        side(),
        side(),
        rule,
        prop_oneof![Just(Unit::Ns), Just(Unit::Count)],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, max_global_rejects: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A failure stays one if a run of new becomes worse, or if a run is added that is worse than
    /// all others of new. It never becomes a pass if a run of base becomes better.
    #[test]
    fn a_worse_run_never_turns_a_failure_into_a_pass(
        (base, new, rule, unit) in any_case(),
        at in any::<prop::sample::Index>(),
        apart in 0_u8..12,
        by in 0_u8..40,
    ) {
        // Steps of 3 %: two of them are beyond the limit.
        let sign = if rule.is_upper() { 1.0 } else { -1.0 };
        let values = |steps: &[u8], apart: u8| -> Vec<Option<Number>> {
            let values = steps.iter().map(|&step| {
                200.0 + 6.0 * (f64::from(step) + f64::from(apart) * sign)
            });
            values.map(Number::new).collect()
        };
        let verdict = |base: &[Option<Number>], new: &[Option<Number>]| {
            let judge = Judge::new(Floor::default(), base.len(), new.len());
            verdict_on_share(&judge, rule, base, new, unit)
        };
        let fails = |base: &[Option<Number>], new: &[Option<Number>]| {
            verdict(base, new) == GateVerdict::Miss
        };
        let (base, new) = (values(&base, 0), values(&new, apart));
        prop_assume!(fails(&base, &new));

        let by = f64::from(by) * sign;
        let moved = |side: &[Option<Number>], by: f64| {
            let mut side = side.to_vec();
            let value = at.get(&side).unwrap().get();
            let one_at = at.index(side.len());
            side[one_at] = Number::new((value + by).max(1.0));
            side
        };
        prop_assert!(fails(&base, &moved(&new, by)), "a run of new became worse");
        // A larger base makes the same decrease a smaller share of it, which few runs may not tell.
        let found = verdict(&moved(&base, -by), &new);
        prop_assert!(found != GateVerdict::Pass, "a run of base became better");

        let worst = new.iter().flatten().map(|value| value.get());
        let worst = if rule.is_upper() {
            worst.fold(f64::MIN, f64::max)
        } else {
            worst.fold(f64::MAX, f64::min)
        };
        let mut more = new.clone();
        more.push(Number::new((worst + by).max(1.0)));
        prop_assert!(fails(&base, &more), "a run was added to new");
    }
}
