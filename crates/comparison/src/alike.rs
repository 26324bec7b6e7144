//! Whether two sides were recorded alike: machine, system, recorder, clock, heat,
//! neighbours. Where they were not, a difference may be theirs.

use std::iter::zip;
use std::slice::from_ref;

use metalens_analyzer::message::{PlacedValue, name, percent, process};
use metalens_analyzer::{Message, MessageMut, Report, message};
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
    /// Values of each entry of `same`, in the order in which they stand in it.
    #[serde(default)]
    pub same_values: Vec<Vec<PlacedValue>>,
    /// What a side does not tell, and so is not known to be the same.
    pub unknown: Vec<String>,
    /// What differs and is no reason not to compare.
    pub notes: Vec<String>,
    /// Values of each of `notes`, in the order in which they stand in it.
    #[serde(default)]
    pub note_values: Vec<Vec<PlacedValue>>,
}

impl Comparable {
    /// Of two recordings.
    #[must_use]
    pub fn of(base: &Report, new: &Report) -> Self {
        let [base, new] = [base, new].map(|one| Runs::of(from_ref(one)));
        comparable(&base, &new, false)
    }

    /// Lends every sentence in which values may stand, for a change.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        self.same_values.resize_with(self.same.len(), Vec::new);
        self.note_values.resize_with(self.notes.len(), Vec::new);
        let same = zip(&mut self.same, &mut self.same_values);
        let notes = zip(&mut self.notes, &mut self.note_values);
        let differ = self.differ.iter_mut().flat_map(|one| {
            [
                (&mut one.base, &mut one.base_values),
                (&mut one.new, &mut one.new_values),
            ]
        });
        let all = same.chain(notes).chain(differ);
        all.map(|(text, values)| MessageMut { text, values })
    }

    fn add_same(&mut self, same: Message) {
        self.same.push(same.text);
        self.same_values.push(same.values);
    }

    fn add_difference(&mut self, what: &str, base: Message, new: Message) {
        self.differ.push(Difference {
            what: what.to_owned(),
            base: base.text,
            base_values: base.values,
            new: new.text,
            new_values: new.values,
        });
    }

    fn add_note(&mut self, note: Message) {
        self.notes.push(note.text);
        self.note_values.push(note.values);
    }
}

/// A circumstance in which the sides differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// How it was for base.
    pub base: String,
    /// Values of `base`, in the order in which they stand in it.
    #[serde(default)]
    pub base_values: Vec<PlacedValue>,
    /// How it was for new.
    pub new: String,
    /// Values of `new`, in the order in which they stand in it.
    #[serde(default)]
    pub new_values: Vec<PlacedValue>,
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
    let said = |values: &[String]| Message::joined(values.iter().map(|one| name(one)), " and ");
    match () {
        () if !was.is_empty() && !now.is_empty() && was != now => {
            found.add_difference(what, said(&was), said(&now));
        }
        () if was_told && now_told => {
            found.add_same(message!("{} {}", name(what), said(&now)));
            if now.len() > 1 {
                found.add_note(message!(
                    "the runs of a side differ: {} {}",
                    name(what),
                    said(&now)
                ));
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

fn shown((least, most): (f64, f64)) -> Message {
    let (least, most) = (percent(least), percent(most));
    if least.text == most.text {
        least
    } else {
        message!("{} to {}", least, most)
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
    let is_alike = |&state: &&&String| {
        let both = of(base, state).zip(of(new, state));
        both.is_some_and(|(was, now)| apart(was, now) < SHARE)
    };
    let different: Vec<&&String> = states.iter().filter(|state| !is_alike(state)).collect();
    let told = |runs: &Runs, states: &[&&String]| {
        let said = states
            .iter()
            .map(|state| message!("{} {}", name(state), of(runs, state).map(shown)));
        Message::joined(said, ", ")
    };
    if different.is_empty() {
        let most = states
            .iter()
            .filter(|state| of(new, state).is_some_and(|one| one.1 >= SHARE));
        let most: Vec<&&String> = most.collect();
        found.add_same(message!("{} {}", CLOCK, told(new, &most)));
    } else {
        found.add_difference(CLOCK, told(base, &different), told(new, &different));
    }
}

fn others(found: &mut Comparable, base: &Runs, new: &Runs) {
    match (range(&base.others), range(&new.others)) {
        (Some(was), Some(now)) if apart(was, now) >= SHARE => found.add_difference(
            OTHERS,
            message!("{} of the time", shown(was)),
            message!("{} of the time", shown(now)),
        ),
        (Some(_), Some(now)) => found.add_same(message!("{} {}", OTHERS, shown(now))),
        (was, now) => found
            .unknown
            .push(unknown(OTHERS, was.is_some(), now.is_some())),
    }
}

/// A compiled program may have another name, which is no reason not to compare; but a
/// process that nobody named may be another program.
fn programs(found: &mut Comparable, base: &Runs, new: &Runs) {
    let names = |runs: &Runs| {
        let mut names = runs.processes.clone();
        names.sort();
        names.dedup();
        Message::joined(names.iter().map(|name| process(name, true)), " and ")
    };
    let (was, now) = (names(base), names(new));
    let is_guessed = |runs: &Runs| runs.guessed.contains(&true);
    match () {
        () if was == now => found.add_same(message!("program {}", now)),
        () if is_guessed(base) || is_guessed(new) => found.add_difference(
            "program, where a recording names none and the busiest was taken",
            was,
            now,
        ),
        () => found.add_note(message!(
            "the programs are called differently: base {}, new {}",
            was,
            now
        )),
    }
    for (side, runs) in [("base", base), ("new", new)] {
        if runs
            .processes
            .iter()
            .any(|name| Some(name) != runs.processes.first())
        {
            found.add_note(message!(
                "the runs of {} are of different programs: {}",
                side,
                names(runs)
            ));
        }
    }
}
