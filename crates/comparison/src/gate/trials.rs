//! Measures how often a limit of 5 % on a time fails, by the number of runs and by how much they
//! vary, and is inconclusive: with nothing changed, which is a false alarm, and with a time that is
//! 10 % longer.

use metalens_analyzer::Message;

use super::subject::{GateSubject, Presence};
use super::{GateVerdict, Limit};
use crate::change::{Floor, Judge, Preference};
use crate::number::Number;
use crate::unit::Unit;

use GateVerdict::{Inconclusive, Miss, Pass};

const TRIALS: u32 = 1_000;
/// Numbers of runs of base and new.
const SIDES: [(usize, usize); 9] = [
    (1, 1),
    (3, 1),
    (2, 2),
    (3, 3),
    (3, 4),
    (5, 3),
    (4, 4),
    (5, 5),
    (8, 8),
];
/// Largest distances of a run from the true time.
const VARIATIONS: [f64; 3] = [0.03, 0.05, 0.10];

/// Numbers in -1..1 (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / f64::from(u32::MAX) * 2.0 - 1.0
    }

    /// Returns the times of runs around a true one.
    fn runs(&mut self, count: usize, true_ns: f64, variation: f64) -> Vec<Option<Number>> {
        let times = (0..count).map(|_| true_ns * (1.0 + variation * self.next()));
        times.map(Number::new).collect()
    }
}

/// Returns the verdict on a limit of 5 %.
fn verdict(judge: &Judge, base: &[Option<Number>], new: &[Option<Number>]) -> GateVerdict {
    let change = judge.change((base, new), Unit::Ns, Preference::Lower);
    let subject = GateSubject {
        what: "x",
        channel: None,
        figure: None,
        unit: Unit::Ns,
        change: Some(&change),
        base: Presence::Known,
        new: Presence::Known,
        thing: "",
        excuse: None::<Message>,
        meant: None,
    };
    let limit = Limit {
        grow: Some(0.05),
        ..Limit::default()
    };
    let (row, _) = subject.judge(&limit).next().unwrap();
    row.verdict
}

/// Returns how many of the trials have a verdict if the true time grows by this factor.
fn number_of(
    expected: GateVerdict,
    (base, new): (usize, usize),
    variation: f64,
    factor: f64,
) -> u32 {
    let judge = Judge::new(Floor::default(), base, new);
    let mut random = Random(7);
    let trials = (0..TRIALS).filter(|_| {
        let base = random.runs(base, 1e6, variation);
        let new = random.runs(new, 1e6 * factor, variation);
        verdict(&judge, &base, &new) == expected
    });
    u32::try_from(trials.count()).unwrap()
}

fn percent(count: u32) -> String {
    format!("{:.1} %", f64::from(count) / f64::from(TRIALS) * 100.0)
}

/// Returns the table of docs/gating.md.
fn table() -> String {
    let mut table =
        "| runs | ±3 %: false alarms, inconclusive, caught | ±5 % | ±10 % |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for (base, new) in SIDES {
        let cells = VARIATIONS.map(|variation| {
            let alarms = percent(number_of(Miss, (base, new), variation, 1.0));
            let caught = percent(number_of(Miss, (base, new), variation, 1.1));
            let unclear = percent(number_of(Inconclusive, (base, new), variation, 1.0));
            format!("{alarms}, {unclear}, {caught}")
        });
        let cells = cells.join(" | ");
        table.push_str(&format!("| {base} against {new} | {cells} |\n"));
    }
    table
}

/// The page promises what the rule does.
#[test]
fn the_docs_have_the_measured_rates() {
    const PAGE: &str = include_str!("../../../../docs/gating.md");
    let table = table();
    assert!(PAGE.contains(&table), "docs/gating.md has not:\n{table}");
}

/// One run per side never fails by chance on a machine that varies by 10 %, more runs never see
/// less, and no number of runs cries wolf.
#[test]
fn more_runs_never_see_less() {
    for variation in VARIATIONS {
        let three = number_of(Miss, (3, 3), variation, 1.1);
        for sides in SIDES {
            let alarms = number_of(Miss, sides, variation, 1.0);
            assert!(
                alarms <= TRIALS * 3 / 100,
                "{sides:?} {variation}: {alarms}"
            );
            if sides.0.min(sides.1) < 3 {
                assert_eq!(alarms, 0, "{sides:?} {variation}");
            } else {
                let caught = number_of(Miss, sides, variation, 1.1);
                assert!(caught >= three, "{sides:?} {variation}: {caught} {three}");
            }
        }
    }
    // A change that no steady machine shows fails with a single run, too.
    assert_eq!(number_of(Miss, (1, 1), 0.10, 1.6), TRIALS);
}

#[test]
fn few_runs_cannot_decide_times() {
    let check = |base: &[Option<Number>], new: &[Option<Number>], expected: GateVerdict| {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        assert_eq!(verdict(&judge, base, new), expected, "{base:?} {new:?}");
    };
    let run = |ns: f64| vec![Number::new(ns)];
    check(&run(100e3), &run(104e3), Pass);
    check(&run(100e3), &run(110e3), Inconclusive);
    check(&run(100e3), &run(126e3), Miss);
    let two = |ns: f64| [run(ns), run(ns)].concat();
    check(&two(100e3), &two(110e3), Inconclusive);
    let three = |ns: f64| [run(ns), two(ns)].concat();
    check(&three(100e3), &two(110e3), Inconclusive);
    check(&three(100e3), &three(110e3), Miss);
}
