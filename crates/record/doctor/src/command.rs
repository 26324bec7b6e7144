//! Runs programs of the system, each with a time limit.

use std::io;
use std::time::Duration;

use metalens_failure::in_plain_words;

/// Runs the commands that the facts come from. Tests use a simulated Mac.
pub trait CommandRunner: Sync {
    /// Runs a program until it ends.
    fn run(&self, program: &str, arguments: &[&str]) -> CommandOutput;
}

/// The result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutput {
    /// The program ended.
    Exited {
        /// Exit code; none if a signal ended the program.
        code: Option<i32>,
        /// Text on standard output.
        out: String,
        /// Text on standard error.
        err: String,
    },
    /// The program did not start, or did not end in time, with the reason.
    Failed(String),
}

impl CommandOutput {
    /// Returns the text of both streams: programs are not consistent about which one they use.
    pub fn text(&self) -> String {
        match self {
            Self::Exited { out, err, .. } => format!("{out}\n{err}"),
            Self::Failed(_) => String::new(),
        }
    }

    /// Returns the exit code, if the program ended with one.
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Exited { code, .. } => *code,
            Self::Failed(_) => None,
        }
    }

    /// Returns the first line of the output, or why there is none.
    pub fn summary(&self) -> String {
        let text = self.text();
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        match (self, first) {
            (Self::Failed(why), _) => why.clone(),
            (_, Some(line)) => line.chars().take(200).collect(),
            (
                Self::Exited {
                    code: Some(code), ..
                },
                None,
            ) => {
                format!("no output, exit code {code}")
            }
            (Self::Exited { .. }, None) => "no output, ended by a signal".to_owned(),
        }
    }
}

/// Runs commands on this machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemCommands {
    /// Time limit of each program.
    pub time_limit: Duration,
}

impl Default for SystemCommands {
    fn default() -> Self {
        Self {
            time_limit: Duration::from_secs(10),
        }
    }
}

impl CommandRunner for SystemCommands {
    fn run(&self, program: &str, arguments: &[&str]) -> CommandOutput {
        match self.output(program, arguments) {
            Ok(Some(answer)) => answer,
            Ok(None) => CommandOutput::Failed(format!(
                "{program} did not answer within {} s",
                self.time_limit.as_secs_f64()
            )),
            Err(cause) => {
                let cause = in_plain_words(&cause.to_string());
                CommandOutput::Failed(format!("{program} cannot be run: {cause}"))
            }
        }
    }
}

impl SystemCommands {
    /// Runs a program. Returns `None` if it did not end in time.
    fn output(&self, program: &str, arguments: &[&str]) -> io::Result<Option<CommandOutput>> {
        let handle = duct::cmd(program, arguments)
            .env("LC_ALL", "C")
            .stdin_null()
            .stdout_capture()
            .stderr_capture()
            .unchecked()
            .start()?;
        let Some(output) = handle.wait_timeout(self.time_limit)? else {
            // The program only prints facts: ending it loses nothing.
            handle.kill()?;
            return Ok(None);
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Some(CommandOutput::Exited {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn programs_answer_or_are_killed() {
        let system = SystemCommands {
            time_limit: Duration::from_secs(1),
        };
        let shell = |script: &str| system.run("/bin/sh", &["-c", script]);
        assert_eq!(
            shell("echo out; echo err >&2; exit 69"),
            CommandOutput::Exited {
                code: Some(69),
                out: "out\n".to_owned(),
                err: "err\n".to_owned()
            }
        );
        let before = Instant::now();
        let hung = shell("sleep 60 & sleep 60");
        assert_eq!(hung.summary(), "/bin/sh did not answer within 1 s");
        assert!(before.elapsed() < Duration::from_secs(20));
        let absent = system.run("/no/such/program", &[]);
        let expected = "/no/such/program cannot be run: ";
        assert!(absent.summary().starts_with(expected), "{absent:?}");
    }

    #[test]
    fn summaries_are_the_first_line() {
        let exited = |code, out: &str, err: &str| CommandOutput::Exited {
            code,
            out: out.to_owned(),
            err: err.to_owned(),
        };
        let check = |answer: CommandOutput, expected: &str| assert_eq!(answer.summary(), expected);
        check(exited(Some(0), "\n  a \nb", "c"), "a");
        check(
            exited(Some(1), "", "xcode-select: error"),
            "xcode-select: error",
        );
        check(exited(Some(69), "", ""), "no output, exit code 69");
        check(exited(None, "", ""), "no output, ended by a signal");
    }
}
