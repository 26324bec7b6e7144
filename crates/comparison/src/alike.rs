//! Whether two sides were recorded alike: machine, system, recorder, clock, heat,
//! neighbours. Where they were not, a difference may be theirs.

use std::slice::from_ref;

use metalens_analyzer::Report;
use metalens_analyzer::units::percent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::runs::Runs;

/// Shares of time that differ by less are called the same.
const SHARE: f64 = 0.05;
/// What a reader may know by heart, and should not have to.
const CLOCK: &str = "GPU clock at work";
const OTHERS: &str = "other processes on the GPU";

/// Whether two sides can be compared at all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparable {
    /// Whether nothing that matters is known to differ.
    pub comparable: bool,
    /// Whether they were compared although they differ, because that was asked for.
    pub forced: bool,
    /// What is known to differ.
    pub differ: Vec<Difference>,
    /// What is known to be the same, and what it is.
    pub same: Vec<String>,
    /// What a side does not tell, and so is not known to be the same.
    pub unknown: Vec<String>,
    /// What differs and is no reason not to compare.
    pub notes: Vec<String>,
}

impl Comparable {
    /// Of two recordings.
    #[must_use]
    pub fn of(base: &Report, new: &Report) -> Self {
        let [base, new] = [base, new].map(|one| Runs::of(from_ref(one)));
        comparable(&base, &new, false)
    }
}

/// A circumstance in which the sides differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// How it was for base.
    pub base: String,
    /// How it was for new.
    pub new: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: base {}, new {}", self.what, self.base, self.new)
    }
}

/// Compares the circumstances.
pub(crate) fn comparable(base: &Runs, new: &Runs, allow_different: bool) -> Comparable {
    let mut found = Comparable::default();
    let mut seen: Vec<&str> = Vec::new();
    for fact in base.circumstances.iter().chain(&new.circumstances) {
        if !seen.contains(&fact.what.as_str()) {
            seen.push(&fact.what);
            plain(&mut found, base, new, &fact.what);
        }
    }
    clock(&mut found, base, new);
    others(&mut found, base, new);
    programs(&mut found, base, new);
    found.comparable = found.differ.is_empty();
    found.forced = allow_different && !found.comparable;
    found
}

/// The values of a side, each once, and whether all runs tell one.
fn distinct(runs: &Runs, what: &str) -> (Vec<String>, bool) {
    let values = runs.fact(what).map_or(&[][..], |fact| &fact.values);
    let mut known: Vec<String> = values.iter().flatten().cloned().collect();
    known.sort();
    known.dedup();
    let is_told = !values.is_empty() && values.iter().all(Option::is_some);
    (known, is_told)
}

fn plain(found: &mut Comparable, base: &Runs, new: &Runs, what: &str) {
    let ((was, was_told), (now, now_told)) = (distinct(base, what), distinct(new, what));
    let said = |values: &[String]| values.join(" and ");
    match () {
        () if !was.is_empty() && !now.is_empty() && was != now => found.differ.push(Difference {
            what: what.to_owned(),
            base: said(&was),
            new: said(&now),
        }),
        () if was_told && now_told => {
            found.same.push(format!("{what} {}", said(&now)));
            if now.len() > 1 {
                let note = format!("the runs of a side differ: {what} {}", said(&now));
                found.notes.push(note);
            }
        }
        () => found.unknown.push(unknown(what, was_told, now_told)),
    }
}

fn unknown(what: &str, was_told: bool, now_told: bool) -> String {
    match (was_told, now_told) {
        (false, false) => what.to_owned(),
        (false, true) => format!("{what} of base"),
        (true, _) => format!("{what} of new"),
    }
}

/// Least and most; none if a run does not tell.
fn range(values: &[Option<Number>]) -> Option<(f64, f64)> {
    let all: Option<Vec<f64>> = values.iter().map(|one| one.map(Number::get)).collect();
    let all = all?;
    let least = all.iter().copied().min_by(f64::total_cmp)?;
    Some((least, all.iter().copied().max_by(f64::total_cmp)?))
}

