//! Which of several tracks a slice is drawn on, so that viewers show them all.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Lanes on which none overlap: they that fill up as slices come, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// The lanes in use, the one that ends first on top.
    busy: BinaryHeap<Reverse<(u64, usize)>>,
    /// Lanes that are free again, the first on top.
    free: BinaryHeap<Reverse<usize>>,
}

impl Lanes {
    /// The first lane that is free from `start_ns` on, and takes it. A slice of
    /// no length takes a nanosecond, for viewers hang arrows on it.
    pub(crate) fn place(&mut self, start_ns: u64, end_ns: u64) -> usize {
        while let Some(&Reverse((end, lane))) = self.busy.peek() {
            if end > start_ns {
                break;
            }
            self.busy.pop();
            self.free.push(Reverse(lane));
        }
        // Those in use and those free are all there are.
        let new = self.busy.len();
        let lane = self.free.pop().map_or(new, |Reverse(lane)| lane);
        let end = end_ns.max(start_ns.saturating_add(1));
        self.busy.push(Reverse((end, lane)));
        lane
    }
}

/// Lanes on which slices lie inside one another, or apart. They come in the order
/// of their starts; of those that begin together the longest comes first.
#[derive(Debug, Default)]
pub(crate) struct Nests {
    /// When what is open on each lane ends, the innermost last.
    open: Vec<Vec<u64>>,
    /// The lanes with something open, by when the innermost ends.
    busy: BTreeSet<(u64, usize)>,
    /// The others.
    free: BTreeSet<usize>,
}

impl Nests {
    /// Closes what has ended.
    fn close(&mut self, at_ns: u64) {
        while let Some(&(end_ns, lane)) = self.busy.first() {
            if end_ns > at_ns {
                break;
            }
            self.busy.pop_first();
            let Some(open) = self.open.get_mut(lane) else {
                break;
            };
            open.pop();
            match open.last() {
                Some(&outer_ns) => self.busy.insert((outer_ns, lane)),
                None => self.free.insert(lane),
            };
        }
    }

    /// The lane of a slice, which it takes: the one it was wished on if it fits
    /// there, else inside what it fits in best, else the first free one.
    pub(crate) fn place(&mut self, start_ns: u64, end_ns: u64, wish: Option<usize>) -> usize {
        self.close(start_ns);
        let wish = wish.filter(|&lane| self.fits(lane, end_ns));
        let best = || self.busy.range((end_ns, 0)..).next();
        let lane = wish.or_else(|| best().map(|&(_, lane)| lane));
        let lane = lane.or_else(|| self.free.first().copied());
        let lane = lane.unwrap_or(self.open.len());
        if lane == self.open.len() {
            self.open.push(Vec::new());
        }
        if let Some(open) = self.open.get_mut(lane) {
            match open.last() {
                Some(&outer_ns) => self.busy.remove(&(outer_ns, lane)),
                None => self.free.remove(&lane),
            };
            open.push(end_ns);
        }
        self.busy.insert((end_ns, lane));
        lane
    }

    /// Whether nothing is open on a lane that ends earlier.
    fn fits(&self, lane: usize, end_ns: u64) -> bool {
        let open = self.open.get(lane);
        open.is_some_and(|open| open.last().is_none_or(|&outer_ns| end_ns <= outer_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// ```text
    /// 0  [--------------)[--)
    /// 0    [--)  [------)
    /// 1      [-----)
    /// ```
    #[test]
    fn inside_or_apart() {
        let mut nests = Nests::default();
        let all = [(0, 15), (2, 5), (4, 10), (8, 15), (8, 15), (15, 18)];
        let placed = all.map(|(start, end)| nests.place(start, end, None));
        assert_eq!(placed, [0, 0, 1, 0, 0, 0]);
        assert_eq!(nests.place(16, 17, Some(1)), 1, "as wished");
        assert_eq!(nests.place(16, 17, Some(2)), 1, "there is no third");
        assert_eq!(nests.place(16, 18, Some(1)), 0, "it does not fit");
    }

    /// ```text
    /// 0  [----)   [--)
    /// 1    [----)
    /// 2     [--------)
    /// ```
    #[test]
    fn the_first_free_lane() {
        let mut lanes = Lanes::default();
        let all = [(0, 5), (2, 7), (3, 12), (9, 12), (9, 9), (12, 13)];
        let placed = all.map(|(start, end)| lanes.place(start, end));
        assert_eq!(placed, [0, 1, 2, 0, 1, 0]);
    }

    proptest! {
        /// As by looking at each lane in turn; so none overlap, and no lane is
        /// opened while another is free.
        #[test]
        fn as_by_hand(mut all in prop::collection::vec((0_u64..60, 0_u64..20), 0..40)) {
            all.sort_unstable();
            let mut lanes = Lanes::default();
            let mut ends: Vec<u64> = Vec::new();
            for (start, length) in all {
                let free = ends.iter().position(|&end| end <= start);
                let expected = free.unwrap_or(ends.len());
                ends.resize(ends.len().max(expected + 1), 0);
                ends[expected] = start + length.max(1);
                prop_assert_eq!(lanes.place(start, start + length), expected);
            }
        }

        /// Two on one lane overlap only if one lies inside the other, and no lane
        /// is opened while there is one that would do.
        #[test]
        fn nests_by_hand(
            mut all in prop::collection::vec((0_u64..60, 1_u64..30, 0_usize..6), 0..40),
        ) {
            all.sort_by_key(|&(start, length, _)| (start, Reverse(length)));
            let mut nests = Nests::default();
            let mut lanes: Vec<Vec<(u64, u64)>> = Vec::new();
            for (start, length, wish) in all {
                let end = start + length;
                let fits = |one: &(u64, u64)| one.1 <= start || end <= one.1;
                let would_do = |lane: &Vec<(u64, u64)>| lane.iter().all(fits);
                let lane = nests.place(start, end, Some(wish));
                prop_assert_eq!(lane == lanes.len(), !lanes.iter().any(would_do));
                prop_assert!(lane == wish || !lanes.get(wish).is_some_and(would_do));
                lanes.resize(lanes.len().max(lane + 1), Vec::new());
                prop_assert!(lanes[lane].iter().all(fits));
                lanes[lane].push((start, end));
            }
        }
    }
}
