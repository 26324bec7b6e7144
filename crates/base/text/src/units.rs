//! Formats numbers for people: in findings, and on every page and screen.

use crate::number::Float;

/// Formats a time with four digits, in the unit that fits: `179.1 µs`.
pub fn time(ns: u64) -> String {
    with_digits(ns, 4)
}

/// Formats a time with three digits, for tables of many columns: `179 µs`.
pub fn short_time(ns: u64) -> String {
    with_digits(ns, 3)
}

/// Formats a time with two digits, for predictions: `6.2 ms`.
pub fn rough_time(ns: u64) -> String {
    with_digits(ns, 2)
}

/// Formats nanoseconds below 1 µs, then µs, ms, s, and hours from two hours on.
fn with_digits(ns: u64, digits: usize) -> String {
    const UNITS: [(&str, f64, f64); 4] = [
        ("µs", 1e3, 1e6),
        ("ms", 1e6, 1e9),
        ("s", 1e9, 7.2e12),
        ("h", 3.6e12, f64::MAX),
    ];
    if ns < 1_000 {
        return format!("{ns} ns");
    }

    let exact = ns.float();
    for (unit, scale, limit) in UNITS {
        let value = exact / scale;
        let decimals = (0..digits)
            .rev()
            .find(|&decimals| digit_count(value, decimals) <= digits)
            .unwrap_or(0);
        let text = format!("{value:.decimals$}");

        // A value that rounds up to 1000 is shown in the next unit.
        if exact < limit && !(text.starts_with("1000") && limit < 1e10) {
            return format!("{text} {unit}");
        }
    }

    format!("{ns} ns")
}

/// Returns the number of digits of a value that is rounded to this many decimals.
fn digit_count(value: f64, decimals: usize) -> usize {
    let text = format!("{value:.decimals$}");
    text.find('.').unwrap_or(text.len()) + decimals
}

/// Formats a point in time of the recording as `--from` and `--to` take it: `0.699981s`.
pub fn moment(ns: u64) -> String {
    format!("{}.{:06}s", ns / 1_000_000_000, ns % 1_000_000_000 / 1_000)
}

/// Formats a count with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with its noun: `1 gap`, `2 gaps`.
pub fn counted(number: u64, word: &str) -> String {
    let plural = match number {
        1 => "",
        _ if word.ends_with("ss") || word.ends_with('x') => "es",
        _ => "s",
    };
    format!("{} {word}{plural}", count(number))
}

/// Formats a share as a percentage: `3.3 %`. Small shares are not rounded to 0, nor large ones
/// to 100 %.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match percent {
        _ if percent == 0.0 => "0 %".to_owned(),
        _ if percent < 0.01 => "<0.01 %".to_owned(),
        _ if percent < 0.995 => format!("{percent:.2} %"),
        _ if percent < 99.95 => format!("{percent:.1} %"),
        _ if percent < 100.0 => ">99.9 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}

/// Formats an amount of memory: `192.0 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1_024 {
        return format!("{count} B");
    }

    let mut value = count.float() / 1_024.0;
    let mut unit = "KiB";
    for next in UNITS.iter().skip(1) {
        if value < 1_000.0 {
            break;
        }
        value /= 1_024.0;
        unit = next;
    }

    format!("{value:.1} {unit}")
}

/// Capitalizes the first letter: `in 3 of 4` → `In 3 of 4`.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.000 µs"),
            (9_999, "9.999 µs"),
            (10_000, "10.00 µs"),
            (179_083, "179.1 µs"),
            (999_949, "999.9 µs"),
            (999_950, "1.000 ms"),
            (200_189_875, "200.2 ms"),
            (2_123_889_000, "2.124 s"),
            (3_600_000_000_000, "3600 s"),
            (86_400_000_000_000, "24.00 h"),
            (u64::MAX, "5124096 h"),
        ];
        for (ns, expected) in cases {
            assert_eq!(time(ns), expected);
        }
        let short = [
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (9_995, "9.99 µs"),
            (9_996, "10.0 µs"),
            (179_083, "179 µs"),
            (999_499, "999 µs"),
            (999_501, "1.00 ms"),
            (200_189_875, "200 ms"),
        ];
        for (ns, expected) in short {
            assert_eq!(short_time(ns), expected);
        }
    }

    #[test]
    fn counts_and_shares() {
        assert_eq!(
            ["1", "999", "1,000", "1,234,567"].map(str::to_owned),
            [1, 999, 1_000, 1_234_567].map(count)
        );
        assert_eq!(
            [counted(1, "gap"), counted(0, "gap"), counted(2, "pass")],
            ["1 gap", "0 gaps", "2 passes"].map(str::to_owned)
        );
        let cases = [
            (0.0, "0 %"),
            (0.000_001, "<0.01 %"),
            (0.001, "0.10 %"),
            (0.0335, "3.4 %"),
            (0.9999, ">99.9 %"),
            (1.0, "100 %"),
        ];
        for (ratio, expected) in cases {
            assert_eq!(percent(ratio), expected);
        }
    }

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (196_608, "192.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (12_713_115_648, "11.8 GiB"),
        ];
        for (bytes_, expected) in cases {
            assert_eq!(bytes(bytes_), expected);
        }
    }
}