/// How far two ranges are from each other; nothing if they overlap.
fn apart(one: (f64, f64), other: (f64, f64)) -> f64 {
    (one.0 - other.1).max(other.0 - one.1).max(0.0)
}

fn shown((least, most): (f64, f64)) -> String {
    match percent(least) == percent(most) {
        true => percent(least),
        false => format!("{} to {}", percent(least), percent(most)),
    }
}

/// The mix of performance states: each by its share of the busy time.
fn clock(found: &mut Comparable, base: &Runs, new: &Runs) {
    let is_told = |runs: &Runs| {
        let mut all = runs.performance.values();
        !runs.performance.is_empty() && all.all(|one| range(one).is_some())
    };
    if !is_told(base) || !is_told(new) {
        let unknown = unknown(CLOCK, is_told(base), is_told(new));
        found.unknown.push(unknown);
        return;
    }
    let of = |runs: &Runs, state: &str| {
        let shares = runs.performance.get(state);
        shares.map_or(Some((0.0, 0.0)), |shares| range(shares))
    };
    let states = base.performance.keys().chain(new.performance.keys());
    let mut states: Vec<&String> = states.collect();
    states.sort();
    states.dedup();
    let mut same = Vec::new();
    let is_alike = |&state: &&&String| {
        let both = of(base, state).zip(of(new, state));
        both.is_some_and(|(was, now)| apart(was, now) < SHARE)
    };
    let different: Vec<&&String> = states.iter().filter(|state| !is_alike(state)).collect();
    let told = |runs: &Runs, states: &[&&String]| {
        let said = states.iter().map(|state| {
            let share = of(runs, state).map_or_else(String::new, shown);
            format!("{state} {share}")
        });
        said.collect::<Vec<_>>().join(", ")
    };
    if different.is_empty() {
        let most = states
            .iter()
            .filter(|state| of(new, state).is_some_and(|one| one.1 >= SHARE));
        let most: Vec<&&String> = most.collect();
        same.push(format!("{CLOCK} {}", told(new, &most)));
    } else {
        found.differ.push(Difference {
            what: CLOCK.to_owned(),
            base: told(base, &different),
            new: told(new, &different),
        });
    }
    found.same.extend(same);
}

fn others(found: &mut Comparable, base: &Runs, new: &Runs) {
    match (range(&base.others), range(&new.others)) {
        (Some(was), Some(now)) if apart(was, now) >= SHARE => found.differ.push(Difference {
            what: OTHERS.to_owned(),
            base: format!("{} of the time", shown(was)),
            new: format!("{} of the time", shown(now)),
        }),
        (Some(_), Some(now)) => found.same.push(format!("{OTHERS} {}", shown(now))),
        (was, now) => found
            .unknown
            .push(unknown(OTHERS, was.is_some(), now.is_some())),
    }
}

/// A compiled program may have another name, which is no reason not to compare; but a
/// process that nobody named may be another program.
fn programs(found: &mut Comparable, base: &Runs, new: &Runs) {
    let names = |runs: &Runs| {
        let mut names = runs.targets.clone();
        names.sort();
        names.dedup();
        names.join(" and ")
    };
    let (was, now) = (names(base), names(new));
    let is_guessed = |runs: &Runs| runs.guessed.contains(&true);
    match () {
        () if was == now => found.same.push(format!("program {now}")),
        () if is_guessed(base) || is_guessed(new) => found.differ.push(Difference {
            what: "program, where a recording names none and the busiest was taken".to_owned(),
            base: was,
            new: now,
        }),
        () => found.notes.push(format!(
            "the programs are called differently: base {was}, new {now}"
        )),
    }
    for (side, runs) in [("base", base), ("new", new)] {
        if runs
            .targets
            .iter()
            .any(|name| Some(name) != runs.targets.first())
        {
            let names = names(runs);
            let note = format!("the runs of {side} are of different programs: {names}");
            found.notes.push(note);
        }
    }
}
