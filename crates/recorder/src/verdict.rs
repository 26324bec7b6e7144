//! What a run's words and its end mean, in words for people.

use metalens_xctrace::Transcript;
use metalens_xctrace::meaning::{self, RECORD_CODES, Weight};

use crate::attempt::Ended;

/// What it said, and what that means, in a line: its errors, else its last
/// words, else how it ended.
pub(crate) fn said(ended: &Ended) -> String {
    let transcript = &ended.transcript;
    let mut told: Vec<String> = transcript
        .errors
        .iter()
        .map(|text| explained(text))
        .collect();
    if told.is_empty() {
        let known = transcript
            .others
            .iter()
            .filter(|line| meaning::of_message(line).is_some());
        told.extend(known.map(|line| explained(line)));
    }
    if told.is_empty() {
        let last = transcript.others.iter().rev().take(3).rev();
        told.extend(last.map(|line| format!("`{line}`")));
    }
    told.push(end(ended));
    told.join("; ")
}

fn explained(text: &str) -> String {
    match meaning::of_message(text).map(|known| known.meaning) {
        Some(known) if known.remedy.is_empty() => format!("`{text}` ({})", known.what),
        Some(known) => format!("`{text}` ({}: {})", known.what, known.remedy),
        None => format!("`{text}`"),
    }
}

fn end(ended: &Ended) -> String {
    match (ended.code, ended.signal) {
        (Some(code), _) => match meaning::of_code(RECORD_CODES, code) {
            Some(known) => format!("it ended with exit code {code} ({})", known.what),
            None => format!("it ended with exit code {code}"),
        },
        (None, Some(signal)) => format!("signal {signal} ended it"),
        (None, None) => "how it ended is unknown".to_owned(),
    }
}

/// Why it may be worth to start it again.
pub(crate) fn try_again(transcript: &Transcript) -> Option<&'static str> {
    let all = transcript.errors.iter().chain(&transcript.others);
    let known = all.filter_map(|text| meaning::of_message(text));
    let mut again = known.filter(|one| one.weight == Weight::TryAgain);
    again.next().map(|one| one.meaning.what)
}

/// What a reader of a recording that was made should know of how it was made.
pub(crate) fn warnings(ended: &Ended) -> Vec<String> {
    let transcript = &ended.transcript;
    let troubles = transcript.errors.iter().chain(&transcript.warnings);
    let weighty = troubles.filter(|text| {
        let known = meaning::of_message(text);
        known.is_none_or(|known| known.weight != Weight::Harmless)
    });
    let mut all: Vec<String> = weighty.map(|text| explained(text)).collect();
    match (ended.code, ended.signal) {
        // Most good recordings end so.
        (Some(0 | 54), _) => {}
        _ => all.push(end(ended)),
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: Option<i32>, errors: &[&str], others: &[&str]) -> Ended {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Ended {
            transcript: Transcript {
                errors: texts(errors),
                others: texts(others),
                ..Transcript::default()
            },
            code,
            signal: code.is_none().then_some(11),
            was_wished: false,
            never_began: false,
        }
    }

    #[test]
    fn what_was_said() {
        let check = |ended: &Ended, expected: &str| assert_eq!(said(ended), expected);
        check(
            &ended(
                Some(19),
                &["Cannot find process matching name: bench"],
                &["x"],
            ),
            "`Cannot find process matching name: bench` (no process of that name runs: start it first, \
             or give its number; names are matched whole); it ended with exit code 19 (no process of \
             that name runs)",
        );
        check(
            &ended(Some(3), &[], &["a", "b"]),
            "`a`; `b`; it ended with exit code 3",
        );
        check(&ended(None, &[], &[]), "signal 11 ended it");
    }

    #[test]
    fn what_is_worth_telling() {
        let check = |ended: &Ended, expected: &[&str]| assert_eq!(warnings(ended), expected);
        let log =
            "Data stream: Fatal logging system error: The log archive is corrupt or incomplete";
        check(&ended(Some(54), &[log], &[]), &[]);
        check(
            &ended(Some(0), &["something new"], &[]),
            &["`something new`"],
        );
        let table = "the bundle cannot be read or written";
        check(
            &ended(Some(43), &[], &[]),
            &[&format!("it ended with exit code 43 ({table})")],
        );
    }
}
