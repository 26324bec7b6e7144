//! The contract of `metalens doctor --json`.

use std::thread;

use metalens_xctrace::{Error, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;
use crate::asked::Asked;
use crate::check::{Check, Verdict};
use crate::checks;
use crate::facts::Facts;
use crate::recorder::Recorder;

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

/// Something that can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorksHere {
    /// The command.
    pub command: String,
    /// What it does.
    pub what: String,
}

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

impl Facts {
    fn without(mut self, home: Option<&str>) -> Self {
        if let (Some(home), Some(folder)) = (home, &mut self.xcode.folder.value) {
            *folder = folder.replace(home, "~");
        }
        self
    }
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
