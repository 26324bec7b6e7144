//! Finds out whether a program keeps a pace: whether its steps begin on a grid of time, such as
//! that of a display or a timer.
//!
//! ```text
//! paced   ├─work─┤         ├─work───┤       ├work┤           ├─work─┤
//!         |                |                |                |        every 16.667 ms
//! not     ├─work─┤ ├─work───┤ ├work┤ ├─work─┤
//! ```
//!
//! A loop without a pace also has a usual period. But its deviations add up: a step that is late
//! makes all later ones late, so that it drifts away from any grid. On a grid, starts stay near it.

use std::f64::consts::TAU;

use metalens_text::number::{Float, rounded};

use crate::basics::statistics::percentile;
use crate::subject::submissions::{Submission, Submissions};

/// Smallest number of starts that show a grid.
const STARTS: usize = 30;
/// Shortest period: displays and timers of programs are slower.
const SHORTEST_NS: f64 = 1e6;
/// Rates of displays and timers per second. A period of one of them is a grid even if nothing varies.
const RATES: [f64; 9] = [24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 120.0, 240.0];
/// Largest difference between a period and that of a rate, as a share of it.
const NEAR: f64 = 0.002;
/// Largest variance of starts about the grid, as a share of that of their changes from one to the next,
/// times their number. Fewer than one loop without a pace in a hundred comes so near.
const OF_CHANGES: f64 = 0.018;
/// The most that is near a grid, however many starts there are: a start may pass on what it is late.
const MOST_OF_CHANGES: f64 = 1.7;
/// Parts of a period of which the deviation is one at most, of any period and of that of a rate, and number
/// of starts that are near by chance: any times are as near to a grid that is chosen for them.
const WIDEST: f64 = 8.0;
const WIDEST_OF_RATE: f64 = 6.0;
const BY_CHANCE: f64 = 8.0;
/// Most starts that a turn of a loop is looked for with, and how much more alike turns are than starts then.
const LONGEST_TURN: usize = 8;
const MORE_ALIKE: f64 = 3.0;
/// Number of starts with which the period is looked for.
const SEARCHED: usize = 128;
/// Number of fits, each without those that are far from the last.
const ROUNDS: usize = 3;
/// Largest share of the time that the GPU works in a program that keeps a pace: beyond it, the work
/// itself would set the pace.
const BUSY: f64 = 0.9;

/// Returns the period of the grid on which steps begin, in nanoseconds, and the places of the submissions
/// that begin them; `None` if they begin on none.
pub(crate) fn pace(submissions: &Submissions) -> Option<(u64, Vec<usize>)> {
    let starts = candidates(submissions);
    let mut starts = starts.iter();
    let (period_ns, starts) = starts.find_map(|starts| Some((grid(starts)?, starts)))?;
    let places = starts.iter().map(|&(_, place)| place).collect();
    (!is_busy(starts, submissions)).then_some((rounded(period_ns), places))
}

/// Returns the starts that may lie on a grid: those after a pause of their thread.
fn candidates(submissions: &Submissions) -> Vec<Vec<(i64, usize)>> {
    let list = submissions.list.iter().enumerate();
    let begins = |place: usize, submission: &Submission| {
        (
            submission.encoding_ns.unwrap_or(submission.committed_ns),
            place,
        )
    };
    let mut of_thread: Vec<Vec<(i64, usize)>> = vec![Vec::new(); submissions.threads.len()];
    for (place, submission) in list {
        if let Some(starts) = of_thread.get_mut(submission.thread) {
            starts.push(begins(place, submission));
        }
    }
    of_thread
        .iter()
        .map(|starts| after_pauses(starts))
        .collect()
}

/// Returns the starts that come long after the one before.
fn after_pauses(starts: &[(i64, usize)]) -> Vec<(i64, usize)> {
    let mut distances: Vec<i64> = starts.windows(2).filter_map(distance).collect();
    distances.sort_unstable();
    let long = 2 * percentile(&distances, 90).unwrap_or(0) / 5;
    let later = starts.windows(2).filter(|two| distance(two) >= Some(long));
    let later = later.filter_map(|two| two.last().copied());
    starts.first().copied().into_iter().chain(later).collect()
}

fn distance(two: &[(i64, usize)]) -> Option<i64> {
    match two {
        &[(this_ns, _), (next_ns, _)] => Some(next_ns - this_ns),
        _ => None,
    }
}

