//! Numbers that stay beside their units: `0.44 %` must not end a line with `0.44`.
//!
//! Only for HTML, where lines break anywhere and what is copied pastes as text:
//! Markdown, JSON and the terminal keep plain spaces, so that they can be searched.

/// What no line breaks at; every font has it.
const NO_BREAK: char = '\u{a0}';

const UNITS: [&str; 15] = [
    "ns", "µs", "us", "ms", "s", "h", "%", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "GB/s",
    "TFLOP/s",
];

/// A text in which each space between a number and its unit is one that no line
/// breaks at. Nothing else changes.
pub(super) fn held(text: &str) -> String {
    let mut held = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(' ') {
        held.push_str(before);
        let is_pair = begins_with_unit(after) && ends_with_number(&held);
        held.push(if is_pair { NO_BREAK } else { ' ' });
        rest = after;
    }
    held.push_str(rest);
    held
}

/// Whether the last word is a number, with a sign or a bracket before it at most:
/// `conv2` is none.
fn ends_with_number(text: &str) -> bool {
    let word = text.rsplit([' ', NO_BREAK]).next().unwrap_or(text);
    let number =
        word.trim_start_matches(['(', '[', '<', '>', '-', '+', '−', '±', '~', '≥', '≤', '≈']);
    number.starts_with(|first: char| first.is_ascii_digit())
        && number.ends_with(|last: char| last.is_ascii_digit())
        && number
            .chars()
            .all(|one| one.is_ascii_digit() || matches!(one, '.' | ','))
}

/// Whether the first word is a unit, but for what ends a sentence: `sin` is none.
fn begins_with_unit(text: &str) -> bool {
    let goes_on = |one: char| one.is_alphanumeric() || matches!(one, '_' | '/' | '-');
    UNITS.iter().any(|unit| {
        let after = text.strip_prefix(unit);
        after.is_some_and(|after| !after.starts_with(goes_on))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `~` stands for the space that holds.
    #[test]
    fn numbers_stay_beside_their_units() {
        let check = |text: &str, expected: &str| {
            let shown = held(text).replace(NO_BREAK, "~");
            assert_eq!(shown, expected);
            assert_eq!(
                held(text).replace(NO_BREAK, " "),
                text,
                "nothing else changes"
            );
        };
        check("busy 4.0 % of the time", "busy 4.0~% of the time");
        check(
            "ran for 335.8 µs of 8.387 ms.",
            "ran for 335.8~µs of 8.387~ms.",
        );
        check("from 5 ns to 20 µs, 3 s", "from 5~ns to 20~µs, 3~s");
        check("(5.9 %), <0.01 %; +2.6 %", "(5.9~%), <0.01~%; +2.6~%");
        check("1,234 KiB", "1,234~KiB");
        check("at 380.1 GB/s", "at 380.1~GB/s");
        check("20.00 µs – 100.0 µs", "20.00~µs – 100.0~µs");
        check("47 gaps, 48 hours", "47 gaps, 48 hours");
        check("12 × sin, 3 sin", "12 × sin, 3 sin");
        check("conv2 ms, a.3 ns", "conv2 ms, a.3 ns");
        check("3 ms_total, 3 s/token", "3 ms_total, 3 s/token");
        check("3  ms", "3  ms");
        check(" ms", " ms");
        check("", "");
    }
}
