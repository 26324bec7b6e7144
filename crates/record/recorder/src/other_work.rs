//! Finds the process that used the GPU if the recorded program did not: `uv run`, `conda run` and
//! scripts start another program, and Python starts workers.

use metalens_text::Redactor;
use metalens_text::units::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::running::RunningProcesses;

/// GPU work of another process than the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "OtherProcess")]
pub struct OtherWork {
    /// Name of the process.
    pub name: String,
    /// Process ID of the process.
    pub pid: u32,
    /// Number of its GPU intervals.
    pub intervals: u64,
}

impl OtherWork {
    /// Finds, among the processes with GPU work, the one with the most that started after the recorded
    /// one. Process ids rise; where they start again from 1, none is found.
    pub(crate) fn find(present: &[Self], recorded: u32, before: &RunningProcesses) -> Option<Self> {
        let new = present
            .iter()
            .filter(|process| process.pid > recorded && !before.has(process.pid));
        new.max_by_key(|work| work.intervals).cloned()
    }

    /// Returns the message for the user.
    pub fn message(&self) -> String {
        let Self {
            name,
            pid,
            intervals,
        } = self;
        let intervals = counted(*intervals, "GPU interval");
        format!(
            "the program itself did not use the GPU. {name} (pid {pid}), which started during the \
             recording, has {intervals}: if your program started it, analyze with --process {pid}"
        )
    }

    /// Returns the work without private names.
    pub(crate) fn redacted(&self, redactor: &Redactor) -> Self {
        Self {
            name: redactor.redact(&self.name),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_new_process_is_found() {
        let before = RunningProcesses::for_test("301 S 0:01 /sbin/compositor\n");
        let process = |pid: u32, intervals: u64| OtherWork {
            name: format!("p{pid}"),
            pid,
            intervals,
        };
        let check = |present: &[OtherWork], expected: Option<u32>| {
            let found = OtherWork::find(present, 300, &before);
            assert_eq!(found.map(|work| work.pid), expected);
        };
        let all = [
            process(301, 900),
            process(5, 99),
            process(302, 2),
            process(303, 7),
        ];
        check(&all, Some(303));
        check(&[process(301, 900)], None);
        check(&[], None);
    }
}
