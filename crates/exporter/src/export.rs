//! A bundle → a folder of its tables: what is missing is asked for, one table
//! after the other, and each is there whole, marked, or not at all.

use std::path::Path;

use metalens_files::Folder;
use metalens_xctrace::Answer;
use metalens_xctrace::command::{Part, What};

use crate::basis::{Basis, estimate, free_bytes, is_bundle};
use crate::call::{ATTEMPTS, Call, absolute, how_it_ended, is_disk_full, remove_if_there};
use crate::contents::{Run, parse, position_of};
use crate::document::Document;
use crate::drafts::{self, Drafts};
use crate::error::{Error, Result};
use crate::folder::{self, FORMS};
use crate::job::{Job, of_contents, of_names};
use crate::manifest::{Manifest, State, TableFile};
use crate::request::{Exported, Failure, Request, Wanted};
use crate::{Event, Exporter, Tell};

impl Exporter {
    /// Exports a bundle.
    ///
    /// # Errors
    ///
    /// If nothing can be exported, or it must not be written there. Tables that
    /// fail for themselves are told in what is returned.
    pub fn export(&self, request: &Request, tell: Tell<'_>) -> Result<Exported> {
        let basis = self.check(request)?;
        let existed = request.folder.exists();
        let earlier = folder::take_over(&request.folder, &basis, request.force)?;
        let folder = Folder::make(&request.folder)?;
        let left_over = drafts::clear_left_over(&request.folder);
        let mut work = Work {
            exporter: self,
            request,
            folder,
            drafts: Drafts::inside(&request.folder)?,
            manifest: Manifest::new(basis),
            written: 0,
            failed: Vec::new(),
            tell,
        };
        work.tell_of(left_over);
        let result = work.run(earlier);
        let whole = work.manifest.whole();
        let (manifest, written, failed) = (work.manifest, work.written, work.failed);
        drop(work.drafts);
        if !existed {
            // Goes only if it is empty.
            let _ = std::fs::remove_dir(&request.folder);
        }
        let folder = request.folder.display().to_string();
        match result {
            Ok(absent) => Ok(Exported {
                folder,
                holds: manifest,
                written,
                absent,
                failed,
            }),
            Err(Error::Interrupted { .. }) => Err(Error::Interrupted { whole, folder }),
            Err(error) => Err(error),
        }
    }

    /// What can be known before anything is started.
    fn check(&self, request: &Request) -> Result<Basis> {
        is_bundle(&request.bundle)?;
        let (folder, bundle) = (absolute(&request.folder)?, absolute(&request.bundle)?);
        let is_trace = folder
            .extension()
            .is_some_and(|extension| extension == "trace");
        if folder.starts_with(&bundle) || is_trace {
            return Err(Error::BadFolder {
                folder: request.folder.display().to_string(),
            });
        }
        // Whether this version can do a part.
        let probe = metalens_xctrace::command::Export {
            input: request.bundle.clone(),
            what: What::Contents,
            output: None,
            part: request.part,
        };
        probe.arguments(&self.version)?;
        Basis::of(&request.bundle, request.part).map_err(Error::at(&request.bundle))
    }
}

/// An export while it is made.
struct Work<'a> {
    exporter: &'a Exporter,
    request: &'a Request,
    folder: Folder,
    /// Where beginnings are made; goes with what is in it.
    drafts: Drafts,
    manifest: Manifest,
    written: usize,
    failed: Vec<Failure>,
    tell: Tell<'a>,
}

