//! How the program that was recorded ended, as its bundle says: the exit code of
//! `xctrace` does not tell.

use std::path::Path;

use metalens_trace::{Input, Target, TargetProcess};

use crate::request::StoppedBy;

/// The end of a program that was started for the recording, if the bundle knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// `exit(4)`, `SIGKILL`, `status 4`.
    pub how: String,
}

/// Looks into a bundle. One that was attached to may live on.
pub(crate) fn look(bundle: &Path) -> Option<Ending> {
    let input = Input::open(bundle).ok()?;
    // A run that was appended is the last.
    match &input.toc()?.runs.last()?.target {
        Target::Launched(process) => Ending::of(process),
        _ => None,
    }
}

impl Ending {
    /// What a bundle's number means nobody has written down, but for 0: then only
    /// the status is told, an exit code or that of a signal.
    fn of(process: &TargetProcess) -> Option<Self> {
        let termination = process.termination.as_deref()?;
        let how = match (
            termination.strip_prefix("termination "),
            process.exit_status,
        ) {
            (None, _) => termination.to_owned(),
            (Some(_), Some(0)) => "exit(0)".to_owned(),
            (Some(_), Some(status)) => format!("status {status}"),
            (Some(_), None) => return None,
        };
        Some(Self { how })
    }

    /// Returns what is worth telling: not that all went well.
    #[must_use]
    pub fn in_words(&self, stopped_by: StoppedBy) -> Option<String> {
        let how = &self.how;
        let code = how.strip_prefix("exit(");
        let code = code.and_then(|rest| rest.strip_suffix(')'));
        Some(match (code, stopped_by) {
            (Some("0"), _) => return None,
            (Some(code), _) => format!("the program exited with {code}"),
            (None, StoppedBy::TimeLimit) => {
                format!("the program still ran at the time limit, and was ended: {how}")
            }
            (None, StoppedBy::Wish) => {
                format!("the program still ran when you stopped it, and was ended: {how}")
            }
            (None, StoppedBy::TargetExit | StoppedBy::Unknown) => {
                format!("the program did not end well: {how}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let check = |status: i64, termination: &str, stopped_by, expected: Option<&str>| {
            let ending = Ending::of(&TargetProcess {
                exit_status: Some(status),
                termination: Some(termination.to_owned()),
                ..TargetProcess::default()
            });
            let words = ending.unwrap().in_words(stopped_by);
            assert_eq!(words.as_deref(), expected);
        };
        let itself = StoppedBy::TargetExit;
        check(0, "exit(0)", itself, None);
        check(0, "termination 7", itself, None);
        check(4, "exit(4)", itself, Some("the program exited with 4"));
        let unclear = "the program did not end well: status 4";
        check(4, "termination 4", itself, Some(unclear));
        let crash = "the program did not end well: SIGSEGV";
        check(11, "SIGSEGV", itself, Some(crash));
        let limit = "the program still ran at the time limit, and was ended: SIGKILL";
        check(9, "SIGKILL", StoppedBy::TimeLimit, Some(limit));
    }
}
