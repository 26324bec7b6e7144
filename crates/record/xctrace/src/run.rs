//! Runs `xctrace`, and asks it to stop; kills it only if the caller requests that. Both of its streams
//! are read all the time. Only a few lines wait for the caller, who must read them: else the tool
//! waits for a full pipe.
//!
//! The tool runs in a process group of its own, so that a Ctrl-C on the terminal reaches only
//! the caller, which passes on exactly one. No publication says what a second one does to a
//! recording that is being saved.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{Error, Result};
use crate::output_streams::{FollowedStream, Stream, StreamLine, follow};
use crate::tool::Tool;

/// The standard input of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// An empty standard input.
    Nothing,
    /// The standard input of this process. Not for a terminal: another process group may not read
    /// from it.
    Ours,
}

/// A tool that was started and may still run.
#[derive(Debug)]
pub struct RunningTool {
    handle: duct::Handle,
    lines: Receiver<StreamLine>,
    /// The tool's streams, for [`Self::leave`].
    streams: Vec<PipeReader>,
}

/// The output of a tool that ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// Exit code; None if a signal ended the tool.
    pub code: Option<i32>,
    /// Signal that ended the tool, if any.
    pub signal: Option<i32>,
    /// Lines of both streams, in the order in which they came.
    pub lines: Vec<StreamLine>,
}

/// Number of last lines that [`ToolOutput::keep`] keeps.
const MAX_KEPT: usize = 32;
/// Number of lines that wait for the reader. A tool that prints faster waits: a lost line could say
/// where it saved a recording.
const MAX_WAITING: usize = 256;
/// Largest output of a short command, in bytes. Lists of devices have some thousands.
const MAX_SHORT: usize = 4 << 20;
/// Time that a short command has to end after a request.
const TIME_TO_END: Duration = Duration::from_secs(2);

impl Tool {
    /// Starts the tool.
    ///
    /// # Errors
    ///
    /// Fails if the tool cannot be started.
    pub fn start(&self, arguments: &[OsString], stdin: Stdin) -> Result<RunningTool> {
        let Spawned { handle, out, err } = self.spawn(arguments, stdin)?;
        let streams = vec![out.try_clone()?, err.try_clone()?];
        let (sender, lines) = sync_channel(MAX_WAITING);
        let to = |sender: SyncSender<StreamLine>| {
            move |line| {
                // Without a receiver the stream is still read, so that the tool never waits.
                let _ = sender.send(line);
            }
        };
        let out = FollowedStream::new(out, Stream::Out, to(sender.clone()));
        let err = FollowedStream::new(err, Stream::Err, to(sender));
        thread::spawn(move || follow(out, err));
        Ok(RunningTool {
            handle,
            lines,
            streams,
        })
    }

    /// Starts the tool in a process group of its own, with pipes for both streams.
    fn spawn(&self, arguments: &[OsString], stdin: Stdin) -> Result<Spawned> {
        let arguments = self.before.iter().chain(arguments);
        let mut expression = duct::cmd(&self.program, arguments)
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

        // The expression holds the writing ends of the pipes: while they are open, reading does not
        // end.
        drop(expression);
        Ok(Spawned { handle, out, err })
    }
}

/// A started tool, and the reading ends of its streams.
struct Spawned {
    handle: duct::Handle,
    out: PipeReader,
    err: PipeReader,
}

fn own_group(command: &mut std::process::Command) -> io::Result<()> {
    command.process_group(0);
    Ok(())
}

impl RunningTool {
    /// Returns the process id of the tool.
    pub fn pid(&self) -> Option<u32> {
        self.handle.pids().first().copied()
    }

