//! Defines what one reading of a bundle finds. The recorder does not read bundles itself: it is
//! handed a function that does.

use std::path::Path;

use crate::other_work::OtherWork;

/// Reads a bundle to a depth.
pub type BundleReader<'a> = dyn FnMut(&Path, ReadingDepth) -> RecordedBundle + 'a;

/// Depth to which a bundle is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingDepth {
    /// The facts about its runs.
    Facts,
    /// The facts and its tables, which must have GPU work of the recorded process.
    Tables,
}

/// Facts that one reading of a bundle found. Those about a run are about the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedBundle {
    /// Judgment of its contents.
    pub verdict: BundleVerdict,
    /// The program that the recording started; `None` if it started none.
    pub program: Option<RecordedProgram>,
    /// Processes with GPU work, if the recorded one has none.
    pub others: Vec<OtherWork>,
    /// Value of the setting `Shader Timeline`: `Enabled` or `Disabled`.
    pub shader_timeline: Option<String>,
    /// Number of samples of shaders; `None` if the table was not read.
    pub shader_samples: Option<u64>,
    /// True if its tables were read, and none is of Metal allocations. Always false of a simulated
    /// recording, which has only the tables of its scenario.
    pub lacks_allocations: bool,
    /// Errors and warnings that Instruments wrote into the bundle.
    pub issues: Vec<RecordedIssue>,
}

/// An error or a warning that Instruments wrote into a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedIssue {
    /// Text of Instruments.
    pub message: String,
    /// Advice on what to do, if it is certain.
    pub remedy: Option<&'static str>,
}

impl RecordedIssue {
    /// Adds the warning for the user, unless `xctrace` printed the same without a remedy.
    pub(crate) fn add_to(&self, warnings: &mut Vec<String>) {
        let message = format!("the recording reports `{}`", self.message);
        let is_printed = |warning: &String| warning.contains(&self.message);
        match self.remedy {
            Some(remedy) => {
                warnings.retain(|warning| !is_printed(warning));
                warnings.push(format!("{message}: {remedy}"));
            }
            None if !warnings.iter().any(is_printed) => warnings.push(message),
            None => {}
        }
    }
}

/// Judgment of the contents of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleVerdict {
    /// The bundle can be read, and has what was looked for.
    Good,
    /// The bundle can be read, but has no GPU work of the recorded process, for this reason.
    Empty(String),
    /// The bundle is incomplete, for this reason.
    Unreadable(String),
    /// The bundle seems complete, but metalens cannot tell, for this reason.
    Doubtful(String),
}

/// A program that a recording started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedProgram {
    /// Process id of the program.
    pub pid: Option<u32>,
    /// Absolute path of the program; the recording may cut long paths.
    pub path: Option<String>,
    /// Exit status, or number of the signal that ended the program.
    pub exit_status: Option<i64>,
    /// Reason of the end, such as `exit(0)` or `SIGKILL`.
    pub termination: Option<String>,
}

impl RecordedBundle {
    /// Returns a bundle of which nothing is known but a judgment.
    #[must_use]
    pub fn new(verdict: BundleVerdict) -> Self {
        Self {
            verdict,
            program: None,
            others: Vec::new(),
            shader_timeline: None,
            shader_samples: None,
            lacks_allocations: false,
            issues: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_are_named_once_with_the_remedy() {
        let check = |remedy, printed: &[&str], expected: &[&str]| {
            let issue = RecordedIssue {
                message: "events were lost".to_owned(),
                remedy,
            };
            let mut warnings: Vec<String> = printed.iter().map(|&text| text.to_owned()).collect();
            issue.add_to(&mut warnings);
            assert_eq!(warnings, expected);
        };
        let with_remedy = "the recording reports `events were lost`: record less";
        check(Some("record less"), &["other"], &["other", with_remedy]);
        check(Some("record less"), &["`events were lost`"], &[with_remedy]);
        check(None, &["`events were lost`"], &["`events were lost`"]);
        check(None, &[], &["the recording reports `events were lost`"]);
    }
}
