//! One file per command: read, ask, show.

pub(crate) mod analyze;
pub(crate) mod chart;
pub(crate) mod schema;
pub(crate) mod selfcheck;
pub(crate) mod stacks;
pub(crate) mod synth;
pub(crate) mod tables;

use std::path::Path;

use metalens_trace::Input;

use crate::args::{ReaderChoice, ReadingArguments};
use crate::exit::Unavailable;

/// Whether an input can be read a second time.
pub(crate) fn can_read_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
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
