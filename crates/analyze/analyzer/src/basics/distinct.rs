//! Finds the distinct values among many.

use std::hash::Hash;

use rustc_hash::FxHashSet;

/// Returns the distinct values, sorted. Fast if many values are equal to the one before.
pub(crate) fn distinct<T: Copy + Ord + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let (mut known, mut last) = (FxHashSet::default(), None);
    for value in values {
        // Most values repeat the last one; those need no look into the set.
        if last.replace(value) != Some(value) {
            known.insert(value);
        }
    }

    let mut sorted: Vec<T> = known.into_iter().collect();
    sorted.sort_unstable();
    sorted
}
