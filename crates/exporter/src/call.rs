//! One `xctrace export` from its start to its end: watched, interruptible, and
//! tried again where that has helped others.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use metalens_xctrace::command::{Export, Part, What};
use metalens_xctrace::meaning::{EXPORT_CODES, of_code, of_message};
use metalens_xctrace::{Answer, Running, Stdin};

use crate::document::Document;
use crate::error::{Error, Result};
use crate::{Event, Exporter, Tell};

/// How often something is asked that fails now and then: others needed up to five.
pub(crate) const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long one may take to end that was told to.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be written, and where.
pub(crate) struct Call<'a> {
    pub(crate) bundle: &'a Path,
    pub(crate) what: What,
    pub(crate) part: Part,
    /// A file that does not exist.
    pub(crate) output: &'a Path,
    pub(crate) attempts: u32,
}

impl Exporter {
    /// Writes a document. What came of it, and how xctrace ended.
    pub(crate) fn call(&self, call: &Call<'_>, tell: Tell<'_>) -> Result<(Document, Answer)> {
        let export = Export {
            input: absolute(call.bundle)?,
            what: call.what.clone(),
            output: Some(absolute(call.output)?),
            part: call.part,
        };
        let arguments = export.arguments(&self.version)?;
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let running = self.tool.start(&arguments, Stdin::Nothing)?;
            let answer = self.watch(running, call.output, tell)?;
            let document = Document::of(call.output).map_err(Error::at(call.output))?;
            if attempt >= call.attempts || !may_help_again(document, &answer) {
                return Ok((document, answer));
            }
            remove_if_there(call.output)?;
            self.pause(pause)?;
            pause *= 2;
        }
        Ok((Document::Nothing, Answer::default()))
    }

    /// Follows it to its end; asks it to end when we are asked to.
    fn watch(&self, running: Running, output: &Path, tell: Tell<'_>) -> Result<Answer> {
        let mut answer = Answer::default();
        let mut told = Instant::now();
        loop {
            if let Some(piece) = running.next(Duration::from_millis(50)) {
                answer.keep(piece);
            }
            if let Some((code, signal)) = running.ended()? {
                (answer.code, answer.signal) = (code, signal);
                break;
            }
            if self.is_cancelled() {
                end(&running)?;
                return Err(interrupted());
            }
            if told.elapsed() > Duration::from_millis(100) {
                told = Instant::now();
                let size = output.metadata().map_or(0, |found| found.len());
                tell(Event::Written(size));
            }
        }
        // What is in the pipes still, but no talk without end.
        let ended = Instant::now();
        while ended.elapsed() < Duration::from_secs(2)
            && let Some(piece) = running.next(Duration::from_millis(50))
        {
            answer.keep(piece);
        }
        Ok(answer)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Waits, unless we are asked to end.
    pub(crate) fn pause(&self, length: Duration) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < length {
            if self.is_cancelled() {
                return Err(interrupted());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// Asks it to end, and ends it if it does not: it saves nothing.
fn end(running: &Running) -> Result<()> {
    running.terminate()?;
    let asked = Instant::now();
    while running.ended()?.is_none() {
        running.next(Duration::from_millis(20));
        if asked.elapsed() > PATIENCE {
            running.kill()?;
        }
    }
    Ok(())
}

/// Whoever knows what is whole says more.
pub(crate) fn interrupted() -> Error {
    Error::Interrupted {
        whole: 0,
        folder: String::new(),
    }
}

/// Exit code 10 came and went for others, and so did answers without content.
pub(crate) fn may_help_again(document: Document, answer: &Answer) -> bool {
    document == Document::Nothing && matches!(answer.code, Some(0 | 10))
}

/// How it ended, and what it said, for people.
pub(crate) fn how_it_ended(answer: &Answer) -> String {
    let end = match (answer.code, answer.signal) {
        (Some(0), _) => "xctrace ended with exit code 0, as if all were well".to_owned(),
        (Some(code), _) => format!("xctrace ended with exit code {code}"),
        (None, Some(signal)) => format!("xctrace was ended by signal {signal}"),
        (None, None) => "xctrace ended".to_owned(),
    };
    let said = answer.all();
    let said = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    // A shell tells a signal as a code.
    let code = answer.code.or(answer.signal.map(|signal| 128 + signal));
    let code = code.and_then(|code| of_code(EXPORT_CODES, code));
    let known = said.and_then(of_message).map(|message| &message.meaning);
    let meaning = known.or(code).filter(|_| answer.code != Some(0));
    let said = said.map(|said| format!(" and said: {}", cut(said)));
    let meaning = meaning.map(|meaning| format!(" ({})", meaning.what));
    format!(
        "{end}{}{}",
        said.unwrap_or_default(),
        meaning.unwrap_or_default()
    )
}

/// The beginning of a line that may be very long.
fn cut(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Whether it said that there is no room.
pub(crate) fn is_disk_full(answer: &Answer) -> bool {
    let is_it = |line: &str| line.contains("No space left on device");
    answer.pieces.iter().any(|piece| is_it(&piece.line))
}

pub(crate) fn absolute(path: &Path) -> Result<std::path::PathBuf> {
    std::path::absolute(path).map_err(Error::at(path))
}

pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::at(path)(error)),
        _ => Ok(()),
    }
}
