//! Tells what the program that `xctrace` started does. One that waits for a right that macOS does not
//! ask for (a guarded folder) uses no time of the CPU.

use std::path::Path;

use metalens_doctor::CommandRunner;

use crate::running::RunningProcesses;

/// The state of a program that `xctrace` started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramState {
    /// No process of it runs, or `ps` does not tell.
    Unknown,
    /// A process of it has used the CPU, for these times in all.
    Works(Vec<String>),
    /// Its processes have used no time of the CPU.
    Waits(Vec<u32>),
}

/// Returns the state of a program. Processes that ran before, and this one, do not count: metalens
/// itself may be the program.
pub(crate) fn program_state(
    runner: &dyn CommandRunner,
    program: &Path,
    before: &RunningProcesses,
) -> ProgramState {
    let Some(running) = RunningProcesses::list(runner) else {
        return ProgramState::Unknown;
    };
    let processes: Vec<_> = running.new_of(program, before).collect();
    if processes.is_empty() {
        ProgramState::Unknown
    } else if processes.iter().any(|process| process.is_busy()) {
        ProgramState::Works(
            processes
                .iter()
                .map(|process| process.cpu_time.clone())
                .collect(),
        )
    } else {
        ProgramState::Waits(processes.iter().map(|process| process.pid).collect())
    }
}

/// Returns the message for the user about a program that has used no time of the CPU.
pub(crate) fn idle_message(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    format!(
        "the program (process {}) has used no CPU time yet. If that is wrong, macOS may block its \
         access to a file in Documents, Desktop, Downloads, iCloud Drive or on another disk. Stop \
         with Ctrl-C, then move the program and its data elsewhere, or start it yourself and \
         record it with --attach",
        pids.join(", ")
    )
}

/// Returns the message for the user about a program that has stopped working.
pub(crate) fn stalled_message(seconds: u64) -> String {
    format!(
        "the program has used no CPU time for {seconds} s. If it should, xctrace may have stopped it, as \
         programs of Dawn and WebGPU were seen to stop on macOS 27: end it with Ctrl-C, and record it \
         with --recorder probe, or start it yourself and use --attach"
    )
}

#[cfg(test)]
mod tests {
    use metalens_doctor::CommandOutput;

    use super::*;

    struct Ps(String);

    impl CommandRunner for Ps {
        fn run(&self, _: &str, _: &[&str]) -> CommandOutput {
            CommandOutput::Exited {
                code: Some(0),
                out: self.0.clone(),
                err: String::new(),
            }
        }
    }

    #[test]
    fn a_program_without_cpu_time_waits() {
        let before = RunningProcesses::for_test("9 S 0:10.00 /a b/bench\n");
        let own = std::process::id();
        let check = |ps: &str, expected: ProgramState| {
            let ps = ps.replace("OWN", &own.to_string());
            let state = program_state(&Ps(ps.clone()), Path::new("/a b/bench"), &before);
            assert_eq!(state, expected, "{ps}");
        };

        let one = "   12  S  0:00.00 /a b/bench\n 13 S 0:09.00 /sbin/x\n";
        check(one, ProgramState::Waits(vec![12]));
        let works = |times: &[&str]| {
            ProgramState::Works(times.iter().map(|&time| time.to_owned()).collect())
        };
        check("12 S 0:00.01 /a b/bench\n", works(&["0:00.01"]));
        let two = "12 S 0:00.00 /a b/bench\n13 S 0:00.00 /a b/bench\n";
        check(two, ProgramState::Waits(vec![12, 13]));
        let one_works = "12 S 0:00.00 /a b/bench\n13 S 0:10.00 /a b/bench\n";
        check(one_works, works(&["0:00.00", "0:10.00"]));
        // Another of the same program ran before, and the recorder itself may be one.
        let others = "9 S 0:11.00 /a b/bench\nOWN S 0:02.00 /a b/bench\n";
        check(others, ProgramState::Unknown);
        let with_others = format!("{others}12 S 0:00.00 /a b/bench\n");
        check(&with_others, ProgramState::Waits(vec![12]));
        check("12 S 0:00.00 /a b/bench2\n", ProgramState::Unknown);
        check("", ProgramState::Unknown);
    }
}
