//! Formats lengths of time as `xctrace` needs them: a whole number and a unit.

use std::fmt;

/// A length of time in whole milliseconds, as `xctrace` accepts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Length {
    milliseconds: u64,
}

impl Length {
    /// Returns the length of a number of nanoseconds, rounded up to milliseconds so that nothing
    /// is cut off. None for zero.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: u64) -> Option<Self> {
        let milliseconds = nanoseconds.div_ceil(1_000_000);
        (milliseconds > 0).then_some(Self { milliseconds })
    }

    /// Returns the length in milliseconds.
    pub const fn milliseconds(self) -> u64 {
        self.milliseconds
    }
}

impl fmt::Display for Length {
    /// Writes a whole number, since `xctrace` does not accept decimals: 2.5 s is `2500ms`.
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
    fn lengths_are_whole_numbers_with_units() {
        let check = |nanoseconds: u64, expected: Option<&str>| {
            let found = Length::from_nanoseconds(nanoseconds).map(|length| length.to_string());
            assert_eq!(found.as_deref(), expected, "{nanoseconds}");
        };
        check(0, None);
        check(1, Some("1ms"));
        check(2_500_000_000, Some("2500ms"));
        check(5_000_000_000, Some("5s"));
        check(5_000_000_001, Some("5001ms"));
    }
}
