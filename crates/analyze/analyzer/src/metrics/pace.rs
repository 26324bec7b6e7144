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
//! makes all later ones late. On a grid, the next iteration makes up for it.

use crate::basics::statistics::{median, percentile, rounded};
use crate::report::{MissedPeriod, Pace};
use crate::subject::interval::Interval;
use crate::subject::steps::Steps;

/// Smallest number of periods that show a grid.
const PERIODS: usize = 16;
/// Shortest period: displays and timers of programs are slower.
const SHORTEST_NS: f64 = 1e6;
/// Largest deviation of a usual period, as a share of it.
const EVEN: f64 = 0.02;
/// Rates of displays and timers per second. A period of one of them is a grid even if nothing varies.
const RATES: [f64; 9] = [24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 120.0, 240.0];
/// Largest difference between a period and that of a rate, as a share of it.
const NEAR: f64 = 0.002;
/// Largest share of the usual period that the GPU works in a program that keeps a pace: beyond it,
/// the work itself would set the pace.
const BUSY: f64 = 0.9;
/// Number of missed periods that are listed.
const LISTED: usize = 5;

/// Returns the pace of the iterations that begin with these GPU intervals, or of all command buffers,
/// and the places of the command buffers that begin them; `None` if they do not begin on a grid.
pub(crate) fn pace(
    steps: &Steps,
    mine: &[Interval],
    iterations: &[u64],
) -> Option<(Pace, Vec<usize>)> {
    let begins = |place: usize| {
        let step = steps.list.get(place)?;
        Some((step.encoding_ns.unwrap_or(step.committed_ns), place))
    };
    let places = 0..steps.list.len();
    let marked: Vec<_> = places
        .clone()
        .filter(|&place| {
            let numbers = steps.list.get(place).map(|step| step.intervals.clone());
            let indices = numbers
                .and_then(|own| steps.intervals.get(own))
                .unwrap_or(&[]);
            let mut own = indices.iter().filter_map(|&index| mine.get(index));
            own.any(|interval| iterations.binary_search(&interval.span.start_ns).is_ok())
        })
        .filter_map(begins)
        .collect();
    let every: Vec<_> = places.filter_map(begins).collect();
    [marked, every]
        .iter()
        .find_map(|starts| Some((grid(starts)?, starts)))
        .and_then(|(grid, starts)| {
            let places = starts.iter().map(|&(_, place)| place).collect();
            Some((grid.pace(starts, steps, mine)?, places))
        })
}

/// Grid of time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    period_ns: f64,
}

/// Returns the grid on which these times lie, which come in order.
fn grid(starts: &[(i64, usize)]) -> Option<Grid> {
    let distances: Vec<f64> = pairs(starts).map(|(_, distance)| distance).collect();
    if distances.len() < PERIODS {
        return None;
    }
    let rounded = pairs(starts).map(|(_, distance)| rounded(distance));
    let usual = as_f64(median(rounded)?);
    if usual < SHORTEST_NS {
        return None;
    }

    // A missed period counts as several.
    let counts: Vec<f64> = distances
        .iter()
        .map(|distance| (distance / usual).round())
        .collect();
    let periods: f64 = counts.iter().sum();
    let period_ns = distances.iter().sum::<f64>() / periods.max(1.0);
    let rest: Vec<f64> = distances
        .iter()
        .zip(&counts)
        .map(|(distance, count)| distance - count * period_ns)
        .collect();
    if counts.iter().any(|&count| count < 1.0) {
        return None;
    }

    let deviation = spread(rest.iter().copied());
    let drift = spread(rest.iter().scan(0.0, |sum, rest| {
        *sum += rest;
        Some(*sum)
    }));
    let is_rate = RATES
        .iter()
        .any(|rate| (period_ns * rate / 1e9 - 1.0).abs() <= NEAR);
    let is_even = deviation <= EVEN * period_ns;
    // On a grid, what one period has too much the next has too little. Work that alternates does so
    // without fail.
    let makes_up = drift <= deviation && (-0.8..-0.25).contains(&neighbors(&rest));
    let is_still = deviation <= 1e-6 * period_ns;
    let is_grid = is_even && (makes_up || is_rate && (is_still || drift <= 2.0 * deviation));
    is_grid.then_some(Grid { period_ns })
}

impl Grid {
    fn pace(self, starts: &[(i64, usize)], steps: &Steps, mine: &[Interval]) -> Option<Pace> {
        let mut busy: Vec<u64> = Vec::with_capacity(starts.len());
        for two in starts.windows(2) {
            let &[(_, first), (_, next)] = two else {
                continue;
            };
            let between = steps.list.get(first..next).unwrap_or(&[]);
            let numbers = between.iter().flat_map(|step| step.intervals.clone());
            let own = numbers.filter_map(|place| mine.get(*steps.intervals.get(place)?));
            busy.push(own.map(|interval| interval.span.length_ns()).sum());
        }
        busy.sort_unstable();
        let busy_ns = percentile(&busy, 50)?;
        let longest_ns = percentile(&busy, 95)?;
        if as_f64(busy_ns) > BUSY * self.period_ns {
            return None;
        }

        let missed: Vec<MissedPeriod> = pairs(starts)
            .filter(|&(_, distance)| distance > 1.5 * self.period_ns)
            .filter_map(|(start_ns, distance)| {
                Some(MissedPeriod {
                    start_ns: u64::try_from(start_ns).ok()?,
                    duration_ns: rounded(distance),
                })
            })
            .collect();
        Some(Pace {
            period_ns: rounded(self.period_ns),
            starts: starts.len() as u64,
            busy_ns,
            longest_busy_ns: longest_ns,
            missed_count: missed.len() as u64,
            missed: missed.into_iter().take(LISTED).collect(),
        })
    }
}

/// Returns each start with the time to the next.
fn pairs(starts: &[(i64, usize)]) -> impl Iterator<Item = (i64, f64)> {
    let pairs = starts.windows(2).filter_map(|two| match two {
        &[(this_ns, _), (next_ns, _)] => Some((this_ns, next_ns - this_ns)),
        _ => None,
    });
    pairs.map(|(this_ns, distance)| (this_ns, as_f64(u64::try_from(distance).unwrap_or(0))))
}

/// Returns the standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = as_f64(values.clone().count() as u64).max(1.0);
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// Returns the correlation of neighboring values, whose mean is 0.
fn neighbors(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let products: f64 = values
        .windows(2)
        .map(|two| two.iter().product::<f64>())
        .sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
