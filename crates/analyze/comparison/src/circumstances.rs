//! Compares the circumstances of two sides: machine, system, recorder, clock, heat and
//! other processes. Where these differ, they may be the reason for a change.

use std::slice::from_ref;

use metalens_analyzer::Report;
use metalens_message::{Message, Number, Share, message, name, percent, process};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runs::Runs;

/// Smallest difference between two shares of time that counts as a difference.
const SHARE: f64 = 0.05;
const CLOCK: &str = "GPU clock while busy";
const OTHERS: &str = "other processes on the GPU";

/// The circumstances of two sides, and whether they allow a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparability {
    /// True if no circumstance that matters is known to differ.
    pub comparable: bool,
    /// True if the sides differ and were compared anyway, on request.
    pub forced: bool,
    /// Circumstances that are known to differ.
    pub differ: Vec<CircumstanceDifference>,
    /// Circumstances that are known to be equal, with their value.
    pub same: Vec<Message>,
    /// Circumstances that a side did not record, so that nobody knows if they are equal.
    pub unknown: Vec<String>,
    /// Differences that do not prevent a comparison.
    pub notes: Vec<Message>,
}

impl Comparability {
    /// Compares the circumstances of two recordings.
    #[must_use]
    pub fn of_reports(base: &Report, new: &Report) -> Self {
        let [base, new] = [base, new].map(|report| Runs::from_reports(from_ref(report)));
        comparability(&base, &new, false)
    }

    /// Returns whether both sides recorded the clock of the GPU.
    pub(crate) fn is_clock_known(&self) -> bool {
        self.unknown.iter().all(|what| what != CLOCK)
    }

    /// Lends every sentence that may contain values, so that a caller can change it.
    pub(crate) fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let differences = self.differ.iter_mut();
        let differ = differences.flat_map(|difference| [&mut difference.base, &mut difference.new]);
        self.same.iter_mut().chain(&mut self.notes).chain(differ)
    }

    fn add_difference(&mut self, what: &str, base: Message, new: Message) {
        self.differ.push(CircumstanceDifference {
            what: what.to_owned(),
            base,
            new,
        });
    }
}

/// A circumstance in which the sides differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CircumstanceDifference {
    /// Name of the circumstance, such as `GPU`.
    pub what: String,
    /// The circumstance on the base side.
    pub base: Message,
    /// The circumstance on the new side.
    pub new: Message,
}

impl CircumstanceDifference {
    /// Returns the circumstance on both sides, such as `GPU: base M2 Pro, new M3 Max`.
    pub(crate) fn says(&self) -> Message {
        message!(
            "{}: base {}, new {}",
            name(&self.what),
            &self.base,
            &self.new
        )
    }
}

impl std::fmt::Display for CircumstanceDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: base {}, new {}", self.what, self.base, self.new)
    }
}

/// Compares the circumstances of two sides.
pub(crate) fn comparability(base: &Runs, new: &Runs, allow_different: bool) -> Comparability {
    let mut result = Comparability::default();

    let mut names: Vec<&str> = Vec::new();
    for circumstance in base.circumstances.iter().chain(&new.circumstances) {
        if !names.contains(&circumstance.what.as_str()) {
            names.push(&circumstance.what);
            compare_text(&mut result, base, new, &circumstance.what);
        }
    }
    compare_clocks(&mut result, base, new);
    compare_others(&mut result, base, new);
    compare_programs(&mut result, base, new);

    result.comparable = result.differ.is_empty();
    result.forced = allow_different && !result.comparable;
    result
}

/// Returns the distinct values of a side, and whether every run recorded one.
fn distinct(runs: &Runs, what: &str) -> (Vec<String>, bool) {
    let values = runs.circumstance(what).map_or(&[][..], |fact| &fact.values);
    let mut known: Vec<String> = values.iter().flatten().cloned().collect();
    known.sort();
    known.dedup();

    let is_recorded = !values.is_empty() && values.iter().all(Option::is_some);
    (known, is_recorded)
}

fn compare_text(result: &mut Comparability, base: &Runs, new: &Runs, what: &str) {
    let ((was, was_recorded), (now, now_recorded)) = (distinct(base, what), distinct(new, what));
    if !was.is_empty() && !now.is_empty() && was != now {
        result.add_difference(what, joined_names(&was), joined_names(&now));
    } else if was_recorded && now_recorded {
        result
            .same
            .push(message!("{} {}", name(what), joined_names(&now)));
        if now.len() > 1 {
            result.notes.push(message!(
                "the runs of one side differ: {} {}",
                name(what),
                joined_names(&now)
            ));
        }
    } else {
        result
            .unknown
            .push(unknown(what, was_recorded, now_recorded));
    }
}

fn joined_names(values: &[String]) -> Message {
    Message::joined(values.iter().map(|value| name(value)), " and ")
}

/// Names a circumstance that is not recorded, with the side if only one lacks it.
fn unknown(what: &str, was_recorded: bool, now_recorded: bool) -> String {
    match (was_recorded, now_recorded) {
        (false, false) => what.to_owned(),
        (false, true) => format!("{what} (base)"),
        (true, _) => format!("{what} (new)"),
    }
}

