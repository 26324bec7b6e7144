//! Exports the tables of a bundle as streams, without files: the reader reads while xctrace writes.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use metalens_xctrace::command::{Export, ExportSelection, TimeRange};
use metalens_xctrace::{Streaming, ToolOutput};

use super::basis::require_bundle;
use super::call::{ATTEMPTS, absolute, describe_end, is_temporary_failure};
use super::changed_template;
use super::contents::parse;
use super::document::{DocumentState, Tail};
use super::error::Result;
use super::exporter::{ExportEvent, Exporter, Tell};
use super::job::{TableJob, jobs_from_contents, jobs_from_names};

/// A function that receives messages while streams are read.
type Listener = Rc<dyn Fn(&str)>;

/// The tables of a bundle as streams that are not opened yet.
pub struct TableStreams {
    /// XML of the table of contents; `None` if xctrace cannot export it.
    pub toc: Option<Vec<u8>>,
    /// All tables of the bundle.
    pub tables: Vec<TableStream>,
}

/// A table that is exported when it is opened.
pub struct TableStream {
    exporter: Exporter,
    input: PathBuf,
    job: TableJob,
    listener: Listener,
}

impl Exporter {
    /// Returns the tables of a bundle. Without a table of contents these are the tables named
    /// in `known`, of this run or the first.
    ///
    /// # Errors
    ///
    /// Fails if the tool cannot be started.
    pub fn streams(
        &self,
        bundle: &Path,
        run: Option<u64>,
        known: &[String],
        tell: Rc<dyn Fn(ExportEvent<'_>)>,
    ) -> Result<TableStreams> {
        require_bundle(bundle)?;
        let input = absolute(bundle)?;
        let (toc, end) = self.read_contents(&input, &*tell)?;
        let runs = toc
            .as_ref()
            .and_then(|toc| parse(&String::from_utf8_lossy(toc)));
        let jobs = match &runs {
            Some(runs) => (0..runs.len())
                .flat_map(|at| jobs_from_contents(runs, at, &|_| true))
                .collect(),
            None => {
                let end = end + &changed_template::cause(bundle);
                tell(ExportEvent::Note(&format!(
                    "cannot export the table of contents: {end}. Tables are requested by name"
                )));
                jobs_from_names(known, run.unwrap_or(1))
            }
        };

        let listener: Listener = Rc::new(move |note| tell(ExportEvent::Note(note)));
        let table = |job| TableStream {
            exporter: self.clone(),
            input: input.clone(),
            job,
            listener: Rc::clone(&listener),
        };

        Ok(TableStreams {
            toc: toc.filter(|_| runs.is_some()),
            tables: jobs.into_iter().map(table).collect(),
        })
    }

    /// Returns the table of contents, if xctrace can export it, and the description of its end.
    fn read_contents(&self, input: &Path, tell: Tell<'_>) -> Result<(Option<Vec<u8>>, String)> {
        tell(ExportEvent::Contents);
        let mut end = String::new();
        for attempt in 0..ATTEMPTS {
            let mut stream = self.start(input, ExportSelection::Contents)?;
            let mut text = Vec::new();
            let read = stream.read_to_end(&mut text);
            let answer = stream.finish()?;
            let mut tail = Tail::default();
            tail.push(&text);
            if read.is_ok() && tail.is_end() {
                return Ok((Some(text), end));
            }
            end = describe_end(answer);
            let document = if text.is_empty() {
                DocumentState::Nothing
            } else {
                DocumentState::Useless
            };
            if !is_temporary_failure(document, answer) {
                break;
            }
            self.pause(pause_after(attempt))?;
        }

        Ok((None, end))
    }

    /// Starts an export to standard output.
    fn start(&self, input: &Path, selection: ExportSelection) -> Result<Streaming> {
        let export = Export {
            input: input.to_owned(),
            selection,
            output: None,
            range: TimeRange::default(),
        };
        let arguments = export.arguments(&self.version)?;
        Ok(self.tool.stream(&arguments)?)
    }
}

/// Returns the pause after a failed attempt, which doubles each time.
fn pause_after(attempt: u32) -> Duration {
    Duration::from_millis(200 << attempt.min(4))
}

impl TableStream {
    /// Returns the schema of the table.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.job.schema
    }

    /// Returns the position of the table's run, from 1.
    #[must_use]
    pub const fn run_position(&self) -> u64 {
        self.job.position
    }

    /// Starts the export of the table. Reading returns an error, not an end, if xctrace ended
    /// before the document was complete.
    ///
    /// # Errors
    ///
    /// Fails if xctrace writes nothing.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        let mut end = String::new();
        for attempt in 0..ATTEMPTS {
            let stream = self.exporter.start(&self.input, self.job.selection());
            let mut stream = stream.map_err(io::Error::other)?;
            let mut first = vec![0; 64 << 10];
            let count = stream.read(&mut first)?;
            if count > 0 {
                first.truncate(count);
                let mut tail = Tail::default();
                tail.push(&first);
                return Ok(Box::new(Cursor::new(first).chain(CheckedStream {
                    stream,
                    tail,
                    schema: self.job.schema.clone(),
                    listener: Rc::clone(&self.listener),
                    has_ended: false,
                })));
            }
            let answer = stream.finish().map_err(io::Error::other)?;
            end = describe_end(answer);
            if !is_temporary_failure(DocumentState::Nothing, answer) {
                break;
            }
            self.exporter
                .pause(pause_after(attempt))
                .map_err(io::Error::other)?;
        }

        Err(io::Error::other(format!("no output ({end})")))
    }
}

/// A stream that ends with an error if the document is not complete.
struct CheckedStream {
    stream: Streaming,
    tail: Tail,
    schema: String,
    listener: Listener,
    has_ended: bool,
}

impl Read for CheckedStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(bytes)?;
        if count > 0 || bytes.is_empty() {
            self.tail.push(bytes.get(..count).unwrap_or_default());
            return Ok(count);
        }

        if self.has_ended {
            return Ok(0);
        }
        self.has_ended = true;
        let is_whole = self.tail.is_end();
        let answer: &ToolOutput = self.stream.finish().map_err(io::Error::other)?;
        if answer.code == Some(0) && is_whole {
            return Ok(0);
        }

        let (schema, end) = (&self.schema, describe_end(answer));
        if is_whole {
            (self.listener)(&format!("{schema} is complete, although {end}"));
            return Ok(0);
        }

        (self.listener)(&format!("{schema} is CUT OFF: {end}"));
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
