//! Parses durations of `xctrace`: a whole number and a unit.

use std::time::Duration;

/// The units, with their names in a table of contents and their lengths in milliseconds.
const UNITS: [(&str, &str, u64); 4] = [
    ("ms", "millisecond", 1),
    ("s", "second", 1_000),
    ("m", "minute", 60_000),
    ("h", "hour", 3_600_000),
];

/// A duration as a number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fake_xctrace) struct Length {
    count: u64,
    unit: &'static str,
    ms: u64,
}

impl Length {
    /// Parses `5s`. Decimals are refused.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|character: char| !character.is_ascii_digit())?;
        let (count, short) = text.split_at_checked(digits)?;
        let (_, unit, ms) = UNITS.into_iter().find(|(unit, ..)| *unit == short)?;
        let count: u64 = count.parse().ok()?;
        let ms = count.saturating_mul(ms);
        Some(Self { count, unit, ms })
    }

    /// Converts the length to a duration.
    pub(in crate::fake_xctrace) fn duration(self) -> Duration {
        Duration::from_millis(self.ms)
    }

    /// Returns the form in a table of contents: `10 seconds`. Real ones have only seconds and hours.
    pub(in crate::fake_xctrace) fn long_text(self) -> String {
        let plural = if self.count == 1 { "" } else { "s" };
        format!("{} {}{plural}", self.count, self.unit)
    }

    /// Returns the form in the first line of a recording: `5.0 s`.
    pub(in crate::fake_xctrace) fn short_text(self) -> String {
        match self.ms {
            ms @ 0..1_000 => format!("{ms}.0 ms"),
            ms => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_long_and_a_short_text() {
        let cases = [
            ("10s", Some(("10 seconds", "10.0 s"))),
            ("500ms", Some(("500 milliseconds", "500.0 ms"))),
            ("2500ms", Some(("2500 milliseconds", "2.5 s"))),
            ("1m", Some(("1 minute", "60.0 s"))),
            ("12h", Some(("12 hours", "43200.0 s"))),
            ("2.5s", None),
            ("5", None),
            ("s", None),
            ("5 s", None),
            ("-5s", None),
        ];
        for (text, expected) in cases {
            let length =
                Length::parse(text).map(|length| (length.long_text(), length.short_text()));
            let expected = expected.map(|(long, short)| (long.to_owned(), short.to_owned()));
            assert_eq!(length, expected, "{text}");
        }
    }
}
