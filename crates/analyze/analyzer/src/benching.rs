//! Exposes inner loops on made-up input to `benches/kernels.rs`. It is not an API, and may change
//! without notice.

use std::num::NonZeroU64;

use crate::basics::by_id::ById;
use crate::basics::spans::{self, Span};
use crate::basics::statistics;

/// Stretches of time in order of their starts.
#[derive(Debug)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Returns `count` stretches of one length, with a fixed time from start to start.
    #[must_use]
    pub fn regular(count: u64, every_ns: u64, length_ns: u64) -> Self {
        let span = |number: u64| Span::new(number * every_ns, number * every_ns + length_ns);
        Self((0..count).map(span).collect())
    }

    /// Returns the union of the stretches.
    #[must_use]
    pub fn union(&self) -> Self {
        Self(spans::union(self.0.iter().copied()))
    }

    /// Returns the time in nanoseconds that two unions have in common.
    #[must_use]
    pub fn overlap_ns(&self, other: &Self) -> u64 {
        spans::overlap_ns(&self.0, &other.0)
    }
}

/// Map from ids to values.
#[derive(Debug)]
pub struct Ids(ById<u64>);

impl Ids {
    /// Returns a map in which each id is its own value.
    pub fn new(ids: impl Iterator<Item = NonZeroU64>) -> Self {
        Self(ById::new(ids.map(|id| (id, id.get())).collect()))
    }

    /// Returns the value of an id.
    #[must_use]
    pub fn get(&self, id: NonZeroU64) -> Option<u64> {
        self.0.get(id)
    }
}

/// Returns the median, the 95th and the 99th percentile of values in any order.
pub fn percentiles(values: &mut [u64]) -> Option<[u64; 3]> {
    statistics::percentiles(values, [50, 95, 99])
}
