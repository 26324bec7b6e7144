//! Runs one `xctrace export`: reports its progress, can interrupt it, and tries again after failures
//! that users reported to be temporary.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use metalens_xctrace::command::Export;
use metalens_xctrace::meaning::{EXPORT_CODES, find_code, find_message};
use metalens_xctrace::{RunningTool, Stdin, ToolOutput};

use super::document::DocumentState;
use super::error::{Error, Result};
use super::exporter::{ExportEvent, Exporter, Tell};

/// Maximum number of attempts of a call that fails. One project reported up to five.
pub(crate) const ATTEMPTS: u32 = 5;
/// Maximum number of attempts of a call that crashes.
const CRASH_ATTEMPTS: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Time that xctrace has to end after a request.
const TIME_TO_END: Duration = Duration::from_secs(5);

impl Exporter {
    /// Writes a document into a file that does not exist yet. Returns the state of the document and
    /// the output of xctrace.
    pub(crate) fn call(
        &self,
        export: &Export,
        output: &Path,
        most_attempts: u32,
        tell: Tell<'_>,
    ) -> Result<(DocumentState, ToolOutput)> {
        let arguments = export.arguments(&self.version)?;
        let mut pause = FIRST_PAUSE;
        let cut = CutDocument::of(output);

        for attempt in 1.. {
            let running = self.tool.start(&arguments, Stdin::Nothing)?;
            let answer = self.watch(running, output, tell)?;
            let document = DocumentState::inspect(output).map_err(Error::at(output))?;
            let attempts = match is_crash(&answer) {
                true if document != DocumentState::Whole && most_attempts > 1 => CRASH_ATTEMPTS,
                _ if is_temporary_failure(document, &answer) => most_attempts,
                _ => 1,
            };
            if attempt >= attempts {
                let document = cut.or(document, output)?;
                return Ok((document, answer));
            }
            cut.keep(document, output)?;
            remove_if_there(output)?;
            self.pause(pause)?;
            pause *= 2;
        }
        Ok((DocumentState::Nothing, ToolOutput::default()))
    }

    /// Reads the output of xctrace until it ends; ends it if the export is canceled.
    fn watch(&self, running: RunningTool, output: &Path, tell: Tell<'_>) -> Result<ToolOutput> {
        let mut answer = ToolOutput::default();
        let mut last_event = Instant::now();
        loop {
            if let Some(line) = running.next(Duration::from_millis(50)) {
                answer.keep(line);
            }
            if let Some((code, signal)) = running.ended()? {
                (answer.code, answer.signal) = (code, signal);
                break;
            }
            if self.is_canceled() {
                end(&running)?;
                return Err(interrupted());
            }
            if last_event.elapsed() > Duration::from_millis(100) {
                last_event = Instant::now();
                tell(ExportEvent::Written(size(output)));
            }
        }

        // The pipes may still have lines. A child of xctrace could write without end, hence the limit.
        let ended = Instant::now();
        while ended.elapsed() < Duration::from_secs(2)
            && let Some(line) = running.next(Duration::from_millis(50))
        {
            answer.keep(line);
        }

        Ok(answer)
    }

    pub(crate) fn is_canceled(&self) -> bool {
        self.canceled.load(Ordering::SeqCst)
    }

    /// Waits, and returns an error as soon as the export is canceled.
    fn pause(&self, length: Duration) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < length {
            if self.is_canceled() {
                return Err(interrupted());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// The longest document of calls that crashed, beside the one that is wanted.
struct CutDocument(PathBuf);

impl CutDocument {
    fn of(output: &Path) -> Self {
        let mut name = output.as_os_str().to_owned();
        name.push(".cut");
        Self(name.into())
    }

    /// Keeps a document with rows if it is longer than an earlier one.
    fn keep(&self, document: DocumentState, output: &Path) -> Result<()> {
        if document == DocumentState::CutOff && size(output) > size(&self.0) {
            fs::rename(output, &self.0).map_err(Error::at(output))?;
        }
        Ok(())
    }

    /// Puts the kept document in place of the last one, if that is neither whole nor longer. Returns the
    /// state of what is there.
    fn or(&self, document: DocumentState, output: &Path) -> Result<DocumentState> {
        let is_better = !matches!(document, DocumentState::Whole | DocumentState::Absent)
            && size(&self.0) > size(output);
        if is_better {
            fs::rename(&self.0, output).map_err(Error::at(output))?;
            return Ok(DocumentState::CutOff);
        }
        remove_if_there(&self.0)?;
        Ok(document)
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |facts| facts.len())
}

/// Terminates xctrace, and kills it if it does not end. An export, unlike a recording, saves nothing.
fn end(running: &RunningTool) -> Result<()> {
    running.terminate()?;
    let requested = Instant::now();
    while running.ended()?.is_none() {
        running.next(Duration::from_millis(20));
        if requested.elapsed() > TIME_TO_END {
            running.kill()?;
        }
    }
    Ok(())
}

/// Returns the error of a canceled export. The caller adds the number of tables.
pub(crate) fn interrupted() -> Error {
    Error::Interrupted {
        complete: 0,
        folder: String::new(),
    }
}

/// Returns true if another attempt may succeed: users reported that exit code 10 and empty documents
/// were temporary.
fn is_temporary_failure(document: DocumentState, answer: &ToolOutput) -> bool {
    document == DocumentState::Nothing && matches!(answer.code, Some(0 | 10))
}

/// Returns whether xctrace crashed by SIGABRT, SIGBUS or SIGSEGV, by itself or below a shell. Those of
/// Xcode 26.5 do so now and then, and the next call succeeds.
fn is_crash(answer: &ToolOutput) -> bool {
    let signal = answer.signal.or(answer.code.map(|code| code - 128));
    matches!(signal, Some(6 | 10 | 11))
}

/// Describes the end of xctrace for messages, with its last line of output.
pub(crate) fn describe_end(answer: &ToolOutput) -> String {
    let end = match (answer.code, answer.signal) {
        (Some(0), _) => "xctrace ended with exit code 0, which means success".to_owned(),
        (Some(code), _) => format!("xctrace ended with exit code {code}"),
        (None, Some(signal)) => format!("signal {signal} ended xctrace"),
        (None, None) => "xctrace ended".to_owned(),
    };
    let output = answer.all();
    let last = output.lines().map(str::trim).rfind(|line| !line.is_empty());

    // A shell reports a signal as an exit code, which the list of known codes contains.
    let code = answer.code.or(answer.signal.map(|signal| 128 + signal));
    let code = code.and_then(|code| find_code(EXPORT_CODES, code));
    let known = last.and_then(find_message).map(|message| &message.meaning);
    let meaning = known.or(code).filter(|_| answer.code != Some(0));

    let last_line = last.map(|line| format!("; its last line: {}", cut(line)));
    let meaning = meaning.map(|meaning| format!(" ({})", meaning.what));
    format!(
        "{end}{}{}",
        last_line.unwrap_or_default(),
        meaning.unwrap_or_default()
    )
}

/// Returns the beginning of a line that may be very long.
fn cut(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Returns true if the output says that the disk is full.
pub(crate) fn is_disk_full(answer: &ToolOutput) -> bool {
    answer
        .lines
        .iter()
        .any(|line| line.text.contains("No space left on device"))
}

pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::at(path))
}

pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::at(path)(error)),
        _ => Ok(()),
    }
}
