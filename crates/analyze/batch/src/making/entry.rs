//! Handles one recording of a batch: checks whether its report is up to date, and makes it.

use std::io;
use std::path::{Path, PathBuf};

use metalens_comparison::many::IndexRow;
use metalens_files::{Folder, sha256};

use super::find::FoundRecording;
use super::reports::{ReportProblem, Reports};
use super::request::BatchRequest;
use super::stamp::InputStamp;
use super::state::{EntryState, FinishedReport, SCHEMA};

/// The request, and the maker of reports.
pub(crate) struct ReportRecipe {
    pub(crate) request: BatchRequest,
    pub(crate) reports: Box<dyn Reports>,
}

/// A recording, and the name of its folder.
#[derive(Debug, Clone)]
pub(crate) struct BatchEntry {
    pub(crate) found: FoundRecording,
    pub(crate) slug: String,
}

impl BatchEntry {
    fn folder(&self, recipe: &ReportRecipe) -> PathBuf {
        recipe.request.output.join(&self.slug)
    }

    /// Returns the path as a text that no other path has.
    pub(crate) fn key(recording: &FoundRecording) -> String {
        let shown = recording.path.display().to_string();
        match recording.path.to_str() {
            Some(_) => shown,
            None => format!(
                "{shown} {}",
                sha256(recording.path.as_os_str().as_encoded_bytes())
            ),
        }
    }

    /// Returns the row of an up-to-date report, if there is one. Fails if links or files of others
    /// prevent the report from being written.
    pub(crate) fn up_to_date_row(
        &self,
        recipe: &ReportRecipe,
    ) -> Result<Option<IndexRow>, ReportProblem> {
        let folder = self.folder(recipe);
        let reports = &recipe.reports;

        // These checks come before the analysis, which may take long.
        metalens_files::refuse_link(&folder)?;
        reports.refuse_links(&folder)?;

        let state = EntryState::load(&folder);
        if let Some(state) = &state
            && let Some(row) = self.kept_row(state, &folder, recipe)
        {
            return Ok(Some(self.with_current_names(row)));
        }

        if !recipe.request.force {
            match state {
                Some(_) => reports.refuse_changed(&folder)?,
                None if folder.symlink_metadata().is_ok() => reports.refuse_others(&folder)?,
                None => {}
            }
        }
        Ok(None)
    }

    /// Returns the row of the report in the folder, unless the report has to be made again.
    fn kept_row(
        &self,
        state: &EntryState,
        folder: &Path,
        recipe: &ReportRecipe,
    ) -> Option<IndexRow> {
        let finished = state.done.as_ref()?;
        let request = &recipe.request;
        let is_current = state.settings == request.fingerprint
            && recipe.reports.identity(folder).as_ref() == Some(&finished.manifest)
            && self.stamp(recipe).is_ok_and(|stamp| stamp == state.stamp);
        let is_in_dataset = request.runs_before.as_ref().is_none_or(|runs| {
            let run = finished.run.as_ref();
            run.is_some_and(|run| runs.contains(run))
        });
        (is_current && is_in_dataset).then(|| finished.row.clone())
    }

    /// Analyzes the recording and writes its report. The row lists missing parts of the report. The
    /// flag is true if the report is complete.
    pub(crate) fn make(&self, recipe: &ReportRecipe) -> Result<(IndexRow, bool), ReportProblem> {
        let folder = self.folder(recipe);
        let mut state = EntryState {
            schema: SCHEMA.to_owned(),
            input: Self::key(&self.found),
            // The stamp is taken before the analysis, so that a file that changes during it has
            // another stamp.
            stamp: self.stamp(recipe)?,
            settings: recipe.request.fingerprint.clone(),
            done: None,
        };
        let reports = &recipe.reports;
        let analysis = reports.analyze(&self.found.path)?;

        Folder::open(&recipe.request.output)?.inner(Path::new(&self.slug))?;
        state.save(&folder)?;
        let written = reports.write(analysis, &folder)?;
        if written.is_complete {
            let manifest = reports.identity(&folder);
            state.done = Some(FinishedReport {
                manifest: manifest.ok_or_else(|| {
                    ReportProblem::from_reason(
                        "the manifest disappeared while the report was written",
                    )
                })?,
                row: written.row.clone(),
                run: written.run,
            });
            state.save(&folder)?;
        }
        Ok((self.with_current_names(written.row), written.is_complete))
    }

    /// Returns the size and the time of the files that the report depends on.
    fn stamp(&self, recipe: &ReportRecipe) -> io::Result<InputStamp> {
        let path = &self.found.path;
        InputStamp::of(path, &recipe.reports.files_beside(path))
    }

    /// Returns a row with the names and paths of this run.
    fn with_current_names(&self, row: IndexRow) -> IndexRow {
        IndexRow {
            report: self.slug.clone(),
            name: self.found.name.clone(),
            input: self.found.path.display().to_string(),
            ..row
        }
    }
}