    /// Returns the next line, if it comes within the time limit. Returns at once if the tool has
    /// ended and its streams are read.
    pub fn next(&self, limit: Duration) -> Option<StreamLine> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // Both streams are closed, so the tool is about to end, or runs on in silence. An
                // error of this wait comes again when the caller asks whether the tool has ended.
                let _ = self.handle.wait_timeout(limit);
                None
            }
        }
    }

    /// Returns the next line, or whether another one can come.
    ///
    /// # Errors
    ///
    /// Returns `Timeout` if no line came in time, `Disconnected` if no other line will come.
    pub fn next_or_end(
        &self,
        limit: Duration,
    ) -> std::result::Result<StreamLine, RecvTimeoutError> {
        self.lines.recv_timeout(limit)
    }

    /// Returns the exit code and the signal, if the tool has ended.
    pub fn ended(&self) -> Result<Option<(Option<i32>, Option<i32>)>> {
        Ok(self
            .handle
            .try_wait()?
            .map(|output| code_and_signal(output.status)))
    }

    /// Asks the tool to stop and save, as Ctrl-C does.
    pub fn interrupt(&self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// Asks the tool to end without saving. Only for tools that save nothing.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Kills the tool. Only for tools that save nothing and do not end otherwise.
    pub fn kill(&self) -> Result<()> {
        self.signal(Signal::KILL)
    }

    /// Lets the tool go on after this process ends. Starts programs that drain its streams:
    /// otherwise its next line would end it (SIGPIPE), and lose the recording that it saves.
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
        // A process id stays reserved until the process is waited for.
        if self.ended()?.is_some() {
            return Ok(());
        }
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok());
        match pid.and_then(Pid::from_raw) {
            Some(pid) => Ok(kill_process(pid, signal).map_err(io::Error::from)?),
            None => Ok(()),
        }
    }

    /// Waits until the tool ends, and collects its output. Ends a tool that takes too long or prints
    /// too much; only for tools that save nothing.
    ///
    /// # Errors
    ///
    /// Fails if the tool had to be ended; `command` names it.
    pub(crate) fn finish(
        self,
        limit: Duration,
        command: impl Fn() -> String,
    ) -> Result<ToolOutput> {
        let mut output = ToolOutput::default();
        let mut bytes = 0;
        let start = Instant::now();
        let mut add = |line: StreamLine| {
            bytes += line.text.len() + 1;
            output.lines.push(line);
            bytes <= MAX_SHORT
        };
        let too_much = || Error::TooMuch {
            command: command(),
            most: MAX_SHORT,
        };

        let ended = loop {
            if self
                .next(Duration::from_millis(100))
                .is_some_and(|line| !add(line))
            {
                self.end();
                return Err(too_much());
            }
            if let Some(ended) = self.ended()? {
                break ended;
            }
            if start.elapsed() > limit {
                self.end();
                let command = command();
                return Err(Error::Hangs { command, limit });
            }
        };
        // The pipes can still have lines, but a child of the tool may keep them open for ever.
        let after = Instant::now();
        while after.elapsed() < LATE_LINES
            && let Ok(line) = self.lines.recv_timeout(LATE_LINES)
        {
            if !add(line) {
                return Err(too_much());
            }
        }
        (output.code, output.signal) = ended;
        Ok(output)
    }

    /// Ends a tool that saves nothing. If that fails, the caller has an error that says more.
    fn end(&self) {
        let _ = self.terminate();
        let asked = Instant::now();
        while asked.elapsed() < TIME_TO_END {
            if !matches!(self.ended(), Ok(None)) {
                return;
            }
            self.next(Duration::from_millis(20));
        }
        let _ = self.kill();
    }
}

/// Time for lines that are read after the end of the tool. Without a child of it, the streams end
/// first; on a machine with much else to do, a line came more than 200 ms late.
const LATE_LINES: Duration = Duration::from_secs(2);

