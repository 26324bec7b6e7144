//! Assigns slices to lanes, so that viewers show all slices.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Lanes on which no slices overlap. Slices must be placed in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct FreeLanes {
    /// Lanes in use, the one that ends first on top.
    busy: BinaryHeap<Reverse<(u64, usize)>>,
    /// Lanes that are free again, the first on top.
    free: BinaryHeap<Reverse<usize>>,
}

impl FreeLanes {
    /// Takes the first lane that is free from `start_ns` on. A slice without length takes one
    /// nanosecond, because viewers attach arrows to it.
    pub(crate) fn place(&mut self, start_ns: u64, end_ns: u64) -> usize {
        while let Some(&Reverse((end, lane))) = self.busy.peek() {
            if end > start_ns {
                break;
            }
            self.busy.pop();
            self.free.push(Reverse(lane));
        }

        // Without a free lane, all lanes are in use.
        let new = self.busy.len();
        let lane = self.free.pop().map_or(new, |Reverse(lane)| lane);

        let end = end_ns.max(start_ns.saturating_add(1));
        self.busy.push(Reverse((end, lane)));
        lane
    }
}

/// Lanes on which slices are nested or apart. Slices must be placed in the order of their starts, and
/// of those with the same start the longest first.
#[derive(Debug, Default)]
pub(crate) struct NestedLanes {
    /// End times of the open slices on each lane, the innermost last.
    open: Vec<Vec<u64>>,
    /// Lanes with an open slice, by the end of the innermost one.
    busy: BTreeSet<(u64, usize)>,
    /// Lanes without an open slice.
    free: BTreeSet<usize>,
}

impl NestedLanes {
    /// Closes the slices that have ended.
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

    /// Takes a lane for a slice: the preferred one if the slice fits there, else the lane in which
    /// it fits most tightly, else the first free one.
    pub(crate) fn place(&mut self, start_ns: u64, end_ns: u64, preferred: Option<usize>) -> usize {
        self.close(start_ns);
        let preferred = preferred.filter(|&lane| self.fits(lane, end_ns));
        let tightest = || self.busy.range((end_ns, 0)..).next();
        let lane = preferred
            .or_else(|| tightest().map(|&(_, lane)| lane))
            .or_else(|| self.free.first().copied())
            .unwrap_or(self.open.len());

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

    /// Returns whether no open slice on a lane ends earlier.
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
    fn slices_that_are_nested_or_apart_share_a_lane() {
        let mut nests = NestedLanes::default();
        let all = [(0, 15), (2, 5), (4, 10), (8, 15), (8, 15), (15, 18)];
        let placed = all.map(|(start, end)| nests.place(start, end, None));
        assert_eq!(placed, [0, 0, 1, 0, 0, 0]);
        assert_eq!(nests.place(16, 17, Some(1)), 1, "as preferred");
        assert_eq!(nests.place(16, 17, Some(2)), 1, "there is no third lane");
        assert_eq!(nests.place(16, 18, Some(1)), 0, "it does not fit");
    }

    /// ```text
    /// 0  [----)   [--)
    /// 1    [----)
    /// 2     [--------)
    /// ```
    #[test]
    fn a_slice_takes_the_first_free_lane() {
        let mut lanes = FreeLanes::default();
        let all = [(0, 5), (2, 7), (3, 12), (9, 12), (9, 9), (12, 13)];
        let placed = all.map(|(start, end)| lanes.place(start, end));
        assert_eq!(placed, [0, 1, 2, 0, 1, 0]);
    }

    proptest! {
        /// Compares with looking at each lane in turn: no slices overlap, and no lane is opened
        /// while another is free.
        #[test]
        fn first_free_lane_is_taken(mut all in prop::collection::vec((0_u64..60, 0_u64..20), 0..40)) {
            all.sort_unstable();
            let mut lanes = FreeLanes::default();
            let mut ends: Vec<u64> = Vec::new();
            for (start, length) in all {
                let free = ends.iter().position(|&end| end <= start);
                let expected = free.unwrap_or(ends.len());
                ends.resize(ends.len().max(expected + 1), 0);
                ends[expected] = start + length.max(1);
                prop_assert_eq!(lanes.place(start, start + length), expected);
            }
        }

        /// Checks that two slices on one lane overlap only if one is inside the other, and that no
        /// lane is opened while another would do.
        #[test]
        fn nested_lanes_are_reused(
            mut all in prop::collection::vec((0_u64..60, 1_u64..30, 0_usize..6), 0..40),
        ) {
            all.sort_by_key(|&(start, length, _)| (start, Reverse(length)));
            let mut nests = NestedLanes::default();
            let mut lanes: Vec<Vec<(u64, u64)>> = Vec::new();
            for (start, length, preferred) in all {
                let end = start + length;
                let fits = |other: &(u64, u64)| other.1 <= start || end <= other.1;
                let has_room = |lane: &Vec<(u64, u64)>| lane.iter().all(fits);
                let lane = nests.place(start, end, Some(preferred));
                prop_assert_eq!(lane == lanes.len(), !lanes.iter().any(has_room));
                prop_assert!(lane == preferred || !lanes.get(preferred).is_some_and(has_room));
                lanes.resize(lanes.len().max(lane + 1), Vec::new());
                prop_assert!(lanes[lane].iter().all(fits));
                lanes[lane].push((start, end));
            }
        }
    }
}
