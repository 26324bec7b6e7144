//! Finds out whether a program keeps a pace: whether its iterations begin on a grid of time, such as
//! that of a display or a timer.
//!
//! ```text
//! paced   ├─work─┤         ├─work───┤       ├work┤           ├─work─┤
//!         |                |                |                |        every 16.667 ms
//! not     ├─work─┤ ├─work───┤ ├work┤ ├─work─┤
//! ```
//!
//! A loop without a pace also has a usual period. But its deviations add up: an iteration that is late
//! makes all later ones late, so that it drifts away from any grid. On a grid, starts stay near it.

use crate::basics::spans::Span;
use crate::basics::statistics::{as_f64, percentile, rounded};
use crate::report::{MissedPeriod, Pace};
use crate::subject::submissions::{Submission, Submissions};

/// Smallest number of starts that show a grid.
const STARTS: usize = 30;
/// Shortest period: displays and timers of programs are slower.
const SHORTEST_NS: f64 = 1e6;
/// Rates of displays and timers per second. A period of one of them is a grid even if nothing varies.
const RATES: [f64; 9] = [24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 120.0, 240.0];
/// Largest difference between a period and that of a rate, as a share of it.
const NEAR: f64 = 0.002;
/// Largest usual distance of starts from the grid, as a share of their usual change from one to the next, times
/// the root of their number. Fewer than one loop without a pace in a hundred comes so near.
const FROM_GRID: f64 = 0.085;
/// The same for periods of displays: one loop in twenty comes so near, but few have such a period.
const FROM_RATE: f64 = 0.15;
/// The most that is near a grid, however many starts there are.
const MOST_FROM_GRID: f64 = 1.05;
const MOST_FROM_RATE: f64 = 1.4;
/// Largest share of the time that the GPU works in a program that keeps a pace: beyond it, the work
/// itself would set the pace.
const BUSY: f64 = 0.9;
/// Number of missed periods that are listed.
const LISTED: usize = 5;

/// Returns the pace of the iterations in a part of the window, and the places of the submissions that
/// begin them; `None` if they do not begin on a grid.
pub(crate) fn pace(submissions: &Submissions, part: Option<Span>) -> Option<(Pace, Vec<usize>)> {
    let starts = candidates(submissions, part);
    let (period_ns, starts) = starts
        .iter()
        .find_map(|starts| Some((grid(starts)?, starts)))?;
    let places = starts.iter().map(|&(_, place)| place).collect();
    Some((on_grid(period_ns, starts, submissions)?, places))
}

/// Returns the starts that may lie on a grid: those after a pause of their thread.
fn candidates(submissions: &Submissions, part: Option<Span>) -> Vec<Vec<(i64, usize)>> {
    let list = submissions.list.iter().enumerate();
    let list = list.filter(|(_, submission)| submissions.is_in(submission, part));
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
    if starts.len() < STARTS {
        return None;
    }
    let mut distances: Vec<i64> = starts.windows(2).filter_map(distance).collect();
    distances.sort_unstable();
    // Half of the periods may be missed.
    let short = percentile(&distances, 10)?;
    distances.retain(|distance| 10 * distance <= 13 * short);
    let usual = as_f64(percentile(&distances, 50)?);
    if usual < SHORTEST_NS {
        return None;
    }
    // A missed period counts as several.
    let mut number = 0.0;
    let first_ns = starts.first()?.0;
    let mut points = vec![(0.0, 0.0)];
    for two in starts.windows(2) {
        number += (as_f64(distance(two)?) / usual).round().max(1.0);
        points.push((number, as_f64(two.last()?.0 - first_ns)));
    }

    let fit = fit(&points)?;
    let rests = || {
        points
            .iter()
            .map(|&(number, ns)| ns - fit.1 * number - fit.0)
    };
    let usual_rest = middle(rests().map(f64::abs));
    let changes = rests()
        .zip(rests().skip(1))
        .map(|(one, next)| (next - one).abs());
    let usual_change = middle(changes);
    let is_rate = RATES
        .iter()
        .any(|rate| (fit.1 * rate / 1e9 - 1.0).abs() <= NEAR);
    let (share, most) = if is_rate {
        (FROM_RATE, MOST_FROM_RATE)
    } else {
        (FROM_GRID, MOST_FROM_GRID)
    };
    let limit = (share * as_f64(starts.len() as i64).sqrt()).min(most);
    let is_near = usual_rest <= limit * usual_change;
    // What never varies tells nothing.
    let is_still = usual_change <= 1e-6 * fit.1;
    let is_grid = if is_still {
        is_rate
    } else {
        is_near && 4.0 * usual_rest < fit.1
    };
    is_grid.then_some(fit.1)
}

/// Fits a line to points, of which few may lie far away. Returns its height and its slope.
fn fit(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    const ROUNDS: usize = 3;
    let mut line: Option<(f64, f64)> = None;
    for _ in 0..ROUNDS {
        let (height, slope) = line.unwrap_or_default();
        let rest = |&(x, y): &(f64, f64)| y - slope * x - height;
        let limit = 5.0 * middle(points.iter().map(|point| rest(point).abs())) + 1.0;
        let near = || points.iter().filter(|point| rest(point).abs() <= limit);
        let count = as_f64(near().count() as i64);
        let x = near().map(|point| point.0).sum::<f64>() / count;
        let y = near().map(|point| point.1).sum::<f64>() / count;
        let squares: f64 = near().map(|point| (point.0 - x).powi(2)).sum();
        let products: f64 = near().map(|point| (point.0 - x) * (point.1 - y)).sum();
        if squares <= 0.0 {
            return None;
        }
        let slope = products / squares;
        line = Some((y - slope * x, slope));
    }
    line
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the pace of iterations that begin at these times, on a grid of this period.
fn on_grid(period_ns: f64, starts: &[(i64, usize)], submissions: &Submissions) -> Option<Pace> {
    let mut busy: Vec<u64> = Vec::with_capacity(starts.len());
    for two in starts.windows(2) {
        let &[(_, first), (_, next)] = two else {
            continue;
        };
        let between = submissions.list.get(first..next).unwrap_or(&[]).iter();
        let work = between.flat_map(|submission| submissions.work_of(submission));
        busy.push(work.map(|work| work.end_ns.abs_diff(work.start_ns)).sum());
    }
    let span_ns = as_f64(starts.last()?.0 - starts.first()?.0);
    let sum_ns = busy
        .iter()
        .map(|&ns| i64::try_from(ns).unwrap_or(i64::MAX))
        .sum();
    if as_f64(sum_ns) > BUSY * span_ns {
        return None;
    }
    busy.sort_unstable();
    let busy_ns = percentile(&busy, 50)?;
    let longest_ns = percentile(&busy, 95)?;

    let missed: Vec<MissedPeriod> = starts
        .windows(2)
        .filter_map(|two| {
            let distance_ns = distance(two)?;
            let is_missed = as_f64(distance_ns) > 1.5 * period_ns;
            is_missed.then_some(MissedPeriod {
                start_ns: u64::try_from(two.first()?.0).ok()?,
                duration_ns: u64::try_from(distance_ns).ok()?,
            })
        })
        .collect();
    Some(Pace {
        period_ns: rounded(period_ns),
        starts: starts.len() as u64,
        busy_ns,
        longest_busy_ns: longest_ns,
        missed_count: missed.len() as u64,
        missed: missed.into_iter().take(LISTED).collect(),
    })
}
