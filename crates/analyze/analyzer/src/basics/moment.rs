//! Type of a point in time that may be unknown, as small as one that is known: every interval
//! has one, and there may be millions of them.

use std::num::NonZeroU64;

/// Point in time in nanoseconds since the recording began, or unknown. Negative before that: a
/// recorder that attaches may find work that was committed earlier. The lowest 64-bit number,
/// 292 years before, means unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Distance from that lowest number.
    after_first: Option<NonZeroU64>,
}

impl Moment {
    /// Returns the point in time of this many nanoseconds since the recording began, or unknown.
    pub(crate) fn at(ns: Option<i64>) -> Self {
        Self {
            after_first: ns.and_then(|ns| NonZeroU64::new(ns.abs_diff(i64::MIN))),
        }
    }

    /// Returns the number of nanoseconds since the recording began, if known.
    pub(crate) fn ns(self) -> Option<i64> {
        let after_first = self.after_first?.get();
        Some(i64::MIN.wrapping_add_unsigned(after_first))
    }

    /// Returns the earlier of two points in time, or the one that is known.
    pub(crate) fn earlier(self, other: Self) -> Self {
        let after_first = match (self.after_first, other.after_first) {
            (Some(this), Some(that)) => Some(this.min(that)),
            (this, that) => this.or(that),
        };
        Self { after_first }
    }

    /// Returns the later of two points in time, or the one that is known.
    pub(crate) fn later(self, other: Self) -> Self {
        let after_first = self.after_first.max(other.after_first);
        Self { after_first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_value() {
        let first = i64::MIN + 1;
        for ns in [
            None,
            Some(0),
            Some(1),
            Some(-1),
            Some(i64::MAX),
            Some(first),
        ] {
            assert_eq!(Moment::at(ns).ns(), ns);
        }
        assert_eq!(Moment::at(Some(i64::MIN)).ns(), None);
    }

    #[test]
    fn the_earlier_or_the_later_is_chosen() {
        let check = |first: Option<i64>, second: Option<i64>, earlier, later| {
            let (first, second) = (Moment::at(first), Moment::at(second));
            for (first, second) in [(first, second), (second, first)] {
                assert_eq!(first.earlier(second).ns(), earlier);
                assert_eq!(first.later(second).ns(), later);
            }
        };
        check(Some(-3), Some(2), Some(-3), Some(2));
        check(Some(5), None, Some(5), Some(5));
        check(None, None, None, None);
    }

    #[test]
    fn a_moment_is_as_small_as_a_number() {
        assert_eq!(size_of::<Moment>(), size_of::<u64>());
    }
}
