//! Parses durations of `xctrace`: a whole number and a unit.

use std::time::Duration;

/// A duration as a number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fake_xctrace) struct Length {
    count: u64,
    unit: Unit,
}

/// The unit of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
}

impl Length {
    /// Parses `5s`. Decimals are refused.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|character: char| !character.is_ascii_digit())?;
        let (count, unit) = text.split_at_checked(digits)?;
        let unit = match unit {
            "ms" => Unit::Milliseconds,
            "s" => Unit::Seconds,
            "m" => Unit::Minutes,
            "h" => Unit::Hours,
            _ => return None,
        };
        let count = count.parse().ok()?;
        Some(Self { count, unit })
    }

    /// Converts the length to a duration.
    pub(in crate::fake_xctrace) fn duration(self) -> Duration {
        match self.unit {
            Unit::Milliseconds => Duration::from_millis(self.count),
            Unit::Seconds => Duration::from_secs(self.count),
            Unit::Minutes => Duration::from_secs(self.count.saturating_mul(60)),
            Unit::Hours => Duration::from_secs(self.count.saturating_mul(3_600)),
        }
    }

    /// Returns the form in a table of contents: `10 seconds`. Real ones have only seconds and hours.
    pub(in crate::fake_xctrace) fn long_text(self) -> String {
        let unit = match self.unit {
            Unit::Milliseconds => "millisecond",
            Unit::Seconds => "second",
            Unit::Minutes => "minute",
            Unit::Hours => "hour",
        };
        let plural = if self.count == 1 { "" } else { "s" };
        format!("{} {unit}{plural}", self.count)
    }

    /// Returns the form in the first line of a recording: `5.0 s`.
    pub(in crate::fake_xctrace) fn short_text(self) -> String {
        let ms = self.duration().as_millis();
        match ms {
            0..1_000 => format!("{ms}.0 ms"),
            _ => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
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
