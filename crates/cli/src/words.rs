//! Words and numbers that screens and pages share.

use metalens_analyzer::message::begins_with_name;
use metalens_analyzer::units::{capital, percent, time};
use metalens_analyzer::{ChosenBy, Finding, Unit};

/// `in 3 of 4 …` → `In 3 of 4 ….`
pub(crate) fn sentence(text: &str) -> String {
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{end}", capital(text))
}

/// What a finding rests on, as a sentence. A name that it begins with stays as it is.
pub(crate) fn evidence(finding: &Finding) -> String {
    let text = &finding.evidence;
    if begins_with_name(&finding.evidence_values) {
        format!("{text}.")
    } else {
        sentence(text)
    }
}

/// `3.3 %` of a whole; nothing of nothing is a dash.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => percent(part as f64 / whole as f64),
    }
}

/// The value of a target, or its limit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a gap is whole nanoseconds, and not negative"
)]
pub(crate) fn valued(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => time(value.round() as u64),
        Unit::Ratio => percent(value),
    }
}

/// How the target was found.
pub(crate) fn how(how: ChosenBy) -> &'static str {
    match how {
        ChosenBy::Launched => "launched by the recorder",
        ChosenBy::Attached => "attached to by the recorder",
        ChosenBy::Recorded => "whom the recording is about",
        ChosenBy::Requested => "as asked for",
        ChosenBy::Busiest => "chosen because it was the busiest",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        let check = |text: &str, expected: &str| assert_eq!(sentence(text), expected);
        check("in 3 of 4", "In 3 of 4.");
        check("über alles.", "Über alles.");
        check("4 of 4", "4 of 4.");
    }

    #[test]
    fn moments_are_what_from_takes() {
        let text = metalens_analyzer::units::moment(1_062_507_999);
        assert_eq!(text, "1.062507s");
        assert_eq!(crate::args::nanoseconds(&text), Ok(1_062_507_000));
    }
}
