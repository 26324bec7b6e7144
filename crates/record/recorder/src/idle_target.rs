//! Tells whether the program that `xctrace` started has used any time of the CPU. One that waits for
//! a right that macOS does not ask for (a guarded folder) never does.

use std::path::Path;

use metalens_doctor::{CommandOutput, CommandRunner};

/// Returns the message for the user if all processes of a program have used no time of the CPU, as
/// far as `ps` tells.
pub(crate) fn idle_target(runner: &dyn CommandRunner, program: &Path) -> Option<String> {
    let answer = runner.run("/bin/ps", &["-axo", "pid=,time=,comm="]);
    let CommandOutput::Exited { out, .. } = answer else {
        return None;
    };
    let real = std::fs::canonicalize(program).ok();
    let programs = [Some(program), real.as_deref()];
    let of_program: Vec<_> = out
        .lines()
        .filter_map(process)
        .filter(|process| programs.contains(&Some(Path::new(process.path))))
        .collect();
    if of_program.is_empty() || of_program.iter().any(|process| process.is_busy) {
        return None;
    }

    let pids: Vec<&str> = of_program.iter().map(|process| process.pid).collect();
    Some(format!(
        "the program (process {}) has used no CPU time yet. If that is wrong, macOS may block its \
         access to a file in Documents, Desktop, Downloads, iCloud Drive or on another disk. Stop \
         with Ctrl-C, then move the program and its data elsewhere, or start it yourself and \
         record it with --attach",
        pids.join(", ")
    ))
}

/// A process of the program, as a line of `ps` describes it.
struct Process<'a> {
    pid: &'a str,
    is_busy: bool,
    path: &'a str,
}

/// Parses a line such as `12 0:00.01 /a/bench`.
fn process(line: &str) -> Option<Process<'_>> {
    let (pid, rest) = line.trim().split_once(char::is_whitespace)?;
    let (time, path) = rest.trim().split_once(char::is_whitespace)?;
    let is_busy = time.contains(|letter: char| matches!(letter, '1'..='9'));
    Some(Process {
        pid,
        is_busy,
        path: path.trim(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ps(&'static str);

    impl CommandRunner for Ps {
        fn run(&self, _: &str, _: &[&str]) -> CommandOutput {
            CommandOutput::Exited {
                code: Some(0),
                out: self.0.to_owned(),
                err: String::new(),
            }
        }
    }

    #[test]
    fn a_program_without_cpu_time_is_reported() {
        let check = |ps: &'static str, expected: Option<&str>| {
            let said = idle_target(&Ps(ps), Path::new("/a b/bench"));
            let is_expected = match (&said, expected) {
                (Some(said), Some(pid)) => said.contains(&format!("(process {pid})")),
                (None, None) => true,
                _ => false,
            };
            assert!(is_expected, "{ps}: {said:?}");
        };

        check(
            "   12   0:00.00 /a b/bench\n 13 0:09.00 /sbin/x\n",
            Some("12"),
        );
        check("12 0:00.01 /a b/bench\n", None);
        check(
            "12 0:00.00 /a b/bench\n13 0:00.00 /a b/bench\n",
            Some("12, 13"),
        );
        check("12 0:00.00 /a b/bench\n13 0:10.00 /a b/bench\n", None);
        check("12 0:00.00 /a b/bench2\n", None);
        check("", None);
    }
}