fn code_and_signal(status: std::process::ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

impl ToolOutput {
    /// Adds a line and drops the oldest one beyond a limit: a tool that runs for minutes can
    /// print any amount, and only the end is useful.
    pub fn keep(&mut self, line: StreamLine) {
        if self.lines.len() == MAX_KEPT {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    /// Returns the text of standard output.
    pub fn out(&self) -> String {
        self.filtered(|line| line.stream == Stream::Out)
    }

    /// Returns the text of standard error.
    pub fn err(&self) -> String {
        self.filtered(|line| line.stream == Stream::Err)
    }

    /// Returns the text of both streams.
    pub fn all(&self) -> String {
        self.filtered(|_| true)
    }

    /// Returns the output in one line for messages, or how the tool ended if it printed nothing.
    pub fn summary(&self) -> String {
        const MAX_LENGTH: usize = 400;

        let output = self.all();
        let lines: Vec<&str> = output
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let text = lines.join(" ");
        match (text.char_indices().nth(MAX_LENGTH), self.code, self.signal) {
            (None, Some(code), _) if text.is_empty() => format!("no output, exit code {code}"),
            (None, None, Some(signal)) if text.is_empty() => {
                format!("no output, ended by signal {signal}")
            }
            (Some((end, _)), ..) => format!("{}…", text.get(..end).unwrap_or("")),
            _ => text,
        }
    }

    fn filtered(&self, is_wanted: impl Fn(&StreamLine) -> bool) -> String {
        let wanted = self.lines.iter().filter(|line| is_wanted(line));
        wanted
            .flat_map(|line| [line.text.as_str(), line.end.text()])
            .collect()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::output_streams::{LONGEST_LINE, LineEnd};

    /// Starts a shell script in place of `xctrace`.
    fn shell(script: &str) -> RunningTool {
        let tool = Tool::at("/bin/sh".into());
        let arguments = ["-c".into(), script.into()];
        tool.start(&arguments, Stdin::Nothing).unwrap()
    }

    /// Runs a shell script in place of a short command of `xctrace`.
    fn output_within(limit: Duration, script: &str) -> Result<ToolOutput> {
        let tool = Tool {
            time_limit: limit,
            ..Tool::at("/bin/sh".into())
        };
        tool.run(&["-c".into(), script.into()])
    }

    fn output(script: &str) -> ToolOutput {
        output_within(Duration::from_secs(60), script).unwrap()
    }

    /// A progress bar is seen before the next one, and hides no line of the tool.
    #[test]
    fn progress_bars_pass_through() {
        let check = |script: &str, expected: &[(&str, LineEnd)]| {
            let answer = output(script);
            let found: Vec<_> = answer
                .lines
                .iter()
                .map(|line| (line.text.as_str(), line.end))
                .collect();
            assert_eq!(found, expected, "{script}");
        };

        use LineEnd::{Break, Open, Return};
        check("printf 'a\\r\\nb\\n'", &[("a", Break), ("b", Break)]);
        check(
            "printf '\\r 1%%'; sleep 0.3; printf '\\r 2%%'; sleep 0.3; echo; echo saved",
            &[
                ("", Return),
                (" 1%", Open),
                ("", Return),
                (" 2%", Open),
                ("", Break),
                ("saved", Break),
            ],
        );

        check(
            "printf '1\\r2\\r3\\nlast'",
            &[("1", Return), ("2", Return), ("3", Break), ("last", Break)],
        );
    }

    #[test]
    fn both_streams_are_drained() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo 'a line that fills the pipe' >&2; i=$((i+1)); done; echo end; exit 54";
        let answer = output(script);
        assert_eq!((answer.code, answer.signal), (Some(54), None));
        assert_eq!(answer.out(), "end\n");
        assert_eq!(answer.all().lines().count(), 20_001);
    }

    /// The program's last words come before the word of the tool that it has ended.
    #[test]
    fn what_was_written_first_on_standard_error_comes_first() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo words >&2; echo ended; i=$((i+1)); done";
        let answer = output(script);
        let (mut words, mut ended) = (0, 0);
        for line in &answer.lines {
            match line.stream {
                Stream::Err => words += 1,
                Stream::Out => ended += 1,
            }
            assert!(words >= ended, "{ended} ends, but {words} times words");
        }
        assert_eq!((words, ended), (3000, 3000));
    }

    /// Returns true if this process ignores interrupts, as a background job in a script may. Its
    /// shells then ignore them too, and the test would prove nothing. Known on Linux only.
    fn ignores_interrupts() -> bool {
        const SIGINT: u32 = 1 << (2 - 1);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & u64::from(SIGINT) != 0)
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
    fn interrupt_asks_the_tool_to_stop() {
        if ignores_interrupts() {
            println!("skipped: these tests were started with interrupts ignored");
            return;
        }
        let running = shell("trap 'echo saved; exit 0' INT; echo on; while :; do sleep 0.05; done");
        assert_eq!(running.next(Duration::from_secs(20)).unwrap().text, "on");
        assert_eq!(running.ended().unwrap(), None);
        running.interrupt().unwrap();
        let answer = running
            .finish(Duration::from_secs(60), String::new)
            .unwrap();
        assert_eq!((answer.code, answer.out().as_str()), (Some(0), "saved\n"));
    }

    #[test]
    fn the_end_does_not_wait_for_children() {
        let before = Instant::now();
        let answer = output("sleep 30 & echo gone");
        assert_eq!(answer.out(), "gone\n");
        assert!(before.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_signal_that_ended_the_tool_is_returned() {
        let answer = output("kill -TRAP $$");
        assert_eq!((answer.code, answer.signal), (None, Some(5)));
        assert_eq!(answer.summary(), "no output, ended by signal 5");
    }

    /// A tool that hangs, floods, or ignores the request to end costs neither time nor memory.
    #[test]
    fn short_commands_are_bounded() {
        let check = |limit: Duration, script: &str, expected: &str| {
            let before = Instant::now();
            let error = output_within(limit, script).unwrap_err().to_string();
            assert!(
                error.starts_with("`sh -c ") && error.ends_with(expected),
                "{error}"
            );
            assert!(before.elapsed() < Duration::from_secs(30), "{script}");
        };
        let second = Duration::from_secs(1);
        let hangs = "did not end within 1 s, and was stopped";
        let floods = "printed more than 4194304 bytes, and was stopped";
        let cases = [
            (second, "exec sleep 60", hangs),
            (second, "trap '' TERM; while :; do sleep 1; done", hangs),
            (second, "while :; do echo x; sleep 0.01; done", hangs),
            (second * 60, "yes 'some words of a line'", floods),
            (second * 60, "yes 'some words of a line' >&2", floods),
            (
                second * 60,
                "head -c 200000 /dev/zero | tr '\\0' '\\n'; yes 'some words of a line'",
                floods,
            ),
        ];
        // They wait most of the time.
        thread::scope(|threads| {
            for (limit, script, expected) in cases {
                threads.spawn(move || check(limit, script, expected));
            }
        });
    }

    /// Lines wait until somebody reads them: the tool prints no more meanwhile.
    #[test]
    fn unread_lines_are_few() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("count");
        let running = shell(&format!(
            "while :; do echo 'a line that fills the pipe'; printf x >> {}; done",
            file.display()
        ));
        let printed = || std::fs::metadata(&file).map_or(0, |facts| facts.len());
        // It waits once it has printed nothing for a second.
        let mut before = 0;
        while before == 0 || before < printed() {
            before = printed();
            assert!(before < 100_000, "{before}");
            thread::sleep(Duration::from_secs(1));
        }
        let start = Instant::now();
        while printed() == before && start.elapsed() < Duration::from_secs(60) {
            assert!(running.next(Duration::from_secs(60)).is_some());
        }
        assert!(printed() > before);
        running.kill().unwrap();
    }

    #[test]
    fn a_missing_tool_is_an_error() {
        let tool = Tool::at("/no/such/xctrace".into());
        let error = tool.run(&[]).unwrap_err().to_string();
        assert!(
            error.starts_with("/no/such/xctrace cannot be started: "),
            "{error}"
        );
    }

    #[test]
    fn long_lines_are_cut_and_invalid_bytes_are_replaced() {
        let answer = output("printf 'a\\377b\\r\\n'; head -c 100000 /dev/zero | tr '\\0' x");
        assert_eq!(answer.lines[0].text, "a\u{FFFD}b");
        assert_eq!(answer.lines[1].text.len(), LONGEST_LINE);
    }
}
