//! Running Apple's tool: both of its streams are read as they come, so that it
//! never waits for a full pipe, and it is asked to stop, never killed, unless
//! its caller says so.
//!
//! It runs in a process group of its own: a Ctrl-C on the terminal reaches the
//! caller alone, who passes on exactly one. What a second one does to a
//! recording that is being saved nobody has written down.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{Error, Result};
use crate::tool::Tool;

/// What a tool's standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// Empty.
    Nothing,
    /// Ours. Not for a terminal's: in a group of its own it may not read that.
    Ours,
}

/// Which stream something came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A line, or the end of one that is too long to be held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it came.
    pub stream: Stream,
    /// What it was, without its end.
    pub line: String,
}

/// A tool that runs.
#[derive(Debug)]
pub struct Running {
    handle: duct::Handle,
    pieces: Receiver<Piece>,
    /// Its streams, for whoever drains them after us.
    streams: Vec<PipeReader>,
}

/// What a tool that ended said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// All that it said, as it came.
    pub pieces: Vec<Piece>,
}

/// As many of the last lines are kept of one that runs long.
const KEPT: usize = 32;

/// A longer line is cut: nothing that is understood is.
const LONGEST_LINE: usize = 64 * 1024;

impl Tool {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(&self, arguments: &[OsString], stdin: Stdin) -> Result<Running> {
        let Spawned { handle, out, err } = self.spawn(arguments, stdin)?;
        let streams = vec![out.try_clone()?, err.try_clone()?];
        let (sender, pieces) = channel();
        follow(out, Stream::Out, sender.clone());
        follow(err, Stream::Err, sender);
        Ok(Running {
            handle,
            pieces,
            streams,
        })
    }

    /// Starts it, and follows only what it says on standard error: the other
    /// stream is its caller's to read.
    pub(crate) fn start_for_bytes(&self, arguments: &[OsString]) -> Result<(Running, PipeReader)> {
        let Spawned { handle, out, err } = self.spawn(arguments, Stdin::Nothing)?;
        let (sender, pieces) = channel();
        follow(err, Stream::Err, sender);
        let streams = Vec::new();
        let running = Running {
            handle,
            pieces,
            streams,
        };
        Ok((running, out))
    }

    fn spawn(&self, arguments: &[OsString], stdin: Stdin) -> Result<Spawned> {
        let all = self.before.iter().chain(arguments);
        let mut expression = duct::cmd(&self.program, all)
            .unchecked()
            .before_spawn(own_group);
        for (name, value) in &self.environment {
            expression = expression.env(name, value);
        }
        if stdin == Stdin::Nothing {
            expression = expression.stdin_null();
        }
        let (out, out_end) = io::pipe()?;
        let (err, err_end) = io::pipe()?;
        let expression = expression.stdout_file(out_end).stderr_file(err_end);
        let handle = expression.start().map_err(|cause| Error::CannotStart {
            what: self.program.display().to_string(),
            cause,
        })?;
        // The expression holds the pipes' other ends: they must not outlive it.
        drop(expression);
        Ok(Spawned { handle, out, err })
    }
}

/// A tool that was started, and our ends of its streams.
struct Spawned {
    handle: duct::Handle,
    out: PipeReader,
    err: PipeReader,
}

#[cfg(unix)]
fn own_group(command: &mut std::process::Command) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    Ok(())
}

/// Reads a stream to its end, line by line, in a thread of its own.
fn follow(mut stream: impl Read + Send + 'static, from: Stream, to: Sender<Piece>) {
    thread::spawn(move || {
        let mut line = Vec::new();
        let mut chunk = [0; 8 * 1024];
        // A stream that fails has ended, as far as anyone can tell.
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            for &byte in chunk.iter().take(count) {
                match byte {
                    b'\n' => send(&to, from, &mut line),
                    _ if line.len() < LONGEST_LINE => line.push(byte),
                    _ => {}
                }
            }
        }
        if !line.is_empty() {
            send(&to, from, &mut line);
        }
    });
}

fn send(to: &Sender<Piece>, stream: Stream, line: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(line)
        .trim_end_matches('\r')
        .to_owned();
    line.clear();
    // Nobody listens any more: it is still read, so that the tool never waits.
    let _ = to.send(Piece { stream, line: text });
}

impl Running {
    /// Its process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.handle.pids().first().copied()
    }

    /// The next line, if one comes in time.
    pub fn next(&self, patience: Duration) -> Option<Piece> {
        match self.pieces.recv_timeout(patience) {
            Ok(piece) => Some(piece),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // Both streams are closed; it may still run.
                thread::sleep(patience.min(Duration::from_millis(50)));
                None
            }
        }
    }

    /// The next line, or whether one may come still.
    ///
    /// # Errors
    ///
    /// `Timeout` if none came in time, `Disconnected` if none will.
    pub fn next_or_end(&self, patience: Duration) -> std::result::Result<Piece, RecvTimeoutError> {
        self.pieces.recv_timeout(patience)
    }

    /// How it ended, if it has: code and signal.
    pub fn ended(&self) -> Result<Option<(Option<i32>, Option<i32>)>> {
        Ok(self.handle.try_wait()?.map(|output| how(output.status)))
    }

    /// Asks it to stop and save: what Ctrl-C does.
    pub fn interrupt(&self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// Asks it to end without saving. Only for one that saves nothing.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Ends it. Only for one that saves nothing and does not end otherwise.
    pub fn kill(&self) -> Result<()> {
        self.signal(Signal::KILL)
    }

    /// Lets it live on after us. Its streams are drained for as long as it has
    /// them: else the next line that it prints would be the end of it (SIGPIPE),
    /// and of what it is saving.
    pub fn leave(&self) -> Result<()> {
        for stream in &self.streams {
            let drain = duct::cmd("/bin/cat", [""; 0])
                .stdin_file(stream.try_clone()?)
                .stdout_null()
                .stderr_null()
                .before_spawn(own_group);
            drain.start()?;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        // One that has ended keeps its number until it is waited for.
        if self.ended()?.is_some() {
            return Ok(());
        }
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok());
        match pid.and_then(Pid::from_raw) {
            Some(pid) => Ok(kill_process(pid, signal).map_err(io::Error::from)?),
            None => Ok(()),
        }
    }

    /// Waits for its end, and collects what it says until then.
    pub fn finish(self) -> Result<Answer> {
        let mut pieces: Vec<Piece> = Vec::new();
        let ended = loop {
            pieces.extend(self.next(Duration::from_millis(100)));
            if let Some(ended) = self.ended()? {
                break ended;
            }
        };
        // What is in the pipes still; something that it started may hold them open.
        while let Ok(piece) = self.pieces.recv_timeout(Duration::from_millis(200)) {
            pieces.push(piece);
        }
        Ok(Answer {
            code: ended.0,
            signal: ended.1,
            pieces,
        })
    }
}

