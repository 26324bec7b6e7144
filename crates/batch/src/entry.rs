//! One trace of a batch: whether its report is there, and making it.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use metalens_comparison::many::Row;
use metalens_files::{Folder, sha256};

use crate::find::Found;
use crate::identity::{Part, content, parts, stamp, unsettled};
use crate::reports::{Problem, Reports};
use crate::request::Request;
use crate::state::{Done, SCHEMA, State};

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
    /// in the row; beside the row stands whether all of it is there.
    pub(crate) fn make(&self, recipe: &Recipe) -> Result<(Row, bool), Problem> {
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
        if written.is_whole {
            let manifest = reports.identity(&folder);
            state.done = Some(Done {
                manifest: manifest.ok_or_else(|| Problem::of("the manifest is gone"))?,
                row: written.row.clone(),
                run: written.run,
            });
            state.save(&folder)?;
        }
        Ok((self.named(written.row), written.is_whole))
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
