//! Manages the process that a recording is about: finds or starts it, waits for it, kills it.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::arguments::{AttachTo, RecordOrder};

/// The process that is recorded.
#[derive(Debug)]
pub(super) struct RecordedProcess {
    pub(super) name: String,
    pub(super) pid: u32,
    /// Handle of the process if it was launched, not attached to.
    child: Option<Child>,
}

/// The end of the process, in the terms of a table of contents.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    pub(super) status: u32,
    pub(super) termination: String,
}

impl ProcessEnd {
    /// Returns a successful end, which is also recorded for a process that did not end.
    pub(super) fn success() -> Self {
        Self::exit(0)
    }

    fn exit(status: u32) -> Self {
        let termination = format!("exit({status})");
        Self {
            status,
            termination,
        }
    }

    fn signal(status: u32) -> Self {
        let termination = signal_name(status);
        Self {
            status,
            termination,
        }
    }

    fn from_status(status: ExitStatus) -> Self {
        let code = status.code().and_then(|code| u32::try_from(code).ok());
        signal_of(status).map_or_else(|| Self::exit(code.unwrap_or_default()), Self::signal)
    }
}

/// What a program does not get.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drops {
    pub(super) environment: bool,
    pub(super) stderr: bool,
}

impl RecordedProcess {
    /// Starts a program. Its standard error is that of the tool: a guess, as no option sets it.
    pub(super) fn launch(
        order: &RecordOrder,
        program: &Path,
        arguments: &[std::ffi::OsString],
        drops: Drops,
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
        // macOS removes these variables from the environment of Apple's programs.
        for (name, _) in env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"DYLD_") {
                command.env_remove(name);
            }
        }
        if drops.environment {
            command.env_clear();
        }
        if drops.stderr {
            command.stderr(Stdio::null());
        }
        command.args(arguments).envs(order.env.iter().cloned());
        let child = command.stdin(input).stdout(output).spawn()?;
        Ok(Self {
            name: name_of(program),
            pid: child.id(),
            child: Some(child),
        })
    }

    /// Finds the running process to attach to.
    pub(super) fn find(attach_to: &AttachTo) -> Option<Self> {
        let with_name = |pid| {
            let name = name_of_running(pid)?;
            Some((pid, name))
        };
        let (pid, name) = match attach_to {
            AttachTo::Pid(pid) => with_name(*pid)?,
            AttachTo::Name(wanted) => {
                let own = std::process::id();
                let others = running().into_iter().filter(|pid| *pid != own);
                let mut named = others.filter_map(with_name);
                named.find(|(_, name)| name == wanted)?
            }
        };

        Some(Self {
            name,
            pid,
            child: None,
        })
    }

    /// Returns the end of the process, or `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<ProcessEnd> {
        match &mut self.child {
            // A process that cannot be waited for no longer exists.
            Some(child) => child.try_wait().map_or_else(
                |_| Some(ProcessEnd::success()),
                |status| status.map(ProcessEnd::from_status),
            ),
            None => name_of_running(self.pid)
                .is_none()
                .then(ProcessEnd::success),
        }
    }

    /// Suspends the process instead of ending it.
    pub(super) fn suspend(&mut self) -> ProcessEnd {
        let pid = self.pid.to_string();
        // The process may have ended by itself.
        let _ = Command::new("kill").args(["-STOP", &pid]).status();
        ProcessEnd::signal(9)
    }

    /// Kills the process if it was launched: the tool leaves no child behind.
    pub(super) fn kill(&mut self) -> ProcessEnd {
        let Some(child) = &mut self.child else {
            return ProcessEnd::success();
        };
        let killed = child.kill().and_then(|()| child.wait());
        killed.map_or_else(|_| ProcessEnd::success(), ProcessEnd::from_status)
    }
}

/// Returns the name of a program.
pub(super) fn name_of(program: &Path) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns the name of a running process: that of its program, if it can be read.
fn name_of_running(pid: u32) -> Option<String> {
    if !Path::new("/proc/self/stat").exists() {
        return name_from_ps(pid);
    }

    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The format is `1234 (name) S …`, and the name may contain anything.
    let (head, tail) = stat.rsplit_once(')')?;
    if tail.trim_start().starts_with(['Z', 'X']) {
        return None;
    }

    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let program = String::from_utf8_lossy(program);
    if program.is_empty() {
        Some(head.split_once('(')?.1.to_owned())
    } else {
        Some(name_of(Path::new(program.as_ref())))
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

/// Returns the name of a running process on systems without `/proc`.
fn name_from_ps(pid: u32) -> Option<String> {
    let text = ps(&["-o", "stat=,comm=", "-p", &pid.to_string()])?;
    let (state, program) = text.trim().split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| name_of(Path::new(program.trim())))
}

fn ps(arguments: &[&str]) -> Option<String> {
    let output = Command::new("ps").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

fn signal_of(status: ExitStatus) -> Option<u32> {
    use std::os::unix::process::ExitStatusExt;
    status
        .signal()
        .and_then(|signal| u32::try_from(signal).ok())
}

/// Returns the name of a signal, if its number is the same on all systems.
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
