//! A moment that may be unknown, in the memory of one that is known: an interval has
//! one, and there may be millions of them.

use std::num::NonZeroU64;

/// A moment in ns since the recording began, or none. Negative before that: a recorder
/// that attaches may find work that was committed earlier. The lowest number of 64 bits,
/// 292 years before, stands for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The distance from that lowest number.
    after_first: Option<NonZeroU64>,
}

impl Moment {
    /// Returns the moment this many ns after the recording began, or none.
    pub(crate) fn at(ns: Option<i64>) -> Self {
        Self {
            after_first: ns.and_then(|ns| NonZeroU64::new(ns.abs_diff(i64::MIN))),
        }
    }

    /// Returns the number of ns since the recording began, if known.
    pub(crate) fn ns(self) -> Option<i64> {
        let after_first = self.after_first?.get();
        Some(i64::MIN.wrapping_add_unsigned(after_first))
    }

    /// Returns the earlier of two, or the one that is known.
    pub(crate) fn earlier(self, other: Self) -> Self {
        let after_first = match (self.after_first, other.after_first) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { after_first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
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
    fn of_two_the_earlier() {
        let check = |one: Option<i64>, two: Option<i64>, expected: Option<i64>| {
            let (one, two) = (Moment::at(one), Moment::at(two));
            assert_eq!(one.earlier(two).ns(), expected);
            assert_eq!(two.earlier(one).ns(), expected);
        };
        check(Some(-3), Some(2), Some(-3));
        check(Some(5), None, Some(5));
        check(None, None, None);
    }

    #[test]
    fn it_takes_no_more_than_a_number() {
        assert_eq!(size_of::<Moment>(), size_of::<u64>());
    }
}
