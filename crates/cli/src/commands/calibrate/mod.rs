//! Runs `metalens calibrate`: measures the overhead of recording, and checks that a recording has
//! all work that a bundled workload issued.
//!
//! The workload runs in pairs, without and with the recorder. The order alternates
//! (`AB BA AB …`), so that a machine that warms up favors neither.

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

use self::runs::CalibrationRunner;
use crate::args::recording::CalibrateArguments;
use crate::exit::{self, Unavailable};
use crate::out;
use crate::output_folder::refuse_recording;

/// Name of the result's file in the output folder.
const FILE: &str = "calibration.json";

pub(crate) fn run(arguments: &CalibrateArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    check_machine(arguments)?;
    let output = OutputFolder::new(arguments)?;
    let runner = CalibrationRunner::new(arguments, output.path())?;
    let pairs = match all_pairs(&runner, arguments, quiet) {
        Ok(pairs) => pairs,
        Err(error) => {
            clean_up(&error, output);
            return Err(error);
        }
    };

    let calibration = Calibration::from_pairs(pairs, arguments.simulate, output.is_kept());
    let text = json::document(&calibration)?;
    if output.is_kept() {
        let file = output.path().join(FILE);
        metalens_files::write_bytes(&file, arguments.force, text.as_bytes())?;
    }

    if arguments.json {
        out::json().write_all(text.as_bytes())?;
    } else {
        let document = calibration::document(&calibration);
        out::page().write_all(terminal::text(&document, out::width()).as_bytes())?;
    }

    Ok(match calibration.counts.verdict {
        CountVerdict::Equal | CountVerdict::Coalesced => ExitCode::SUCCESS,
        CountVerdict::Different => exit::missed(),
    })
}

/// Removes the output folder after a failure, unless it has files. Keeps a temporary folder with
/// the bundle that the error names: `xctrace` may still be writing there.
fn clean_up(error: &anyhow::Error, output: OutputFolder) {
    output.remove_if_empty();

    let recorder_error = error.downcast_ref::<metalens_recorder::Error>();
    let names_bundle = recorder_error.is_some_and(|error| error.bundle().is_some());
    if let OutputFolder::Temporary(folder) = output
        && names_bundle
    {
        let _ = folder.keep();
    }
}

/// Refuses a machine without Metal or without Xcode.
fn check_machine(arguments: &CalibrateArguments) -> anyhow::Result<()> {
    if arguments.simulate {
        return Ok(());
    }
    if !cfg!(target_os = "macos") {
        return Err(anyhow::Error::new(Unavailable(
            "a calibration needs a Mac, because it runs a Metal program with and without Apple's \
             xctrace; --simulate uses a fake xctrace on any machine: it compares counts and measures \
             no time",
        )));
    }
    Tool::find(&ToolSource::from_environment())?;
    Ok(())
}

/// Runs all pairs, one after the other.
fn all_pairs(
    runner: &CalibrationRunner<'_>,
    arguments: &CalibrateArguments,
    quiet: bool,
) -> anyhow::Result<Vec<PairRuns>> {
    let pairs = 1..=arguments.pairs;
    pairs
        .map(|number| pair(runner, number, arguments.pairs, quiet))
        .collect()
}

/// Runs the workload without and with the recorder.
fn pair(
    runner: &CalibrationRunner<'_>,
    number: u64,
    pairs: u64,
    quiet: bool,
) -> anyhow::Result<PairRuns> {
    let name = format!("pair {number} of {pairs}");
    let note = |run: &str| {
        if quiet {
            Ok(())
        } else {
            writeln!(out::notes(), "{name}: {run}")
        }
    };
    let without = || {
        note("without the recorder")?;
        runner
            .without(number)
            .with_context(|| format!("{name}, without the recorder"))
    };
    let with = || {
        note("with the recorder")?;
        runner
            .with(number)
            .with_context(|| format!("{name}, with the recorder"))
    };

    let is_with_first = number.is_multiple_of(2);
    let (without, (with, recorded)) = if is_with_first {
        let with = with()?;
        (without()?, with)
    } else {
        (without()?, with()?)
    };

    Ok(PairRuns {
        is_with_first,
        without,
        with,
        recorded,
    })
}

/// The folder for the files of the runs.
enum OutputFolder {
    /// The folder that the user named.
    Kept {
        folder: PathBuf,
        is_new: bool,
    },
    Temporary(tempfile::TempDir),
}

impl OutputFolder {
    fn new(arguments: &CalibrateArguments) -> anyhow::Result<Self> {
        let Some(folder) = &arguments.output else {
            let folder = tempfile::Builder::new()
                .prefix("metalens-calibrate-")
                .tempdir()?;
            return Ok(Self::Temporary(folder));
        };

        refuse_recording(folder)?;
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

    fn path(&self) -> &Path {
        match self {
            Self::Kept { folder, .. } => folder,
            Self::Temporary(folder) => folder.path(),
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self, Self::Kept { .. })
    }

    /// Removes the folder if this command created it and it is empty.
    fn remove_if_empty(&self) {
        if let Self::Kept {
            folder,
            is_new: true,
        } = self
        {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Returns the existing files that a calibration may write.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;

    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == FILE || name.starts_with("pair-") {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
