//! Parses and formats times in whole nanoseconds, written for people: `6us`, `1.5ms`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration, or an instant counted from the start of the recording.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(u64);

/// Description of the form of a duration, for error messages.
pub(crate) const FORM: &str =
    "a number and a unit (ns, us, µs, ms, s), such as \"6us\" or \"1.5ms\"";

const UNITS: [(&str, u64); 5] = [
    ("ns", 1),
    ("µs", 1_000),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

impl Nanos {
    /// Returns a time of that many nanoseconds.
    #[must_use]
    pub const fn new(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Nanos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{text}` {why}; a duration is {FORM}");
        let unit_at = text
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .ok_or_else(|| wrong("has no unit"))?;
        let (number, unit) = (&text[..unit_at], text[unit_at..].trim_start());
        let (_, scale) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| wrong("has an unknown unit"))?;

        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: u64 = whole
            .parse()
            .map_err(|_| wrong("has no whole number first"))?;
        let fraction =
            fraction_ns(fraction, *scale).ok_or_else(|| wrong("is finer than a nanosecond"))?;

        whole
            .checked_mul(*scale)
            .and_then(|ns| ns.checked_add(fraction))
            .map(Self)
            .ok_or_else(|| wrong("is too long"))
    }
}

/// Returns the digits after the point in nanoseconds: "25" of a microsecond is 250.
fn fraction_ns(digits: &str, scale: u64) -> Option<u64> {
    digits
        .bytes()
        .try_fold((0, scale), |(sum, scale), digit| {
            let place = scale / 10;
            let digit = u64::from(digit.wrapping_sub(b'0'));
            (digit <= 9 && (place > 0 || digit == 0)).then_some((sum + digit * place, place))
        })
        .map(|(sum, _)| sum)
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |scale: u64| self.0 != 0 && self.0.is_multiple_of(scale);
        let coarsest = UNITS.iter().rev().find(|(_, scale)| fits(*scale));
        let (unit, scale) = coarsest.unwrap_or(&UNITS[0]);
        write!(f, "{}{unit}", self.0 / scale)
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Nanos;

    #[test]
    fn people_can_write_durations() {
        let read = |text: &str| text.parse::<Nanos>().map(Nanos::get);
        assert_eq!(read("6us"), Ok(6_000));
        assert_eq!(read("1.5ms"), Ok(1_500_000));
        assert_eq!(read("29 µs"), Ok(29_000));
        assert_eq!(read("0.000000001s"), Ok(1));
        assert_eq!(read("10.0ns"), Ok(10));
    }

    #[test]
    fn other_texts_are_refused_with_the_form() {
        for text in [
            "",
            "6",
            "us",
            "1.2.3us",
            "6 parsecs",
            "0.5ns",
            "-1us",
            "99999999999999s",
        ] {
            let message = text.parse::<Nanos>().unwrap_err();
            assert!(message.contains("such as \"6us\""), "{message}");
        }
    }

    #[test]
    fn writes_the_coarsest_exact_unit() {
        assert_eq!(Nanos::new(1_500_000).to_string(), "1500us");
        assert_eq!(Nanos::new(2_000_000_000).to_string(), "2s");
        assert_eq!(Nanos::new(0).to_string(), "0ns");
    }
}
