//! Defines the evidence file, `metalens.verification/1`.

use std::collections::BTreeMap;

use metalens_doctor::CheckVerdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of the format.
pub const SCHEMA: &str = "metalens.verification/1";

/// Answers to the questions about `xctrace` that the authors could not answer. Has no names of people,
/// hosts, programs or files.
#[derive(Debug, Serialize)]
pub struct EvidenceFile {
    /// Name of the format: `metalens.verification/1`.
    pub schema: &'static str,
    /// Version of metalens that ran the experiments.
    pub metalens: &'static str,
    /// True if a fake xctrace answered in place of `xctrace`, so that the answers say nothing about it.
    pub synthetic: bool,
    /// True if the user stopped before all experiments were done.
    pub stopped: bool,
    /// Versions and chip of the machine.
    pub machine: MachineSeen,
    /// Verdicts of `metalens doctor` by check: `ok`, `warning`, `problem`, and others. Empty for a fake xctrace.
    pub doctor: BTreeMap<String, CheckVerdict>,
    /// Answers in the order of the experiments.
    pub answers: Vec<Answer>,
    /// Recordings that the experiments used.
    pub recordings: Vec<RecordingSeen>,
}

/// Versions and chip of a machine. A value is null if the machine did not tell it.
#[derive(Debug, Serialize)]
pub struct MachineSeen {
    /// Version that `xctrace` prints.
    pub xctrace: Option<String>,
    /// Build number of its Xcode.
    pub xcode_build: Option<String>,
    /// Version of macOS, such as `26.0`.
    pub macos: Option<String>,
    /// Build number of macOS.
    pub macos_build: Option<String>,
    /// Name of the chip.
    pub chip: Option<String>,
    /// Number of GPU cores.
    pub gpu_cores: Option<u64>,
    /// Model identifier of the Mac.
    pub model: Option<String>,
    /// True in a virtual machine.
    pub is_virtual: Option<bool>,
    /// Hours since the machine was started: clocks that lose digits with time do so then.
    pub uptime_hours: Option<i64>,
}

/// The answer of one experiment.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Name of the experiment.
    pub id: &'static str,
    /// Question that the experiment answers.
    pub question: &'static str,
    /// Answer that metalens expects.
    pub expected: &'static str,
    /// Result of the experiment.
    #[serde(flatten)]
    pub judgment: Judgment,
}

/// Result of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExperimentVerdict {
    /// The machine does what metalens expects.
    AsExpected,
    /// The machine does something else.
    Otherwise,
    /// The experiment has no answer.
    CouldNotTell,
}

impl ExperimentVerdict {
    /// Returns the verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsExpected => "as expected",
            Self::Otherwise => "not as expected",
            Self::CouldNotTell => "could not tell",
        }
    }
}

/// A recording that was made, or tried.
#[derive(Debug, Serialize)]
pub struct RecordingSeen {
    /// Purpose of the recording.
    pub purpose: &'static str,
    /// Result in a word: `recorded`, `empty`, `incomplete`, or another reason for its absence.
    pub result: &'static str,
    /// Time from the start until the bundle was in its place, in milliseconds.
    pub milliseconds: u64,
    /// Size of the bundle in bytes. Null if there is none.
    pub bytes: Option<u64>,
    /// Exit code of `xctrace`. Null if there was none, or no recording.
    pub exit_code: Option<i32>,
    /// Lines of `xctrace` in each attempt, with their times and streams, and how it ended. Names of the
    /// user, the machine and folders are replaced. Empty if `xctrace` was not started.
    pub transcript: Vec<String>,
    /// Tables of the recording that metalens can read.
    pub tables: Vec<TableSeen>,
}

/// A table of a recording.
#[derive(Debug, Serialize)]
pub struct TableSeen {
    /// Name of the table, as Apple calls it.
    pub schema: String,
    /// Number of rows of the table.
    pub rows: u64,
    /// Names of the columns, as Apple calls them.
    pub columns: Vec<String>,
}

/// The result of an experiment.
#[derive(Debug, Serialize)]
pub struct Judgment {
    /// Result in a word.
    pub verdict: ExperimentVerdict,
    /// Reason for the verdict, in one sentence.
    pub why: String,
    /// Numbers and facts behind the verdict. A value is null if it is unknown.
    pub facts: BTreeMap<String, Value>,
    /// Text for the user alone, which may have paths and names.
    #[serde(skip)]
    pub private: Option<String>,
}

impl Judgment {
    /// Returns the judgment that the machine does what metalens expects.
    pub(crate) fn expected(why: impl Into<String>) -> Self {
        Self::new(ExperimentVerdict::AsExpected, why.into())
    }

    /// Returns the judgment that the machine does something else.
    pub(crate) fn otherwise(why: impl Into<String>) -> Self {
        Self::new(ExperimentVerdict::Otherwise, why.into())
    }

    /// Returns the judgment that the experiment has no answer.
    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        Self::new(ExperimentVerdict::CouldNotTell, why.into())
    }

    fn new(verdict: ExperimentVerdict, why: String) -> Self {
        Self {
            verdict,
            why,
            facts: BTreeMap::new(),
            private: None,
        }
    }

    /// Adds a fact, which may be unknown.
    pub(crate) fn fact(mut self, name: &str, fact: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }

    /// Adds text for the user alone.
    pub(crate) fn privately(mut self, text: String) -> Self {
        self.private = Some(text);
        self
    }
}

impl EvidenceFile {
    /// Returns the number of answers with a verdict.
    pub fn number_of(&self, verdict: ExperimentVerdict) -> usize {
        let answers = self.answers.iter();
        answers
            .filter(|answer| answer.judgment.verdict == verdict)
            .count()
    }
}
