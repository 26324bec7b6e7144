//! Lists the processes of the machine, to tell which are new since a recording began.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_doctor::{CommandOutput, CommandRunner};

/// The processes that run at a moment.
#[derive(Debug, Clone, Default)]
pub struct RunningProcesses(Vec<RunningProcess>);

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningProcess {
    pub(crate) pid: u32,
    /// True if it is suspended.
    pub(crate) is_suspended: bool,
    /// Time of the CPU that it has used, as `ps` writes it.
    pub(crate) cpu_time: String,
    /// Path of its program, or its name where `ps` has no more.
    pub(crate) program: PathBuf,
}

impl RunningProcesses {
    /// Lists the processes, or returns `None` if `ps` does not tell.
    pub(crate) fn list(runner: &dyn CommandRunner) -> Option<Self> {
        let answer = runner.run("/bin/ps", &["-axo", "pid=,stat=,time=,comm="]);
        let CommandOutput::Exited { out, .. } = answer else {
            return None;
        };
        let processes: Vec<_> = out.lines().filter_map(process).collect();
        (!processes.is_empty()).then_some(Self(processes))
    }

    /// Returns the process of a program, by its name or path; an error with the ids of all, if there are
    /// several. A Python of a framework also has the name that users type.
    pub(crate) fn named(&self, name: &str) -> Result<Option<u32>, Vec<u32>> {
        let is_named = |program: &Path| {
            program == Path::new(name)
                || program.file_name().is_some_and(|own| own == name)
                || is_framework_python(program, name)
        };
        let named = self.0.iter().filter(|process| is_named(&process.program));
        let pids: Vec<u32> = named.map(|process| process.pid).collect();
        match pids.as_slice() {
            [] => Ok(None),
            [pid] => Ok(Some(*pid)),
            _ => Err(pids),
        }
    }

    /// Returns the processes of a program that are new, and not this one.
    pub(crate) fn new_of<'a>(
        &'a self,
        program: &Path,
        before: &Self,
    ) -> impl Iterator<Item = &'a RunningProcess> {
        let own = std::process::id();
        let new = move |process: &&RunningProcess| process.pid != own && !before.has(process.pid);
        let real = fs::canonicalize(program).ok();
        let python = real.as_deref().and_then(framework_python);
        let is_of = move |process: &&RunningProcess| {
            let shown = &process.program;
            // The folders of a framework have several paths.
            let is_python = || {
                shown.ends_with(PYTHON)
                    && python.is_some()
                    && python == fs::canonicalize(shown).ok()
            };
            shown == program || Some(shown) == real.as_ref() || is_python()
        };
        self.0.iter().filter(new).filter(is_of)
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
        let of_program: Vec<_> = self.new_of(program, before).collect();
        let new = self.0.iter().filter(|process| !before.has(process.pid));
        new.filter(|process| {
            recorded == Some(process.pid) || process.is_suspended && of_program.contains(process)
        })
        .collect()
    }
}

impl RunningProcess {
    /// Returns whether it has used any time of the CPU.
    pub(crate) fn is_busy(&self) -> bool {
        self.cpu_time
            .contains(|letter: char| matches!(letter, '1'..='9'))
    }
}

/// Path, in a version of a framework, of the program with which its Python replaces itself.
const PYTHON: &str = "Resources/Python.app/Contents/MacOS/Python";

/// Returns the program that a Python becomes, such as `…/Python.framework/Versions/3.13/bin/python3.13`.
pub(crate) fn framework_python(real: &Path) -> Option<PathBuf> {
    let folder = real.parent().filter(|folder| folder.ends_with("bin"))?;
    fs::canonicalize(folder.with_file_name(PYTHON)).ok()
}

/// Returns whether users call the Python of a framework by this name: `python`, `python3` or `python3.13`.
fn is_framework_python(program: &Path, name: &str) -> bool {
    let version = program.ancestors().nth(5).and_then(Path::file_name);
    let version = version.and_then(|version| version.to_str());
    let (Some(version), Some(asked)) = (version, name.strip_prefix("python")) else {
        return false;
    };
    let major = version.split('.').next();
    program.ends_with(PYTHON) && (["", version].contains(&asked) || major == Some(asked))
}

/// Parses a line such as `12 Ss 0:00.01 /a/bench`. A process that has ended and was not waited for is none.
fn process(line: &str) -> Option<RunningProcess> {
    let (pid, rest) = line.trim().split_once(char::is_whitespace)?;
    let (state, rest) = rest.trim().split_once(char::is_whitespace)?;
    let (time, program) = rest.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then_some(RunningProcess {
        pid: pid.parse().ok()?,
        is_suspended: state.starts_with(['T', 't']),
        cpu_time: time.to_owned(),
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
        let before =
            RunningProcesses::for_test("1 Ss 0:01.00 /sbin/launchd\n 40 T 0:00.00 /a b/bench\n");
        let check = |after: &str, recorded: Option<u32>, expected: &[u32]| {
            let after = RunningProcesses::for_test(after);
            let left = after.left_over(recorded, Path::new("/a b/bench"), &before);
            let left: Vec<u32> = left.iter().map(|process| process.pid).collect();
            assert_eq!(left, expected);
        };
        // 40 is older, 51 is not suspended, 52 is another program, 53 has ended.
        let after = "40 T 0:00.00 /a b/bench\n50 T+ 0:00.00 /a b/bench\n51 S 0:00.00 /a b/bench\n52 T 0:00.00 /x\n\
             53 Z 0:00.00 /a b/bench\n";
        check(after, None, &[50]);
        check(after, Some(51), &[50, 51]);
        check(after, Some(53), &[50]);
        check("", Some(1), &[]);
    }

    #[test]
    fn processes_are_found_by_name() {
        let running = RunningProcesses::for_test(
            "1 Ss 0:01 /sbin/launchd\n40 S 0:00 /a b/bench\n41 S 0:00 /c/bench\n42 S 0:00 python3\n",
        );
        assert_eq!(running.named("launchd"), Ok(Some(1)));
        assert_eq!(running.named("python3"), Ok(Some(42)));
        assert_eq!(running.named("/c/bench"), Ok(Some(41)));
        assert_eq!(running.named("bench"), Err(vec![40, 41]));
        assert_eq!(running.named("launch"), Ok(None));
    }

    /// Its `bin/python3.13` is a stub that replaces itself by the program of an application.
    #[test]
    fn the_python_of_a_framework_is_found_as_what_it_becomes() {
        let folder = tempfile::tempdir().unwrap();
        let version = folder.path().join("opt/Python.framework/Versions/3.13");
        let program = version.join(PYTHON);
        let (stub, venv) = (version.join("bin/python3.13"), folder.path().join("python"));
        for file in [&stub, &program] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink(&stub, &venv).unwrap();
        // Homebrew has links to the folder of each version.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("opt"), &link).unwrap();
        let shown = link.join("Python.framework/Versions/3.13").join(PYTHON);

        let before = RunningProcesses::default();
        let running = format!("12 S 0:00.01 {}\n13 S 0:00.01 /x/Python\n", shown.display());
        let running = RunningProcesses::for_test(&running);
        for asked in [&stub, &venv] {
            let found: Vec<u32> = running
                .new_of(asked, &before)
                .map(|found| found.pid)
                .collect();
            assert_eq!(found, [12], "{}", asked.display());
        }
        for (name, expected) in [
            ("python", Some(12)),
            ("python3", Some(12)),
            ("python3.13", Some(12)),
            ("python3.1", None),
            ("python2", None),
            ("pythonw", None),
        ] {
            assert_eq!(running.named(name), Ok(expected), "{name}");
        }
    }
}