fn how(status: std::process::ExitStatus) -> (Option<i32>, Option<i32>) {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        (status.code(), status.signal())
    }
    #[cfg(not(unix))]
    {
        (status.code(), None)
    }
}

impl Answer {
    /// Takes in what comes next, and lets go of what came long ago: what runs
    /// for minutes may say anything, and only the end of it is of use.
    pub fn keep(&mut self, piece: Piece) {
        if self.pieces.len() == KEPT {
            self.pieces.remove(0);
        }
        self.pieces.push(piece);
    }

    /// What came on standard output.
    #[must_use]
    pub fn out(&self) -> String {
        self.lines(|piece| piece.stream == Stream::Out)
    }

    /// What came on standard error.
    #[must_use]
    pub fn err(&self) -> String {
        self.lines(|piece| piece.stream == Stream::Err)
    }

    /// What came on both streams.
    #[must_use]
    pub fn all(&self) -> String {
        self.lines(|_| true)
    }

    /// What it said in a line, for messages; how it ended if it said nothing.
    #[must_use]
    pub fn said(&self) -> String {
        let all = self.all();
        let lines: Vec<&str> = all
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let (text, few) = (lines.join(" "), 400);
        match (text.char_indices().nth(few), self.code, self.signal) {
            (None, Some(code), _) if text.is_empty() => format!("nothing, and exit code {code}"),
            (None, None, Some(signal)) if text.is_empty() => {
                format!("nothing, and signal {signal}")
            }
            (Some((at, _)), ..) => format!("{}…", text.get(..at).unwrap_or("")),
            _ => text,
        }
    }

    fn lines(&self, is_wanted: impl Fn(&Piece) -> bool) -> String {
        let wanted = self.pieces.iter().filter(|piece| is_wanted(piece));
        wanted
            .flat_map(|piece| [piece.line.as_str(), "\n"])
            .collect()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// An `xctrace` that is a line of shell.
    fn shell(script: &str) -> Running {
        let tool = Tool::at("/bin/sh".into());
        let arguments = ["-c".into(), script.into()];
        tool.start(&arguments, Stdin::Nothing).unwrap()
    }

    #[test]
    fn both_streams_are_drained() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo 'a line that fills the pipe' >&2; i=$((i+1)); done; echo end; exit 54";
        let answer = shell(script).finish().unwrap();
        assert_eq!((answer.code, answer.signal), (Some(54), None));
        assert_eq!(answer.out(), "end\n");
        assert_eq!(answer.all().lines().count(), 20_001);
    }

    /// A shell whose parent ignores interrupts, as that of a background job in a script
    /// may, has no way not to: nothing could be told by it. Known on Linux only.
    fn ignores_interrupts() -> bool {
        const SIGINT: u32 = 1 << (2 - 1);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & u64::from(SIGINT) != 0)
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "what is skipped is said")]
    fn it_is_asked_to_stop() {
        if ignores_interrupts() {
            println!("skipped: these tests were started with interrupts ignored");
            return;
        }
        let running = shell("trap 'echo saved; exit 0' INT; echo on; while :; do sleep 0.05; done");
        assert_eq!(running.next(Duration::from_secs(20)).unwrap().line, "on");
        assert_eq!(running.ended().unwrap(), None);
        running.interrupt().unwrap();
        let answer = running.finish().unwrap();
        assert_eq!((answer.code, answer.out().as_str()), (Some(0), "saved\n"));
    }

    #[test]
    fn its_end_does_not_wait_for_its_children() {
        let before = Instant::now();
        let answer = shell("sleep 30 & echo gone").finish().unwrap();
        assert_eq!(answer.out(), "gone\n");
        assert!(before.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_signal_is_told() {
        let answer = shell("kill -TRAP $$").finish().unwrap();
        assert_eq!((answer.code, answer.signal), (None, Some(5)));
        assert_eq!(answer.said(), "nothing, and signal 5");
    }

    #[test]
    fn what_cannot_be_started() {
        let tool = Tool::at("/no/such/xctrace".into());
        let error = tool.ask(&[]).unwrap_err().to_string();
        assert!(
            error.starts_with("/no/such/xctrace cannot be started: "),
            "{error}"
        );
    }

    #[test]
    fn long_lines_are_cut_and_odd_bytes_are_marked() {
        let answer =
            shell("printf 'a\\377b\\r\\n'; head -c 100000 /dev/zero | tr '\\0' x").finish();
        let answer = answer.unwrap();
        assert_eq!(answer.pieces[0].line, "a\u{FFFD}b");
        assert_eq!(answer.pieces[1].line.len(), LONGEST_LINE);
    }
}
