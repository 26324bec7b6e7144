//! Runs `metalens` as a child process in a process group of its own: reports progress, and ends it.

use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use metalens_failure::OtherNames;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use crate::problem::ToolProblem;

/// Largest number of child processes at a time. A further call waits: a recording can need
/// gigabytes of memory to analyze.
const AT_A_TIME: u32 = 2;
/// Largest number of bytes that are read from a child process.
const MOST_BYTES: u64 = 256 << 20;
/// Largest number of lines of messages that are kept.
const MOST_LINES: usize = 200;
/// Time between two reports of progress.
const TICK: Duration = Duration::from_secs(1);
/// Time in which the streams of an ended process must end.
const STREAMS_END: Duration = Duration::from_secs(5);

/// The program `metalens`, and the child processes that run it.
#[derive(Debug, Clone)]
pub(crate) struct Children {
    program: PathBuf,
    folder: PathBuf,
    show_names: bool,
    permits: Arc<Semaphore>,
}

/// A command of `metalens` to run.
pub(crate) struct ChildCommand {
    /// Activity of the process, for progress: `reading run.trace`.
    pub(crate) activity: String,
    pub(crate) arguments: Vec<OsString>,
    /// Lines of output after which the process is ended; the lines so far are its output.
    pub(crate) most_lines: Option<usize>,
    pub(crate) ending: Ending,
}

/// The way to end a process when its call is canceled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The process and its children are terminated; after a few seconds, killed.
    Terminate,
    /// The process is interrupted, as with Ctrl-C, and has two minutes to stop and save a recording.
    Interrupt,
}

impl Ending {
    /// Returns the time between the request to end and the kill.
    fn patience(self) -> Duration {
        match self {
            Self::Terminate => Duration::from_secs(5),
            Self::Interrupt => Duration::from_secs(120),
        }
    }
}

/// Exit code and streams of an ended process.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    /// Messages that the process wrote to standard error.
    pub(crate) messages: String,
}

impl Children {
    pub(crate) fn new(program: PathBuf, folder: PathBuf, show_names: bool) -> Self {
        Self {
            program,
            folder,
            show_names,
            permits: Arc::new(Semaphore::new(AT_A_TIME as usize)),
        }
    }

    /// Waits until no child process runs. No other can start afterwards.
    pub(crate) async fn all_ended(&self) {
        if self.permits.acquire_many(AT_A_TIME).await.is_ok() {
            self.permits.close();
        }
    }

    /// Runs a command to its end. Reports progress; ends the process if `canceled` completes first.
    pub(crate) async fn run(
        &self,
        command: ChildCommand,
        canceled: impl Future<Output = ()>,
        mut progress: impl FnMut(f64, &str),
    ) -> Result<Finished, ToolProblem> {
        let mut canceled = std::pin::pin!(canceled);
        let _permit = tokio::select! {
            permit = self.permits.acquire() => {
                permit.map_err(|_| ToolProblem::new("the server is shutting down"))?
            }
            () = &mut canceled => return Err(was_canceled(&command)),
        };

        let mut group = Group::start(self, &command)?;
        let mut streams = Streams::read(&mut group.child, command.most_lines);
        let started = Instant::now();
        let mut ticks = interval(TICK);
        let mut last_message = command.activity.clone();

        let code = loop {
            tokio::select! {
                status = group.child.wait() => break self.code(status)?,
                () = &mut canceled => {
                    group.end(command.ending).await;
                    return Err(was_canceled(&command));
                }
                Some(line) = streams.lines.recv() => last_message = line,
                Some(()) = streams.has_enough.recv() => {
                    // All wanted lines are read: the process succeeded, however it ends.
                    group.end(Ending::Terminate).await;
                    break Some(0);
                }
                _ = ticks.tick() => {}
            }
            progress(started.elapsed().as_secs_f64(), &last_message);
        };
        group.is_ended = true;

        streams.finish(code).await
    }

