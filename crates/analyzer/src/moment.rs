//! A moment that may be unknown, in the memory of one that is known: an interval has
//! one, and there may be millions of them.

use std::num::NonZeroU64;

/// A moment, ns since the recording began, or none. The last that 64 bits can tell,
/// in 584 years, is none, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// All its bits turned round, so that it is the last and not the first that is lost.
    turned: Option<NonZeroU64>,
}

impl Moment {
    /// This many ns after the recording began, or not known.
    pub(crate) fn at(ns: Option<u64>) -> Self {
        Self {
            turned: ns.and_then(|ns| NonZeroU64::new(!ns)),
        }
    }

    /// How many ns after the recording began, if it is known.
    pub(crate) fn ns(self) -> Option<u64> {
        self.turned.map(|turned| !turned.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for ns in [None, Some(0), Some(1), Some(u64::MAX - 1)] {
            assert_eq!(Moment::at(ns).ns(), ns);
        }
        assert_eq!(Moment::at(Some(u64::MAX)).ns(), None);
    }

    #[test]
    fn it_takes_no_more_than_a_number() {
        assert_eq!(size_of::<Moment>(), size_of::<u64>());
    }
}
