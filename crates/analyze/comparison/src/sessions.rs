//! Sessions: runs that were recorded at one time. A machine changes from day to day, which the runs of one session do
//! not show.

use metalens_message::Number;
use metalens_text::number::Float;

use crate::change::known;
use crate::runs::Runs;
use crate::statistics::{median, squares};

/// Shortest time between two sessions, in milliseconds: four hours.
const APART_MS: i64 = 4 * 3_600_000;

/// The sessions of base.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Number of the session of each run, from 0.
    of_runs: Vec<usize>,
    /// Number of sessions; 0 if new was recorded in one of them.
    pub(crate) count: usize,
}

impl Sessions {
    /// Returns the sessions of base if new was recorded in another one, as far as dates tell.
    pub(crate) fn between(base: &Runs, new: &Runs) -> Self {
        let apart = [base.ms_before(new), new.ms_before(base)];
        let is_apart = apart.into_iter().flatten().any(|ms| ms >= APART_MS);
        let Some(base) = base.times().filter(|_| is_apart) else {
            return Self::default();
        };
        let mut all = base.clone();
        all.sort_unstable();
        let later = all.windows(2).filter_map(|pair| match pair {
            [was, is] if is - was >= APART_MS => Some(*is),
            _ => None,
        });
        let later: Vec<i64> = later.collect();
        let session = |time: &i64| later.partition_point(|begin| begin <= time);
        Self {
            of_runs: base.iter().map(session).collect(),
            count: later.len() + 1,
        }
    }

    /// Returns how far another session may be from these by chance, with 95 % confidence: 0 if there is only one.
    pub(crate) fn error(&self, base: &[Option<Number>]) -> f64 {
        /// Quantiles of 97.5 % of Student's distribution, from one degree of freedom.
        const QUANTILES: [f64; 9] = [12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27];
        let mut values = vec![Vec::new(); self.count];
        for (session, value) in self.of_runs.iter().zip(base) {
            if let Some(values) = values.get_mut(*session) {
                values.push(*value);
            }
        }
        let medians = values.iter().filter_map(|values| median(&known(values)));
        let medians: Vec<f64> = medians.collect();
        let Some(others) = medians.len().checked_sub(2) else {
            return 0.0;
        };
        let quantile = QUANTILES.get(others).copied().unwrap_or(2.23);
        let variance = squares(&medians) / (others + 1).float();
        quantile * (variance * (1.0 + 1.0 / medians.len().float())).sqrt()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use metalens_testing::Random;

    use super::*;
    use crate::change::{Floor, Judge, Preference};
    use crate::unit::Unit;

    /// Returns runs on these days of January, three each.
    pub(crate) fn runs(days: &[u32]) -> Runs {
        let days = days.iter();
        let dates = days
            .flat_map(|day| (0..3).map(move |run| Some(format!("2026-01-{day:02}T09:0{run}:00Z"))));
        Runs {
            dates: dates.collect(),
            ..Runs::default()
        }
    }

    #[test]
    fn sessions_are_told_by_dates() {
        let check = |base: &[u32], new: &[u32], expected: usize| {
            let sessions = Sessions::between(&runs(base), &runs(new));
            assert_eq!(sessions.count, expected, "{base:?} {new:?}");
        };
        check(&[1], &[1], 0);
        check(&[1], &[2], 1);
        check(&[3, 1, 2], &[7], 3);
        check(&[5, 6], &[1], 2);
        check(&[1, 3], &[2], 0);
        check(&[], &[1], 0);
    }

    /// Sessions differ by 2 %, runs of one by 0.5 %, and nothing changed: how often an interval contains that.
    #[test]
    fn intervals_cover_the_spread_between_sessions() {
        const TRIALS: u32 = 400;
        let mut random = Random::new(9);
        let mut covered = |days: u32| {
            let (base_days, new_day): (Vec<u32>, u32) = ((1..=days).collect(), days + 1);
            let sessions = Sessions::between(&runs(&base_days), &runs(&[new_day]));
            let mut is_covered = |_: &u32| {
                let mut side = |days: u32| -> Vec<Option<Number>> {
                    let of_session = (0..days).flat_map(|_| {
                        let session = 0.02 * random.normal();
                        [(); 3]
                            .map(|()| Number::new(1e6 * (1.0 + session + 0.005 * random.normal())))
                    });
                    of_session.collect()
                };
                let (base, new) = (side(days), side(1));
                let judge = Judge::new(Floor::default(), base.len(), new.len());
                let judge = judge.with_error(sessions.error(&base));
                let change = judge.change(&base, &new, Unit::Ns, Preference::Lower);
                let interval = change.interval.unwrap();
                interval.low.get() <= 0.0 && interval.high.get() >= 0.0
            };
            let count = (0..TRIALS).filter(|trial| is_covered(trial)).count();
            100.0 * count as f64 / f64::from(TRIALS)
        };
        // One session knows nothing of others, and says so.
        assert!(covered(1) < 50.0);
        for days in [2, 3, 5, 10] {
            let share = covered(days);
            assert!(share >= 94.0, "{days} days: {share} %");
        }
    }
}
