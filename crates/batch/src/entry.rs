//! One trace of a batch: whether its report is there, and making it.
//!
//! Beside the files of `analyze -o` the folder of a report has `batch.json`: of which
//! input, analyzed how, it is. It is written before the first file and after the last,
//! so that whatever was interrupted is known to be ours and not done.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use metalens_comparison::many::Row;
use metalens_files::{Folder, sha256};
use serde::{Deserialize, Serialize};

use crate::find::Found;
use crate::identity::{Part, content, parts, stamp, unsettled};
use crate::reports::{Problem, Reports};
use crate::work::Request;

/// What says whose report a folder has.
const STATE: &str = "batch.json";
const SCHEMA: &str = "metalens.batch/1";
/// It has one row, and some names.
const LONGEST_STATE: u64 = 16 << 20;

/// A request, and whoever makes its reports.
pub(crate) struct Recipe {
    pub(crate) request: Request,
    pub(crate) reports: Box<dyn Reports>,
}

/// A trace, and the name of its folder.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) found: Found,
    pub(crate) slug: String,
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
pub(crate) fn owner(folder: &Path) -> Option<String> {
    State::load(folder).map(|state| state.input)
}

/// Whether a folder has, or had, a report of a batch.
pub(crate) fn is_entry(folder: &Path) -> bool {
    State::load(folder).is_some()
}

impl State {
    fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(STATE), LONGEST_STATE).ok()?;
        let state: Self = serde_json::from_slice(&text).ok()?;
        (state.schema == SCHEMA).then_some(state)
    }

    fn save(&self, folder: &Path) -> Result<(), Problem> {
        let text = serde_json::to_vec(self);
        let mut text =
            text.map_err(|error| Problem::of(&format!("cannot write what was done: {error}")))?;
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
        recipe.request.output.join(&self.slug)
    }

    /// The path as a text that no other path has.
    pub(crate) fn key(found: &Found) -> String {
        let shown = found.path.display().to_string();
        match found.path.to_str() {
            Some(_) => shown,
            None => format!(
                "{shown} {}",
                sha256(found.path.as_os_str().as_encoded_bytes())
            ),
        }
    }

    /// Returns what its report came to, if that is there and would be made again just so. An
    /// error says why it cannot be made: something is in the way.
    pub(crate) fn done(&self, recipe: &Recipe) -> Result<Option<Row>, Problem> {
        let folder = self.folder(recipe);
        let reports = &recipe.reports;
        // Better now than after a long reading.
        metalens_files::refuse_link(&folder)?;
        reports.refuse_links(&folder)?;
        let state = State::load(&folder);
        if let Some(state) = &state
            && let Some(row) = self.kept(state, &folder, recipe)?
        {
            return Ok(Some(self.named(row)));
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

    /// Returns the row of the report in the folder, unless it is to be made again.
    fn kept(&self, state: &State, folder: &Path, recipe: &Recipe) -> Result<Option<Row>, Problem> {
        let Some(done) = &state.done else {
            return Ok(None);
        };
        let request = &recipe.request;
        let is_whole = || recipe.reports.identity(folder).as_ref() == Some(&done.manifest);
        if request.redo || state.settings != request.fingerprint || !is_whole() {
            return Ok(None);
        }
        if let Some(runs) = &request.runs_before
            && !done.run.as_ref().is_some_and(|run| runs.contains(run))
        {
            return Ok(None);
        }

        let parts = self.parts(recipe)?;
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

    /// Analyzes the trace and writes its report. What should be in the report and is not is told
    /// in the row, and beside it.
    pub(crate) fn make(&self, recipe: &Recipe) -> Result<(Row, Vec<String>), Problem> {
        let folder = self.folder(recipe);
        if let Some(left) = unsettled(&self.parts(recipe)?, SystemTime::now()) {
            thread::sleep(left);
        }
        let parts = self.parts(recipe)?;
        let mut state = State {
            schema: SCHEMA.to_owned(),
            input: Self::key(&self.found),
            // Taken first: what is changed from now on has another time.
            stamp: stamp(&parts),
            content: content(&parts),
            settings: recipe.request.fingerprint.clone(),
            done: None,
        };
        let reports = &recipe.reports;
        let analysis = reports.analyze(&self.found.path)?;

        Folder::open(&recipe.request.output)?.inner(Path::new(&self.slug))?;
        state.save(&folder)?;
        let written = reports.write(analysis, &folder)?;
        if written.missing.is_empty() {
            let manifest = reports.identity(&folder);
            state.done = Some(Done {
                manifest: manifest.ok_or_else(|| Problem::of("the manifest is gone"))?,
                row: written.row.clone(),
                run: written.run,
            });
            state.save(&folder)?;
        }
        Ok((self.named(written.row), written.missing))
    }

    /// Returns the files that its report depends on.
    pub(crate) fn parts(&self, recipe: &Recipe) -> std::io::Result<Vec<Part>> {
        let path = &self.found.path;
        parts(path, recipe.reports.file_beside(path).as_deref())
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
