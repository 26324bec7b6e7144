//! Computes means, percentiles and histograms of values by counting equal values.

use std::collections::BTreeMap;

/// Values, each with the number of its occurrences.
#[derive(Debug, Default)]
pub(super) struct Tally {
    occurrences: BTreeMap<u64, u64>,
    count: u64,
    total: u64,
}

impl Tally {
    pub(super) fn add(&mut self, value: u64) {
        *self.occurrences.entry(value).or_default() += 1;
        self.count += 1;
        self.total += value;
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the mean to the nearest whole number, halves up.
    pub(super) fn mean(&self) -> Option<u64> {
        (self.total + self.count / 2).checked_div(self.count)
    }

    /// Returns the smallest value that at least `percent` of all values do not exceed.
    pub(super) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100);
        let mut so_far = 0;
        let reached = self.occurrences.iter().find(|(_, occurrences)| {
            so_far += *occurrences;
            so_far >= rank
        });
        reached.map(|(value, _)| *value)
    }

    pub(super) fn min(&self) -> Option<u64> {
        self.occurrences.keys().next().copied()
    }

    pub(super) fn max(&self) -> Option<u64> {
        self.occurrences.keys().next_back().copied()
    }

    /// Returns the number of values from `low` up to but not including `high`, and their total.
    pub(super) fn between(&self, low: u64, high: Option<u64>) -> (u64, u64) {
        self.occurrences
            .range(low..)
            .take_while(|(value, _)| high.is_none_or(|high| **value < high))
            .fold((0, 0), |(count, total), (value, occurrences)| {
                (count + occurrences, total + value * occurrences)
            })
    }
}

impl FromIterator<u64> for Tally {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut tally = Self::default();
        values.into_iter().for_each(|value| tally.add(value));
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn percentiles_are_nearest_rank() {
        let tally: Tally = [40, 10, 30, 20].into_iter().collect();
        assert_eq!(tally.percentile(50), Some(20));
        assert_eq!(tally.percentile(51), Some(30));
        assert_eq!(tally.percentile(95), Some(40));
        assert_eq!(Tally::default().percentile(50), None);
    }

    #[test]
    fn means_round_halves_up() {
        assert_eq!([1, 2].into_iter().collect::<Tally>().mean(), Some(2));
        assert_eq!([1, 1, 2].into_iter().collect::<Tally>().mean(), Some(1));
        assert_eq!(Tally::default().mean(), None);
    }
}
