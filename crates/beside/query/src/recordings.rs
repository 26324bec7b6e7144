//! Adds the recordings on the command line: `metalens analyze --parquet` makes a dataset of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;
use metalens_dataset::is_dataset;
use metalens_query::Library;
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::failure::Unavailable;

/// Outcome of adding the datasets and recordings of the command line.
pub(crate) enum AddOutcome {
    /// All of them are in the library. The folder has the dataset that was made of the recordings.
    All(Option<TempDir>),
    /// A recording could not be read, and `metalens` printed the reason.
    Failed(ExitCode),
}

/// Adds the datasets and recordings of the command line.
pub(crate) fn add(library: &mut Library, arguments: &Arguments) -> anyhow::Result<AddOutcome> {
    let mut recordings: Vec<&OsString> = Vec::new();
    for path in &arguments.paths {
        let text = path.to_str();
        if let Some(text) = text
            && is_dataset(Path::new(path))
        {
            library.add(text)?;
        } else {
            recordings.push(path);
        }
    }

    if recordings.is_empty() {
        return Ok(AddOutcome::All(None));
    }

    let folder = tempfile::Builder::new()
        .prefix("metalens-query-")
        .tempdir()
        .context("cannot make a folder for the recordings' tables")?;
    let dataset = folder.path().join("dataset");
    let program = find_metalens()?;
    for recording in recordings {
        let mut command = Command::new(&program);
        command
            .arg("analyze")
            .arg(recording)
            .arg("--parquet")
            .arg(&dataset);
        command.args(["--json", "--quiet"]);
        if arguments.show_names {
            command.arg("--show-names");
        }
        // Only the dataset is needed here. `metalens` prints its errors to stderr.
        command.stdout(std::process::Stdio::null());
        let status = command
            .status()
            .with_context(|| format!("cannot start {}", program.display()))?;
        if !status.success() {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(AddOutcome::Failed(
                code.map_or(ExitCode::FAILURE, ExitCode::from),
            ));
        }
    }

    let shown = dataset
        .to_str()
        .context("the folder for temporary files has a name that is not Unicode")?;
    library.add(shown)?;
    Ok(AddOutcome::All(Some(folder)))
}

fn find_metalens() -> anyhow::Result<PathBuf> {
    metalens_files::find_program("metalens").ok_or_else(|| {
        Unavailable(
            "reading a recording needs the program metalens, which is neither beside \
             metalens-query \
             nor on PATH; datasets need no other program"
                .to_owned(),
        )
        .into()
    })
}
