//! Finds where a series of values steps to another level and stays there. The test uses ranks, so that one wild value
//! neither makes nor hides a step.
//!
//! A series is cut where the ranks before and after differ most (Mann and Whitney's statistic, for each cut), if that
//! is hardly chance, and so are its parts. Then the cuts between levels that differ by less than counts are taken
//! back, the least first. What a line explains better is a trend, not a step.

use metalens_text::number::Float;

use crate::statistics::median;
use crate::trend::{LEAST_POINTS, Trend};

/// Smallest number of values on a level.
const LEAST_VALUES: usize = 4;
/// Number of times that a part is cut again.
const DEPTH: u32 = 5;

/// Returns the places of the first values of each new level. `points` are times and values in order of time, `floor`
/// the smallest difference between two levels, and `chance` the probability of a cut where there is none.
pub(super) fn steps(points: &[(f64, f64)], line: &Trend, floor: f64, chance: f64) -> Vec<usize> {
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let mut cuts = Vec::new();
    cut(&values, 0, chance, DEPTH, &mut cuts);
    while let Some(least) = least_step(&values, &cuts).filter(|&(_, by)| by < floor) {
        cuts.remove(least.0);
    }
    let of_line = |&(time, value): &(f64, f64)| (value - line.intercept - line.slope * time).abs();
    let of_line: f64 = points.iter().map(of_line).sum();
    let of_levels: f64 = levels(&values, &cuts).map(distances).sum();
    if of_levels < of_line {
        cuts
    } else {
        Vec::new()
    }
}

/// Returns the parts between cuts.
pub(super) fn levels<'a, T>(values: &'a [T], cuts: &'a [usize]) -> impl Iterator<Item = &'a [T]> {
    let ends = cuts.iter().copied().chain([values.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    starts
        .zip(ends)
        .map(|(start, end)| values.get(start..end).unwrap_or_default())
}

/// Adds the cuts of a part, which begins here, in order.
fn cut(values: &[f64], from: usize, chance: f64, depth: u32, cuts: &mut Vec<usize>) {
    let Some(at) = best_cut(values, chance).filter(|_| depth > 0) else {
        return;
    };
    let (before, after) = values.split_at(at);
    cut(before, from, chance, depth - 1, cuts);
    cuts.push(from + at);
    cut(after, from + at, chance, depth - 1, cuts);
}

/// Returns the cut beside which the ranks differ most; none if one like it may be chance.
fn best_cut(values: &[f64], chance: f64) -> Option<usize> {
    let count = values.len();
    let last = count
        .checked_sub(LEAST_VALUES)
        .filter(|_| count >= LEAST_POINTS)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Values below minus values above, summed over the values before the cut.
    let (all, mut sum) = (count.float(), 0.0);
    let mut best = (0, 0.0);
    for (before, value) in (1..).zip(values) {
        let below = sorted.partition_point(|other| other < value);
        let others = sorted.partition_point(|other| other <= value);
        sum += below.float() - (count - others).float();
        let part = before.float();
        let score = sum.abs() / (part * (all - part) * (all + 1.0) / 3.0).sqrt();
        if (LEAST_VALUES..=last).contains(&before) && score > best.1 {
            best = (before, score);
        }
    }
    // As many cuts were tried.
    let tried = (last + 1 - LEAST_VALUES).float();
    (tried * libm::erfc(best.1 / std::f64::consts::SQRT_2) < chance).then_some(best.0)
}

/// Returns the cut between the two levels that differ least, by its place among the cuts, and by how much.
fn least_step(values: &[f64], cuts: &[usize]) -> Option<(usize, f64)> {
    let levels: Option<Vec<f64>> = levels(values, cuts).map(median).collect();
    let levels = levels?;
    let steps = levels.windows(2).map(|pair| match pair {
        [was, is] => (is - was).abs(),
        _ => 0.0,
    });
    steps.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Returns the sum of the distances of values from their median.
fn distances(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).abs()).sum()
}

#[cfg(test)]
mod tests {
    use metalens_testing::Random;

    use super::*;
    use crate::trend::trend;

    /// Returns the steps of values of successive days.
    fn found(values: &[f64]) -> Vec<usize> {
        let points = (0..).map(f64::from).zip(values.iter().copied());
        let points: Vec<(f64, f64)> = points.collect();
        let line = trend(&points).unwrap();
        steps(&points, &line, 5.0, 0.005)
    }

    fn noisy(levels: &[(usize, f64)], random: &mut Random) -> Vec<f64> {
        let levels = levels.iter();
        let level = levels.flat_map(|&(days, level)| vec![level; days]);
        level.map(|level| level + random.normal()).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let mut random = Random::new(3);
        let mut check = |levels: &[(usize, f64)], expected: &[usize]| {
            let found = found(&noisy(levels, &mut random));
            let is_near = found
                .iter()
                .zip(expected)
                .all(|(found, step)| found.abs_diff(*step) <= 2);
            assert!(
                is_near && found.len() == expected.len(),
                "{levels:?}: {found:?}"
            );
        };
        check(&[(80, 100.0)], &[]);
        check(&[(50, 100.0), (30, 108.0)], &[50]);
        check(&[(150, 100.0), (10, 94.0)], &[150]);
        // Too small to count, and back again.
        check(&[(50, 100.0), (30, 103.0)], &[]);
        check(&[(30, 100.0), (40, 110.0), (30, 100.0)], &[30, 70]);
        // A step has to last: few values on another level are outliers.
        check(&[(30, 100.0), (10, 110.0), (40, 100.0)], &[]);
        check(&[(40, 100.0), (2, 130.0), (40, 100.0)], &[]);
        // A steady rise is no step.
        let rise: Vec<(usize, f64)> = (0..80)
            .map(|day| (1, 100.0 + f64::from(day) / 4.0))
            .collect();
        check(&rise, &[]);
    }

    #[test]
    fn level_values_rarely_have_a_step() {
        let mut random = Random::new(4);
        let mut is_found = |_: &u32| {
            // Values that vary by more than what counts.
            let values: Vec<f64> = (0..60).map(|_| 100.0 + 10.0 * random.normal()).collect();
            !found(&values).is_empty()
        };
        let found = (0..500).filter(|trial| is_found(trial)).count();
        assert!(found <= 5, "{found} of 500");
    }
}