impl Work<'_> {
    /// Does what is missing; the tables that were asked for and are not there.
    fn run(&mut self, earlier: Option<Manifest>) -> Result<Vec<String>> {
        let folder = &self.request.folder;
        let runs = match earlier {
            Some(earlier) if earlier.basis == self.manifest.basis => {
                self.manifest = earlier;
                let runs = (self.manifest.toc && !self.request.force)
                    .then(|| metalens_files::read_text(&folder.join(TOC), LONGEST_TOC).ok())
                    .flatten()
                    .and_then(|text| parse(&text));
                match runs {
                    Some(runs) => Some(runs),
                    None => self.contents()?,
                }
            }
            Some(stale) => {
                self.note(
                    "the bundle is not as it was when it was exported before, or another part of it \
                     is asked for: all of it is exported anew",
                );
                folder::clear(folder, &stale)?;
                self.contents()?
            }
            None => self.contents()?,
        };
        let (jobs, mut absent) = self.jobs(runs.as_deref())?;
        self.warn_of_little_room();
        let asked = self.tables(&jobs, runs.is_some())?;
        let empty = self.empty(&asked);
        if matches!(self.request.wanted, Wanted::These(_)) {
            absent.extend(self.empty(&jobs.iter().collect::<Vec<_>>()));
        } else if runs.is_some() && !empty.is_empty() {
            self.note(&format!(
                "the table of contents lists {}, of which xctrace exported nothing",
                empty.join(", ")
            ));
        }
        Ok(absent)
    }

    /// Writes the table of contents. None if xctrace does not give it.
    fn contents(&mut self) -> Result<Option<Vec<Run>>> {
        (self.tell)(Event::Contents);
        let draft = self.drafts.path().join(TOC);
        let (document, answer) = self.call(What::Contents, Part::default(), &draft, ATTEMPTS)?;
        let text = metalens_files::read_text(&draft, LONGEST_TOC).unwrap_or_default();
        let runs = (document == Document::Whole)
            .then(|| parse(&text))
            .flatten();
        self.manifest.toc = runs.is_some();
        match &runs {
            Some(_) => {
                self.folder.move_in(&draft, TOC)?;
                self.save()?;
            }
            None => {
                remove_if_there(&draft)?;
                let how = how_it_ended(&answer);
                self.note(&format!(
                    "the table of contents cannot be exported: {how}. The tables that metalens knows \
                     are asked for by name; target, device and wall time stay unknown"
                ));
            }
        }
        Ok(runs)
    }

    /// What to ask for, and what of it is not there.
    fn jobs(&self, runs: Option<&[Run]>) -> Result<(Vec<Job>, Vec<String>)> {
        let Request {
            wanted, known, run, ..
        } = self.request;
        let Some(runs) = runs else {
            let run = run.unwrap_or(1);
            if *wanted == Wanted::All {
                self.note("which tables there are is unknown: only those that metalens reads are exported");
            }
            let names = match wanted {
                Wanted::These(names) => names,
                Wanted::Known | Wanted::All => known,
            };
            return Ok((of_names(names, run), Vec::new()));
        };
        let at = position_of(runs, *run)?;
        let listed = |name: &String| {
            let schemas = runs.get(at).map(|run| &run.schemas);
            schemas.is_some_and(|schemas| schemas.contains(name))
        };
        Ok(match wanted {
            Wanted::All => (of_contents(runs, at, &|_| true), Vec::new()),
            Wanted::Known => {
                let is_known = |schema: &str| known.iter().any(|name| name == schema);
                (of_contents(runs, at, &is_known), Vec::new())
            }
            Wanted::These(names) => {
                let is_asked = |schema: &str| names.iter().any(|name| name == schema);
                let absent = names.iter().filter(|name| !listed(name)).cloned();
                (of_contents(runs, at, &is_asked), absent.collect())
            }
        })
    }

    /// The schemas of jobs of which nothing was there.
    fn empty(&self, jobs: &[&Job]) -> Vec<String> {
        let is_empty = |job: &&&Job| {
            let found = self.manifest.find(&job.schema, job.run, job.place);
            found.is_some_and(|one| one.state == State::Absent)
        };
        let mut empty: Vec<String> = jobs
            .iter()
            .filter(is_empty)
            .map(|job| job.schema.clone())
            .collect();
        empty.sort();
        empty.dedup();
        empty
    }

    /// Asks for the tables that are missing; those that were.
    fn tables<'j>(&mut self, jobs: &'j [Job], has_contents: bool) -> Result<Vec<&'j Job>> {
        let is_missing = |job: &&Job| {
            let before = self.manifest.find(&job.schema, job.run, job.place);
            let is_done = before.is_some_and(|one| one.is_done(&self.request.folder));
            self.request.force || !is_done
        };
        let missing: Vec<&Job> = jobs.iter().filter(is_missing).collect();
        for (at, job) in missing.iter().enumerate() {
            (self.tell)(Event::Table {
                schema: &job.schema,
                number: at + 1,
                of: missing.len(),
            });
            self.table(job)?;
            if !has_contents && self.manifest.whole() == 0 && self.failed.len() >= 2 {
                // It says the same of everything: forty times would not be better.
                break;
            }
        }
        let is_there = |one: &TableFile| one.state != State::Absent;
        if has_contents || self.manifest.tables.iter().any(is_there) {
            return Ok(missing);
        }
        let why = match self.failed.first() {
            Some(failure) => failure.why.clone(),
            None => "it has none of the tables that were asked for by name".to_owned(),
        };
        Err(Error::NotExportable {
            bundle: self.request.bundle.display().to_string(),
            why,
        })
    }

    fn table(&mut self, job: &Job) -> Result<()> {
        let draft = self.drafts.path().join(format!("{}.xml", job.stem));
        // Once it has failed for good at one table, asking the next so often is no use.
        let attempts = if self.failed.is_empty() { ATTEMPTS } else { 2 };
        let (document, answer) = self.call(job.what(), self.request.part, &draft, attempts)?;
        match document {
            Document::Whole => {
                if answer.code != Some(0) {
                    let how = how_it_ended(&answer);
                    self.note(&format!("{} is whole, although {how}", job.schema));
                }
                self.written += 1;
                self.store(job, &draft, State::Whole)
            }
            Document::Absent => {
                remove_if_there(&draft)?;
                self.enter(job, State::Absent, None)
            }
            _ if is_disk_full(&answer) => Err(Error::DiskFull {
                schema: job.schema.clone(),
                folder: self.request.folder.display().to_string(),
            }),
            Document::CutOff if !self.has_better(job) => {
                let how = how_it_ended(&answer);
                self.note(&format!(
                    "{} is CUT OFF: {how}. What was written until then is kept as {}.xml.partial, \
                     which is read with --allow-truncated only; `metalens analyze {}` reads the \
                     bundle itself",
                    job.schema,
                    job.stem,
                    self.request.bundle.display()
                ));
                self.written += 1;
                self.store(job, &draft, State::CutOff)
            }
            Document::CutOff | Document::Useless | Document::Nothing => {
                remove_if_there(&draft)?;
                self.failed.push(Failure {
                    schema: job.schema.clone(),
                    why: why_nothing(document, &answer),
                });
                Ok(())
            }
        }
    }

    /// Whether the table is there from before, whole.
    fn has_better(&self, job: &Job) -> bool {
        let before = self.manifest.find(&job.schema, job.run, job.place);
        before.is_some_and(|one| one.state == State::Whole && one.is_done(&self.request.folder))
    }

    /// Moves a finished draft to its place.
    fn store(&mut self, job: &Job, draft: &Path, state: State) -> Result<()> {
        let mut name = format!("{}.xml", job.stem);
        let mut finished = draft.to_owned();
        if self.request.gzip {
            name.push_str(".gz");
            finished = self.drafts.path().join(&name);
            folder::compress(draft, &finished, &|| self.exporter.is_cancelled())?;
        }
        if state == State::CutOff {
            name.push_str(".partial");
        }
        let bytes = finished.metadata().map_err(Error::at(&finished))?.len();
        self.folder.move_in(&finished, &name)?;
        // Two files of one table would count as two tables.
        let forms = FORMS.iter().map(|form| format!("{}{form}", job.stem));
        let superseded = self.manifest.rivals(&job.schema, job.run, job.place);
        for other in forms.chain(superseded).filter(|other| *other != name) {
            self.folder.remove(Path::new(&other))?;
        }
        self.enter(job, state, Some((name, bytes)))
    }

    /// Notes in the manifest what became of a table.
    fn enter(&mut self, job: &Job, state: State, file: Option<(String, u64)>) -> Result<()> {
        let (file, bytes) = file.unzip();
        self.manifest.set(TableFile {
            schema: job.schema.clone(),
            run: job.run,
            place: job.place,
            state,
            file,
            bytes: bytes.unwrap_or(0),
            xctrace: self.exporter.version.to_string(),
        });
        self.save()
    }

    fn save(&self) -> Result<()> {
        self.manifest.save(&self.folder)
    }

    fn call(
        &self,
        what: What,
        part: Part,
        output: &Path,
        attempts: u32,
    ) -> Result<(Document, Answer)> {
        let call = Call {
            bundle: &self.request.bundle,
            what,
            part,
            output,
            attempts,
        };
        self.exporter.call(&call, self.tell)
    }

    fn warn_of_little_room(&self) {
        let needed = estimate(
            self.manifest.basis.bytes,
            self.request.wanted == Wanted::All,
        );
        if let Some(free) = free_bytes(&self.request.folder).filter(|free| *free < needed) {
            self.note(&format!(
                "the disk has {} GB free, and this export may take {} GB (an estimate by the \
                 bundle's size)",
                gb(free),
                gb(needed)
            ));
        }
    }

    fn tell_of(&self, left_over: u64) {
        // Less is nothing that anybody missed.
        if left_over >= 100_000_000 {
            self.note(&format!(
                "an export into this folder was killed before; the {} GB that it had begun with \
                 are taken away",
                gb(left_over)
            ));
        }
    }

    fn note(&self, text: &str) {
        (self.tell)(Event::Note(text));
    }
}

const TOC: &str = "toc.xml";

/// Real ones have some hundred kilobytes.
const LONGEST_TOC: u64 = 64 << 20;

/// With one digit behind the point.
fn gb(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000_000, bytes / 100_000_000 % 10)
}

fn why_nothing(document: Document, answer: &Answer) -> String {
    let how = how_it_ended(answer);
    match document {
        Document::CutOff => format!("{how}, and cut it off; the one exported before is kept"),
        Document::Useless => format!("{how}, and wrote no whole row"),
        _ => format!("{how}, and wrote nothing"),
    }
}