    /// Returns the exit code of an ended process; `None` if a signal ended it.
    fn code(&self, status: std::io::Result<ExitStatus>) -> Result<Option<i32>, ToolProblem> {
        let program = self.program.display();
        let status = status
            .map_err(|error| ToolProblem::new(format!("cannot wait for {program}: {error}")))?;
        Ok(status.code())
    }
}

/// The output and the messages of a child process, which two tasks read while it runs.
struct Streams {
    output: JoinHandle<Result<Vec<u8>, ToolProblem>>,
    messages: JoinHandle<Vec<String>>,
    /// Receives each line of messages as soon as it is read.
    lines: mpsc::UnboundedReceiver<String>,
    /// Receives once, when the output has all wanted lines.
    has_enough: mpsc::Receiver<()>,
}

impl Streams {
    /// Starts to read the streams of a process: all of its output, or its first lines.
    fn read(child: &mut Child, most_lines: Option<usize>) -> Self {
        let (to_lines, lines) = mpsc::unbounded_channel();
        let (to_has_enough, has_enough) = mpsc::channel(1);
        let stdout = child.stdout.take();
        let output = async move {
            let (bytes, is_cut) = read_output(stdout, most_lines).await?;
            if is_cut {
                let _ = to_has_enough.send(()).await;
            }
            Ok(bytes)
        };
        Self {
            output: tokio::spawn(output),
            messages: tokio::spawn(read_messages(child.stderr.take(), to_lines)),
            lines,
            has_enough,
        }
    }

    /// Returns the output and messages of an ended process. Does not wait for a grandchild that still
    /// has the streams open.
    async fn finish(self, code: Option<i32>) -> Result<Finished, ToolProblem> {
        let stdout = match timeout(STREAMS_END, self.output).await {
            Ok(Ok(output)) => output?,
            _ => Vec::new(),
        };
        let messages = match timeout(STREAMS_END, self.messages).await {
            Ok(Ok(lines)) => lines.join("\n"),
            _ => String::new(),
        };
        Ok(Finished {
            code,
            stdout,
            messages,
        })
    }
}

fn was_canceled(command: &ChildCommand) -> ToolProblem {
    ToolProblem::new(format!("canceled: {}", command.activity))
}

/// A child process and its process group. Dropping this before the end kills the whole group.
struct Group {
    child: Child,
    pid: Option<Pid>,
    is_ended: bool,
}

