//! Each of many values once.

use std::hash::Hash;

use rustc_hash::FxHashSet;

/// Returns each value once, sorted: a few among very many.
pub(crate) fn distinct<T: Copy + Ord + Hash>(all: impl Iterator<Item = T>) -> Vec<T> {
    let (mut known, mut last) = (FxHashSet::default(), None);
    for one in all {
        if last.replace(one) != Some(one) {
            known.insert(one);
        }
    }
    let mut known: Vec<T> = known.into_iter().collect();
    known.sort_unstable();
    known
}
