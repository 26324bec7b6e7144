//! Defines durations of many similar items: constant, drawn from a range, or in turn.

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;
use crate::random::Random;

/// One duration per kick, gap or encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration such as \"6us\" or \"1.5ms\" (ns, us, ms, s), a range such as \
                 [\"5us\", \"7us\"], or { cycle = [\"5us\", \"9us\"] }"
)]
pub enum Lengths {
    /// The same duration for all.
    Fixed(Nanos),
    /// Durations drawn from the scenario's seed, between both ends inclusive.
    Range([Nanos; 2]),
    /// Each duration in turn, then from the first again.
    Cycle {
        /// Durations in the order in which they are taken.
        cycle: Vec<Nanos>,
    },
}

impl Lengths {
    /// Returns a constant duration of `ns` nanoseconds.
    #[must_use]
    pub const fn fixed(ns: u64) -> Self {
        Self::Fixed(Nanos::new(ns))
    }

    /// Returns no duration at all.
    pub(crate) fn nothing() -> Self {
        Self::fixed(0)
    }

    /// Returns the duration of the item at `index`.
    pub(crate) fn pick(&self, index: usize, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(length) => length.get(),
            Self::Range([low, high]) => random.between(low.get(), high.get()),
            Self::Cycle { cycle } => cycle
                .get(index % cycle.len().max(1))
                .map_or(0, |length| length.get()),
        }
    }

    /// Returns the shortest and the longest duration it can give, or `None` for an empty cycle.
    pub(crate) fn bounds(&self) -> Option<(Nanos, Nanos)> {
        let lengths: &[Nanos] = match self {
            Self::Fixed(length) => std::slice::from_ref(length),
            Self::Range(ends) => ends,
            Self::Cycle { cycle } => cycle,
        };
        Some((*lengths.iter().min()?, *lengths.iter().max()?))
    }
}
