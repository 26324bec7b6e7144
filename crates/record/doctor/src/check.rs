//! Types of a check, its verdict and its remedy.

use schemars::JsonSchema;
use serde::Serialize;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Stable name of the check.
    pub id: String,
    /// Verdict on what was found.
    pub verdict: CheckVerdict,
    /// Description of what was found.
    pub found: String,
    /// Advice on what to do; null if nothing is necessary.
    pub remedy: Option<Remedy>,
}

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// Everything is as it should be.
    Ok,
    /// The check does not apply to this machine.
    NotApplicable,
    /// The result of the check is unknown.
    Unknown,
    /// Recording may fail, or its numbers may mislead.
    Warning,
    /// Recording cannot work on this machine.
    Problem,
}

/// Advice on what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// Description of what to do.
    pub what: String,
    /// Commands to run, in this order.
    pub commands: Vec<String>,
}

impl Check {
    /// Returns a check without a remedy.
    pub(crate) fn new(id: &str, verdict: CheckVerdict, found: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            verdict,
            found: found.into(),
            remedy: None,
        }
    }

    pub(crate) fn ok(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, CheckVerdict::Ok, found)
    }

    pub(crate) fn warning(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, CheckVerdict::Warning, found)
    }

    pub(crate) fn problem(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, CheckVerdict::Problem, found)
    }

    pub(crate) fn unknown(id: &str, why: Option<&String>) -> Self {
        let why = why.map_or("", String::as_str);
        Self::new(id, CheckVerdict::Unknown, format!("unknown: {why}"))
    }

    /// Adds a remedy with its commands.
    pub(crate) fn remedy(mut self, what: &str, commands: &[&str]) -> Self {
        self.remedy = Some(Remedy {
            what: what.to_owned(),
            commands: commands.iter().map(|&command| command.to_owned()).collect(),
        });
        self
    }

    /// Replaces the home folder by `~`, since diagnoses are shared in public.
    pub(crate) fn hide_home(&mut self, home: Option<&str>) {
        let Some(home) = home.filter(|home| home.len() > 1) else {
            return;
        };
        self.found = self.found.replace(home, "~");
        if let Some(remedy) = &mut self.remedy {
            remedy.what = remedy.what.replace(home, "~");
            for command in &mut remedy.commands {
                // A shell does not expand `~` within quotes, so commands use $HOME.
                *command = command.replace(&format!("'{home}/"), "\"$HOME\"'/");
            }
        }
    }
}
