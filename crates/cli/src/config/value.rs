//! Values of a settings file.

use anyhow::Context;
use serde::Deserialize;

/// A value as TOML has it: `"1us"`, `"80%"`, `0.8`.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, or text with a unit: \"5%\", \"200us\""
)]
pub(super) enum Value {
    Text(String),
    Number(f64),
}

impl Value {
    /// Returns the value as the command line would have it.
    pub(super) fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Parses `80%` or `0.8`. Refuses a bare number above 1, which may be meant in percent or be a
/// mistake.
pub(super) fn ratio(text: &str) -> anyhow::Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };

    let value: Option<f64> = number.parse().ok().map(|value: f64| value / scale);
    value
        .filter(|value| (0.0..=1.0).contains(value))
        .with_context(|| format!("`{text}` is not a share from 0 to 1: write 80% or 0.8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_or_at_most_one() {
        let cases = [
            ("80%", Some(0.8)),
            ("0.8", Some(0.8)),
            ("100 %", Some(1.0)),
            ("0", Some(0.0)),
            ("80", None),
            ("-1%", None),
            ("NaN", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ratio(text).ok(), expected, "{text}");
        }
    }
}
