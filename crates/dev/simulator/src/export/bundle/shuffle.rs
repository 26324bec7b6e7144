//! Moves some rows by a few places, as a recording does: it stores a row when the row is complete,
//! so a long interval comes after the short ones inside it.

use crate::random::Random;

/// Number of rows that may still change places.
const WINDOW: usize = 8;
/// Most places that a row moves.
const HOPS_MAX: u32 = 7;

/// A queue of rows that are not stored yet.
#[derive(Debug)]
pub(super) struct Shuffle {
    random: Random,
    row_bytes: usize,
    /// Up to [`WINDOW`] rows. The first is stored next.
    waiting: Vec<u8>,
}

impl Shuffle {
    pub(super) fn new(random: Random, row_bytes: usize) -> Self {
        Self {
            random,
            row_bytes,
            waiting: Vec::with_capacity(WINDOW * row_bytes),
        }
    }

    /// Takes a row in the table's order, and stores the first row of a full queue.
    pub(super) fn push(&mut self, row: &[u8], store: &mut impl FnMut(&[u8])) {
        self.waiting.extend_from_slice(row);
        if self.random.once_in(8) {
            let hops = 1 + self.random.below(HOPS_MAX);
            self.forward(hops);
        }
        if self.waiting.len() >= WINDOW * self.row_bytes {
            store(&self.waiting[..self.row_bytes]);
            self.waiting.drain(..self.row_bytes);
        }
    }

    /// Stores the rows that are still queued.
    pub(super) fn finish(self, store: &mut impl FnMut(&[u8])) {
        self.waiting.chunks_exact(self.row_bytes).for_each(store);
    }

    /// Moves the newest row before others, but never before one of the same time, so that a stable
    /// sort by time restores the table's order.
    fn forward(&mut self, hops: u32) {
        let mut position = self.waiting.len() / self.row_bytes - 1;
        for _ in 0..hops {
            if position == 0 || self.time(position - 1) == self.time(position) {
                return;
            }
            let (before, rest) = self.waiting.split_at_mut(position * self.row_bytes);
            let before = &mut before[(position - 1) * self.row_bytes..];
            before.swap_with_slice(&mut rest[..self.row_bytes]);
            position -= 1;
        }
    }

    /// Returns the time of a waiting row as bytes; every row begins with its time.
    fn time(&self, position: usize) -> &[u8] {
        let start = position * self.row_bytes;
        &self.waiting[start..start + 8]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stable_sort_by_time_restores_the_order() {
        let mut shuffle = Shuffle::new(Random::new(1, &[]), 16);
        let mut stored: Vec<[u64; 2]> = Vec::new();
        let rows: Vec<[u64; 2]> = (0..1_000).map(|n| [n / 3, n]).collect();
        let mut store = |row: &[u8]| {
            let word = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap());
            stored.push([word(0), word(8)]);
        };
        for row in &rows {
            shuffle.push(&row.map(u64::to_le_bytes).concat(), &mut store);
        }
        shuffle.finish(&mut store);
        assert_ne!(stored, rows, "no row moved");
        stored.sort_by_key(|row| row[0]);
        assert_eq!(stored, rows);
    }
}
