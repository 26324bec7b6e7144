//! Formats values as Instruments displays them, for the `fmt` attributes.

/// Appends a number in decimal.
pub(super) fn decimal(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number of billionths with nine decimals: `36.290002441`.
pub(super) fn billionths(value: u64, out: &mut Vec<u8>) {
    const SCALE: u64 = 1_000_000_000;
    decimal(value / SCALE, out);
    out.extend_from_slice(format!(".{:09}", value % SCALE).as_bytes());
}

/// Appends a number with separators: `4,050,234,859`.
pub(super) fn thousands(value: u64, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value).as_bytes();
    let first = (digits.len() - 1) % 3 + 1;
    let (head, rest) = digits.split_at(first);
    out.extend_from_slice(head);
    for group in rest.chunks_exact(3) {
        out.push(b',');
        out.extend_from_slice(group);
    }
}

/// Appends a hexadecimal number: `0xf169adeb`.
pub(super) fn hex(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{value:#x}").as_bytes());
}

/// Appends an instant as minutes, seconds, milliseconds and microseconds, cut off there:
/// `00:00.481.424`.
pub(super) fn instant(ns: u64, out: &mut Vec<u8>) {
    let us = ns / 1_000;
    padded(us / 60_000_000, 2, out);
    out.push(b':');
    padded(us / 1_000_000 % 60, 2, out);
    out.push(b'.');
    padded(us / 1_000 % 1_000, 3, out);
    out.push(b'.');
    padded(us % 1_000, 3, out);
}

/// Appends a duration: `583 ns`, `11.42 µs`, `22.42 ms`, `4.14 s`.
pub(super) fn duration(ns: u64, out: &mut Vec<u8>) {
    let (scale, unit) = match ns {
        0..1_000 => {
            decimal(ns, out);
            out.extend_from_slice(b" ns");
            return;
        }
        1_000..1_000_000 => (1_000, " µs"),
        1_000_000..1_000_000_000 => (1_000_000, " ms"),
        1_000_000_000..60_000_000_000 => (1_000_000_000, " s"),
        _ => (60_000_000_000, " min"),
    };
    hundredths(ns, scale, out);
    out.extend_from_slice(unit.as_bytes());
}

/// Appends a size: `0 Bytes`, `64.00 KiB`.
pub(super) fn bytes(value: u64, out: &mut Vec<u8>) {
    let (scale, unit) = match value {
        0..1_024 => {
            decimal(value, out);
            out.extend_from_slice(b" Bytes");
            return;
        }
        1_024..1_048_576 => (1_024, " KiB"),
        1_048_576..1_073_741_824 => (1_048_576, " MiB"),
        _ => (1_073_741_824, " GiB"),
    };
    hundredths(value, scale, out);
    out.extend_from_slice(unit.as_bytes());
}

/// Appends two decimal places. Halves go to the even digit, as in `%.2f` of 95.125.
fn hundredths(value: u64, scale: u64, out: &mut Vec<u8>) {
    let (whole, rest) = (value / scale, value % scale * 100);
    let (cut, remainder) = (rest / scale, rest % scale);
    let rounds_up = remainder * 2 > scale || (remainder * 2 == scale && cut % 2 == 1);
    let rounded = whole * 100 + cut + u64::from(rounds_up);
    decimal(rounded / 100, out);
    out.push(b'.');
    padded(rounded % 100, 2, out);
}

/// Appends a number with leading zeros up to `width` digits.
pub(super) fn padded(value: u64, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{value:0width$}").as_bytes());
}

/// Appends a text with XML's special characters escaped, for attributes and for content.
pub(super) fn escaped(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut copied_to = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let entity: &[u8] = match byte {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'"' => b"&quot;",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied_to..index]);
        out.extend_from_slice(entity);
        copied_to = index + 1;
    }
    out.extend_from_slice(&bytes[copied_to..]);
}

#[cfg(test)]
mod tests {
    fn shown(show: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        show(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn durations_round_like_those_of_instruments() {
        let shown = |ns| shown(|out| super::duration(ns, out));
        assert_eq!(shown(583), "583 ns");
        assert_eq!(shown(11_417), "11.42 µs");
        assert_eq!(shown(371_000), "371.00 µs");
        assert_eq!(shown(95_125), "95.12 µs");
        assert_eq!(shown(99_375), "99.38 µs");
        assert_eq!(shown(22_418_584), "22.42 ms");
        assert_eq!(shown(4_135_359_048), "4.14 s");
    }

    #[test]
    fn instants_are_cut_to_microseconds() {
        assert_eq!(
            shown(|out| super::instant(481_424_333, out)),
            "00:00.481.424"
        );
        assert_eq!(
            shown(|out| super::instant(61_000_000_999, out)),
            "01:01.000.000"
        );
    }

    #[test]
    fn numbers_have_separators_or_a_prefix() {
        assert_eq!(
            shown(|out| super::thousands(4_050_234_859, out)),
            "4,050,234,859"
        );
        assert_eq!(shown(|out| super::thousands(0, out)), "0");
        assert_eq!(shown(|out| super::thousands(1_848, out)), "1,848");
        assert_eq!(shown(|out| super::hex(0xf169_adeb, out)), "0xf169adeb");
        assert_eq!(shown(|out| super::hex(0, out)), "0x0");
        assert_eq!(shown(|out| super::hex(u64::MAX, out)), "0xffffffffffffffff");
        assert_eq!(shown(|out| super::bytes(65_536, out)), "64.00 KiB");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            shown(|out| super::escaped("a<b & \"c\" -> é", out)),
            "a&lt;b &amp; &quot;c&quot; -&gt; é"
        );
    }
}