/// Returns the period of the grid on which these times lie, which come in order, in nanoseconds.
fn grid(starts: &[(i64, usize)]) -> Option<f64> {
    let first_ns = starts.first().filter(|_| starts.len() >= STARTS)?.0;
    let times: Vec<f64> = starts
        .iter()
        .map(|&(ns, _)| (ns - first_ns).float())
        .collect();
    let mut distances: Vec<i64> = starts.windows(2).filter_map(distance).collect();
    distances.sort_unstable();
    // Half of the periods may be missed.
    let short = percentile(&distances, 10)?;
    distances.retain(|distance| 10 * distance <= 13 * short);
    let usual = percentile(&distances, 50)?.float();
    if usual < SHORTEST_NS {
        return None;
    }

    let mut searched = SEARCHED.min(times.len());
    let (mut offset, mut period) = most_coherent(times.get(..searched)?, usual);
    // The more starts, the better the period is known, and the more of them it can number.
    loop {
        for _ in 0..ROUNDS {
            (offset, period) = fit(times.get(..searched)?, offset, period)?;
        }
        if searched == times.len() {
            break;
        }
        searched = (2 * searched).min(times.len());
    }
    // The first one may be late: the program sets itself up.
    let later = times.iter().skip(1);
    let rests: Vec<f64> = later.map(|&ns| rest(ns, offset, period)).collect();
    let (turn, changes) = changes(&rests, period);
    let about_grid = variance(&rests);
    let of_changes = variance(&changes);
    let is_rate = RATES
        .iter()
        .any(|rate| (period * rate / 1e9 - 1.0).abs() <= NEAR);
    // What never varies tells nothing.
    if of_changes.sqrt() <= 1e-6 * period {
        return Some(period).filter(|_| is_rate);
    }
    let count = (starts.len() / turn).float();
    let limit = (OF_CHANGES * count).min(MOST_OF_CHANGES) * of_changes;
    let parts = if is_rate { WIDEST_OF_RATE } else { WIDEST };
    let widest = (period / parts).powi(2) * (1.0 - BY_CHANCE / count);
    // On a grid, a late start comes before a short distance. Few loops have the period of a display.
    let most = 3.0 * of_changes.sqrt();
    let usual = changes.iter().map(|change| change.clamp(-most, most));
    let pairs = usual.clone().zip(usual.skip(1));
    let alternates = pairs.map(|(one, next)| one * next).sum::<f64>() / count / of_changes;
    let is_near = about_grid <= limit && about_grid <= widest;
    let is_near = is_near && (is_rate || alternates <= -1.0 / count.sqrt());
    is_near.then_some(period)
}

/// Returns the number of starts of a turn, and by how much the deviation of each start from the grid differs
/// from that of the start a turn before. A turn is one start, or several if these differ far less: what a loop
/// does in turn would hide how it drifts.
fn changes(rests: &[f64], period: f64) -> (usize, Vec<f64>) {
    let after = |turn: usize| -> Vec<f64> {
        let pairs = rests.iter().zip(rests.iter().skip(turn));
        let changes = pairs.map(|(one, next)| rest(next - one, 0.0, period));
        changes.collect()
    };
    let first = after(1);
    let longer = (2..=LONGEST_TURN).map(|turn| (turn, after(turn)));
    let longer = longer.map(|(turn, changes)| (variance(&changes), turn, changes));
    let least = longer.min_by(|one, other| one.0.total_cmp(&other.0));
    match least.filter(|least| MORE_ALIKE * least.0 <= variance(&first)) {
        Some((_, turn, changes)) => (turn, changes),
        None => (1, first),
    }
}

/// Returns the distance of a time from the nearest point of a grid.
fn rest(ns: f64, offset: f64, period: f64) -> f64 {
    let periods = (ns - offset) / period;
    (periods - periods.round()) * period
}

/// Returns the grid with a period near a usual one to which the times have the most alike phases: its
/// offset and its period.
fn most_coherent(times: &[f64], usual: f64) -> (f64, f64) {
    let span = times.last().copied().unwrap_or(0.0).max(usual);
    let phases = |period: f64| {
        let turns = times.iter().map(|ns| TAU * (ns / period).fract());
        let sum = |(sine, cosine): (f64, f64), turn: f64| (sine + turn.sin(), cosine + turn.cos());
        turns.fold((0.0, 0.0), sum)
    };
    // A quarter of a turn over all times is one step.
    let step = usual / span / 4.0;
    let steps = i32::try_from(rounded((0.2 / step).ceil()).min(4_096)).unwrap_or(0);
    let periods = (-steps..=steps).map(|place| usual * (1.0 + step * f64::from(place)));
    let best = periods.max_by_key(|&period| {
        let (sine, cosine) = phases(period);
        rounded(1e6 * sine.hypot(cosine))
    });
    let period = best.unwrap_or(usual);
    let (sine, cosine) = phases(period);
    (sine.atan2(cosine) / TAU * period, period)
}

