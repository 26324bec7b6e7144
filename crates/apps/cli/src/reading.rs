//! Options of reading a recording.

use clap::Args;

/// Run, and treatment of truncated files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Part of the recording")]
pub(crate) struct Reading {
    /// Run of the recording [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u64>,
    /// Read a truncated file up to its last complete row, with a note, instead of refusing it
    #[arg(long)]
    pub(crate) allow_truncated: bool,
}
