//! The GPU's performance states, as a strip: the higher the state, the stronger
//! its shade. Where none is known there is nothing.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_analyzer::Analysis;

use crate::palette::Palette;
use crate::strip::{Band, Item, Kind};

/// As Apple's tool calls them, from the slowest on.
const KNOWN: [&str; 3] = ["Minimum", "Medium", "Maximum"];
/// How a state begins that has only a number.
const NUMBERED: &str = "device state ";
/// More states than this share a colour.
const STATES: usize = 6;

/// The strip; none if the recording does not tell.
pub(crate) fn band<'a>(analysis: &'a Analysis, palette: &Palette) -> Option<Band<'a>> {
    let held = analysis.performance();
    let mut lengths: BTreeMap<&str, u64> = BTreeMap::new();
    for one in held {
        let length = lengths.entry(&one.what).or_default();
        *length = length.saturating_add(one.end_ns - one.start_ns);
    }
    let states = longest(&lengths);
    let kinds = states.iter().map(|&state| Kind {
        fill: match strength(state, &states) {
            Some(strength) => palette.state(strength),
            None => palette.others,
        },
        legend: Some(said(state)),
    });
    let more = (lengths.len() > states.len()).then(|| Kind {
        fill: palette.others,
        legend: Some("other GPU states".to_owned()),
    });
    let kind = |state: &str| {
        let mut known = states.iter();
        known.position(|&one| one == state).unwrap_or(states.len())
    };
    let items = held.iter().map(|one| Item {
        start_ns: one.start_ns,
        end_ns: one.end_ns,
        name: match one.is_induced {
            true => Cow::Owned(format!("{} (induced)", one.what)),
            false => Cow::Borrowed(one.what.as_str()),
        },
        kind: kind(&one.what),
        is_marked: one.is_induced,
    });
    (!held.is_empty()).then(|| Band {
        kinds: kinds.chain(more).collect(),
        items: items.collect(),
        unknown: Some("GPU state unknown"),
        marked: "induced, not the GPU's own choice",
        ..Band::new("GPU state")
    })
}

/// The states that have a colour of their own, from the slowest on.
fn longest<'a>(lengths: &BTreeMap<&'a str, u64>) -> Vec<&'a str> {
    let mut states: Vec<(&str, u64)> = lengths.iter().map(|(&name, &ns)| (name, ns)).collect();
    states.sort_by_key(|&(_, ns)| Reverse(ns));
    states.truncate(STATES);
    let mut states: Vec<&str> = states.into_iter().map(|(name, _)| name).collect();
    states.sort_by_key(|&state| (rank(state).is_none(), rank(state), state));
    states
}

fn rank(state: &str) -> Option<u64> {
    let known = KNOWN.iter().position(|&one| one == state);
    let number = || state.strip_prefix(NUMBERED)?.parse().ok();
    known.map(|at| at as u64).or_else(number)
}

/// How high a state is, from 0 to 1; unknown of what is neither known nor
/// numbered. The three known ones are always the same; numbers are the chip's
/// own, and only their order is known.
#[expect(clippy::cast_precision_loss, reason = "a few states")]
fn strength(state: &str, states: &[&str]) -> Option<f64> {
    if let Some(at) = KNOWN.iter().position(|&one| one == state) {
        return Some(at as f64 / (KNOWN.len() - 1) as f64);
    }
    rank(state)?;
    let mut ranked = states.iter().filter(|&&one| rank(one).is_some());
    let count = ranked.clone().count();
    let at = ranked.position(|&one| one == state)?;
    Some(match count {
        ..2 => 0.5,
        _ => at as f64 / (count - 1) as f64,
    })
}

fn said(state: &str) -> String {
    match state.starts_with(NUMBERED) {
        true => format!("GPU {state}"),
        false => format!("GPU at {state}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_in_order() {
        let cases = [
            ("Maximum|Minimum", "Minimum 0|Maximum 1"),
            ("Maximum|Medium|Minimum", "Minimum 0|Medium 0.5|Maximum 1"),
            (
                "device state 10|device state 2|device state 3",
                "device state 2 0|device state 3 0.5|device state 10 1",
            ),
            ("Medium|Turbo", "Medium 0.5|Turbo none"),
            ("device state 7", "device state 7 0.5"),
        ];
        for (given, expected) in cases {
            let lengths = given.split('|').map(|state| (state, 1)).collect();
            let states = longest(&lengths);
            let found = states.iter().map(|state| {
                let strength = strength(state, &states);
                let strength = strength.map_or("none".to_owned(), |one| one.to_string());
                format!("{state} {strength}")
            });
            assert_eq!(found.collect::<Vec<_>>().join("|"), expected);
        }
    }

    #[test]
    fn the_longest_have_colours() {
        let names: Vec<String> = (0..9).map(|at| format!("device state {at}")).collect();
        let lengths = names.iter().map(String::as_str).zip(0..).collect();
        let expected: Vec<&str> = names.iter().skip(3).map(String::as_str).collect();
        assert_eq!(longest(&lengths), expected);
    }
}
