//! Collects the GPU's performance states as a strip, in which a higher state has a stronger shade.
//! Without known states there is no strip.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_analyzer::Analysis;

use crate::canvas::ratio;
use crate::palette::Palette;
use crate::strip::{Band, BandItem, BandKind};

/// Names of the states in Apple's tools, the slowest first.
const KNOWN: [&str; 3] = ["Minimum", "Medium", "Maximum"];
/// Prefix of a state that only has a number.
const NUMBERED: &str = "device state ";
/// Number of states with a color of their own; the others share one.
const STATES: usize = 6;

/// Returns the strip; none if the recording has no states.
pub(crate) fn band<'a>(analysis: &'a Analysis, palette: &Palette) -> Option<Band<'a>> {
    let intervals = analysis.performance();
    let mut lengths: BTreeMap<&str, u64> = BTreeMap::new();
    for interval in intervals {
        let length = lengths.entry(&interval.what).or_default();
        *length = length.saturating_add(interval.end_ns - interval.start_ns);
    }

    let states = longest(&lengths);
    let kinds = states.iter().map(|&state| BandKind {
        fill: match strength(state, &states) {
            Some(strength) => palette.state(strength),
            None => palette.others,
        },
        legend: Some(legend(state)),
    });
    let more = (lengths.len() > states.len()).then(|| BandKind {
        fill: palette.others,
        legend: Some("other GPU states".to_owned()),
    });
    let kind = |state: &str| {
        let mut known = states.iter();
        known
            .position(|&known_state| known_state == state)
            .unwrap_or(states.len())
    };

    let items = intervals.iter().map(|interval| BandItem {
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        name: Cow::Borrowed(interval.what.as_str()),
        kind: kind(&interval.what),
    });
    (!intervals.is_empty()).then(|| Band {
        kinds: kinds.chain(more).collect(),
        items: items.collect(),
        unknown: Some("GPU state not recorded"),
        ..Band::new("GPU state")
    })
}

/// Returns the states that have a color of their own, the slowest first.
fn longest<'a>(lengths: &BTreeMap<&'a str, u64>) -> Vec<&'a str> {
    let mut states: Vec<(&str, u64)> = lengths.iter().map(|(&name, &ns)| (name, ns)).collect();
    states.sort_by_key(|&(_, ns)| Reverse(ns));
    states.truncate(STATES);
    let mut states: Vec<&str> = states.into_iter().map(|(name, _)| name).collect();
    states.sort_by_key(|&state| (rank(state).is_none(), rank(state), state));
    states
}

fn rank(state: &str) -> Option<u64> {
    let known = KNOWN.iter().position(|&name| name == state);
    let number = || state.strip_prefix(NUMBERED)?.parse().ok();
    known.map(|at| at as u64).or_else(number)
}

/// Returns the rank of a state among all, from 0 to 1. None for a state that is neither known nor
/// numbered. The three known states always have the same rank; of the chip's numbers only the order
/// is known.
fn strength(state: &str, states: &[&str]) -> Option<f64> {
    if let Some(at) = KNOWN.iter().position(|&name| name == state) {
        return Some(ratio(at as u64, KNOWN.len() as u64 - 1));
    }

    rank(state)?;
    let mut ranked = states.iter().filter(|&&name| rank(name).is_some());
    let count = ranked.clone().count();
    let at = ranked.position(|&name| name == state)?;
    Some(match count {
        ..2 => 0.5,
        _ => ratio(at as u64, count as u64 - 1),
    })
}

fn legend(state: &str) -> String {
    if state.starts_with(NUMBERED) {
        format!("GPU {state}")
    } else {
        format!("GPU at {state}")
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
                let strength = strength.map_or("none".to_owned(), |strength| strength.to_string());
                format!("{state} {strength}")
            });
            assert_eq!(found.collect::<Vec<_>>().join("|"), expected);
        }
    }

    #[test]
    fn the_longest_states_have_colors() {
        let names: Vec<String> = (0..9).map(|at| format!("device state {at}")).collect();
        let lengths = names.iter().map(String::as_str).zip(0..).collect();
        let expected: Vec<&str> = names.iter().skip(3).map(String::as_str).collect();
        assert_eq!(longest(&lengths), expected);
    }
}
