//! Draws random numbers: splitmix64, integers only, the same on every machine.

use std::num::NonZeroU32;

/// A source of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Returns the source for one place in the scenario. Each place draws other numbers.
    pub(crate) fn new(seed: u64, place: &[u64]) -> Self {
        let mut random = Self(seed);
        for step in place {
            random.0 = random.next() ^ step.wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        random
    }

    /// Returns any 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high`, both included. The bias of the remainder is
    /// negligible here.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(choices) => low + self.next() % choices,
            None => self.next(),
        }
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        // The remainder fits into a u32.
        u32::try_from(self.next() % u64::from(bound)).unwrap_or(0)
    }

    /// Returns true once in `n` draws.
    pub(crate) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Returns a number from 1 to `max` once in `draws` draws, else `None`.
    pub(crate) fn optional_count(&mut self, draws: u32, max: u32) -> Option<NonZeroU32> {
        if self.once_in(draws) {
            NonZeroU32::new(1 + self.below(max))
        } else {
            None
        }
    }

    /// Returns one of the choices.
    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let bound = u64::try_from(choices.len()).unwrap_or(u64::MAX);
        let pick = usize::try_from(self.next() % bound).unwrap_or(0);
        &choices[pick]
    }
}
