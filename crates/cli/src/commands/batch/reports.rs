//! The reports of a batch: the folders that `analyze -o` writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::Analysis;
use metalens_batch::{ReportProblem, Reports, WrittenReport};
use metalens_comparison::many::{ROW_FORM, TraceRow};
use metalens_files::{hexadecimal, sha256, sha256_of_file};
use metalens_render::folder::{self, FOLDER_OF_CHARTS, LONGEST_REPORT, MANIFEST, Manifest};
use metalens_render::redacted;

use crate::analyzing::{Analyzing, usual_work};
use crate::exit;

/// Options of the analyses, and of the reports' folders.
pub(super) struct ReportFolders {
    pub(super) analyzing: Analyzing,
    pub(super) show_names: bool,
    /// Where the runs go besides.
    pub(super) dataset: Option<PathBuf>,
}

/// Where the runs go besides, and those that were there before.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) dataset: PathBuf,
    pub(super) before: BTreeSet<String>,
}

impl Runs {
    pub(super) fn at(folder: &Path) -> anyhow::Result<Self> {
        metalens_dataset::refuse_links(folder)?;
        Ok(Self {
            dataset: folder.to_owned(),
            before: metalens_dataset::run_names(folder)?,
        })
    }
}

/// Returns a text that differs if reports would: how an input is to be analyzed, and by which
/// metalens. The number of its version alone does not tell two builds apart.
pub(super) fn fingerprint(analyzing: &Analyzing, show_names: bool) -> anyhow::Result<String> {
    let work = match &analyzing.work {
        Some(file) => {
            let hash = sha256_of_file(file);
            hexadecimal(&hash.with_context(|| format!("cannot read {}", file.display()))?)
        }
        None => String::new(),
    };
    let program = std::env::current_exe().ok();
    let program = program.and_then(|path| sha256_of_file(&path).ok());
    let program = program.map_or_else(String::new, |hash| hexadecimal(&hash));
    let version = env!("CARGO_PKG_VERSION");
    // Whether a dataset is written, too, makes no other report.
    let mut request = analyzing.request.clone();
    request.keep_everyone = false;
    let reading = analyzing.reading;
    let text =
        format!("{version} {program} {request:?} {reading:?} {show_names} {work} {ROW_FORM}");
    Ok(sha256(text.as_bytes()))
}

impl Reports for ReportFolders {
    fn file_beside(&self, input: &Path) -> Option<PathBuf> {
        usual_work(input)
    }

    fn refuse_links(&self, folder: &Path) -> Result<(), ReportProblem> {
        Ok(metalens_files::refuse_link(&folder.join(FOLDER_OF_CHARTS))?)
    }

    /// A file of a report that was changed since is somebody's work. A report that was being
    /// replaced when something broke off has no manifest to tell.
    fn refuse_changed(&self, folder: &Path) -> Result<(), ReportProblem> {
        let Some(manifest) = Manifest::load(folder) else {
            return Ok(());
        };
        for file in &manifest.files {
            let path = folder.join(&file.path);
            let is_gone = path.symlink_metadata().is_err();
            if !is_gone && !file.is_as_written(folder) {
                let shown = path.display();
                return Err(problem(&anyhow::anyhow!(
                    "{shown} was changed since it was written; --force replaces it"
                )));
            }
        }
        Ok(())
    }

    fn refuse_others(&self, folder: &Path) -> Result<(), ReportProblem> {
        folder::check(folder, false).map_err(|error| problem(&error.into()))
    }

    /// Returns the SHA-256 of its manifest, if all files are there that it lists, by their
    /// length.
    fn identity(&self, folder: &Path) -> Option<String> {
        let text = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT).ok()?;
        let manifest: Manifest = serde_json::from_slice(&text).ok()?;
        let is_complete = manifest.files.iter().all(|file| {
            let facts = fs::metadata(folder.join(&file.path));
            facts.is_ok_and(|facts| facts.len() == file.bytes)
        });
        is_complete.then(|| sha256(&text))
    }

    fn analyze(&self, input: &Path) -> Result<Analysis, ReportProblem> {
        let analysis = self.analyzing.noted_analysis(input, true);
        analysis.map_err(|error| problem(&error))
    }

    fn write(&self, analysis: Analysis, folder: &Path) -> Result<WrittenReport, ReportProblem> {
        self.written(analysis, folder)
            .map_err(|error| problem(&error))
    }
}

impl ReportFolders {
    fn written(&self, mut analysis: Analysis, folder: &Path) -> anyhow::Result<WrittenReport> {
        let show_names = self.show_names;
        let choices = folder::Choices {
            // What is not ours was refused before.
            force: true,
            show_names,
        };
        let missing = folder::write(&mut analysis, folder, choices)?;
        let run = match &self.dataset {
            Some(dataset) => {
                let choices = metalens_dataset::WriteOptions { show_names };
                Some(metalens_dataset::write(&analysis, dataset, choices)?.run)
            }
            None => None,
        };
        let report = &analysis.report;
        let is_complete = missing.is_empty();
        let row = if show_names {
            TraceRow::from_report(report, report, missing)
        } else {
            TraceRow::from_report(report, &redacted(report), missing)
        };
        Ok(WrittenReport {
            row,
            is_complete,
            run,
        })
    }
}

/// An error in words, with the names of others in it that pages leave out.
fn problem(error: &anyhow::Error) -> ReportProblem {
    let (why, hint) = exit::words(error);
    ReportProblem {
        why,
        hint,
        hidden: others(error),
    }
}

/// The names of others that an error lists, and what pages say instead.
fn others(error: &anyhow::Error) -> Vec<(String, String)> {
    use metalens_analyzer::Error;
    let Some(Error::NoGpuIntervals { present, .. }) = error.downcast_ref() else {
        return Vec::new();
    };
    let named = present.iter().zip(1..);
    let named = named.map(|(one, number)| (one.to_string(), one.name.clone(), number));
    // With what follows each name, so that no other word is taken for it.
    let named = named.map(|(said, name, number): (String, String, usize)| {
        (
            said.clone(),
            said.replacen(&name, &format!("other process {number}"), 1),
        )
    });
    named.collect()
}
