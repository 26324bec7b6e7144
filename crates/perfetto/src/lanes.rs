//! Which of a channel's tracks a slice is drawn on, so that none overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Lanes that fill up as slices come, in the order of their starts.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    }
}