/// The least and the greatest share of the runs of a side.
#[derive(Clone, Copy, Default)]
struct ShareRange {
    least: f64,
    most: f64,
}

impl ShareRange {
    /// Returns the range of these shares; none if a run did not record it.
    fn new(shares: &[Option<Number>]) -> Option<Self> {
        let known: Option<Vec<f64>> = shares.iter().map(|share| share.map(Number::get)).collect();
        let known = known?;
        Some(Self {
            least: known.iter().copied().min_by(f64::total_cmp)?,
            most: known.iter().copied().max_by(f64::total_cmp)?,
        })
    }

    /// Returns the distance to another range; zero if they overlap.
    fn distance(self, other: Self) -> f64 {
        let between = (self.least - other.most).max(other.least - self.most);
        between.max(0.0)
    }

    /// Returns the shares of both sides, once if they are the same.
    fn and(self, new: Self) -> Message {
        let (was, now) = (self.text(), new.text());
        if was.text == now.text {
            now
        } else {
            message!("base {}, new {}", was, now)
        }
    }

    fn text(self) -> Message {
        let (least, most) = (percent(Share(self.least)), percent(Share(self.most)));
        if least.text == most.text {
            least
        } else {
            message!("{} to {}", least, most)
        }
    }
}

/// Compares the mix of performance states, each by its share of the busy time.
fn compare_clocks(result: &mut Comparability, base: &Runs, new: &Runs) {
    if !records_clock(base) || !records_clock(new) {
        let unknown = unknown(CLOCK, records_clock(base), records_clock(new));
        result.unknown.push(unknown);
        return;
    }

    let mut states: Vec<&String> = base
        .performance
        .keys()
        .chain(new.performance.keys())
        .collect();
    states.sort();
    states.dedup();

    let is_alike = |state: &str| {
        let both = state_range(base, state).zip(state_range(new, state));
        both.is_some_and(|(was, now)| was.distance(now) < SHARE)
    };
    let different: Vec<&String> = states
        .iter()
        .copied()
        .filter(|state| !is_alike(state))
        .collect();

    if different.is_empty() {
        // States with a negligible share would only make the sentence longer.
        states.retain(|state| state_range(new, state).is_some_and(|range| range.most >= SHARE));
        let shares = states.iter().map(|state| {
            let both = state_range(base, state).zip(state_range(new, state));
            message!("{} {}", name(state), both.map(|(was, now)| was.and(now)))
        });
        let shares = Message::joined(shares, ", ");
        result.same.push(message!("{} {}", CLOCK, shares));
    } else {
        let (was, now) = (states_text(base, &different), states_text(new, &different));
        result.add_difference(CLOCK, was, now);
    }
}

fn records_clock(runs: &Runs) -> bool {
    let mut shares = runs.performance.values();
    !runs.performance.is_empty() && shares.all(|shares| ShareRange::new(shares).is_some())
}

/// Returns the range of a state's share. A state that no run lists has no share of the time.
fn state_range(runs: &Runs, state: &str) -> Option<ShareRange> {
    match runs.performance.get(state) {
        Some(shares) => ShareRange::new(shares),
        None => Some(ShareRange::default()),
    }
}

fn states_text(runs: &Runs, states: &[&String]) -> Message {
    let shares = states.iter().map(|state| {
        let share = state_range(runs, state).map(ShareRange::text);
        message!("{} {}", name(state), share)
    });
    Message::joined(shares, ", ")
}

fn compare_others(result: &mut Comparability, base: &Runs, new: &Runs) {
    match (ShareRange::new(&base.others), ShareRange::new(&new.others)) {
        (Some(was), Some(now)) if was.distance(now) >= SHARE => result.add_difference(
            OTHERS,
            message!("{} of the time", was.text()),
            message!("{} of the time", now.text()),
        ),
        (Some(was), Some(now)) => result.same.push(message!("{} {}", OTHERS, was.and(now))),
        (was, now) => result
            .unknown
            .push(unknown(OTHERS, was.is_some(), now.is_some())),
    }
}

/// Compares the programs. A compiled program may have another name, which does not prevent a
/// comparison. A process that was only guessed may be another program, which does.
fn compare_programs(result: &mut Comparability, base: &Runs, new: &Runs) {
    let (was, now) = (program_names(base), program_names(new));
    if was == now {
        result.same.push(message!("program {}", now));
    } else if base.guessed.contains(&true) || new.guessed.contains(&true) {
        result.add_difference(
            "program (a recording names none, so the busiest process was taken)",
            was,
            now,
        );
    } else {
        result.notes.push(message!(
            "the programs have different names: base {}, new {}",
            was,
            now
        ));
    }

    for (side, runs) in [("base", base), ("new", new)] {
        let first = runs.processes.first();
        if runs.processes.iter().any(|name| Some(name) != first) {
            result.notes.push(message!(
                "the runs of {} are of different programs: {}",
                side,
                program_names(runs)
            ));
        }
    }
}

fn program_names(runs: &Runs) -> Message {
    let mut names = runs.processes.clone();
    names.sort();
    names.dedup();
    Message::joined(names.iter().map(|name| process(name, true)), " and ")
}
