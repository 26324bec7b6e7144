//! Measures how often a limit of 5 % on a time fails, by the number of runs and by how much they
//! vary, and is inconclusive: with nothing changed, which is a false alarm, and with a time that is
//! 10 % longer.

use metalens_message::{Message, Number};
use metalens_text::number::Float;

use super::subject::{GateSubject, Presence};
use super::{GateRow, GateVerdict, Limit};
use crate::change::{Change, Floor, Judge, Preference, known};
use crate::sessions::{Sessions, tests::runs};
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

/// Numbers in -1..1.
struct Random(metalens_testing::Random);

impl Random {
    fn next(&mut self) -> f64 {
        self.0.uniform() * 2.0 - 1.0
    }

    /// Returns a number of the normal distribution (Box–Muller).
    fn normal(&mut self) -> f64 {
        let (first, second) = (self.next().midpoint(1.0), self.next());
        let length = (-2.0 * first.max(f64::MIN_POSITIVE).ln()).sqrt();
        length * (std::f64::consts::PI * second).cos()
    }

    /// Returns true in this share of all cases.
    fn happens(&mut self, share: f64) -> bool {
        self.next().midpoint(1.0) < share
    }
}

/// A machine: the factor by which a run with a number, from 0 in the order of recording, differs from the
/// true time.
type Machine = fn(&mut Random, usize) -> f64;

/// A machine that knows more, such as how much its runs vary.
type AnyMachine<'a> = &'a dyn Fn(&mut Random, usize) -> f64;

/// Machines that do not vary evenly, by name. Base is recorded first, unless sides alternate.
const MACHINES: [(&str, Machine, bool); 8] = [
    ("σ 1 %", |random, _| normal(random, 0.01), false),
    ("σ 3 %", |random, _| normal(random, 0.03), false),
    ("σ 5 %", |random, _| normal(random, 0.05), false),
    ("σ 10 %", |random, _| normal(random, 0.10), false),
    ("σ 1 %, one run of ten up to 30 % slower", spiky, false),
    (
        "σ 1 %, three runs of ten 25 % slower (a second clock)",
        two_clocks,
        false,
    ),
    (
        "σ 1 %, each run 1 % slower than the last, base first",
        drifting,
        false,
    ),
    ("the same, sides alternate", drifting, true),
];

fn normal(random: &mut Random, deviation: f64) -> f64 {
    1.0 + deviation * random.normal()
}

fn spiky(random: &mut Random, _: usize) -> f64 {
    let is_slow = random.happens(0.1);
    let slower = if is_slow {
        0.3 * random.next().abs()
    } else {
        0.0
    };
    normal(random, 0.01) * (1.0 + slower)
}

fn two_clocks(random: &mut Random, _: usize) -> f64 {
    let slower = if random.happens(0.3) { 0.25 } else { 0.0 };
    normal(random, 0.01) * (1.0 + slower)
}

fn drifting(random: &mut Random, number: usize) -> f64 {
    normal(random, 0.01) * (1.0 + 0.01 * number.float())
}

/// Returns the verdict on a limit of 5 %.
fn verdict(judge: &Judge, base: &[Option<Number>], new: &[Option<Number>]) -> GateVerdict {
    let change = judge.change(base, new, Unit::Ns, Preference::Lower);
    let limit = Limit {
        grow: Some(0.05),
        ..Limit::default()
    };
    row(&change, &limit, false).verdict
}

fn row(change: &Change, limit: &Limit, has_one_session: bool) -> GateRow {
    let subject = GateSubject {
        what: "x",
        channel: None,
        figure: None,
        unit: Unit::Ns,
        change: Some(change),
        base: Presence::Known,
        new: Presence::Known,
        whole: None,
        together: None,
        chance: None,
        has_one_session,
        excuse: None::<Message>,
        meant: None,
    };
    let (row, _) = subject.judge(limit).next().unwrap();
    row
}

/// Returns how many of the trials have a verdict if the true time grows by this factor, on a machine
/// whose runs vary evenly.
fn number_of(expected: GateVerdict, sides: (usize, usize), variation: f64, factor: f64) -> u32 {
    let evenly = |random: &mut Random, _: usize| 1.0 + variation * random.next();
    number_on((&evenly, false), expected, sides, factor)
}