/// Fits a grid to times. Returns its offset and its period.
fn fit(times: &[f64], offset: f64, period: f64) -> Option<(f64, f64)> {
    let usual = middle(times.iter().map(|&ns| rest(ns, offset, period).abs()));
    let near = times
        .iter()
        .filter(|&&ns| rest(ns, offset, period).abs() <= 5.0 * usual + 1.0);
    let points: Vec<(f64, f64)> = near
        .map(|&ns| (((ns - offset) / period).round(), ns))
        .collect();
    let count = points.len().float();
    let x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let squares: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let products: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let slope = products / squares;
    (squares > 0.0 && slope > 0.0).then_some((y - slope * x, slope))
}

/// Returns the variance about 0 of nine tenths of the values: a pause moves a few far away, and their changes
/// as far.
fn variance(values: &[f64]) -> f64 {
    let mut squares: Vec<f64> = values.iter().map(|value| value * value).collect();
    squares.sort_by(f64::total_cmp);
    squares.truncate((9 * squares.len()).div_ceil(10));
    squares.iter().sum::<f64>() / squares.len().max(1).float()
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns whether the GPU works nearly all of the time: then the work itself sets the pace.
fn is_busy(starts: &[(i64, usize)], submissions: &Submissions) -> bool {
    let (Some(&(first_ns, first)), Some(&(last_ns, last))) = (starts.first(), starts.last()) else {
        return true;
    };
    let between = submissions.list.get(first..last).unwrap_or(&[]).iter();
    let work = between.flat_map(|submission| submissions.work_of(submission));
    let sum_ns = work.map(|work| work.end_ns - work.start_ns).sum::<i64>();
    sum_ns.float() > BUSY * (last_ns - first_ns).float()
}

#[cfg(test)]
mod tests {
    use metalens_testing::Random;

    use super::*;

    fn is_paced(times: impl Iterator<Item = f64>) -> bool {
        let starts: Vec<(i64, usize)> = times
            .map(|ns| (i64::try_from(rounded(ns)).unwrap(), 0))
            .collect();
        grid(&starts).is_some()
    }

    /// A loop without a pace passes on all that it is late, however much its turns vary.
    #[test]
    fn few_closed_loops_look_paced() {
        let mut random = Random::new(7);
        let mut paced = 0;
        for turn in 0..1_000 {
            let count = [30, 50, 100, 300][turn % 4];
            let deviation = [0.001, 0.01, 0.1, 0.4][turn / 4 % 4];
            // Some have the period of a display.
            let usual = [2e6 + 30e6 * random.uniform(), 1e9 / 60.0][turn / 16 % 2];
            let mut at = 1e9;
            // Some begin with other work.
            let longer = |number: usize| [1.0, 11.5][usize::from(turn % 5 == 0 && number < 3)];
            paced += usize::from(is_paced((0..count).map(|number| {
                at += longer(number) * usual * (1.0 + deviation * random.normal()).max(0.01);
                at
            })));
        }
        assert!(paced <= 5, "{paced} of 1,000");
    }

    /// A loop that waits now here and now there has starts of a few usual distances.
    #[test]
    fn few_loops_of_several_waits_look_paced() {
        let mut random = Random::new(5);
        let mut paced = 0;
        for turn in 0..1_000 {
            let count = [40, 60, 100, 150, 300][turn % 5];
            let deviation = [0.01, 0.04, 0.1][turn / 5 % 3];
            let usual: Vec<f64> = (0..[1, 2, 3, 5][turn / 15 % 4])
                .map(|_| 5e5 + 75e5 * random.uniform())
                .collect();
            let in_turn = turn / 60 % 2 == 0;
            let mut at = 1e9;
            let starts = (0..count).map(|number| {
                let chosen = if in_turn {
                    number
                } else {
                    usize::try_from(rounded(6e4 * random.uniform())).unwrap()
                };
                let hiccup = if random.uniform() < 0.02 { 5e6 } else { 0.0 };
                let distance = usual[chosen % usual.len()] * (1.0 + deviation * random.normal());
                at += distance.max(1e4) + hiccup;
                (i64::try_from(rounded(at)).unwrap(), 0)
            });
            let starts: Vec<(i64, usize)> = starts.collect();
            paced += usize::from(grid(&after_pauses(&starts)).is_some());
        }
        assert!(paced <= 15, "{paced} of 1,000");
    }

    /// Starts that deviate by a millisecond, as those of real renderers do; the first may be late.
    #[test]
    fn fifty_starts_on_a_grid_are_paced() {
        let mut random = Random::new(11);
        for (rate, passed_on, count, least) in [
            (60.0, 0.0, 50, 98),
            (61.3, 0.0, 50, 98),
            (60.0, 0.6, 100, 90),
        ] {
            let paced = (0..100).filter(|_| {
                let mut late = 0.0;
                is_paced((0..count).map(|number| {
                    late = passed_on * late + random.normal();
                    let first = if number == 0 { 6.0 } else { 0.0 };
                    1e9 + f64::from(number) * 1e9 / rate + 1e6 * (late + first)
                }))
            });
            assert!(paced.count() >= least, "{rate} {passed_on}");
        }
    }
}
