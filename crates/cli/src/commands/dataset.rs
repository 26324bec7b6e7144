//! Adding runs to the folder of a dataset: through no link inside it, and what `sudo` makes
//! there belongs to its user.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use metalens_analyzer::Analysis;
use metalens_dataset::{Choices, write};
use metalens_files::{Folder, Owner, give_file, give_folder, refuse_link};

/// Folders in a dataset's: of a table, a device, a date, a run.
const LEVELS: u32 = 4;

/// The folder of a dataset.
#[derive(Debug)]
pub(crate) struct Dataset {
    pub(crate) folder: PathBuf,
    owner: Option<Owner>,
    /// The folders in it that were there before, or that have been given away.
    known: Mutex<HashSet<PathBuf>>,
}

impl Dataset {
    /// Refuses one that has links in the place of folders.
    pub(crate) fn at(folder: &Path) -> anyhow::Result<Self> {
        let mut known = HashSet::new();
        look(folder, LEVELS, &mut known)?;
        Ok(Self {
            folder: folder.to_owned(),
            owner: Owner::who_ran_sudo(),
            known: Mutex::new(known),
        })
    }

    /// Adds a run. One that is there already is replaced: it is called after what is in it.
    /// Returns what it is called.
    pub(crate) fn add(&self, analysis: &Analysis, show_names: bool) -> anyhow::Result<String> {
        Folder::make(&self.folder)?;
        let written = write(analysis, &self.folder, Choices { show_names })?;
        if let Some(owner) = self.owner {
            for file in &written.files {
                self.give(file, owner)?;
            }
        }
        Ok(written.run)
    }

    fn give(&self, file: &Path, owner: Owner) -> metalens_files::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let above = file.ancestors().skip(1);
        let new = above.take_while(|one| *one != self.folder && !known.contains(*one));
        let new: Vec<PathBuf> = new.map(Path::to_owned).collect();
        match new.last() {
            Some(outermost) => give_folder(outermost, owner)?,
            None => give_file(file, owner)?,
        };
        known.extend(new);
        Ok(())
    }
}

fn look(folder: &Path, levels: u32, known: &mut HashSet<PathBuf>) -> anyhow::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    for entry in entries {
        let path = entry?.path();
        refuse_link(&path)?;
        if path.is_dir() && levels > 1 {
            look(&path, levels - 1, known)?;
        }
        known.insert(path);
    }
    Ok(())
}
