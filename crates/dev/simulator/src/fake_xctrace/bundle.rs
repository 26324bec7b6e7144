//! Writes the bundle step by step: a stub while recording, parts while saving, complete at the end.
//! There is no staging folder, because the real tool has none.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::scratch::Scratch;
use crate::error::Error;
use crate::export::bundle::{envelope, write_bundle};
use crate::export::scenario_text;
use crate::scenario::Scenario;

/// Files that are written last; a stub never has them.
const LAST: [&str; 2] = ["form.template", "open.creq"];
/// File with the scenario from which a bundle of ours was written.
const SCENARIO: &str = "scenario.toml";
/// Size of the file [`GROWING`]. With it and its leftovers, a stub has 52 to 56 KB, as real stubs do.
const PENDING_BYTES: usize = 51_500;
/// File that a bundle has only until it is saved.
const GROWING: &str = "corespace/currentRun/core/pending";

/// Issues of a recording that lost events, as SQLite wrote them.
const LOST_EVENTS: &[u8] =
    include_bytes!("../../../../../fixtures/run-issues/lost-events.storedata");

/// Writes the issue that events were lost.
pub(super) fn report_lost_events(bundle: &Path) -> Result<(), Error> {
    let folder = bundle.join("Trace1.run");
    fs::create_dir_all(&folder).map_err(Error::io("create folder", &folder))?;
    let path = folder.join("RunIssues.storedata");
    fs::write(&path, LOST_EVENTS).map_err(Error::io("write", path))
}

/// Writes the stub, or turns a complete bundle back into one.
pub(super) fn begin(bundle: &Path) -> Result<(), Error> {
    if !bundle.exists() {
        envelope::write_stub(bundle)?;
        let path = bundle.join(GROWING);
        return fs::write(&path, vec![0; PENDING_BYTES]).map_err(Error::io("write", path));
    }
    for name in LAST {
        remove(&bundle.join(name))?;
    }
    Ok(())
}

/// Leaves a raw recording in the stub, for `import`. Its path is a guess.
pub(super) fn leave_raw(scenario: &Scenario, bundle: &Path) -> Result<(), Error> {
    let raw = bundle.join("Trace1.run/recording.atrc");
    fs::create_dir_all(bundle.join("Trace1.run")).map_err(Error::io("create folder", bundle))?;
    fs::write(&raw, scenario_text(scenario)?).map_err(Error::io("write", &raw))
}

/// Writes the bundle of a raw recording.
pub(super) fn import(raw: &Path, bundle: &Path) -> Result<(), Error> {
    let text = fs::read_to_string(raw).map_err(Error::io("read", raw))?;
    write_bundle(&Scenario::from_toml(&text)?, bundle, true).map(drop)
}

/// Returns the scenario of a complete bundle of ours, or `None` for a stub or anything else.
pub(super) fn scenario(bundle: &Path) -> Option<Scenario> {
    let is_complete = LAST.iter().all(|name| bundle.join(name).is_file());
    if !is_complete {
        return None;
    }

    let text = fs::read_to_string(bundle.join(SCENARIO)).ok()?;
    Scenario::from_toml(&text).ok()
}

/// A complete bundle in a temporary folder, which is copied to its final path in parts.
#[derive(Debug)]
pub(super) struct Saving {
    from: PathBuf,
    to: PathBuf,
    files: Vec<PathBuf>,
    pause: Duration,
    /// Folder of the complete bundle, removed when this is dropped.
    _scratch: Scratch,
}

impl Saving {
    /// Writes the complete bundle. Copying all of its files will take `duration`.
    pub(super) fn new(scenario: &Scenario, to: &Path, duration: Duration) -> Result<Self, Error> {
        let scratch = Scratch::new()?;
        let from = scratch.dir().join("whole.trace");
        write_bundle(scenario, &from, true)?;

        let mut files = files(&from)?;
        let is_last = |file: &PathBuf| LAST.iter().any(|name| file == Path::new(name));
        files.sort_by_key(|file| (is_last(file), file.clone()));
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX).max(1);
        Ok(Self {
            from,
            to: to.to_owned(),
            files,
            pause: duration / count,
            _scratch: scratch,
        })
    }

    /// Copies the first half of the files, which no program can read.
    pub(super) fn first_half(&self) -> Result<(), Error> {
        let (first, _) = self.files.split_at(self.files.len() / 2);
        self.copy(first)
    }

    /// Copies the other half of the files.
    pub(super) fn second_half(&self) -> Result<(), Error> {
        remove(&self.to.join(GROWING))?;
        let (_, rest) = self.files.split_at(self.files.len() / 2);
        self.copy(rest)
    }

    /// Appends to the file [`GROWING`] for some time, as a slow saving does.
    pub(super) fn grow(&self, duration: Duration) -> Result<(), Error> {
        let path = self.to.join(GROWING);
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        let start = Instant::now();

        while start.elapsed() < duration {
            file.write_all(&[0; 1 << 14])
                .map_err(Error::io("write", &path))?;
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn copy(&self, files: &[PathBuf]) -> Result<(), Error> {
        for file in files {
            let (from, to) = (self.from.join(file), self.to.join(file));
            if let Some(dir) = to.parent() {
                fs::create_dir_all(dir).map_err(Error::io("create folder", dir))?;
            }
            fs::copy(from, &to).map_err(Error::io("write", &to))?;
            thread::sleep(self.pause);
        }
        Ok(())
    }
}

/// Returns every file below a folder, as paths relative to it.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = dir.join(&folder);
        let entries = fs::read_dir(&path).map_err(Error::io("read folder", &path))?;
        for entry in entries {
            let entry = entry.map_err(Error::io("read folder", &path))?;
            let inside = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(inside);
            } else {
                files.push(inside);
            }
        }
    }
    Ok(files)
}

/// Removes a file if it exists.
fn remove(path: &Path) -> Result<(), Error> {
    if path.exists() {
        fs::remove_file(path).map_err(Error::io("remove", path))
    } else {
        Ok(())
    }
}