/// Returns how many of the trials on a machine have a verdict if the true time grows by this factor.
fn number_on(
    (machine, alternates): (AnyMachine<'_>, bool),
    expected: GateVerdict,
    (base, new): (usize, usize),
    factor: f64,
) -> u32 {
    let judge = Judge::new(Floor::default(), base, new);
    let mut random = Random(metalens_testing::Random::new(7));
    let trials = (0..TRIALS).filter(|_| {
        let mut run =
            |number: usize, true_ns: f64| Number::new(true_ns * machine(&mut random, number));
        let places = |run: usize, is_new: bool| match (alternates, is_new) {
            (true, _) => 2 * run + usize::from(is_new),
            (false, false) => run,
            (false, true) => base + run,
        };
        let was: Vec<_> = (0..base)
            .map(|number| run(places(number, false), 1e6))
            .collect();
        let now: Vec<_> = (0..new)
            .map(|number| run(places(number, true), 1e6 * factor))
            .collect();
        verdict(&judge, &was, &now) == expected
    });
    u32::try_from(trials.count()).unwrap()
}

fn percent(count: u32) -> String {
    format!("{:.1}", f64::from(count) / f64::from(TRIALS) * 100.0)
}

/// Returns the table of docs/gating.md.
fn table_of_machines() -> String {
    let mut table =
        "| runs vary by | 3 against 3: false alarms, inconclusive, caught | 5 against 5 |\n\
                     | --- | --- | --- |\n"
            .to_owned();
    for (name, machine, alternates) in MACHINES {
        let cells = [(3, 3), (5, 5)].map(|sides| {
            let of = |expected, factor| {
                percent(number_on((&machine, alternates), expected, sides, factor))
            };
            [of(Miss, 1.0), of(Inconclusive, 1.0), of(Miss, 1.1)].join(", ")
        });
        table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    table
}

/// The page promises what the rule does.
#[test]
fn the_docs_have_the_measured_rates() {
    const PAGE: &str = include_str!("../../../../../docs/gating.md");
    let table = table_of_machines();
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

/// Returns in how many percent of the trials `slower = "5%"` fails, and judges nothing: base has three runs on each of
/// these days, and new on another. Days differ by 2 %, runs of one by 0.5 %. Each row of base with one day says so.
fn on_days(days: u32, factor: f64) -> [f64; 2] {
    let base_days: Vec<u32> = (1..=days).collect();
    let sessions = Sessions::between(&runs(&base_days), &runs(&[days + 1]));
    let has_one_session = sessions.count == 1;
    let mut random = Random(metalens_testing::Random::new(5));
    let limit = Limit {
        slower: Some(0.05),
        ..Limit::default()
    };
    let mut count = [0.0; 2];
    for _ in 0..TRIALS {
        let mut side = |days: u32, ns: f64| -> Vec<Option<Number>> {
            let of_day = (0..days).flat_map(|_| {
                let day = normal(&mut random, 0.02);
                [(); 3].map(|()| Number::new(ns * day * normal(&mut random, 0.005)))
            });
            of_day.collect()
        };
        let (base, new) = (side(days, 1e6), side(1, 1e6 * factor));
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        let judge = judge.with_error(sessions.error(&base));
        let change = judge.change(&base, &new, Unit::Ns, Preference::Lower);
        let row = row(
            &change.with_noise(&known(&base), &known(&new)),
            &limit,
            has_one_session,
        );
        let says = row.why.text.contains("; for these two sessions");
        assert_eq!(says, has_one_session, "{}", row.why.text);
        count[0] += f64::from(u32::from(row.verdict == Miss));
        count[1] += f64::from(u32::from(row.verdict == GateVerdict::NotMeasurable));
    }
    count.map(|count| 100.0 * count / f64::from(TRIALS))
}

/// The spread between days enters the limit as it enters the interval.
#[test]
fn a_limit_knows_how_days_differ() {
    let check = |days: u32, alarms: f64, caught: f64, not_judged: f64| {
        let (same, slower) = (on_days(days, 1.0), on_days(days, 1.1));
        let found = format!("{days} days: {same:?} unchanged, {slower:?} if 10 % slower");
        assert!(same[0] <= alarms && same[1] <= not_judged, "{found}");
        assert!(slower[0] >= caught, "{found}");
    };
    // One session knows nothing of others, and says so.
    check(1, 5.0, 90.0, 0.0);
    check(2, 1.5, 15.0, 80.0);
    check(3, 1.5, 50.0, 40.0);
    check(5, 1.5, 85.0, 5.0);
    check(10, 1.5, 95.0, 0.5);
    // Whatever the days differ by, such a change is none of theirs.
    assert!(on_days(3, 2.0)[0] >= 99.0, "{:?}", on_days(3, 2.0));
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
