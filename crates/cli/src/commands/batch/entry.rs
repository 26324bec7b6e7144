//! One trace of a batch: whether its report is there, and making it.
//!
//! Beside the files of `analyze -o` the folder of a report has `batch.json`: of which
//! input, analyzed how, it is. It is written before the first file and after the last,
//! so that whatever was interrupted is known to be ours and not done.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use anyhow::Context;
use metalens_analyzer::{Analysis, Request, Settings};
use metalens_files::Folder;
use serde::{Deserialize, Serialize};

use super::find::Found;
use super::identity::{content, parts, stamp, unsettled};
use super::row::Row;
use crate::args::{MeasureArguments, PartArguments, ReadingArguments};
use crate::commands;
use crate::report_folder::{self, FOLDER_OF_CHARTS, LONGEST_REPORT, MANIFEST, Manifest, sha256};

/// What says whose report a folder has.
const STATE: &str = "batch.json";
const SCHEMA: &str = "metalens.batch/1";
/// It has one row, and some names.
const LONGEST_STATE: u64 = 16 << 20;

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
    pub(super) runs: Option<Runs>,
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
    /// What the system says of its files.
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
        let text = metalens_files::read(&folder.join(STATE), LONGEST_STATE).ok()?;
        let state: Self = serde_json::from_slice(&text).ok()?;
        (state.schema == SCHEMA).then_some(state)
    }

    fn save(&self, folder: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(self).context("cannot write what was done")?;
        text.push(b'\n');
        Ok(metalens_files::write_bytes(
            &folder.join(STATE),
            true,
            &text,
        )?)
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
        // Better now than after a long reading.
        metalens_files::refuse_link(&folder)?;
        metalens_files::refuse_link(&folder.join(FOLDER_OF_CHARTS))?;
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
        let is_in = |runs: &Runs| {
            let run = done.run.as_ref();
            run.is_some_and(|run| runs.before.contains(run))
        };
        if !recipe.runs.as_ref().is_none_or(is_in) {
            return Ok(None);
        }
        let parts = parts(&self.found.path)?;
        let stamp = stamp(&parts);
        if stamp == state.stamp {
            return Ok(Some(done.row.clone()));
        }
        let is_settled = unsettled(&parts, SystemTime::now()).is_none();
        if content(&parts) != state.content {
            return Ok(None);
        }
        if is_settled {
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
        if let Some(left) = unsettled(&parts(&self.found.path)?, SystemTime::now()) {
            thread::sleep(left);
        }
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
        Folder::open(&recipe.output)?.inner(Path::new(&self.slug))?;
        state.save(&folder)?;
        let choices = report_folder::Choices {
            // `done` refused what is not ours.
            force: true,
            show_names: recipe.show_names,
        };
        let missing = report_folder::write(&mut analysis, &folder, choices)?;
        let run = match &recipe.runs {
            Some(runs) => {
                let choices = metalens_dataset::Choices {
                    show_names: recipe.show_names,
                };
                Some(metalens_dataset::write(&analysis, &runs.dataset, choices)?.run)
            }
            None => None,
        };
        let row = Row::of(&analysis.report, &missing, recipe.show_names);
        if missing.is_empty() {
            let manifest = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT)
                .context("the manifest is gone")?;
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
            keep_everyone: recipe.runs.is_some(),
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
    let Ok(text) = metalens_files::read(&folder.join(MANIFEST), LONGEST_REPORT) else {
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
    let Some(manifest) = Manifest::load(folder) else {
        return Ok(());
    };
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let is_gone = path.symlink_metadata().is_err();
        anyhow::ensure!(
            is_gone || file.is_as_written(folder),
            "{} was changed since it was written; --force replaces it",
            path.display()
        );
    }
    Ok(())
}
