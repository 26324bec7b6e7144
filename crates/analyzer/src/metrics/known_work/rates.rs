//! Amounts of work, and how fast that is.

use crate::report::{ChipLimits, Share, WorkRates};

/// Amounts of work; none where unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub operations: Option<u128>,
    pub bytes: Option<u128>,
    pub flops: Option<u128>,
}

impl Amounts {
    /// So many times the amounts of one instance.
    #[must_use]
    pub(crate) fn times(self, instances: u64) -> Self {
        self.each(|amount| amount.saturating_mul(u128::from(instances)))
    }

    /// The sum, of what is known.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u128>, b: Option<u128>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            operations: sum(self.operations, other.operations),
            bytes: sum(self.bytes, other.bytes),
            flops: sum(self.flops, other.flops),
        }
    }

    fn each(self, change: impl Fn(u128) -> u128) -> Self {
        Self {
            operations: self.operations.map(&change),
            bytes: self.bytes.map(&change),
            flops: self.flops.map(&change),
        }
    }

    /// Their rates over a time.
    #[must_use]
    pub(crate) fn over(self, over_ns: u64) -> WorkRates {
        // A sum beyond 64 bits is no sum that a file meant.
        let amount = |amount: Option<u128>| u64::try_from(amount?).ok();
        WorkRates {
            over_ns,
            operations: amount(self.operations),
            bytes: amount(self.bytes),
            flops: amount(self.flops),
            operations_per_s: per_ns(self.operations, over_ns).map(|rate| rate * 1e9),
            gb_per_s: per_ns(self.bytes, over_ns),
            tflop_per_s: per_ns(self.flops, over_ns).map(|rate| rate / 1e3),
        }
    }
}

/// Bytes per nanosecond are GB per second.
#[expect(
    clippy::cast_precision_loss,
    reason = "a rate is rounded anyway, by less than 1e-15 of it"
)]
fn per_ns(amount: Option<u128>, over_ns: u64) -> Option<f64> {
    (over_ns > 0).then_some(amount? as f64 / over_ns as f64)
}

/// A rate's share of what a chip can do.
#[must_use]
pub(crate) fn share(rate: Option<f64>, limits: Option<ChipLimits>) -> Option<Share> {
    let (rate, limits) = (rate?, limits?);
    Some(Share {
        at_least: rate / limits.max,
        at_most: rate / limits.min,
    })
}
