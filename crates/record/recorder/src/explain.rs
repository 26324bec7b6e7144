//! Explains the output and the end of a run of `xctrace` to users.

use metalens_xctrace::Transcript;
use metalens_xctrace::meaning::{self, RECORD_CODES, Weight};

use crate::attempt::AttemptEnd;

/// Returns one line that explains the end of a run: its errors, or its last lines, and its exit.
pub(crate) fn explain_end(ended: &AttemptEnd) -> String {
    let transcript = &ended.transcript;
    let is_known = |line: &&String| meaning::find_message(line).is_some();
    let has_known_message = transcript
        .errors
        .iter()
        .chain(&transcript.others)
        .any(|line| is_known(&line));

    let mut parts: Vec<String> = transcript
        .errors
        .iter()
        .map(|line| explain_message(line))
        .collect();
    if parts.is_empty() {
        let known = transcript.others.iter().filter(is_known);
        parts.extend(known.map(|line| explain_message(line)));
    }
    if parts.is_empty() {
        let last = transcript.others.iter().rev().take(3).rev();
        parts.extend(last.map(|line| format!("`{line}`")));
    }
    if parts.is_empty() && !transcript.has_started {
        parts.push("it printed nothing".to_owned());
    }
    parts.push(format!("it {}", explain_exit(ended, !has_known_message)));

    parts.join("; ")
}

/// Quotes a message of `xctrace`, with its meaning if that is known.
fn explain_message(text: &str) -> String {
    match meaning::find_message(text).map(|known| known.meaning) {
        Some(known) if known.remedy.is_empty() => format!("`{text}` ({})", known.what),
        Some(known) => format!("`{text}` ({}: {})", known.what, known.remedy),
        None => format!("`{text}`"),
    }
}

/// Returns how `xctrace` ended. Explains the exit code if `is_explained`.
fn explain_exit(ended: &AttemptEnd, is_explained: bool) -> String {
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
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended for an unknown reason".to_owned(),
    }
}

/// Returns the reason to start `xctrace` again, if its messages give one.
pub(crate) fn retry_reason(transcript: &Transcript) -> Option<&'static str> {
    let all = transcript.errors.iter().chain(&transcript.others);
    let known = all.filter_map(|text| meaning::find_message(text));
    let mut again = known.filter(|message| message.weight == Weight::TryAgain);
    again.next().map(|message| message.meaning.what)
}

/// Returns warnings for the reader of a complete recording.
pub(crate) fn warnings(ended: &AttemptEnd) -> Vec<String> {
    let transcript = &ended.transcript;
    let troubles = transcript.errors.iter().chain(&transcript.warnings);
    let weighty = troubles.filter(|text| {
        let known = meaning::find_message(text);
        known.is_none_or(|known| known.weight != Weight::Harmless)
    });
    let mut all: Vec<String> = weighty.map(|text| explain_message(text)).collect();

    // Most good recordings end with exit code 0 or 54.
    if !matches!(ended.code, Some(0 | 54)) {
        all.push(format!("xctrace {}", explain_exit(ended, true)));
    }

    let has_reason = transcript.reached_limit || transcript.target_exited || ended.stop_requested;
    if !has_reason {
        let text = "xctrace ended the recording without giving a reason; record again if something \
                    is missing";
        all.push(text.to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: Option<i32>, errors: &[&str], others: &[&str]) -> AttemptEnd {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        AttemptEnd {
            transcript: Transcript {
                errors: texts(errors),
                others: texts(others),
                target_exited: true,
                ..Transcript::default()
            },
            code,
            signal: code.is_none().then_some(11),
            stop_requested: false,
            never_began: false,
            is_output_cut: false,
        }
    }

    #[test]
    fn the_end_of_a_run_is_explained() {
        let check = |ended: &AttemptEnd, expected: &str| assert_eq!(explain_end(ended), expected);
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
            "it printed nothing; it ended with exit code 0",
        );
        check(
            &ended(None, &[], &[]),
            "it printed nothing; it was killed by signal 11",
        );
    }

    #[test]
    fn warnings_leave_out_harmless_messages() {
        let check = |ended: &AttemptEnd, expected: &[&str]| assert_eq!(warnings(ended), expected);
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
        assert!(warnings(&abandoned)[0].contains("without giving a reason"));
        abandoned.stop_requested = true;
        check(&abandoned, &[]);
    }
}
