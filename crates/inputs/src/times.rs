//! Parses times of a recording, as users write them.

/// Parses `1.5s`, `200ms`, `12us`, `12µs` or `500ns` into nanoseconds. The unit is required: a bare
/// number could mean seconds or nanoseconds.
///
/// # Errors
///
/// If it is not such a time; in words.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 5] = [("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9)];
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
    let &(unit, digits) = unit.ok_or("a time needs a unit: 1.5s, 200ms, 12us or 500ns")?;
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end();
    decimal(number, digits).ok_or_else(|| format!("`{number}` is not a number of {unit}"))
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
}
