//! Defines the JSON of `metalens doctor --json`, and diagnoses a machine.

use std::thread;

use metalens_xctrace::{Error, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::{Check, CheckVerdict};
use crate::checks;
use crate::command::CommandRunner;
use crate::facts::Facts;
use crate::planned_recording::PlannedRecording;
use crate::xctrace_status::XctraceStatus;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "metalens.doctor/1";

/// The result of checking whether a machine can record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Name of this JSON form: `metalens.doctor/1`.
    pub schema: String,
    /// Version of metalens that checked the machine.
    pub metalens: String,
    /// Name of the platform: `macos`, `linux` or another.
    pub platform: String,
    /// True if recording can work. Warnings do not rule it out.
    pub can_record: bool,
    /// Results of all checks.
    pub checks: Vec<Check>,
    /// Facts about the machine; null on platforms other than macOS.
    pub facts: Option<Facts>,
}

/// Checks a Mac.
pub fn diagnose(
    runner: &dyn CommandRunner,
    planned: &PlannedRecording<'_>,
    tool: Result<Tool, Error>,
) -> Diagnosis {
    let (facts, xctrace) = thread::scope(|scope| {
        let facts = scope.spawn(|| Facts::gather(runner, planned.folder, planned.temporary));
        let xctrace = XctraceStatus::query(tool);
        let facts = facts.join();
        (
            facts.unwrap_or_else(|_| Facts::gather(runner, planned.folder, planned.temporary)),
            xctrace,
        )
    });
    let mut checks = checks::all(runner, &facts, &xctrace, planned);
    for check in &mut checks {
        check.hide_home(planned.home);
    }
    diagnosis("macos", checks, Some(facts.without_home(planned.home)))
}

/// Returns the diagnosis of a machine that is not a Mac.
pub fn elsewhere(platform: &str) -> Diagnosis {
    let name = match platform {
        "linux" => "Linux",
        "windows" => "Windows",
        other => other,
    };
    let found = format!(
        "this is {name}: recording needs xctrace, a part of Xcode, which exists on macOS only"
    );
    let platform_check = Check::problem("platform", found).remedy(
        "record on a Mac and copy the .trace bundle here: metalens reads it without Xcode",
        &[],
    );
    diagnosis(platform, vec![platform_check], None)
}

/// Returns the diagnosis of these checks.
fn diagnosis(platform: &str, checks: Vec<Check>, facts: Option<Facts>) -> Diagnosis {
    Diagnosis {
        schema: SCHEMA.to_owned(),
        metalens: env!("CARGO_PKG_VERSION").to_owned(),
        platform: platform.to_owned(),
        can_record: checks
            .iter()
            .all(|check| check.verdict != CheckVerdict::Problem),
        checks,
        facts,
    }
}

impl Facts {
    fn without_home(mut self, home: Option<&str>) -> Self {
        if let (Some(home), Some(folder)) = (home, &mut self.xcode.folder.value) {
            *folder = folder.replace(home, "~");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_platforms_cannot_record() {
        let diagnosis = elsewhere("linux");
        assert!(!diagnosis.can_record && diagnosis.facts.is_none());
    }
}
