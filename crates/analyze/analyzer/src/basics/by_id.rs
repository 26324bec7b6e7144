//! Map from ids to values: millions of them, each looked up about once.

use std::num::NonZeroU64;

/// Values by id, sorted: ids rise with time, so that sorting is fast, and the list takes half
/// the memory of a map.
///
/// Ids are divided into blocks of equal ranges, and the start of each block is known.
/// Consecutive ids are found without a search of the whole list; any others take as many steps
/// as that search.
#[derive(Debug)]
pub(crate) struct ById<T> {
    entries: Vec<(NonZeroU64, T)>,
    /// Position of each block's first entry, and at last the number of entries.
    blocks: Vec<u32>,
    /// Number of low bits of an id that differ within a block.
    bits: u32,
    /// Entries that were dropped although an earlier one with their id has another value, in the
    /// order of their ids.
    contradictions: Vec<(NonZeroU64, T)>,
}

/// Approximate number of entries in a block of consecutive ids.
const BLOCK: usize = 8;

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            blocks: Vec::new(),
            bits: 0,
            contradictions: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> ById<T> {
    /// Sorts the entries by id. An id whose entries have different values has no value: which one
    /// is meant, nobody can tell.
    pub(crate) fn new(mut entries: Vec<(NonZeroU64, T)>) -> Self {
        if !entries.is_sorted_by_key(|&(id, _)| id) {
            entries.sort_by_key(|&(id, _)| id);
        }
        let mut contradictions = Vec::new();
        entries.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same && next.1 != first.1 {
                contradictions.push(*next);
            }

            same
        });

        let mut by_id = Self {
            entries,
            contradictions,
            ..Self::default()
        };
        by_id.divide();
        by_id
    }

    /// Returns the value of an id; `None` if there is none, or if there are several.
    pub(crate) fn get(&self, id: NonZeroU64) -> Option<T> {
        if self.is_contradicted(id) {
            return None;
        }

        let block = self.block_of(id)?;
        let start = *self.blocks.get(block)? as usize;
        let end = *self.blocks.get(block + 1)? as usize;

        let entries = self.entries.get(start..end)?;
        let index = entries.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        entries.get(index).map(|&(_, value)| value)
    }

    /// Returns whether an id has several values.
    pub(crate) fn is_contradicted(&self, id: NonZeroU64) -> bool {
        self.contradictions
            .binary_search_by_key(&id, |&(id, _)| id)
            .is_ok()
    }

    /// Returns the number of entries whose value differs from the first one of their id.
    pub(crate) fn contradictions(&self) -> usize {
        self.contradictions.len()
    }

    /// Returns the ids, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NonZeroU64> + Clone + '_ {
        self.entries.iter().map(|&(id, _)| id)
    }

    /// Returns the values in the order of their ids, then further values of ids that have several.
    pub(crate) fn values(&self) -> impl Iterator<Item = T> + Clone + '_ {
        let entries = self.entries.iter().chain(&self.contradictions);
        entries.map(|&(_, value)| value)
    }

    /// Chooses blocks so large that there are not many more than [`BLOCK`] asks for.
    fn divide(&mut self) {
        let Some((&(first, _), &(last, _))) = self.entries.first().zip(self.entries.last()) else {
            return;
        };
        let most = (self.entries.len() / BLOCK).max(1) as u64;
        let range = last.get() - first.get();
        while range >> self.bits > most {
            self.bits += 1;
        }

        let mut blocks = Vec::new();
        for (place, id) in (0..).zip(self.ids()) {
            let block = self.block_of(id).unwrap_or(0);
            if blocks.len() <= block {
                blocks.resize(block + 1, place);
            }
        }

        // No machine has memory for more than four billion entries.
        blocks.push(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.blocks = blocks;
    }

    fn block_of(&self, id: NonZeroU64) -> Option<usize> {
        let (first, _) = self.entries.first()?;
        let above = id.get().checked_sub(first.get())?;
        usize::try_from(above >> self.bits).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Ids close together, far apart, and some of each.
        #[test]
        fn every_id_is_found(
            ids in prop::collection::vec(prop_oneof![1_u64..300, any::<u64>()], 0..200),
            asked in prop_oneof![0_u64..300, any::<u64>()],
        ) {
            let entries = ids.iter().filter_map(|&id| Some((NonZeroU64::new(id)?, id)));
            let by_id = ById::new(entries.collect());
            for id in ids.iter().copied().chain([asked]).filter_map(NonZeroU64::new) {
                let expected = ids.contains(&id.get()).then_some(id.get());
                prop_assert_eq!(by_id.get(id), expected);
            }
            prop_assert!(by_id.blocks.len() <= ids.len() / BLOCK * 2 + 3);
        }
    }

    /// Checks the value of id 2, the number of contradictions, and all values.
    #[test]
    fn an_id_with_several_values_has_none() {
        let check = |entries: &[(u64, u64)], expected: Option<u64>, count: usize, all: &[u64]| {
            let id = |id: u64| NonZeroU64::new(id).unwrap();
            let entries = entries.iter().map(|&(of, value)| (id(of), value));
            let by_id = ById::new(entries.collect());
            assert_eq!(by_id.get(id(2)), expected);
            assert_eq!(by_id.is_contradicted(id(2)), expected.is_none());
            assert_eq!(by_id.contradictions(), count);
            assert_eq!(by_id.values().collect::<Vec<_>>(), all);
        };

        check(&[(2, 7), (1, 5)], Some(7), 0, &[5, 7]);
        // A repetition is not a contradiction.
        check(&[(2, 7), (1, 5), (2, 7)], Some(7), 0, &[5, 7]);
        check(&[(2, 7), (3, 1), (3, 2)], Some(7), 1, &[7, 1, 2]);
        check(
            &[(2, 7), (1, 5), (2, 6), (1, 5), (2, 8), (3, 1), (3, 2)],
            None,
            3,
            &[5, 7, 1, 6, 8, 2],
        );
    }
}
