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
    let known = transcript.errors.iter().chain(&transcript.others);
    let is_known = known
        .into_iter()
        .any(|text| meaning::find_message(text).is_some());
    if told.is_empty() {
        let known = transcript
            .others
            .iter()
            .filter(|line| meaning::find_message(line).is_some());
        told.extend(known.map(|line| explained(line)));
    }
    if told.is_empty() {
        let last = transcript.others.iter().rev().take(3).rev();
        told.extend(last.map(|line| format!("`{line}`")));
    }
    if told.is_empty() && !transcript.has_started {
        told.push("it said nothing".to_owned());
    }
    told.push(format!("it {}", end(ended, !is_known)));
    told.join("; ")
}

fn explained(text: &str) -> String {
    match meaning::find_message(text).map(|known| known.meaning) {
        Some(known) if known.remedy.is_empty() => format!("`{text}` ({})", known.what),
        Some(known) => format!("`{text}` ({}: {})", known.what, known.remedy),
        None => format!("`{text}`"),
    }
}

/// How it ended, and, where nothing else says more, what its code means.
fn end(ended: &Ended, is_explained: bool) -> String {
    let known = |code| meaning::find_code(RECORD_CODES, code).filter(|_| is_explained && code != 0);
    match (ended.code, ended.signal) {
        (Some(code), _) => match known(code) {
            Some(known) if known.remedy.is_empty() => {
                format!("ended with exit code {code} ({})", known.what)
            }
            Some(known) => {
                format!(
                    "ended with exit code {code} ({}: {})",
                    known.what, known.remedy
                )
            }
            None => format!("ended with exit code {code}"),
        },
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended, nobody knows how".to_owned(),
    }
}

/// Why it may be worth to start it again.
pub(crate) fn try_again(transcript: &Transcript) -> Option<&'static str> {
    let all = transcript.errors.iter().chain(&transcript.others);
    let known = all.filter_map(|text| meaning::find_message(text));
    let mut again = known.filter(|one| one.weight == Weight::TryAgain);
    again.next().map(|one| one.meaning.what)
}

/// What a reader of a recording that was made should know of how it was made.
pub(crate) fn warnings(ended: &Ended) -> Vec<String> {
    let transcript = &ended.transcript;
    let troubles = transcript.errors.iter().chain(&transcript.warnings);
    let weighty = troubles.filter(|text| {
        let known = meaning::find_message(text);
        known.is_none_or(|known| known.weight != Weight::Harmless)
    });
    let mut all: Vec<String> = weighty.map(|text| explained(text)).collect();
    match (ended.code, ended.signal) {
        // Most good recordings end so.
        (Some(0 | 54), _) => {}
        _ => all.push(format!("xctrace {}", end(ended, true))),
    }
    let has_reason = transcript.reached_limit || transcript.target_exited || ended.was_wished;
    if !has_reason {
        let text = "xctrace ended the recording by itself and did not say why: if something is missing, \
                    record again";
        all.push(text.to_owned());
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
                target_exited: true,
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
            "`Cannot find process matching name: bench` (no process with that name is running: start it \
             first, or give its process id; the complete name must match); it ended with exit code 19",
        );
        check(
            &ended(Some(3), &[], &["a", "b"]),
            "`a`; `b`; it ended with exit code 3",
        );
        check(
            &ended(Some(30), &[], &["a"]),
            "`a`; it ended with exit code 30 (a custom template has the name of an Apple template: give \
             the path of the template instead of its name)",
        );
        check(
            &ended(Some(0), &[], &[]),
            "it said nothing; it ended with exit code 0",
        );
        check(
            &ended(None, &[], &[]),
            "it said nothing; it was ended by signal 11",
        );
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
        let table = "the bundle cannot be read or written: check its owner and permissions";
        check(
            &ended(Some(43), &[], &[]),
            &[&format!("xctrace ended with exit code 43 ({table})")],
        );
        let mut abandoned = ended(Some(54), &[], &[]);
        abandoned.transcript.target_exited = false;
        assert!(warnings(&abandoned)[0].contains("by itself and did not say why"));
        abandoned.was_wished = true;
        check(&abandoned, &[]);
    }
}
