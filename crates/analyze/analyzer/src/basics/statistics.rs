//! Statistics of lists of durations, by definitions that anyone can recompute.

use metalens_text::number::{Float, rounded};

/// Statistics of a list of durations. All fields are in nanoseconds, except the count.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Number of durations.
    pub count: u64,
    /// Sum of the durations.
    pub total: u64,
    /// Mean, rounded to the nearest nanosecond.
    pub mean: u64,
    /// Median, by [`percentile`].
    pub median: u64,
    /// Smallest duration.
    pub min: u64,
    /// Largest duration.
    pub max: u64,
    /// Standard deviation of the population, rounded to the nearest nanosecond.
    pub deviation: u64,
    /// 95th percentile: 95 % of the durations are not longer.
    pub p95: u64,
    /// 99th percentile: 99 % of the durations are not longer.
    pub p99: u64,
}

/// Returns the statistics of a list; `None` if it is empty. Changes the order of the list.
pub(crate) fn summarize(durations: &mut [u64]) -> Option<Statistics> {
    let (&min, &max) = (durations.iter().min()?, durations.iter().max()?);
    let sum: u128 = durations.iter().map(|&d| u128::from(d)).sum();
    let count = durations.len() as u128;
    let deviation = deviation(durations, sum);
    let [median, p95, p99] = percentiles(durations, [50, 95, 99])?;

    Some(Statistics {
        count: durations.len() as u64,
        total: saturate(sum),
        mean: saturate((sum + count / 2) / count),
        median,
        min,
        max,
        deviation,
        p95,
        p99,
    })
}

/// Returns the percentile by nearest rank: of n sorted values the one at index ⌈p/100·n⌉ - 1.
pub(crate) fn percentile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    sorted.get(rank(sorted.len(), percent)).copied()
}

/// Returns the median by nearest rank: of an even number of values, the lower of the middle two.
pub(crate) fn median<T: Copy + Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    percentiles(&mut values, [50]).map(|[median]| median)
}

/// Returns the median distance of values from their middle, which a few wild values hardly change.
pub(crate) fn deviation_from(values: impl IntoIterator<Item = u64>, middle: u64) -> Option<u64> {
    median(values.into_iter().map(|value| value.abs_diff(middle)))
}

/// Returns the mean of the middle half of values, rounded down: where they have two lengths, it does not jump
/// from one to the other as a median does.
pub(crate) fn middle_mean(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let cut = sorted
        .len()
        .div_ceil(4)
        .min(sorted.len().saturating_sub(1) / 2);
    let middle = sorted.get(cut..sorted.len() - cut)?;
    let sum: u128 = middle.iter().map(|&value| u128::from(value)).sum();
    sum.checked_div(middle.len() as u128).map(saturate)
}

/// Returns a figure of the first, the second and the last third of values: how much it varies within a run.
/// `None` for fewer than nine values.
pub(crate) fn of_thirds(
    values: &[u64],
    figure: impl Fn(&[u64]) -> Option<u64>,
) -> Option<[u64; 3]> {
    let third = Some(values.len() / 3).filter(|&third| third >= 3)?;
    let (first, rest) = values.split_at_checked(third)?;
    let (second, last) = rest.split_at_checked(rest.len() - third)?;
    let [first, second, last] = [first, second, last].map(figure);
    Some([first?, second?, last?])
}

/// Returns several percentiles, the lowest first: each is searched only above the one before.
pub(crate) fn percentiles<T: Copy + Ord, const N: usize>(
    values: &mut [T],
    rising: [usize; N],
) -> Option<[T; N]> {
    let count = values.len();
    at_ranks(values, rising.map(|percent| rank(count, percent)))
}

/// Returns the middles of sixteen equal parts of the sorted values, which tell lengths that are apart. `None`
/// for fewer than sixteen values.
pub(crate) fn sixteenths(values: &mut [u64]) -> Option<[u64; 16]> {
    let count = values.len();
    let middles = std::array::from_fn(|part| (2 * part + 1) * count / 32);
    (count >= 16).then(|| at_ranks(values, middles))?
}

/// Returns the values at rising places of the sorted values.
fn at_ranks<T: Copy + Ord, const N: usize>(values: &mut [T], ranks: [usize; N]) -> Option<[T; N]> {
    let mut found = [*values.first()?; N];
    let (mut rest, mut below) = (values, 0);
    for (value, rank) in found.iter_mut().zip(ranks) {
        let index = rank
            .checked_sub(below)
            .filter(|&index| index < rest.len())?;
        *value = *rest.select_nth_unstable(index).1;
        (rest, below) = (rest.get_mut(index..)?, rank);
    }
    Some(found)
}

fn rank(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).saturating_sub(1)
}

fn deviation(durations: &[u64], sum: u128) -> u64 {
    let count = durations.len().float();
    let mean = sum.float() / count;
    let squares: f64 = durations.iter().map(|d| (d.float() - mean).powi(2)).sum();
    rounded((squares / count).sqrt())
}

/// Limits a sum to 64 bits, which are 584 years of nanoseconds.
fn saturate(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[u64], expected: Statistics) {
        let found = summarize(&mut values.to_vec());
        assert_eq!(found, Some(expected), "{values:?}");
    }

    #[test]
    fn summaries() {
        // Deviation of 2 4 4 4 5 5 7 9: the textbook's 2.
        check(
            &[9, 2, 4, 4, 5, 4, 7, 5],
            Statistics {
                count: 8,
                total: 40,
                mean: 5,
                median: 4,
                min: 2,
                max: 9,
                deviation: 2,
                p95: 9,
                p99: 9,
            },
        );
        check(
            &[3],
            Statistics {
                count: 1,
                total: 3,
                mean: 3,
                median: 3,
                min: 3,
                max: 3,
                deviation: 0,
                p95: 3,
                p99: 3,
            },
        );
        assert_eq!(summarize(&mut []), None);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), Some(50));
        assert_eq!(percentile(&hundred, 95), Some(95));
        assert_eq!(percentile(&hundred, 99), Some(99));
        assert_eq!(percentile(&[1, 2, 3], 50), Some(2));
        assert_eq!(percentile(&[1, 2, 3, 4], 50), Some(2));
    }

    #[test]
    fn selecting_gives_the_same_as_sorting() {
        assert_eq!(median::<u64>([]), None);
        for count in 1..=205 {
            // In no order, some of them twice.
            let shuffled: Vec<u64> = (0..count).map(|at| at * 7 % 101).collect();
            let mut sorted = shuffled.clone();
            sorted.sort_unstable();
            let middle = median(shuffled.iter().copied());
            assert_eq!(middle, percentile(&sorted, 50), "{count}");
            let rising = [0, 1, 50, 50, 95, 99, 100];
            let found = percentiles(&mut shuffled.clone(), rising).unwrap();
            assert_eq!(
                found,
                rising.map(|percent| percentile(&sorted, percent).unwrap())
            );
        }
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let summary = summarize(&mut [u64::MAX, u64::MAX]).unwrap();
        assert_eq!(
            (summary.total, summary.mean, summary.deviation),
            (u64::MAX, u64::MAX, 0)
        );
    }
}
