//! Parses values as users write them, on a command line or in a settings file: times and shares.

use serde::Deserialize;

/// A value of a settings file: `"1us"`, `"80%"`, `0.8`.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, or text with a unit: \"5%\", \"200us\""
)]
pub enum Written {
    /// Text, with a unit or without.
    Text(String),
    /// A bare number.
    Number(f64),
}

impl Written {
    /// Returns the value as the command line would have it.
    pub fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Parses `1.5s`, `200ms`, `12us`, `12µs` or `500ns` into nanoseconds. The unit is required: a bare
/// number could mean seconds or nanoseconds.
///
/// # Errors
///
/// If it is not such a time; in words.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 5] = [("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9)];
    let (number, unit, digits) =
        split_unit(text, &UNITS).ok_or("a time needs a unit: 1.5s, 200ms, 12us or 500ns")?;
    decimal(number, digits).ok_or_else(|| format!("`{number}` is not a number of {unit}"))
}

/// Parses `16.5GB`, `512MB` or `1.5GiB` into bytes. The unit is required.
///
/// # Errors
///
/// If it is not such an amount; in words.
pub fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    let (number, unit, size) =
        split_unit(text, &UNITS).ok_or("an amount needs a unit: 16.5GB, 512MB or 1.5GiB")?;
    let billionths = decimal(number, 9).map(|billionths| u128::from(billionths) * u128::from(size));
    billionths
        .and_then(|all| u64::try_from(all / 1_000_000_000).ok())
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| format!("`{number}` is not a number of {unit}"))
}

/// Splits `1.5ms` into its number, its unit, and what stands beside the first unit that fits.
fn split_unit<'a, T: Copy>(
    text: &'a str,
    units: &[(&'static str, T)],
) -> Option<(&'a str, &'static str, T)> {
    units.iter().find_map(|&(unit, of_unit)| {
        let number = text.strip_suffix(unit)?;
        Some((number.trim_end(), unit, of_unit))
    })
}

/// Parses `1.5` with 9 digits into 1,500,000,000, exactly. Fractions of 1 ns are refused.
fn decimal(number: &str, digits: u32) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let width = digits as usize;
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || fraction.len() > width {
        return None;
    }
    let fraction: u64 = match width {
        0 => 0,
        _ => format!("{fraction:0<width$}").parse().ok()?,
    };
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(10_u64.pow(digits))?.checked_add(fraction)
}

/// Parses `80%` or `0.8`.
///
/// # Errors
///
/// If it is not a share from 0 to 1; in words.
pub fn share(text: &str) -> Result<f64, String> {
    any_share(text)
        .filter(|share| *share <= 1.0)
        .ok_or_else(|| format!("`{text}` is not a share from 0 to 1: write 80% or 0.8"))
}

/// Parses the share by which something grows: `5%`, `150%` or `0.05`.
///
/// # Errors
///
/// If it is not a share; in words.
pub fn growth(text: &str) -> Result<f64, String> {
    any_share(text).ok_or_else(|| format!("`{text}` is not a share: write 5% or 0.05"))
}

/// Parses a share that may be above 1. Refuses a bare number above 1, which may be meant in percent
/// or as a factor.
fn any_share(text: &str) -> Option<f64> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok().filter(|share| *share <= 1.0)?,
    };
    (share.is_finite() && share >= 0.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit_and_are_exact() {
        let cases = [
            ("1.5s", Some(1_500_000_000)),
            ("200ms", Some(200_000_000)),
            ("0.25 us", Some(250)),
            ("12µs", Some(12_000)),
            ("500ns", Some(500)),
            ("1.5ns", None),
            ("15", None),
            ("-1s", None),
            ("s", None),
            ("1e3s", None),
            ("99999999999999999999s", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn amounts_need_a_unit() {
        let cases = [
            ("16.5GB", Some(16_500_000_000)),
            ("512 MB", Some(512_000_000)),
            ("1.5GiB", Some(1_610_612_736)),
            ("4kB", Some(4_000)),
            ("0GB", None),
            ("16.5", None),
            ("16.5G", None),
            ("-1GB", None),
            ("99999999999TB", None),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn shares_are_percentages_or_at_most_one() {
        // The text, its share, and its growth, which may be above 1.
        let cases = [
            ("80%", Some(0.8), Some(0.8)),
            ("0.05", Some(0.05), Some(0.05)),
            ("100 %", Some(1.0), Some(1.0)),
            ("150 %", None, Some(1.5)),
            ("0", Some(0.0), Some(0.0)),
            ("80", None, None),
            ("-1%", None, None),
            ("inf", None, None),
            ("NaN", None, None),
            ("NaN%", None, None),
            ("", None, None),
        ];
        for (text, expected, grown) in cases {
            assert_eq!(share(text).ok(), expected, "{text}");
            assert_eq!(growth(text).ok(), grown, "{text}");
        }
    }
}
