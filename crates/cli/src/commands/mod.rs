//! One file per command: read, ask, show.

pub(crate) mod analyze;
pub(crate) mod chart;
pub(crate) mod doctor;
pub(crate) mod own;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod selfcheck;
pub(crate) mod stacks;
pub(crate) mod synth;
pub(crate) mod tables;

use std::path::Path;

use metalens_analyzer::{
    Analysis, Request, analyze, lost_encodings, selection, selection_with_recovery,
};
use metalens_trace::{Input, LoadOptions, Selection};

use crate::args::{PartArguments, ReaderChoice, ReadingArguments};
use crate::exit::Unavailable;
use crate::screen::progress;

/// What a report is to be about, everything else as usual.
pub(crate) fn request(part: &PartArguments) -> Request {
    Request {
        processes: part.processes.clone(),
        from_ns: part.from,
        to_ns: part.to,
        skip_warm_up: part.skip_warmup,
        phase: part.phase.clone(),
        ..Request::default()
    }
}

/// Reads and analyzes an input. Seldom does the encoder list lose rows; what has
/// them is read only then, together with all the rest.
pub(crate) fn analysis(
    path: &Path,
    reading: ReadingArguments,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    let read = |selection: &Selection| {
        let input = open(path, reading)?;
        let load = |options: LoadOptions<'_>| input.load(selection, options);
        let trace = progress::reading(reading, quiet, load)?;
        anyhow::Ok(analyze(trace, request)?)
    };
    let analysis = read(&selection())?;
    match lost_encodings(&analysis.report) && can_read_again(path) {
        true => read(&selection_with_recovery()),
        false => Ok(analysis),
    }
}

/// Whether an input can be read a second time.
fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
}

/// A part of a recording is not empty.
pub(crate) fn check_times(from: Option<u64>, to: Option<u64>) -> anyhow::Result<()> {
    if let (Some(from), Some(to)) = (from, to) {
        anyhow::ensure!(from < to, "--from must lie before --to");
    }
    Ok(())
}

/// Opens an input for the reader that was asked for.
pub(crate) fn open(path: &Path, reading: ReadingArguments) -> anyhow::Result<Input> {
    match reading.reader {
        ReaderChoice::Auto | ReaderChoice::Native => Ok(Input::open(path)?),
        ReaderChoice::Xctrace => Err(Unavailable(
            "driving xctrace is not built yet: on a Mac, `xctrace export` the tables and give \
             metalens the folder, or leave --reader out to read the bundle natively",
        )
        .into()),
    }
}
