//! The contract of `metalens doctor --json`, and what it is made of.

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use metalens_xctrace::FoundProgram;
use metalens_xctrace::{Error, Templates, Tool, Version, templates};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;
use crate::checks;
use crate::facts::Facts;

/// The contract's name.
pub const SCHEMA: &str = "metalens.doctor/1";

/// Whether a machine can record, and what is in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// `metalens.doctor/1`.
    pub schema: String,
    /// The version of metalens.
    pub metalens: String,
    /// `macos`, `linux`, …
    pub platform: String,
    /// Whether recording can work. Warnings do not rule it out.
    pub can_record: bool,
    /// What was looked at.
    pub checks: Vec<Check>,
    /// What can be done here without recording.
    pub works_here: Vec<WorksHere>,
    /// What the machine said. Null where nothing was asked, off macOS.
    pub facts: Option<Facts>,
}

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

/// Something that can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorksHere {
    /// The command.
    pub command: String,
    /// What it does.
    pub what: String,
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
}

/// What is to be recorded, as far as it is known.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The folder that the recording goes to.
    pub folder: &'a Path,
    /// The template.
    pub template: &'a str,
    /// When the recording stops.
    pub time_limit: Option<Duration>,
    /// The program that is to be recorded, or why there is none.
    pub program: Option<Result<FoundProgram, String>>,
    /// Whether root asks.
    pub is_root: bool,
    /// The home folder, which is written `~`.
    pub home: Option<&'a str>,
}

/// How long `xctrace` gets to answer: its list of templates is asked for several
/// times, and the first answer after an update takes long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks at a Mac.
pub fn diagnose(ask: &dyn Ask, asked: &Asked<'_>, tool: Result<Tool, Error>) -> Diagnosis {
    let (facts, recorder) = thread::scope(|scope| {
        let facts = scope.spawn(|| Facts::gather(ask, asked.folder));
        let recorder = Recorder::of(tool);
        let facts = facts.join();
        (
            facts.unwrap_or_else(|_| Facts::gather(ask, asked.folder)),
            recorder,
        )
    });
    let mut checks = checks::all(ask, &facts, &recorder, asked);
    for check in &mut checks {
        check.hide(asked.home);
    }
    diagnosis("macos", checks, Some(facts.without(asked.home)))
}

/// Looks at a machine that is no Mac.
#[must_use]
pub fn elsewhere(platform: &str) -> Diagnosis {
    let name = match platform {
        "linux" => "Linux",
        "windows" => "Windows",
        other => other,
    };
    let found =
        format!("this is {name}: xctrace, which records, is a part of Xcode, on macOS only");
    let platform_check = Check::problem("platform", found).remedy(
        "record on a Mac, and bring the .trace bundle here: it is read without Xcode",
        &[],
    );
    diagnosis(platform, vec![platform_check], None)
}

fn diagnosis(platform: &str, checks: Vec<Check>, facts: Option<Facts>) -> Diagnosis {
    Diagnosis {
        schema: SCHEMA.to_owned(),
        metalens: env!("CARGO_PKG_VERSION").to_owned(),
        platform: platform.to_owned(),
        can_record: checks.iter().all(|check| check.verdict != Verdict::Problem),
        checks,
        works_here: works_here(),
        facts,
    }
}

fn works_here() -> Vec<WorksHere> {
    let all = [
        (
            "metalens analyze X.trace",
            "read a recording natively, and report on it",
        ),
        ("metalens chart X.trace", "draw it"),
        ("metalens tables X.trace", "look at its tables"),
        (
            "metalens record --simulate",
            "try the whole path, with a simulator in xctrace's place",
        ),
        (
            "metalens synth eager -o eager",
            "write a recording whose truth is known",
        ),
    ];
    let one = |(command, what): (&str, &str)| WorksHere {
        command: command.to_owned(),
        what: what.to_owned(),
    };
    all.map(one).into()
}

impl Check {
    /// Folders of the user's are nobody's business.
    fn hide(&mut self, home: Option<&str>) {
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

impl Facts {
    fn without(mut self, home: Option<&str>) -> Self {
        if let (Some(home), Some(folder)) = (home, &mut self.xcode.folder.value) {
            *folder = folder.replace(home, "~");
        }
        self
    }
}

/// What `xctrace` says of itself.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) version: Result<Version, String>,
    pub(crate) templates: Result<Templates, String>,
}

impl Recorder {
    fn of(tool: Result<Tool, Error>) -> Self {
        let tool = match tool {
            Ok(tool) => tool,
            Err(Error::NoXcode { said }) => {
                return Self::without(&format!("it was not found: {said}"));
            }
            Err(error) => return Self::without(&error.to_string()),
        };
        let asked = tool.clone();
        match within(PATIENCE, move || asked.version()) {
            Err(why) => Self::without(&why),
            Ok(version) => Self {
                version: Ok(version),
                templates: within(PATIENCE, move || templates(&tool)),
            },
        }
    }

    fn without(why: &str) -> Self {
        Self {
            version: Err(why.to_owned()),
            templates: Err("xctrace does not start".to_owned()),
        }
    }
}

/// What takes longer is left to itself.
fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Nobody may listen any more.
        let _ = sender.send(work().map_err(|error| error.to_string()));
    });
    receiver.recv_timeout(patience).unwrap_or_else(|_| {
        Err(format!(
            "xctrace did not answer within {} s",
            patience.as_secs()
        ))
    })
}

/// The JSON Schema of a diagnosis.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Diagnosis);
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_left() {
        let slow = within(Duration::from_millis(20), || {
            thread::sleep(Duration::from_secs(5));
            Ok(())
        });
        assert_eq!(slow, Err("xctrace did not answer within 0 s".to_owned()));
        assert_eq!(within(Duration::from_secs(5), || Ok(1)), Ok(1));
    }

    #[test]
    fn another_platform() {
        let diagnosis = elsewhere("linux");
        assert!(!diagnosis.can_record && diagnosis.facts.is_none());
        assert!(
            diagnosis
                .works_here
                .iter()
                .any(|one| one.command.contains("--simulate"))
        );
    }
}
