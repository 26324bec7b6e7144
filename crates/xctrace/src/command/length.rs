//! Lengths of time as `xctrace` wants them: a whole number and a unit.

use std::fmt;

/// A length of time that `xctrace` has words for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Length {
    milliseconds: u64,
}

impl Length {
    /// Of so many nanoseconds; `xctrace` takes whole milliseconds, so anything
    /// finer is rounded up: nothing that was asked for is cut off. None for zero.
    #[must_use]
    pub fn of_nanoseconds(nanoseconds: u64) -> Option<Self> {
        let milliseconds = nanoseconds.div_ceil(1_000_000);
        (milliseconds > 0).then_some(Self { milliseconds })
    }

    /// How long it is.
    #[must_use]
    pub const fn milliseconds(self) -> u64 {
        self.milliseconds
    }
}

impl fmt::Display for Length {
    /// Decimals are not accepted: 2.5 s is `2500ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.milliseconds {
            seconds if seconds.is_multiple_of(1_000) => write!(f, "{}s", seconds / 1_000),
            milliseconds => write!(f, "{milliseconds}ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_with_units() {
        let check = |nanoseconds: u64, expected: Option<&str>| {
            let found = Length::of_nanoseconds(nanoseconds).map(|one| one.to_string());
            assert_eq!(found.as_deref(), expected, "{nanoseconds}");
        };
        check(0, None);
        check(1, Some("1ms"));
        check(2_500_000_000, Some("2500ms"));
        check(5_000_000_000, Some("5s"));
        check(5_000_000_001, Some("5001ms"));
    }
}
