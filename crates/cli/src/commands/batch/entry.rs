//! One trace of a batch: whether its report is there, and making it.
//!
//! Beside the files of `analyze -o` the folder of a report has `batch.json`: of which
//! input, analyzed how, it is. It is written before the first file and after the last,
//! so that whatever was interrupted is known to be ours and not done.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_analyzer::{Analysis, Request, Settings};
use serde::{Deserialize, Serialize};

use super::find::Found;
use super::identity::{content, parts, stamp};
use super::row::Row;
use crate::args::{MeasureArguments, PartArguments, ReadingArguments};
use crate::report_folder::{self, FOLDER_OF_CHARTS, MANIFEST, Manifest, sha256};
use crate::{commands, whole};

/// What says whose report a folder has.
const STATE: &str = "batch.json";
const SCHEMA: &str = "metalens.batch/1";

/// How all traces of a batch are analyzed.
pub(super) struct Recipe {
    /// The folder of folders.
    pub(super) output: PathBuf,
    pub(super) settings: Settings,
    /// Of everything that makes a report but the input.
    pub(super) fingerprint: String,
    pub(super) part: PartArguments,
    pub(super) measure: MeasureArguments,
    pub(super) reading: ReadingArguments,
    pub(super) show_names: bool,
    pub(super) force: bool,
    pub(super) redo: bool,
    pub(super) dataset: Option<Dataset>,
}

/// Where the runs go besides, and those that were there before.
#[derive(Debug)]
pub(super) struct Dataset {
    pub(super) folder: PathBuf,
    pub(super) runs: BTreeSet<String>,
}

impl Dataset {
    pub(super) fn at(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            runs: metalens_dataset::run_names(folder)?,
        })
    }

    /// The name of the run there.
    fn add(&self, analysis: &Analysis, show_names: bool) -> anyhow::Result<String> {
        let choices = metalens_dataset::Choices { show_names };
        let written = metalens_dataset::write(analysis, &self.folder, choices)?;
        Ok(written.run)
    }
}

/// A trace, and the name of its folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) found: Found,
    pub(super) slug: String,
}

/// What `batch.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    schema: String,
    /// The input's path.
    input: String,
    /// Names, sizes and times of its files.
    stamp: String,
    /// Their bytes.
    content: String,
    /// How it was analyzed, and by which metalens.
    settings: String,
    /// Null while it is made.
    done: Option<Done>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Done {
    /// The SHA-256 of the report's manifest.
    manifest: String,
    row: Row,
    /// What it is called in a dataset, if it was written to one.
    #[serde(default)]
    run: Option<String>,
}

/// Whose report is in a folder: the path of its input.
pub(super) fn owner(folder: &Path) -> Option<String> {
    State::load(folder).map(|state| state.input)
}

/// Whether a folder has, or had, a report of a batch.
pub(super) fn is_entry(folder: &Path) -> bool {
    State::load(folder).is_some()
}

impl State {
    fn load(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(STATE)).ok()?;
        let state: Self = serde_json::from_slice(&text).ok()?;
        (state.schema == SCHEMA).then_some(state)
    }

    fn save(&self, folder: &Path) -> anyhow::Result<()> {
        whole::write(&folder.join(STATE), true, |out| {
            serde_json::to_writer(&mut *out, self)?;
            Ok(out.write_all(b"\n")?)
        })
    }
}

impl Entry {
    fn folder(&self, recipe: &Recipe) -> PathBuf {
        recipe.output.join(&self.slug)
    }

    /// The path as a text that no other path has.
    pub(super) fn key(found: &Found) -> String {
        let shown = found.path.display().to_string();
        match found.path.to_str() {
            Some(_) => shown,
            None => format!(
                "{shown} {}",
                sha256(found.path.as_os_str().as_encoded_bytes())
            ),
        }
    }

    /// What its report came to, if that is there and would be made again just so. Else
    /// an error if it cannot be made: something is in the way.
    pub(super) fn done(&self, recipe: &Recipe) -> anyhow::Result<Option<Row>> {
        let folder = self.folder(recipe);
        let state = State::load(&folder);
        if let Some(state) = &state
            && let Some(row) = self.kept(state, &folder, recipe)?
        {
            return Ok(Some(self.named(row)));
        }
        if !recipe.force {
            match state {
                Some(_) => refuse_changed(&folder)?,
                None if folder.symlink_metadata().is_ok() => {
                    report_folder::check(&folder, false)?;
                }
                None => {}
            }
        }
        Ok(None)
    }

