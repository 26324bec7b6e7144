//! Brings the kinds of steps of all runs into one order: two kinds that take nearly as much time change
//! places from run to run.

use std::borrow::Cow;

use metalens_message::Number;

use crate::runs::Runs;

/// Start of the ids of the figures of the first kind, and of those of the second.
const FIRST: &str = "steps.";
const SECOND: &str = "steps.second.";
/// Rest of the id by which runs tell kinds apart.
const INTERVALS: &str = "intervals";

/// Returns both sides with the same first kind of steps in each run: the one that is first in most runs of
/// base. Another second kind than that of base is left out.
pub(crate) fn in_one_order<'a>(base: &'a Runs, new: &'a Runs) -> [Cow<'a, Runs>; 2] {
    let mut sides = [Cow::Borrowed(base), Cow::Borrowed(new)];
    let Some(first) = usual(base, FIRST) else {
        return sides;
    };
    for side in &mut sides {
        for run in 0..side.count() {
            let is_first =
                |kind: &str| intervals(side, kind, run).is_some_and(|own| is_like(own, first));
            if !is_first(FIRST) && is_first(SECOND) {
                side.to_mut().swap_kinds(run);
            }
        }
    }
    let second = usual(&sides[0], SECOND);
    for side in &mut sides {
        for run in 0..side.count() {
            let own = intervals(side, SECOND, run);
            if own.is_some_and(|own| second.is_none_or(|second| !is_like(own, second))) {
                side.to_mut().clear_second_kind(run);
            }
        }
    }
    sides
}

/// Returns the number of GPU intervals of a kind in most runs; of equally many, the first.
fn usual(runs: &Runs, kind: &str) -> Option<f64> {
    let known: Vec<f64> = (0..runs.count())
        .filter_map(|run| intervals(runs, kind, run))
        .collect();
    let count = |of: f64| known.iter().filter(|&&other| is_like(other, of)).count();
    known.iter().copied().rev().max_by_key(|&of| count(of))
}

fn intervals(runs: &Runs, kind: &str, run: usize) -> Option<f64> {
    runs.value(&format!("{kind}{INTERVALS}"), run)
        .map(Number::get)
}

/// Returns whether steps with so many GPU intervals are of one kind: the usual number varies a little.
fn is_like(one: f64, other: f64) -> bool {
    (one - other).abs() * 10.0 <= one.max(other)
}

impl Runs {
    /// Lets the first two kinds of steps of a run change places.
    fn swap_kinds(&mut self, run: usize) {
        for second in self.ids_of_second_kind() {
            let first = second.replacen(SECOND, FIRST, 1);
            let was_first = self.value(&first, run);
            self.set(&first, run, self.value(&second, run));
            self.set(&second, run, was_first);
        }
        let thirds = self
            .own_thirds_ns
            .get_mut(run)
            .zip(self.second_own_thirds_ns.get_mut(run));
        if let Some((first, second)) = thirds {
            std::mem::swap(first, second);
        }
    }

    fn clear_second_kind(&mut self, run: usize) {
        for id in self.ids_of_second_kind() {
            self.set(&id, run, None);
        }
        if let Some(thirds) = self.second_own_thirds_ns.get_mut(run) {
            *thirds = None;
        }
    }

    fn ids_of_second_kind(&self) -> Vec<String> {
        let ids = self.metrics.keys().filter(|id| id.starts_with(SECOND));
        ids.cloned().collect()
    }

    fn value(&self, id: &str, run: usize) -> Option<Number> {
        *self.metrics.get(id)?.get(run)?
    }

    fn set(&mut self, id: &str, run: usize, value: Option<Number>) {
        let values = self.metrics.get_mut(id);
        if let Some(old) = values.and_then(|values| values.get_mut(run)) {
            *old = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes runs, each of the kinds `(intervals, median)` with the most time first.
    fn runs(of: &[&[(u32, u32)]]) -> Runs {
        let values = |kind: usize, get: fn(&(u32, u32)) -> u32| {
            let of_kind = of
                .iter()
                .map(|kinds| Number::new(f64::from(get(kinds.get(kind)?))));
            of_kind.collect::<Vec<_>>()
        };
        let intervals: fn(&(u32, u32)) -> u32 = |kind| kind.0;
        let median: fn(&(u32, u32)) -> u32 = |kind| kind.1;
        let metrics = [
            ("steps.intervals", values(0, intervals)),
            ("steps.median_ns", values(0, median)),
            ("steps.second.intervals", values(1, intervals)),
            ("steps.second.median_ns", values(1, median)),
        ];
        let thirds = |kind: usize| {
            let of_kind = of
                .iter()
                .map(|kinds| Some([u64::from(kinds.get(kind)?.1); 3]));
            of_kind.collect()
        };
        Runs {
            processes: vec![String::new(); of.len()],
            metrics: metrics.map(|(id, values)| (id.to_owned(), values)).into(),
            own_thirds_ns: thirds(0),
            second_own_thirds_ns: thirds(1),
            ..Runs::default()
        }
    }

    #[test]
    fn each_run_has_the_kinds_of_base_in_one_order() {
        let check = |base: &[&[(u32, u32)]], new: &[&[(u32, u32)]], expected: &[&[(u32, u32)]]| {
            let (base, new) = (runs(base), runs(new));
            let [_, new] = in_one_order(&base, &new);
            assert_eq!(*new, runs(expected));
        };
        let (train, eval) = ((300, 90), (100, 88));
        let base: &[&[(u32, u32)]] = &[&[train, eval], &[eval, train], &[train, eval]];
        check(
            base,
            base,
            &[&[train, eval], &[train, eval], &[train, eval]],
        );
        // A faster kind keeps its place, and one of a few more intervals is the same.
        check(base, &[&[eval, (306, 45)]], &[&[(306, 45), eval]]);
        // Fused steps are those of base.
        check(base, &[&[(200, 70), eval]], &[&[(200, 70), eval]]);
        // Other second kinds are not compared.
        check(base, &[&[train, (10, 5)]], &[&[train]]);
        check(&[&[train]], base, &[&[train], &[train], &[train]]);
        check(&[&[]], base, base);
    }
}
