//! Exports the tables of a bundle into a folder, one after another. Afterwards each table is
//! complete, marked as cut off, or missing.

use std::path::Path;

use metalens_files::{Folder, WorkFolder, path_size};
use metalens_xctrace::ToolOutput;
use metalens_xctrace::command::{Export, ExportSelection, TimeRange};

use super::bundle::{estimate, require_bundle};
use super::call::{ATTEMPTS, absolute, describe_end, is_disk_full, remove_if_there};
use super::changed_template;
use super::contents::{ListedRun, index_of_run, parse};
use super::document::DocumentState;
use super::error::{Error, Result};
use super::exporter::{ExportEvent, Exporter, Tell};
use super::folder::{self, FORMS};
use super::job::{TableJob, jobs_from_contents, jobs_from_names};
use super::request::{ExportRequest, Exported, TableFailure, TableSelection};
use crate::manifest::{ExportManifest, FORM, MANIFEST, TableFile, TableState};

/// Temporary folders for unfinished tables.
const DRAFTS: [&str; 2] = [".metalens-", ""];

impl Exporter {
    /// Exports a bundle into a folder.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be exported, or the folder must not be used. The result lists tables
    /// that failed by themselves.
    pub fn export(&self, request: &ExportRequest, tell: Tell<'_>) -> Result<Exported> {
        self.check(request)?;
        let existed = request.folder.exists();
        let name = request
            .bundle
            .file_name()
            .unwrap_or(request.bundle.as_os_str());
        let bundle = name.to_string_lossy().into_owned();
        let earlier = folder::load_earlier_export(&request.folder, &bundle, request.force)?;
        let folder = Folder::make(&request.folder)?;
        let abandoned = WorkFolder::clear_abandoned(&request.folder, DRAFTS, |_| true);
        let mut export = ExportRun {
            exporter: self,
            request,
            folder,
            drafts: WorkFolder::inside(&request.folder, DRAFTS)
                .map_err(Error::at(&request.folder))?,
            earlier,
            manifest: ExportManifest {
                schema: FORM.to_owned(),
                bundle,
                from_ns: request.range.from_ns,
                to_ns: request.range.to_ns,
                tables: Vec::new(),
            },
            empty: Vec::new(),
            failed: Vec::new(),
            failures_in_a_row: 0,
            tell,
        };

        export.report_abandoned(abandoned);
        let result = export.run();
        let complete = export.manifest.complete_tables();
        let (manifest, failed) = (export.manifest, export.failed);
        drop(export.drafts);
        if !existed {
            // This removes the folder only if it is empty.
            let _ = std::fs::remove_dir(&request.folder);
        }

        let folder = request.folder.display().to_string();
        match result {
            Ok(absent) => Ok(Exported {
                folder,
                holds: manifest,
                absent,
                failed,
            }),
            Err(Error::Interrupted { .. }) => Err(Error::Interrupted { complete, folder }),
            Err(error) => Err(error),
        }
    }

    /// Checks the request before anything is started.
    fn check(&self, request: &ExportRequest) -> Result<()> {
        require_bundle(&request.bundle)?;
        let (folder, bundle) = (absolute(&request.folder)?, absolute(&request.bundle)?);
        let is_trace = folder
            .extension()
            .is_some_and(|extension| extension == "trace");
        if folder.starts_with(&bundle) || is_trace {
            return Err(Error::BadFolder {
                folder: request.folder.display().to_string(),
            });
        }
        // This fails if the version of xctrace cannot export a range.
        let probe = Export {
            input: request.bundle.clone(),
            selection: ExportSelection::Contents,
            output: None,
            range: request.range,
        };
        probe.arguments(&self.version)?;
        Ok(())
    }
}

/// The state of a running export.
struct ExportRun<'a> {
    exporter: &'a Exporter,
    request: &'a ExportRequest,
    folder: Folder,
    /// Temporary folder for unfinished tables.
    drafts: WorkFolder,
    /// Earlier export in the folder, until this one has a file to put there.
    earlier: Option<ExportManifest>,
    manifest: ExportManifest,
    /// Schemas of which `xctrace` exported nothing.
    empty: Vec<String>,
    failed: Vec<TableFailure>,
    /// Number of tables since the last one that was whole, or that the bundle lacks.
    failures_in_a_row: u32,
    tell: Tell<'a>,
}

/// Number of failures in a row after which a table has one attempt.
const HOPELESS: u32 = 3;