impl Group {
    /// Starts a process in a group of its own.
    fn start(children: &Children, command: &ChildCommand) -> Result<Self, ToolProblem> {
        let program = &children.program;
        let hides_names = if children.show_names { "" } else { "1" };
        let child = Command::new(program)
            .args(&command.arguments)
            .env(OtherNames::VARIABLE, hides_names)
            .current_dir(&children.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                ToolProblem::new(format!("cannot start {}: {error}", program.display()))
            })?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        Ok(Self {
            pid: pid.and_then(Pid::from_raw),
            child,
            is_ended: false,
        })
    }

    /// Ends the process: sends a signal, waits, and kills the processes that are left.
    async fn end(&mut self, ending: Ending) {
        if let Some(pid) = self.pid {
            // The process may have ended by itself.
            let _ = match ending {
                Ending::Terminate => kill_process_group(pid, Signal::TERM),
                // metalens itself stops xctrace, which is in another group, and waits for it.
                Ending::Interrupt => kill_process(pid, Signal::INT),
            };
        }

        if timeout(ending.patience(), self.child.wait()).await.is_ok() {
            self.is_ended = true;
        } else {
            self.kill();
            let _ = self.child.wait().await;
        }
    }

    /// Kills the process and its children, unless it has ended.
    fn kill(&mut self) {
        if let Some(pid) = self.pid
            && !self.is_ended
        {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        self.is_ended = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads all of the output, or its first lines. Returns the bytes, and whether it stopped early.
async fn read_output(
    stream: Option<impl AsyncRead + Unpin>,
    most_lines: Option<usize>,
) -> Result<(Vec<u8>, bool), ToolProblem> {
    let Some(stream) = stream else {
        return Ok((Vec::new(), false));
    };
    let failed = |error| ToolProblem::new(format!("cannot read what metalens printed: {error}"));
    let mut stream = BufReader::new(stream.take(MOST_BYTES));
    let mut bytes = Vec::new();

    let mut is_cut = false;
    if let Some(most) = most_lines {
        is_cut = true;
        for _ in 0..most {
            if stream.read_until(b'\n', &mut bytes).await.map_err(failed)? == 0 {
                is_cut = false;
                break;
            }
        }
    } else {
        stream.read_to_end(&mut bytes).await.map_err(failed)?;
    }

    if stream.get_ref().limit() == 0 {
        return Err(ToolProblem::new(format!(
            "the answer is larger than {} MiB",
            MOST_BYTES >> 20
        ))
        .hint("ask for less: a part of the recording, or fewer rows"));
    }
    Ok((bytes, is_cut))
}

/// Reads messages, and passes each line on as soon as it is read.
async fn read_messages(
    stream: Option<impl AsyncRead + Unpin>,
    log: mpsc::UnboundedSender<String>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(stream) = stream else {
        return lines;
    };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = stream.read_until(b'\n', &mut line).await {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        let _ = log.send(text.clone());
        if lines.len() < MOST_LINES {
            lines.push(text);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    use super::{ChildCommand, Children, Ending, Finished};
    use crate::problem::ToolProblem;

    /// Runs a script with a shell instead of metalens, and cancels it after some time.
    fn run(
        script: &str,
        folder: &Path,
        most_lines: Option<usize>,
        after: Duration,
    ) -> (Result<Finished, ToolProblem>, Vec<String>) {
        let command = ChildCommand {
            activity: "testing".to_owned(),
            arguments: ["-c", script].map(Into::into).to_vec(),
            most_lines,
            ending: Ending::Terminate,
        };
        let children = Children::new(PathBuf::from("/bin/sh"), folder.to_owned(), false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut said = Vec::new();
        let finished = runtime.block_on(async {
            let progress = |_: f64, text: &str| said.push(text.to_owned());
            children
                .run(command, tokio::time::sleep(after), progress)
                .await
        });
        (finished, said)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn output_messages_and_code_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo one; echo two >&2; sleep 0.3; exit 5";
        let (finished, said) = run(script, folder.path(), None, LONG);
        let finished = finished.unwrap();
        assert_eq!(finished.code, Some(5));
        assert_eq!(finished.stdout, b"one\n");
        assert_eq!(finished.messages, "two");
        assert!(said.contains(&"two".to_owned()), "{said:?}");
    }

    #[test]
    fn the_first_lines_are_enough() {
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let script = "while true; do echo line; done";
        let (finished, _) = run(script, folder.path(), Some(3), LONG);
        assert_eq!(finished.unwrap().stdout, b"line\nline\nline\n");
        assert!(started.elapsed() < LONG / 2);
    }

    /// The script starts a child of its own, which ignores that its parent ends.
    #[test]
    fn a_canceled_call_ends_the_process_and_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 300 & echo $! >inner; echo $$ >outer; wait";
        let started = Instant::now();
        let (finished, _) = run(script, folder.path(), None, Duration::from_millis(500));
        let problem = finished.unwrap_err().to_string();
        assert_eq!(problem, "error: canceled: testing");
        assert!(started.elapsed() < LONG);

        for file in ["inner", "outer"] {
            let pid = std::fs::read_to_string(folder.path().join(file)).unwrap();
            let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
            let is_gone = || match rustix::process::test_kill_process(pid) {
                Err(_) => true,
                // The process that adopts it may collect its exit status later.
                Ok(()) => std::fs::read_to_string(format!("/proc/{pid}/stat"))
                    .is_ok_and(|stat| stat.contains(") Z ")),
            };
            let deadline = Instant::now() + Duration::from_secs(5);
            while !is_gone() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(is_gone(), "{file} still runs");
        }
    }
}
