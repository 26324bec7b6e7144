//! Computes rates of work from amounts and times.

use crate::report::{ChipLimits, ShareRange, WorkRates};
use crate::request::work_file::KnownWork;
use metalens_message::{Bytes, Ns, Share};
use metalens_text::number::Float;

/// Amounts of work; `None` if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub operations: Option<u128>,
    pub bytes: Option<u128>,
    pub flops: Option<u128>,
}

impl Amounts {
    /// Returns the amounts of an entry.
    pub(crate) fn of(entry: &KnownWork) -> Self {
        Self {
            operations: entry.operations.map(u128::from),
            bytes: entry.bytes.map(u128::from),
            flops: entry.flops.map(u128::from),
        }
    }

    /// Returns the amounts of this many instances.
    #[must_use]
    pub(crate) fn times(self, instances: u64) -> Self {
        self.each(|amount| amount.saturating_mul(u128::from(instances)))
    }

    /// Returns the sum of the known amounts.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
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

    /// Returns the rates over a time.
    pub(crate) fn over(self, over_ns: Ns) -> WorkRates {
        // A sum beyond 64 bits cannot be what a file means.
        let amount = |amount: Option<u128>| u64::try_from(amount?).ok();
        WorkRates {
            operations: amount(self.operations),
            bytes: amount(self.bytes).map(Bytes),
            flops: amount(self.flops),
            operations_per_s: per_ns(self.operations, over_ns.0).map(|rate| rate * 1e9),
            gb_per_s: per_ns(self.bytes, over_ns.0),
            tflop_per_s: per_ns(self.flops, over_ns.0).map(|rate| rate / 1e3),
        }
    }
}

/// Returns the sum of the amounts that are known.
fn sum(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// Returns an amount per nanosecond; of bytes this is GB per second.
fn per_ns(amount: Option<u128>, over_ns: u64) -> Option<f64> {
    (over_ns > 0).then_some(amount?.float() / over_ns.float())
}

/// Returns a rate's share of the chip's limits.
pub(crate) fn share_range(rate: Option<f64>, limits: Option<ChipLimits>) -> Option<ShareRange> {
    let (rate, limits) = (rate?, limits?);
    Some(ShareRange {
        at_least: Share(rate / limits.max),
        at_most: Share(rate / limits.min),
    })
}
