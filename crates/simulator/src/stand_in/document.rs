//! The bundle on disk, as it comes about: a stub while recording, pieces while saving, whole at
//! last. Nothing is staged, because the real tool stages nothing.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::scratch::Scratch;
use crate::error::Error;
use crate::export::bundle::{envelope, write_bundle};
use crate::scenario::Scenario;

/// What a bundle has last of all, and a stub never.
const LAST: [&str; 2] = ["form.template", "open.creq"];
/// The scenario a bundle of ours is written from.
const SCENARIO: &str = "scenario.toml";
/// With the leftovers that a stub has, the 52 to 56 KB of real ones.
const PENDING_BYTES: usize = 34_000;
/// Something a bundle has only while it is saved.
const GROWING: &str = "corespace/currentRun/core/pending";

/// Makes the stub, or turns a whole bundle back into one.
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

/// What a whole bundle of ours was written from; none if it is a stub, or no bundle.
pub(super) fn scenario(bundle: &Path) -> Option<Scenario> {
    let whole = LAST.iter().all(|name| bundle.join(name).is_file());
    if !whole {
        return None;
    }
    let text = fs::read_to_string(bundle.join(SCENARIO)).ok()?;
    Scenario::from_toml(&text).ok()
}

/// A whole bundle beside its place, to be moved there in pieces.
#[derive(Debug)]
pub(super) struct Saving {
    from: PathBuf,
    to: PathBuf,
    pieces: Vec<PathBuf>,
    pause: Duration,
    /// The pieces are there for as long as this is.
    _scratch: Scratch,
}

impl Saving {
    /// Makes the pieces; moving all of them takes `length`.
    pub(super) fn new(scenario: &Scenario, to: &Path, length: Duration) -> Result<Self, Error> {
        let scratch = Scratch::new()?;
        let from = scratch.dir().join("whole.trace");
        write_bundle(scenario, &from, true)?;
        let mut pieces = files(&from)?;
        let is_last = |piece: &PathBuf| LAST.iter().any(|name| piece == Path::new(name));
        pieces.sort_by_key(|piece| (is_last(piece), piece.clone()));
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX).max(1);
        Ok(Self {
            from,
            to: to.to_owned(),
            pieces,
            pause: length / count,
            _scratch: scratch,
        })
    }

    /// Moves the first half, which nobody can read.
    pub(super) fn first_half(&self) -> Result<(), Error> {
        let (first, _) = self.pieces.split_at(self.pieces.len() / 2);
        self.copy(first)
    }

    /// Moves the rest.
    pub(super) fn second_half(&self) -> Result<(), Error> {
        remove(&self.to.join(GROWING))?;
        let (_, rest) = self.pieces.split_at(self.pieces.len() / 2);
        self.copy(rest)
    }

    /// Grows for a time, to no use.
    pub(super) fn grow(&self, length: Duration) -> Result<(), Error> {
        let path = self.to.join(GROWING);
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        let start = Instant::now();
        while start.elapsed() < length {
            file.write_all(&[0; 1 << 14])
                .map_err(Error::io("write", &path))?;
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn copy(&self, pieces: &[PathBuf]) -> Result<(), Error> {
        for piece in pieces {
            let (from, to) = (self.from.join(piece), self.to.join(piece));
            if let Some(dir) = to.parent() {
                fs::create_dir_all(dir).map_err(Error::io("create folder", dir))?;
            }
            fs::copy(from, &to).map_err(Error::io("write", &to))?;
            thread::sleep(self.pause);
        }
        Ok(())
    }
}

/// Every file below a folder, as seen from there.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = dir.join(&folder);
        let entries = fs::read_dir(&path).map_err(Error::io("read folder", &path))?;
        for entry in entries {
            let entry = entry.map_err(Error::io("read folder", &path))?;
            let inside = folder.join(entry.file_name());
            match entry.path().is_dir() {
                true => folders.push(inside),
                false => found.push(inside),
            }
        }
    }
    Ok(found)
}

/// Removes a file, if there is one.
fn remove(path: &Path) -> Result<(), Error> {
    match path.exists() {
        true => fs::remove_file(path).map_err(Error::io("remove", path)),
        false => Ok(()),
    }
}
