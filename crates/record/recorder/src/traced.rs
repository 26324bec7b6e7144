//! Compares the program that was recorded with the one that was asked for. `xctrace` starts an
//! application by its bundle id: four projects saw it record another copy than the one they named.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_text::Redactor;
use metalens_xctrace::command::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::recorded_bundle::RecordedProgram;
use crate::running::framework_python;

/// The program that was asked for, and the one that the recording names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedProgram {
    asked: PathBuf,
    recorded: PathBuf,
}

/// Programs of a recording. The home folder is `~`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Programs")]
pub(crate) struct Programs {
    /// Path of the program that was asked for.
    asked: String,
    /// Path of the program that the recording names.
    recorded: String,
    /// True if both are the same file.
    same: bool,
}

/// Returns which program was recorded. Returns `None` if none was started, or if the recording has no
/// path of a program that exists: it may cut long paths.
pub(crate) fn look(program: &RecordedProgram, target: &Target) -> Option<TracedProgram> {
    let Target::Launch(launch) = target else {
        return None;
    };
    let recorded = program.path.as_deref()?;
    Some(TracedProgram {
        asked: fs::canonicalize(&launch.program).ok()?,
        recorded: fs::canonicalize(recorded)
            .ok()
            .filter(|path| path.is_file())?,
    })
}

impl TracedProgram {
    /// Returns whether the requested program was recorded. A script runs in its interpreter.
    fn is_same(&self) -> bool {
        self.asked == self.recorded
            || framework_python(&self.asked).as_ref() == Some(&self.recorded)
    }

    /// Returns the heading of the message.
    pub fn heading(&self) -> &'static str {
        if self.is_other_copy() {
            "warning"
        } else {
            "note"
        }
    }

    /// Returns the message for the user, or `None` if the requested program was recorded.
    pub fn message(&self) -> Option<String> {
        let (asked, recorded) = (self.asked.display(), self.recorded.display());
        if self.is_same() {
            None
        } else if self.is_other_copy() {
            Some(format!(
                "ANOTHER COPY OF THE PROGRAM WAS RECORDED: asked for {asked}, recorded \
                 {recorded}. macOS starts an application by its name; remove the other copy, or \
                 start yours and record it \
                 with --attach"
            ))
        } else {
            Some(format!(
                "asked for {asked}, recorded {recorded}: scripts and launchers become another program"
            ))
        }
    }

    /// Returns whether the recorded program is another file of the same name.
    fn is_other_copy(&self) -> bool {
        !self.is_same() && self.asked.file_name() == self.recorded.file_name()
    }

    /// Returns the programs without private parts of their paths.
    pub(crate) fn redacted(&self, redactor: &Redactor) -> Programs {
        let shown = |path: &Path| redactor.redact(&path.display().to_string());
        Programs {
            asked: shown(&self.asked),
            recorded: shown(&self.recorded),
            same: self.is_same(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_copy_is_a_warning_and_another_program_a_note() {
        let check = |asked: &str, recorded: &str, heading: &str, expected: Option<&str>| {
            let traced = TracedProgram {
                asked: asked.into(),
                recorded: recorded.into(),
            };
            let message = traced.message();
            assert_eq!(traced.heading(), heading, "{message:?}");
            assert_eq!(message.is_some(), expected.is_some(), "{message:?}");
            let message = message.unwrap_or_default();
            assert!(message.contains(expected.unwrap_or_default()), "{message}");
        };

        check(
            "/a/X.app/Contents/MacOS/X",
            "/a/X.app/Contents/MacOS/X",
            "note",
            None,
        );
        check(
            "/a/X.app/Contents/MacOS/X",
            "/b/X.app/Contents/MacOS/X",
            "warning",
            Some("asked for /a/X.app/Contents/MacOS/X, recorded /b/X.app"),
        );
        check(
            "/a/run.sh",
            "/bin/bash",
            "note",
            Some("become another program"),
        );
    }
}