impl ExportRun<'_> {
    /// Exports the tables. Returns the schemas of requested tables that the bundle does not have.
    fn run(&mut self) -> Result<Vec<String>> {
        let runs = self.contents()?;
        let (jobs, mut absent) = self.jobs(runs.as_deref())?;
        self.warn_of_little_room();
        self.tables(&jobs, runs.is_some())?;

        self.empty.sort();
        self.empty.dedup();
        if matches!(self.request.wanted, TableSelection::These(_)) {
            absent.append(&mut self.empty);
        } else if runs.is_some() && !self.empty.is_empty() {
            self.note(&format!(
                "xctrace exported nothing of these tables, which the table of contents lists: {}",
                self.empty.join(", ")
            ));
        }
        Ok(absent)
    }

    /// Removes the files of an earlier export, before the first file of this one is put there: a table
    /// of it that this export lacks could be one of another state of the bundle.
    fn clear_earlier(&mut self) -> Result<()> {
        match self.earlier.take() {
            Some(earlier) => folder::clear(&self.request.folder, &earlier),
            None => Ok(()),
        }
    }

    /// Exports the table of contents. Returns `None` if xctrace cannot export it.
    fn contents(&mut self) -> Result<Option<Vec<ListedRun>>> {
        (self.tell)(ExportEvent::Contents);
        let draft = self.drafts.path().join(TOC);
        let (document, answer) = self.call(
            ExportSelection::Contents,
            TimeRange::default(),
            &draft,
            ATTEMPTS,
        )?;

        let text = metalens_files::read_text(&draft, MAX_TOC_SIZE).unwrap_or_default();
        let runs = (document == DocumentState::Whole)
            .then(|| parse(&text))
            .flatten();
        match &runs {
            Some(_) => {
                self.clear_earlier()?;
                self.save()?;
                self.folder.move_in(&draft, TOC)?;
            }
            None => {
                remove_if_there(&draft)?;
                let end = describe_end(&answer) + changed_template::cause(&self.request.bundle);
                self.note(&format!(
                    "cannot export the table of contents: {end}. The tables that metalens knows \
                    are requested by name; process, device and wall time stay unknown"
                ));
            }
        }
        Ok(runs)
    }

    /// Returns the tables to export, and the schemas of requested tables that are not listed.
    fn jobs(&self, runs: Option<&[ListedRun]>) -> Result<(Vec<TableJob>, Vec<String>)> {
        let ExportRequest {
            wanted,
            default_tables,
            run,
            ..
        } = self.request;
        let Some(runs) = runs else {
            let run = run.unwrap_or(1);
            if *wanted == TableSelection::All {
                self.note(
                    "the list of tables is unknown: only tables that metalens reads are exported",
                );
            }
            let names = match wanted {
                TableSelection::These(names) => names,
                TableSelection::Known | TableSelection::All => default_tables,
            };
            return Ok((jobs_from_names(names, run), Vec::new()));
        };

        let index = index_of_run(runs, *run)?;
        let listed = |name: &String| {
            let schemas = runs.get(index).map(|run| &run.schemas);
            schemas.is_some_and(|schemas| schemas.contains(name))
        };

        Ok(match wanted {
            TableSelection::All => (jobs_from_contents(runs, index, &|_| true), Vec::new()),
            TableSelection::Known => {
                let is_known = |schema: &str| default_tables.iter().any(|name| name == schema);
                (jobs_from_contents(runs, index, &is_known), Vec::new())
            }
            TableSelection::These(names) => {
                let is_requested = |schema: &str| names.iter().any(|name| name == schema);
                let absent = names.iter().filter(|name| !listed(name)).cloned();
                (
                    jobs_from_contents(runs, index, &is_requested),
                    absent.collect(),
                )
            }
        })
    }

    /// Exports the tables of these jobs.
    fn tables(&mut self, jobs: &[TableJob], has_contents: bool) -> Result<()> {
        for (index, job) in jobs.iter().enumerate() {
            (self.tell)(ExportEvent::Table {
                schema: &job.schema,
                number: index + 1,
                of: jobs.len(),
            });
            self.table(job)?;
            if !has_contents && self.manifest.complete_tables() == 0 && self.failed.len() >= 2 {
                // The other forty tables would fail in the same way.
                break;
            }
        }

        if has_contents || !self.manifest.tables.is_empty() {
            return Ok(());
        }

        let why = match self.failed.first() {
            Some(failure) => failure.why.clone() + changed_template::cause(&self.request.bundle),
            None => "the bundle has none of the tables that were requested by name".to_owned(),
        };

        Err(Error::NotExportable {
            bundle: self.request.bundle.display().to_string(),
            why,
        })
    }

    /// Exports one table, with several attempts, and adds it to the manifest.
    fn table(&mut self, job: &TableJob) -> Result<()> {
        let draft = self.drafts.path().join(format!("{}.xml", job.stem));
        // If tables failed in all attempts, many attempts would not help the next one.
        let attempts = match self.failures_in_a_row {
            HOPELESS.. => 1,
            _ if self.failed.is_empty() => ATTEMPTS,
            _ => 2,
        };
        let (document, answer) =
            self.call(job.selection(), self.request.range, &draft, attempts)?;
        self.failures_in_a_row = match document {
            DocumentState::Whole | DocumentState::Absent => 0,
            _ => self.failures_in_a_row + 1,
        };
        match document {
            DocumentState::Whole => {
                if answer.code != Some(0) {
                    let end = describe_end(&answer);
                    self.note(&format!("{} is complete, although {end}", job.schema));
                }
                self.store(job, &draft, TableState::Whole)
            }
            DocumentState::Absent => {
                remove_if_there(&draft)?;
                self.empty.push(job.schema.clone());
                Ok(())
            }
            _ if is_disk_full(&answer) => Err(Error::DiskFull {
                schema: job.schema.clone(),
                folder: self.request.folder.display().to_string(),
            }),
            DocumentState::CutOff => {
                let end = describe_end(&answer);
                self.note(&format!(
                "{} is CUT OFF: {end}. Its first rows are kept as {}.xml.partial, which metalens \
                reads only with --allow-truncated; `metalens analyze {}` reads the bundle itself",
                    job.schema,
                    job.stem,
                    self.request.bundle.display()
                ));
                self.store(job, &draft, TableState::CutOff)
            }
            DocumentState::Useless | DocumentState::Nothing => {
                remove_if_there(&draft)?;
                self.failed.push(TableFailure {
                    schema: job.schema.clone(),
                    why: why_nothing(document, &answer),
                });
                Ok(())
            }
        }
    }

    /// Moves a finished table into the export folder.
    fn store(&mut self, job: &TableJob, draft: &Path, state: TableState) -> Result<()> {
        let mut name = format!("{}.xml", job.stem);
        if state == TableState::CutOff {
            name.push_str(".partial");
        }

        let bytes = draft.metadata().map_err(Error::at(draft))?.len();
        self.clear_earlier()?;
        self.manifest.tables.push(TableFile {
            schema: job.schema.clone(),
            run: job.run,
            state,
            file: name.clone(),
            bytes,
        });
        // A file that is in no manifest would not be one of metalens if it is killed here.
        self.save()?;
        self.folder.move_in(draft, &name)?;

        // A reader of the folder would take two files of one table for two tables.
        let forms = FORMS.iter().map(|form| format!("{}{form}", job.stem));
        for other in forms.filter(|other| *other != name) {
            self.folder.remove(Path::new(&other))?;
        }
        Ok(())
    }

    /// Writes the manifest, completely or not at all.
    fn save(&self) -> Result<()> {
        let path = Path::new(MANIFEST);
        let text = serde_json::to_vec_pretty(&self.manifest);
        let mut text = text.map_err(|error| Error::at(path)(error.into()))?;
        text.push(b'\n');
        Ok(self.folder.write_bytes(path, true, &text)?)
    }

    /// Exports one document into a file.
    fn call(
        &self,
        selection: ExportSelection,
        range: TimeRange,
        output: &Path,
        attempts: u32,
    ) -> Result<(DocumentState, ToolOutput)> {
        let export = Export {
            input: absolute(&self.request.bundle)?,
            selection,
            output: Some(absolute(output)?),
            range,
        };
        self.exporter.call(&export, output, attempts, self.tell)
    }

    /// Warns if the disk may become full.
    fn warn_of_little_room(&self) {
        let needed = estimate(
            path_size(&self.request.bundle),
            self.request.wanted == TableSelection::All,
        );
        let free = metalens_files::free_bytes(&self.request.folder);
        if let Some(free) = free.ok().filter(|free| *free < needed) {
            self.note(&format!(
                "the disk has {} GB free, and this export may take {} GB (estimated by the size of \
                the bundle)",
                gb(free),
                gb(needed)
            ));
        }
    }

    /// Reports the size of removed files that a killed export had left.
    fn report_abandoned(&self, bytes: u64) {
        // A smaller size would not interest the user.
        if bytes >= 100_000_000 {
            self.note(&format!(
                "removed {} GB of temporary files that a killed export left in this folder",
                gb(bytes)
            ));
        }
    }

    fn note(&self, text: &str) {
        (self.tell)(ExportEvent::Note(text));
    }
}

const TOC: &str = "toc.xml";

/// Maximum size of a table of contents, in bytes. Real ones have some hundred kilobytes.
const MAX_TOC_SIZE: u64 = 64 << 20;

/// Formats a number of bytes as gigabytes with one decimal.
fn gb(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000_000, bytes / 100_000_000 % 10)
}

/// Returns the reason why a table was not exported.
fn why_nothing(document: DocumentState, answer: &ToolOutput) -> String {
    let end = describe_end(answer);
    match document {
        DocumentState::Useless => format!("no complete row ({end})"),
        _ => format!("no output file ({end})"),
    }
}
