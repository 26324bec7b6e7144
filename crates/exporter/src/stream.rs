//! The tables of a bundle as streams: xctrace writes while the reader reads,
//! and nothing lies on a disk in between.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use metalens_xctrace::command::{Export, Part, What};
use metalens_xctrace::{Answer, Streaming};

use crate::basis::is_bundle;
use crate::call::{ATTEMPTS, absolute, how_it_ended, may_help_again};
use crate::contents::parse;
use crate::document::{Document, Tail};
use crate::error::Result;
use crate::job::{Job, of_contents, of_names};
use crate::{Event, Exporter, Tell};

/// Is told what happens while streams are read.
type Listener = Rc<dyn Fn(&str)>;

/// The tables of a bundle, none of them opened yet.
pub struct TableStreams {
    /// The table of contents, as xctrace writes it.
    pub toc: Option<Vec<u8>>,
    /// Its tables.
    pub tables: Vec<TableStream>,
}

/// A table that is exported when it is opened.
pub struct TableStream {
    exporter: Exporter,
    input: PathBuf,
    job: Job,
    listener: Listener,
}

impl Exporter {
    /// The tables of a bundle; those of these names, of this run or the first,
    /// if xctrace gives no table of contents.
    ///
    /// # Errors
    ///
    /// If the tool cannot be started.
    pub fn streams(
        &self,
        bundle: &Path,
        run: Option<u64>,
        known: &[String],
        tell: Rc<dyn Fn(Event<'_>)>,
    ) -> Result<TableStreams> {
        is_bundle(bundle)?;
        let input = absolute(bundle)?;
        let (toc, how) = self.contents_of(&input, &*tell)?;
        let runs = toc
            .as_ref()
            .and_then(|toc| parse(&String::from_utf8_lossy(toc)));
        let jobs = match &runs {
            Some(runs) => (0..runs.len())
                .flat_map(|at| of_contents(runs, at, &|_| true))
                .collect(),
            None => {
                tell(Event::Note(&format!(
                    "the table of contents cannot be exported: {how}. Tables are asked for by name"
                )));
                of_names(known, run.unwrap_or(1))
            }
        };
        let listener: Listener = Rc::new(move |note| tell(Event::Note(note)));
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

    /// The table of contents, or how xctrace ended instead.
    fn contents_of(&self, input: &Path, tell: Tell<'_>) -> Result<(Option<Vec<u8>>, String)> {
        tell(Event::Contents);
        let mut how = String::new();
        for attempt in 0..ATTEMPTS {
            let mut stream = self.start(input, What::Contents)?;
            let mut text = Vec::new();
            let read = stream.read_to_end(&mut text);
            let answer = stream.finish()?;
            let mut tail = Tail::default();
            tail.push(&text);
            if read.is_ok() && tail.is_end() {
                return Ok((Some(text), how));
            }
            how = how_it_ended(answer);
            let document = if text.is_empty() {
                Document::Nothing
            } else {
                Document::Useless
            };
            if !may_help_again(document, answer) {
                break;
            }
            self.pause(pause_after(attempt))?;
        }
        Ok((None, how))
    }

    fn start(&self, input: &Path, what: What) -> Result<Streaming> {
        let export = Export {
            input: input.to_owned(),
            what,
            output: None,
            part: Part::default(),
        };
        let arguments = export.arguments(&self.version)?;
        Ok(self.tool.stream(&arguments)?)
    }
}

fn pause_after(attempt: u32) -> Duration {
    Duration::from_millis(200 << attempt.min(4))
}

impl TableStream {
    /// Its schema.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.job.schema
    }

    /// The 1-based position of its run.
    #[must_use]
    pub const fn run_position(&self) -> u64 {
        self.job.position
    }

    /// Lets xctrace write it. Reading it fails, rather than ends, if xctrace died
    /// before the document's end.
    ///
    /// # Errors
    ///
    /// If xctrace does not begin to write.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        let mut how = String::new();
        for attempt in 0..ATTEMPTS {
            let stream = self.exporter.start(&self.input, self.job.what());
            let mut stream = stream.map_err(io::Error::other)?;
            let mut first = vec![0; 64 << 10];
            let count = stream.read(&mut first)?;
            if count > 0 {
                first.truncate(count);
                let mut tail = Tail::default();
                tail.push(&first);
                return Ok(Box::new(Cursor::new(first).chain(Watched {
                    stream,
                    tail,
                    schema: self.job.schema.clone(),
                    listener: Rc::clone(&self.listener),
                    has_ended: false,
                })));
            }
            let answer = stream.finish().map_err(io::Error::other)?;
            how = how_it_ended(answer);
            if !may_help_again(Document::Nothing, answer) {
                break;
            }
            self.exporter
                .pause(pause_after(attempt))
                .map_err(io::Error::other)?;
        }
        Err(io::Error::other(format!("{how}, and wrote nothing")))
    }
}

/// A stream whose end is believed only if the document has one.
struct Watched {
    stream: Streaming,
    tail: Tail,
    schema: String,
    listener: Listener,
    has_ended: bool,
}

impl Read for Watched {
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
        let answer: &Answer = self.stream.finish().map_err(io::Error::other)?;
        if answer.code == Some(0) && is_whole {
            return Ok(0);
        }
        let (schema, how) = (&self.schema, how_it_ended(answer));
        if is_whole {
            (self.listener)(&format!("{schema} is whole, although {how}"));
            return Ok(0);
        }
        (self.listener)(&format!("{schema} is CUT OFF: {how}"));
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
