//! `metalens calibrate`: what recording costs and what it finds, by a bundled
//! workload whose work is known: runs without and with the recorder, in pairs,
//! by turns (`AB BA AB …`), so that a machine that warms up favours neither.

mod runs;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_comparison::calibration::{Calibration, CountVerdict, PairRuns};
use metalens_files::Folder;
use metalens_render::{calibration, json, terminal};
use metalens_xctrace::{Tool, ToolSource};

use self::runs::Runner;
use crate::args::recording::CalibrateArguments;
use crate::exit::{self, NotRecorded};
use crate::out;

/// The document's file in a folder.
const FILE: &str = "calibration.json";

pub(crate) fn run(arguments: &CalibrateArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    can_measure(arguments)?;
    let place = Place::of(arguments)?;
    let runner = Runner::of(arguments, place.folder())?;
    let pairs = match all_pairs(&runner, arguments, quiet) {
        Ok(pairs) => pairs,
        Err(error) => {
            leave(&error, place);
            return Err(error);
        }
    };
    let calibration = Calibration::from_pairs(pairs, arguments.simulate, place.is_kept());
    let text = json::document(&calibration)?;
    if place.is_kept() {
        let file = place.folder().join(FILE);
        metalens_files::write_bytes(&file, arguments.force, text.as_bytes())?;
    }
    match arguments.json {
        true => out::json().write_all(text.as_bytes())?,
        false => {
            let document = calibration::document(&calibration);
            out::page().write_all(terminal::text(&document, out::width()).as_bytes())?;
        }
    }
    Ok(match calibration.counts.verdict {
        CountVerdict::Equal | CountVerdict::Coalesced => ExitCode::SUCCESS,
        CountVerdict::Different => exit::missed(),
    })
}

/// Leaves what there is of a recording where the error says that it is: `xctrace`
/// may still be writing there.
fn leave(error: &anyhow::Error, place: Place) {
    place.leave();
    let recording = error.downcast_ref::<metalens_recorder::Error>();
    let has_left_something = recording.is_some_and(|error| error.bundle().is_some());
    if let Place::Passing(folder) = place
        && has_left_something
    {
        let _ = folder.keep();
    }
}

/// Before anything runs: the workload needs Metal, the recorder an Xcode.
fn can_measure(arguments: &CalibrateArguments) -> anyhow::Result<()> {
    if arguments.simulate {
        return Ok(());
    }
    if !cfg!(target_os = "macos") {
        return Err(anyhow::Error::new(NotRecorded(
            "a calibration needs a Mac: it runs a Metal program with and without Apple's xctrace. \
             --simulate goes through all of it here, with a fake xctrace: what was issued \
             is counted against what is found, and no time is measured",
        )));
    }
    Tool::find(&ToolSource::from_environment())?;
    Ok(())
}

fn all_pairs(
    runner: &Runner<'_>,
    arguments: &CalibrateArguments,
    quiet: bool,
) -> anyhow::Result<Vec<PairRuns>> {
    let tell = |text: String| match quiet {
        true => Ok(()),
        false => writeln!(out::notes(), "{text}"),
    };
    let pairs = arguments.pairs;
    let one = |number: u64| {
        let of = format!("pair {number} of {pairs}");
        let without = || {
            tell(format!("{of}: without the recorder"))?;
            runner
                .without(number)
                .with_context(|| format!("{of}, without the recorder"))
        };
        let with = || {
            tell(format!("{of}: with the recorder"))?;
            runner
                .with(number)
                .with_context(|| format!("{of}, with the recorder"))
        };
        let is_with_first = number.is_multiple_of(2);
        let (without, (with, recorded)) = match is_with_first {
            true => {
                let with = with()?;
                (without()?, with)
            }
            false => (without()?, with()?),
        };
        Ok(PairRuns {
            is_with_first,
            without,
            with,
            recorded,
        })
    };
    (1..=pairs).map(one).collect()
}

/// Where the runs leave their files: a folder that is kept, or one that is not.
enum Place {
    Kept { folder: PathBuf, is_new: bool },
    Passing(tempfile::TempDir),
}

impl Place {
    fn of(arguments: &CalibrateArguments) -> anyhow::Result<Self> {
        let Some(folder) = &arguments.output else {
            let folder = tempfile::Builder::new()
                .prefix("metalens-calibrate-")
                .tempdir()?;
            return Ok(Self::Passing(folder));
        };
        let is_new = folder.symlink_metadata().is_err();
        Folder::make(folder)?;
        for file in files(folder)? {
            metalens_files::refuse_existing(&file, arguments.force)?;
        }
        Ok(Self::Kept {
            folder: folder.clone(),
            is_new,
        })
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Kept { folder, .. } => folder,
            Self::Passing(folder) => folder.path(),
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self, Self::Kept { .. })
    }

    /// Takes a new folder away that is empty: it is nobody's.
    fn leave(&self) {
        if let Self::Kept {
            folder,
            is_new: true,
        } = self
        {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// What a calibration writes into a folder, as far as it is there.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == FILE || name.starts_with("pair-") {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
