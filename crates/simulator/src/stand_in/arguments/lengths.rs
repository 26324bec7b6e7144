//! Lengths of time as `xctrace` takes them: a whole number and a unit.

use std::time::Duration;

/// A number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stand_in) struct Length {
    count: u64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
}

impl Length {
    /// `5s`; decimals are refused.
    pub(super) fn of(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
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

    /// As a length of time.
    pub(in crate::stand_in) fn duration(self) -> Duration {
        match self.unit {
            Unit::Milliseconds => Duration::from_millis(self.count),
            Unit::Seconds => Duration::from_secs(self.count),
            Unit::Minutes => Duration::from_secs(self.count.saturating_mul(60)),
            Unit::Hours => Duration::from_secs(self.count.saturating_mul(3_600)),
        }
    }

    /// As a table of contents words it: `10 seconds`. Only seconds and hours have been seen there.
    pub(in crate::stand_in) fn words(self) -> String {
        let unit = match self.unit {
            Unit::Milliseconds => "millisecond",
            Unit::Seconds => "second",
            Unit::Minutes => "minute",
            Unit::Hours => "hour",
        };
        let plural = if self.count == 1 { "" } else { "s" };
        format!("{} {unit}{plural}", self.count)
    }

    /// As the first line of a recording has it: `5.0 s`.
    pub(in crate::stand_in) fn short(self) -> String {
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
    fn lengths() {
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
            let length = Length::of(text).map(|length| (length.words(), length.short()));
            let expected = expected.map(|(words, short)| (words.to_owned(), short.to_owned()));
            assert_eq!(length, expected, "{text}");
        }
    }
}
