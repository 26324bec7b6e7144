//! Something that was looked at, and what to do about it.

use schemars::JsonSchema;
use serde::Serialize;

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What: a name that stays.
    pub id: String,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub remedy: Option<Remedy>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It does not matter here.
    NotApplicable,
    /// It cannot be told.
    Unknown,
    /// Recording may fail, or what it measures may mislead.
    Warning,
    /// Recording cannot work.
    Problem,
}

/// What to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// In words.
    pub what: String,
    /// In commands, in this order.
    pub commands: Vec<String>,
    /// A file that they need.
    pub file: Option<TextFile>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextFile {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub content: String,
}

impl Check {
    pub(crate) fn new(id: &str, verdict: Verdict, found: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            verdict,
            found: found.into(),
            remedy: None,
        }
    }

    pub(crate) fn ok(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, Verdict::Ok, found)
    }

    pub(crate) fn warning(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, Verdict::Warning, found)
    }

    pub(crate) fn problem(id: &str, found: impl Into<String>) -> Self {
        Self::new(id, Verdict::Problem, found)
    }

    pub(crate) fn unknown(id: &str, why: Option<&String>) -> Self {
        let why = why.map_or("", String::as_str);
        Self::new(id, Verdict::Unknown, format!("cannot be told: {why}"))
    }

    pub(crate) fn remedy(mut self, what: &str, commands: &[&str]) -> Self {
        self.remedy = Some(Remedy {
            what: what.to_owned(),
            commands: commands.iter().map(|&one| one.to_owned()).collect(),
            file: None,
        });
        self
    }

    /// Folders of the user's are nobody's business.
    pub(crate) fn hide(&mut self, home: Option<&str>) {
        let Some(home) = home.filter(|home| home.len() > 1) else {
            return;
        };
        self.found = self.found.replace(home, "~");
        if let Some(remedy) = &mut self.remedy {
            remedy.what = remedy.what.replace(home, "~");
            for command in &mut remedy.commands {
                // They can still be run.
                *command = command.replace(&format!("'{home}/"), "\"$HOME\"'/");
            }
        }
    }
}
