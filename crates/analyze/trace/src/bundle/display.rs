//! Formats values as Instruments does, for labels that contain values.

/// Formats a duration, such as `11.42 µs`. Halves are rounded to the even digit.
pub(crate) fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", hundredths(ns, 1_000)),
        1_000_000..1_000_000_000 => format!("{} ms", hundredths(ns, 1_000_000)),
        1_000_000_000..60_000_000_000 => format!("{} s", hundredths(ns, 1_000_000_000)),
        _ => format!("{} min", hundredths(ns, 60_000_000_000)),
    }
}

/// Formats a size, such as `64.00 KiB`.
pub(crate) fn bytes(count: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    match count {
        0..KIB => format!("{count} Bytes"),
        KIB..MIB => format!("{} KiB", hundredths(count, KIB)),
        MIB..GIB => format!("{} MiB", hundredths(count, MIB)),
        _ => format!("{} GiB", hundredths(count, GIB)),
    }
}

/// Formats a time such as `00:00.481.424`, in minutes, seconds, milliseconds and microseconds,
/// rounded down.
pub(crate) fn instant(ns: u64) -> String {
    let us = ns / 1_000;
    let (minutes, seconds) = (us / 60_000_000, us / 1_000_000 % 60);
    let (milli, micro) = (us / 1_000 % 1_000, us % 1_000);
    format!("{minutes:02}:{seconds:02}.{milli:03}.{micro:03}")
}

/// Formats a number with separators, such as `4,050,234,859`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a stored decimal number with its nine decimals, such as `36.290002441`.
pub(crate) fn decimal(stored: u64) -> String {
    /// Stored form of zero.
    const ZERO: u64 = i64::MAX.cast_unsigned();
    const SCALE: u64 = 1_000_000_000;
    let sign = if stored < ZERO { "-" } else { "" };
    let billionths = stored.abs_diff(ZERO);
    format!("{sign}{}.{:09}", billionths / SCALE, billionths % SCALE)
}

fn hundredths(value: u64, scale: u64) -> String {
    let (value, scale) = (u128::from(value), u128::from(scale));
    let (cut, left) = (value * 100 / scale, value * 100 % scale);
    let up = left * 2 > scale || (left * 2 == scale && cut % 2 == 1);
    let rounded = cut + u128::from(up);
    format!("{}.{:02}", rounded / 100, rounded % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_formatted_as_instruments_does() {
        assert_eq!(duration(583), "583 ns");
        assert_eq!(duration(11_417), "11.42 µs");
        assert_eq!(duration(95_125), "95.12 µs");
        assert_eq!(duration(99_375), "99.38 µs");
        assert_eq!(duration(676_976_207), "676.98 ms");
        assert_eq!(bytes(0), "0 Bytes");
        assert_eq!(bytes(65_536), "64.00 KiB");
        assert_eq!(instant(481_424_333), "00:00.481.424");
        assert_eq!(thousands(4_050_234_859), "4,050,234,859");
        assert_eq!(decimal(0x7fff_ffff_ffff_ffff), "0.000000000");
        assert_eq!(decimal(0x7fff_ffff_ffff_fffe), "-0.000000001");
        assert_eq!(decimal(9_223_372_128_272_115_807), "91.417340000");
        assert_eq!(decimal(0), "-9223372036.854775807");
        assert_eq!(decimal(u64::MAX), "9223372036.854775808");
    }
}
