//! How long each of many like things takes: always the same, drawn from a range, or in turn.

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;
use crate::plan::random::Random;

/// One length per kick, gap or encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration such as \"6us\" or \"1.5ms\" (ns, us, ms, s), a range such as \
                 [\"5us\", \"7us\"], or { cycle = [\"5us\", \"9us\"] }"
)]
pub enum Lengths {
    /// Every one the same.
    Fixed(Nanos),
    /// Each drawn from the scenario's seed, both ends included.
    Range([Nanos; 2]),
    /// One after another, then from the first again.
    Cycle {
        /// The lengths taken in turn.
        cycle: Vec<Nanos>,
    },
}

impl Lengths {
    /// Always the same length.
    #[must_use]
    pub const fn fixed(ns: u64) -> Self {
        Self::Fixed(Nanos::new(ns))
    }

    /// The length of the thing at `index`.
    pub(crate) fn pick(&self, index: usize, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(length) => length.get(),
            Self::Range([low, high]) => random.between(low.get(), high.get()),
            Self::Cycle { cycle } => cycle
                .get(index % cycle.len().max(1))
                .map_or(0, |length| length.get()),
        }
    }

    /// The shortest and the longest it can give; nothing when a cycle is empty.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let all: &[Nanos] = match self {
            Self::Fixed(length) => std::slice::from_ref(length),
            Self::Range(ends) => ends,
            Self::Cycle { cycle } => cycle,
        };
        let shortest = all.iter().min()?.get();
        let longest = all.iter().max()?.get();
        Some((shortest, longest))
    }
}
