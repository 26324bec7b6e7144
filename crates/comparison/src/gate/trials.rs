//! Measures how often a limit of 5 % on a time fails, by the number of runs and by how much they
//! vary: with nothing changed, which is a false alarm, and with a time that is 10 % longer.

use metalens_analyzer::Message;

use super::subject::{GateSubject, Presence};
use super::{GateSeverity, GateVerdict, Limit};
use crate::change::{Floor, Judge, Preference};
use crate::number::Number;
use crate::unit::Unit;

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

/// Returns the severity with which a limit of 5 % is missed, if it is.
fn missed(judge: &Judge, base: &[Option<Number>], new: &[Option<Number>]) -> Option<GateSeverity> {
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
    (row.verdict == GateVerdict::Miss).then_some(row.severity)
}

/// Returns how many of the trials fail if the true time grows by this factor.
fn failures((base, new): (usize, usize), variation: f64, factor: f64) -> u32 {
    let judge = Judge::new(Floor::default(), base, new);
    let mut random = Random(7);
    let trials = (0..TRIALS).filter(|_| {
        let base = random.runs(base, 1e6, variation);
        let new = random.runs(new, 1e6 * factor, variation);
        missed(&judge, &base, &new) == Some(GateSeverity::Error)
    });
    u32::try_from(trials.count()).unwrap()
}

fn percent(count: u32) -> String {
    format!("{:.1} %", f64::from(count) / f64::from(TRIALS) * 100.0)
}

/// Returns the table of docs/gating.md.
fn table() -> String {
    let mut table =
        "| runs | ±3 %: false alarms, caught | ±5 % | ±10 % |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for (base, new) in SIDES {
        let cells = VARIATIONS.map(|variation| {
            let alarms = percent(failures((base, new), variation, 1.0));
            let caught = percent(failures((base, new), variation, 1.1));
            format!("{alarms}, {caught}")
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
        let three = failures((3, 3), variation, 1.1);
        for sides in SIDES {
            let alarms = failures(sides, variation, 1.0);
            assert!(
                alarms <= TRIALS * 3 / 100,
                "{sides:?} {variation}: {alarms}"
            );
            if sides.0.min(sides.1) < 3 {
                assert_eq!(alarms, 0, "{sides:?} {variation}");
            } else {
                let caught = failures(sides, variation, 1.1);
                assert!(caught >= three, "{sides:?} {variation}: {caught} {three}");
            }
        }
    }
    // A change that no steady machine shows fails with a single run, too.
    assert_eq!(failures((1, 1), 0.10, 1.6), TRIALS);
}

#[test]
fn few_runs_warn_of_times() {
    let missed = |base: &[Option<Number>], new: &[Option<Number>]| {
        missed(
            &Judge::new(Floor::default(), base.len(), new.len()),
            base,
            new,
        )
    };
    let run = |ns: f64| vec![Number::new(ns)];
    assert_eq!(missed(&run(100e3), &run(104e3)), None);
    assert_eq!(missed(&run(100e3), &run(110e3)), Some(GateSeverity::Warn));
    assert_eq!(missed(&run(100e3), &run(126e3)), Some(GateSeverity::Error));
    let two = |ns: f64| [run(ns), run(ns)].concat();
    assert_eq!(missed(&two(100e3), &two(110e3)), Some(GateSeverity::Warn));
    let three = |ns: f64| [run(ns), two(ns)].concat();
    assert_eq!(missed(&three(100e3), &two(110e3)), Some(GateSeverity::Warn));
    assert_eq!(
        missed(&three(100e3), &three(110e3)),
        Some(GateSeverity::Error)
    );
}
