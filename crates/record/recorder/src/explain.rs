//! Explains the output and the end of a run of `xctrace` to users.

use metalens_xctrace::Transcript;
use metalens_xctrace::meaning::{self, RECORD_CODES, Weight};

use crate::attempt::AttemptEnd;

/// The explanation of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// One line: its errors, or its last lines, and its exit.
    pub(crate) text: String,
    /// Advice on what to do, if a message is known.
    pub(crate) remedy: Option<&'static str>,
}

/// Explains the end of a run.
pub(crate) fn explain_end(ended: &AttemptEnd) -> Explanation {
    let transcript = &ended.transcript;
    let is_known = |line: &&String| meaning::find_message(line).is_some();
    let mut lines: Vec<&String> = transcript.errors.iter().collect();
    if lines.is_empty() {
        lines = transcript.others.iter().filter(is_known).collect();
    }
    if lines.is_empty() {
        lines = transcript.others.iter().rev().take(3).rev().collect();
    }

    let all = transcript.errors.iter().chain(&transcript.others);
    let known: Vec<_> = all.filter_map(|line| meaning::find_message(line)).collect();
    let mut remedies = known.iter().map(|message| message.meaning.remedy);
    let remedy = remedies.find(|remedy| !remedy.is_empty());
    let mut parts = explain_messages(&lines, false);
    if parts.is_empty() && !transcript.has_started {
        parts.push("it printed nothing".to_owned());
    }
    parts.push(format!("it {}", explain_exit(ended, known.is_empty())));

    Explanation {
        text: parts.join("; "),
        remedy,
    }
}

/// Quotes messages of `xctrace`, each with its meaning if that is known, once. `xctrace` often says the
/// same in several ways.
fn explain_messages(texts: &[&String], with_remedy: bool) -> Vec<String> {
    let mut said = Vec::new();
    let mut explain = |text: &String| {
        let known = meaning::find_message(text).map(|known| known.meaning)?;
        let is_new = !said.contains(&known.what);
        said.push(known.what);
        Some(match known.remedy {
            _ if !is_new => String::new(),
            remedy if remedy.is_empty() || !with_remedy => format!("`{text}` ({})", known.what),
            remedy => format!("`{text}` ({}: {remedy})", known.what),
        })
    };
    let explained = texts
        .iter()
        .map(|text| explain(text).unwrap_or_else(|| format!("`{text}`")));
    explained.filter(|text| !text.is_empty()).collect()
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
    let lines = transcript.errors.iter().chain(&transcript.others);
    let known = lines.filter_map(|text| meaning::find_message(text));
    let mut again = known.filter(|message| message.weight == Weight::TryAgain);
    again.next().map(|message| message.meaning.what)
}

/// Returns warnings for the reader of a recording. Those of one that is not complete are a part of an
/// error, which has the remedy.
pub(crate) fn warnings(ended: &AttemptEnd, is_complete: bool) -> Vec<String> {
    let transcript = &ended.transcript;
    let troubles = transcript.errors.iter().chain(&transcript.warnings);
    let weighty: Vec<&String> = troubles
        .filter(|text| {
            let known = meaning::find_message(text);
            known.is_none_or(|known| known.weight != Weight::Harmless)
        })
        .collect();
    let mut explanations = explain_messages(&weighty, is_complete);

    // The code of a good recording is often that of the program, and says nothing about `xctrace`.
    if let (None, Some(signal)) = (ended.code, ended.signal) {
        explanations.push(format!("xctrace was killed by signal {signal}"));
    }

    let was_stopped = ended.stop_requested || ended.never_began;
    let has_reason = transcript.reached_limit || transcript.target_exited || was_stopped;
    // An issue that was listed is the reason.
    if !has_reason && transcript.errors.is_empty() {
        let text = "xctrace ended the recording without giving a reason; record again if something \
                    is missing";
        explanations.push(text.to_owned());
    }
    explanations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: Option<i32>, errors: &[&str], others: &[&str]) -> AttemptEnd {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let mut transcript = Transcript::default();
        transcript.errors = texts(errors);
        transcript.others = texts(others);
        transcript.target_exited = true;
        AttemptEnd {
            transcript,
            code,
            signal: code.is_none().then_some(11),
            stop_requested: false,
            never_began: false,
            is_output_cut: false,
        }
    }

    #[test]
    fn the_end_of_a_run_is_explained() {
        let check = |ended: &AttemptEnd, text: &str, remedy: Option<&'static str>| {
            let text = text.to_owned();
            assert_eq!(explain_end(ended), Explanation { text, remedy });
        };
        check(
            &ended(
                Some(19),
                &["Cannot find process matching name: bench"],
                &["x"],
            ),
            "`Cannot find process matching name: bench` (no process with that name is running); it ended \
             with exit code 19",
            Some("start it first, or give its process id; the complete name must match"),
        );
        let refused = "Failed to attach to target";
        check(
            &ended(Some(2), &[refused, refused, "and more"], &[]),
            "`Failed to attach to target` (macOS does not allow tracing the process); `and more`; it ended \
             with exit code 2",
            Some(
                "sign it with com.apple.security.get-task-allow, or, in place of --attach, let metalens start \
                 it (`metalens record -- CMD`)",
            ),
        );
        check(
            &ended(Some(3), &[], &["a", "b"]),
            "`a`; `b`; it ended with exit code 3",
            None,
        );
        check(
            &ended(Some(30), &[], &["a"]),
            "`a`; it ended with exit code 30 (a custom template has the name of an Apple template: give \
             the path of the template instead of its name)",
            None,
        );
        check(
            &ended(Some(0), &[], &[]),
            "it printed nothing; it ended with exit code 0",
            None,
        );
        check(
            &ended(None, &[], &[]),
            "it printed nothing; it was killed by signal 11",
            None,
        );
    }

    #[test]
    fn warnings_leave_out_harmless_messages() {
        let check =
            |ended: &AttemptEnd, expected: &[&str]| assert_eq!(warnings(ended, true), expected);
        let log =
            "Data stream: Fatal logging system error: The log archive is corrupt or incomplete";
        check(&ended(Some(54), &[log], &[]), &[]);
        check(
            &ended(Some(0), &["something new"], &[]),
            &["`something new`"],
        );
        check(&ended(Some(43), &[], &[]), &[]);
        check(&ended(None, &[], &[]), &["xctrace was killed by signal 11"]);
        let mut abandoned = ended(Some(54), &[], &[]);
        abandoned.transcript.target_exited = false;
        assert!(warnings(&abandoned, true)[0].contains("without giving a reason"));
        abandoned.stop_requested = true;
        check(&abandoned, &[]);
    }
}
