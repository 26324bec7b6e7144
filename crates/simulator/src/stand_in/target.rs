//! The process a recording is about: found or started, watched, killed.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::arguments::{RecordOrder, Whom};

/// A process under observation.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) pid: u32,
    /// When it was launched, not attached to.
    child: Option<Child>,
}

/// How it ended, as a table of contents words it.
#[derive(Debug)]
pub(super) struct End {
    pub(super) status: u32,
    pub(super) termination: String,
}

impl End {
    /// What is said of one that did not end, too.
    pub(super) fn well() -> Self {
        Self {
            status: 0,
            termination: "exit(0)".to_owned(),
        }
    }

    fn of(status: ExitStatus) -> Self {
        if let Some(signal) = signal_of(status) {
            return Self {
                status: signal,
                termination: signal_name(signal),
            };
        }
        let code = status.code().and_then(|code| u32::try_from(code).ok());
        let code = code.unwrap_or_default();
        Self {
            status: code,
            termination: format!("exit({code})"),
        }
    }
}

impl Target {
    /// Starts the target. Its stderr is the tool's own: a guess, as there is no option for it.
    pub(super) fn launch(
        order: &RecordOrder,
        program: &Path,
        arguments: &[std::ffi::OsString],
    ) -> io::Result<Self> {
        let input = match order.target_stdin.as_deref() {
            None => Stdio::null(),
            Some(path) if path == Path::new("-") => Stdio::inherit(),
            Some(path) => File::open(path)?.into(),
        };
        let output = match order.target_stdout.as_deref() {
            None => Stdio::null(),
            Some(path) if path == Path::new("-") => Stdio::inherit(),
            Some(path) => File::options().create(true).append(true).open(path)?.into(),
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(order.env.iter().cloned());
        let child = command.stdin(input).stdout(output).spawn()?;
        Ok(Self {
            name: name_of(program),
            pid: child.id(),
            child: Some(child),
        })
    }

    /// Finds a process that runs.
    pub(super) fn find(whom: &Whom) -> Option<Self> {
        let of_pid = |pid| {
            let name = name_of_running(pid)?;
            Some((pid, name))
        };
        let (pid, name) = match whom {
            Whom::Pid(pid) => of_pid(*pid)?,
            Whom::Name(asked) => {
                let own = std::process::id();
                let others = running().into_iter().filter(|pid| *pid != own);
                let mut named = others.filter_map(of_pid).filter(|(_, name)| name == asked);
                named.next()?
            }
        };
        Some(Self {
            name,
            pid,
            child: None,
        })
    }

    /// How it ended, once it has.
    pub(super) fn ended(&mut self) -> Option<End> {
        match &mut self.child {
            // One that cannot be waited for is gone.
            Some(child) => child
                .try_wait()
                .map_or_else(|_| Some(End::well()), |status| status.map(End::of)),
            None => name_of_running(self.pid).is_none().then(End::well),
        }
    }

    /// Ends it, if it was launched: the tool leaves no child behind.
    pub(super) fn kill(&mut self) -> End {
        let Some(child) = &mut self.child else {
            return End::well();
        };
        let killed = child.kill().and_then(|()| child.wait());
        killed.map_or_else(|_| End::well(), End::of)
    }
}

/// What a program is called.
pub(super) fn name_of(program: &Path) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The name of a process, if it runs: of its program, where that can be read.
fn name_of_running(pid: u32) -> Option<String> {
    if !Path::new("/proc/self/stat").exists() {
        return asked_of_ps(pid);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `1234 (name) S …`; the name may hold anything.
    let (head, tail) = stat.rsplit_once(')')?;
    if tail.trim_start().starts_with(['Z', 'X']) {
        return None;
    }
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let program = String::from_utf8_lossy(program);
    match program.is_empty() {
        true => Some(head.split_once('(')?.1.to_owned()),
        false => Some(name_of(Path::new(program.as_ref()))),
    }
}

fn running() -> Vec<u32> {
    let pid = |name: &str| name.trim().parse().ok();
    match fs::read_dir("/proc") {
        Ok(entries) => entries
            .filter_map(|entry| pid(entry.ok()?.file_name().to_str()?))
            .collect(),
        Err(_) => ps(&["-A", "-o", "pid="])
            .unwrap_or_default()
            .lines()
            .filter_map(pid)
            .collect(),
    }
}

/// Where there is no `/proc`.
fn asked_of_ps(pid: u32) -> Option<String> {
    let text = ps(&["-o", "stat=,comm=", "-p", &pid.to_string()])?;
    let (state, program) = text.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| name_of(Path::new(program.trim())))
}

fn ps(arguments: &[&str]) -> Option<String> {
    let output = Command::new("ps").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<u32> {
    use std::os::unix::process::ExitStatusExt;
    status
        .signal()
        .and_then(|signal| u32::try_from(signal).ok())
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<u32> {
    None
}

/// Those that have one number everywhere.
fn signal_name(signal: u32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}
