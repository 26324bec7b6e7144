//! Lists the processes of the machine, to tell which are new since a recording began.

use std::path::{Path, PathBuf};

use metalens_doctor::{CommandOutput, CommandRunner};

/// The processes that run at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningProcesses(Vec<RunningProcess>);

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningProcess {
    pub(crate) pid: u32,
    /// True if it is suspended.
    pub(crate) is_suspended: bool,
    /// Path of its program, or its name where `ps` has no more.
    pub(crate) program: PathBuf,
}

impl RunningProcesses {
    /// Lists the processes, or returns `None` if `ps` does not tell.
    pub(crate) fn list(runner: &dyn CommandRunner) -> Option<Self> {
        let answer = runner.run("/bin/ps", &["-axo", "pid=,stat=,comm="]);
        let CommandOutput::Exited { out, .. } = answer else {
            return None;
        };
        let all: Vec<_> = out.lines().filter_map(process).collect();
        (!all.is_empty()).then_some(Self(all))
    }

    pub(crate) fn has(&self, pid: u32) -> bool {
        self.0.iter().any(|process| process.pid == pid)
    }

    /// Returns what is left of a recorded program: the process that was recorded, and suspended ones of
    /// the same program that are new.
    pub(crate) fn left_over(
        &self,
        recorded: Option<u32>,
        program: &Path,
        before: &Self,
    ) -> Vec<&RunningProcess> {
        let real = std::fs::canonicalize(program).ok();
        let is_of_program = |process: &RunningProcess| {
            process.program == program || Some(&process.program) == real.as_ref()
        };
        let is_left = |process: &&RunningProcess| {
            recorded == Some(process.pid) || process.is_suspended && is_of_program(process)
        };
        let new = self.0.iter().filter(|process| !before.has(process.pid));
        new.filter(is_left).collect()
    }
}

/// Parses a line such as `12 Ss /a/bench`. A process that has ended and was not waited for is none.
fn process(line: &str) -> Option<RunningProcess> {
    let (pid, rest) = line.trim().split_once(char::is_whitespace)?;
    let (state, program) = rest.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then_some(RunningProcess {
        pid: pid.parse().ok()?,
        is_suspended: state.starts_with(['T', 't']),
        program: program.trim().into(),
    })
}

#[cfg(test)]
impl RunningProcesses {
    /// Returns the processes of an answer of `ps`.
    pub(crate) fn for_test(text: &str) -> Self {
        Self(text.lines().filter_map(process).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_program_is_new_and_its_own() {
        let before = RunningProcesses::for_test("1 Ss /sbin/launchd\n 40 T /a b/bench\n");
        let check = |after: &str, recorded: Option<u32>, expected: &[u32]| {
            let after = RunningProcesses::for_test(after);
            let left = after.left_over(recorded, Path::new("/a b/bench"), &before);
            let left: Vec<u32> = left.iter().map(|process| process.pid).collect();
            assert_eq!(left, expected);
        };
        // 40 is older, 51 is not suspended, 52 is another program, 53 has ended.
        let after =
            "40 T /a b/bench\n50 T+ /a b/bench\n51 S /a b/bench\n52 T /x\n53 Z /a b/bench\n";
        check(after, None, &[50]);
        check(after, Some(51), &[50, 51]);
        check(after, Some(53), &[50]);
        check("", Some(1), &[]);
    }
}