    fn kept(&self, state: &State, folder: &Path, recipe: &Recipe) -> anyhow::Result<Option<Row>> {
        let Some(done) = &state.done else {
            return Ok(None);
        };
        if recipe.redo || state.settings != recipe.fingerprint || !is_whole(folder, done) {
            return Ok(None);
        }
        let is_in = |dataset: &Dataset| {
            let run = done.run.as_ref();
            run.is_some_and(|run| dataset.runs.contains(run))
        };
        if !recipe.dataset.as_ref().is_none_or(is_in) {
            return Ok(None);
        }
        let parts = parts(&self.found.path)?;
        let stamp = stamp(&parts);
        if stamp != state.stamp {
            if content(&parts) != state.content {
                return Ok(None);
            }
            // Next time the times tell.
            let state = State {
                stamp,
                ..state.clone()
            };
            state.save(folder)?;
        }
        Ok(Some(done.row.clone()))
    }

    /// Analyzes the trace and writes its report: what `analyze -o` does. What should be
    /// in the report and is not is told in the row.
    pub(super) fn make(&self, recipe: &Recipe) -> anyhow::Result<(Row, Vec<String>)> {
        let folder = self.folder(recipe);
        let parts = parts(&self.found.path)?;
        let mut state = State {
            schema: SCHEMA.to_owned(),
            input: Self::key(&self.found),
            // Taken first: what is changed from now on has another time.
            stamp: stamp(&parts),
            content: content(&parts),
            settings: recipe.fingerprint.clone(),
            done: None,
        };
        let mut analysis = self.analysis(recipe)?;
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        state.save(&folder)?;
        clear_drafts(&folder);
        let choices = report_folder::Choices {
            // `done` refused what is not ours.
            force: true,
            show_names: recipe.show_names,
        };
        let missing = report_folder::write(&mut analysis, &folder, choices)?;
        let dataset = recipe.dataset.as_ref();
        let run = dataset.map(|dataset| dataset.add(&analysis, recipe.show_names));
        let run = run.transpose()?;
        let row = Row::of(&analysis.report, &missing, recipe.show_names);
        if missing.is_empty() {
            let manifest = fs::read(folder.join(MANIFEST)).context("the manifest is gone")?;
            state.done = Some(Done {
                manifest: sha256(&manifest),
                row: row.clone(),
                run,
            });
            state.save(&folder)?;
        }
        Ok((self.named(row), missing))
    }

    fn analysis(&self, recipe: &Recipe) -> anyhow::Result<Analysis> {
        let request = Request {
            work: commands::known_work(&self.found.path, &recipe.measure)?,
            settings: recipe.settings.clone(),
            keep_everyone: recipe.dataset.is_some(),
            ..commands::request(&recipe.part)
        };
        commands::analyze::with_notes(&self.found.path, recipe.reading, &request, true)
    }

    /// A row under the names of this time.
    fn named(&self, row: Row) -> Row {
        Row {
            report: self.slug.clone(),
            name: self.found.name.clone(),
            input: self.found.path.display().to_string(),
            ..row
        }
    }
}

/// Whether a report is there as it was written: its manifest to the byte, its other files
/// by their length.
fn is_whole(folder: &Path, done: &Done) -> bool {
    let Ok(text) = fs::read(folder.join(MANIFEST)) else {
        return false;
    };
    let manifest = serde_json::from_slice::<Manifest>(&text);
    let is_there = |manifest: Manifest| {
        let mut files = manifest.files.iter();
        files.all(|file| {
            let facts = fs::metadata(folder.join(&file.path));
            facts.is_ok_and(|facts| facts.len() == file.bytes)
        })
    };
    sha256(&text) == done.manifest && manifest.is_ok_and(is_there)
}

/// A file of a report that was changed since is somebody's work. One that was being
/// replaced when something broke off has no manifest to tell.
fn refuse_changed(folder: &Path) -> anyhow::Result<()> {
    let Ok(text) = fs::read(folder.join(MANIFEST)) else {
        return Ok(());
    };
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else {
        return Ok(());
    };
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let is_as_written = |bytes: Vec<u8>| sha256(&bytes) == file.sha256;
        anyhow::ensure!(
            fs::read(&path).map_or(true, is_as_written),
            "{} was changed since it was written; --force replaces it",
            path.display()
        );
    }
    Ok(())
}

/// Takes away what a writer left that was killed.
fn clear_drafts(folder: &Path) {
    let folders = [folder.to_path_buf(), folder.join(FOLDER_OF_CHARTS)];
    let entries = folders.iter().filter_map(|one| fs::read_dir(one).ok());
    for entry in entries.flatten().flatten() {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(whole::DRAFT)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
