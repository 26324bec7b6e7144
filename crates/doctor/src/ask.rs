//! Asking the system's own programs: each gets its time, none can hang us.

use std::io;
use std::time::Duration;

/// Somebody who can be asked.
pub trait Ask: Sync {
    /// Runs a program to its end.
    fn ask(&self, program: &str, arguments: &[&str]) -> Answer;
}

/// What a program answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It ended.
    Said {
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// What came on standard output.
        out: String,
        /// What came on standard error.
        err: String,
    },
    /// It did not, or there is none: why.
    Silent(String),
}

impl Answer {
    /// All that it said: many programs do not care on which stream.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Said { out, err, .. } => format!("{out}\n{err}"),
            Self::Silent(_) => String::new(),
        }
    }

    /// Its exit code.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Said { code, .. } => *code,
            Self::Silent(_) => None,
        }
    }

    /// The first thing that it said, or why it said nothing.
    #[must_use]
    pub fn gist(&self) -> String {
        let text = self.text();
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        match (self, first) {
            (Self::Silent(why), _) => why.clone(),
            (_, Some(line)) => line.chars().take(200).collect(),
            (
                Self::Said {
                    code: Some(code), ..
                },
                None,
            ) => {
                format!("it said nothing, and ended with exit code {code}")
            }
            (Self::Said { .. }, None) => "it said nothing, and a signal ended it".to_owned(),
        }
    }
}

/// The machine that this runs on.
#[derive(Debug, Clone, Copy)]
pub struct System {
    /// How long each program gets.
    pub patience: Duration,
}

impl Default for System {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(10),
        }
    }
}

impl Ask for System {
    fn ask(&self, program: &str, arguments: &[&str]) -> Answer {
        match self.run(program, arguments) {
            Ok(Some(answer)) => answer,
            Ok(None) => Answer::Silent(format!(
                "{program} did not answer within {} s",
                self.patience.as_secs_f64()
            )),
            Err(cause) => Answer::Silent(format!("{program} cannot be run: {cause}")),
        }
    }
}

impl System {
    fn run(&self, program: &str, arguments: &[&str]) -> io::Result<Option<Answer>> {
        let handle = duct::cmd(program, arguments)
            .env("LC_ALL", "C")
            .stdin_null()
            .stdout_capture()
            .stderr_capture()
            .unchecked()
            .start()?;
        let Some(output) = handle.wait_timeout(self.patience)? else {
            // It only answers questions: nothing is lost with it.
            handle.kill()?;
            return Ok(None);
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Some(Answer::Said {
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
    fn programs_answer_or_are_left() {
        let system = System {
            patience: Duration::from_secs(2),
        };
        let shell = |script: &str| system.ask("/bin/sh", &["-c", script]);
        assert_eq!(
            shell("echo out; echo err >&2; exit 69"),
            Answer::Said {
                code: Some(69),
                out: "out\n".to_owned(),
                err: "err\n".to_owned()
            }
        );
        let before = Instant::now();
        let hung = shell("sleep 60 & sleep 60");
        assert_eq!(hung.gist(), "/bin/sh did not answer within 2 s");
        assert!(before.elapsed() < Duration::from_secs(20));
        let absent = system.ask("/no/such/program", &[]);
        let expected = "/no/such/program cannot be run: ";
        assert!(absent.gist().starts_with(expected), "{absent:?}");
    }

    #[test]
    fn the_gist_of_an_answer() {
        let said = |code, out: &str, err: &str| Answer::Said {
            code,
            out: out.to_owned(),
            err: err.to_owned(),
        };
        let check = |answer: Answer, expected: &str| assert_eq!(answer.gist(), expected);
        check(said(Some(0), "\n  a \nb", "c"), "a");
        check(
            said(Some(1), "", "xcode-select: error"),
            "xcode-select: error",
        );
        check(
            said(Some(69), "", ""),
            "it said nothing, and ended with exit code 69",
        );
        check(said(None, "", ""), "it said nothing, and a signal ended it");
    }
}
