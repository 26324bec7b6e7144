//! Says how the recorded program ended, from what its bundle names. The exit code of `xctrace` does not tell.

use crate::recorded_bundle::RecordedProgram;
use crate::request::StoppedBy;

/// The end of a program that the recording started, as its bundle describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Description such as `exit(4)`, `SIGKILL` or `status 4`.
    pub description: String,
}

/// Warning about output that a program holds back because it goes to a file.
const HELD_BACK: &str =
    "; what it had not written yet is lost (Python writes at once with --env PYTHONUNBUFFERED=1)";

impl ProgramEnd {
    /// Describes the end of a program that the recording started. Where the bundle has a termination number, only 0 has a
    /// known meaning, so that other numbers are described by the status: an exit code or a signal.
    pub(crate) fn new(program: &RecordedProgram) -> Option<Self> {
        let termination = program.termination.as_deref()?;
        let description = match (
            termination.strip_prefix("termination "),
            program.exit_status,
        ) {
            (None, _) => termination.to_owned(),
            (Some(_), Some(0)) => "exit(0)".to_owned(),
            (Some(_), Some(status)) => format!("status {status}"),
            (Some(_), None) => return None,
        };
        Some(Self { description })
    }

    /// Returns the message for the user, or `None` if all went well.
    pub fn message(&self, stopped_by: StoppedBy) -> Option<String> {
        let end = &self.description;
        let code = end
            .strip_prefix("exit(")
            .and_then(|rest| rest.strip_suffix(')'));

        Some(match (code, stopped_by) {
            (Some("0"), _) => return None,
            (Some(code), _) => format!("the program exited with code {code}"),
            (None, StoppedBy::TimeLimit) => {
                format!(
                    "the program was still running at the time limit and was ended ({end}){HELD_BACK}"
                )
            }
            (None, StoppedBy::User) => {
                format!(
                    "the program was still running when you stopped it and was ended ({end}){HELD_BACK}"
                )
            }
            (None, StoppedBy::Patience) => {
                format!(
                    "the program was still running when metalens stopped it and was ended \
                     ({end}){HELD_BACK}"
                )
            }
            (None, StoppedBy::TargetExit | StoppedBy::Unknown) => {
                format!("the program ended abnormally: {end}")
            }
        })
    }

    /// Returns whether the program failed by itself: not one that was ended at the time limit or by
    /// the user, whatever it answered.
    pub fn is_failure(&self, stopped_by: StoppedBy) -> bool {
        let end = self.description.as_str();
        match stopped_by {
            StoppedBy::TimeLimit | StoppedBy::User | StoppedBy::Patience => false,
            StoppedBy::TargetExit => end != "exit(0)",
            // The recorder may have sent the signal.
            StoppedBy::Unknown => end.starts_with("exit(") && end != "exit(0)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_described_and_judged() {
        let check = |status: i64, termination: &str, stopped_by, expected: Option<&str>, fails| {
            let end = ProgramEnd::new(&RecordedProgram {
                exit_status: Some(status),
                termination: Some(termination.to_owned()),
                ..RecordedProgram::default()
            });
            let end = end.unwrap();
            assert_eq!(end.message(stopped_by).as_deref(), expected);
            assert_eq!(end.is_failure(stopped_by), fails, "{termination}");
        };

        let itself = StoppedBy::TargetExit;
        check(0, "exit(0)", itself, None, false);
        check(0, "termination 7", itself, None, false);
        let code = "the program exited with code 4";
        check(4, "exit(4)", itself, Some(code), true);
        check(4, "exit(4)", StoppedBy::Unknown, Some(code), true);
        check(4, "exit(4)", StoppedBy::User, Some(code), false);
        let unclear = "the program ended abnormally: status 4";
        check(4, "termination 4", itself, Some(unclear), true);
        let crash = "the program ended abnormally: SIGSEGV";
        check(11, "SIGSEGV", itself, Some(crash), true);
        check(11, "SIGSEGV", StoppedBy::Unknown, Some(crash), false);
        let limit = "the program was still running at the time limit and was ended (SIGKILL)";
        let limit = format!("{limit}{HELD_BACK}");
        check(9, "SIGKILL", StoppedBy::TimeLimit, Some(&limit), false);
    }
}
