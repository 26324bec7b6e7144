//! Tells what of metalens reached the program through `xctrace`: reports disagree about its environment. A
//! bundled workload says it in its work file.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Variable in which a bundled workload finds the folder of metalens.
pub(crate) const PROBE: &str = "METALENS_PROBE";

/// What of metalens reached a bundled workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachedProgram {
    /// True if the program has the environment of metalens.
    pub environment: bool,
    /// True if it has the same current folder. `None` if that is unknown.
    pub folder: Option<bool>,
}

impl ReachedProgram {
    /// Reads the work file of a bundled workload, if it wrote one.
    pub(crate) fn from_work(file: &Path) -> Option<Self> {
        let work: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        let reached = work.get("program")?.get("reached");
        Some(Self {
            environment: reached.is_some(),
            folder: reached.and_then(|reached| reached.get("folder")?.as_bool()),
        })
    }

    /// Returns the warning for the user, or `None` if all reached the program.
    pub fn message(&self) -> Option<&'static str> {
        if !self.environment {
            Some(
                "THE PROGRAM DID NOT GET THE ENVIRONMENT of metalens: this xctrace passes only variables \
                 that --env names, so a program of yours ran without its own",
            )
        } else if self.folder == Some(false) {
            Some(
                "the program did not run in the current folder: name files by their absolute paths",
            )
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_file_says_what_reached_the_program() {
        let check = |work: &str, expected: Option<(bool, Option<bool>)>| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), work).unwrap();
            let reached = ReachedProgram::from_work(file.path());
            let found = reached.map(|reached| (reached.environment, reached.folder));
            assert_eq!(found, expected, "{work}");
        };
        let all = r#"{"program": {"reached": {"folder": true}}}"#;
        check(all, Some((true, Some(true))));
        check(r#"{"program": {}}"#, Some((false, None)));
        check(r#"{"work": []}"#, None);
        check("{", None);
    }
}
