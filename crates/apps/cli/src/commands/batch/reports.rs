//! Analyzes the recordings of a batch, and writes their folders as `analyze -o` does.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_batch::{ReportProblem, Reports, WrittenReport};
use metalens_comparison::many::IndexRow;
use metalens_failure::OtherNames;
use metalens_files::sha256;
use metalens_inputs::default_work;
use metalens_render::folder::{self, FOLDER_OF_CHARTS, Manifest};
use metalens_render::for_page;

use crate::analyzing::Analyzing;
use crate::args::batch::BatchArguments;
use crate::exit;

/// Options of the analyses and of the folders of reports.
pub(super) struct ReportFolders {
    pub(super) analyzing: Analyzing,
    pub(super) show_names: bool,
    pub(super) charts: bool,
    /// Folder of the dataset that gets each run. None for no dataset.
    pub(super) dataset: Option<PathBuf>,
}

/// Returns a hash of all that changes reports besides their files: the options, and the program,
/// because two builds may have the same version number.
pub(super) fn fingerprint(arguments: &BatchArguments, analyzing: &Analyzing) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let program = std::env::current_exe()
        .and_then(fs::metadata)
        .and_then(|facts| Ok((facts.len(), facts.modified()?)))
        .ok();

    // Set only for a dataset: it does not change reports.
    let mut request = analyzing.request.clone();
    request.keep_everyone = false;
    let (reading, work, gate) = (analyzing.reading, &analyzing.work, &analyzing.gate);
    let folder = (arguments.show_names, arguments.charts);
    let text =
        format!("{version} {program:?} {request:?} {reading:?} {work:?} {gate:?} {folder:?}");
    sha256(text.as_bytes())
}

impl Reports for ReportFolders {
    fn files_beside(&self, input: &Path) -> Vec<PathBuf> {
        let work = self.analyzing.work.clone().or_else(|| default_work(input));
        let manifest = Some(input.join(metalens_exporter::MANIFEST));
        let files = [work, manifest];
        files.into_iter().flatten().collect()
    }

    fn refuse_links(&self, folder: &Path) -> Result<(), ReportProblem> {
        Ok(metalens_files::refuse_link(&folder.join(FOLDER_OF_CHARTS))?)
    }

    /// Refuses a folder whose files the user changed after metalens wrote them.
    fn refuse_changed(&self, folder: &Path) -> Result<(), ReportProblem> {
        // A report whose replacement was interrupted has no manifest, and may be replaced.
        match Manifest::load(folder).and_then(|manifest| manifest.changed(folder)) {
            Some(path) => Err(problem(&anyhow::anyhow!(
                "{} changed after metalens wrote it; --force replaces it",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    fn refuse_others(&self, folder: &Path) -> Result<(), ReportProblem> {
        folder::check(folder, false).map_err(|error| problem(&error.into()))
    }

    fn identity(&self, folder: &Path) -> Option<String> {
        Manifest::identity(folder)
    }

    fn analyze(&self, input: &Path) -> Result<Analysis, ReportProblem> {
        let analysis = self.analyzing.noted_analysis(input, true);
        analysis.map_err(|error| problem(&error))
    }

    fn write(&self, analysis: Analysis, folder: &Path) -> Result<WrittenReport, ReportProblem> {
        self.write_folder(analysis, folder)
            .map_err(|error| problem(&error))
    }
}

impl ReportFolders {
    /// Writes the folder of a report, and adds its run to the dataset.
    fn write_folder(&self, mut analysis: Analysis, folder: &Path) -> anyhow::Result<WrittenReport> {
        let show_names = self.show_names;
        let choices = folder::Choices {
            // Files that metalens did not write were refused before.
            force: true,
            show_names,
            charts: self.charts,
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
        let row = IndexRow::from_report(report, &for_page(report, show_names), missing);
        Ok(WrittenReport {
            row,
            is_complete,
            run,
        })
    }
}

/// Returns an error as texts, for people and for pages.
fn problem(error: &anyhow::Error) -> ReportProblem {
    let (why, hint) = exit::message_and_hint(error, OtherNames::Shown);
    ReportProblem {
        why,
        hint,
        unnamed: Some(exit::message_and_hint(error, OtherNames::Hidden)),
    }
}
