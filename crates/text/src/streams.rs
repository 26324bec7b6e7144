//! Opens the standard streams of the programs beside `metalens`. That program has doors of its own,
//! for more kinds of output.

#![expect(
    clippy::disallowed_methods,
    reason = "the programs beside `metalens` open the standard streams nowhere else"
)]

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout};

use crate::SafeWriter;

/// Opens standard output for an answer. Only a terminal gets unsafe characters replaced.
#[must_use]
pub fn answer() -> SafeWriter<BufWriter<Stdout>> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    SafeWriter::data(BufWriter::new(stdout), is_terminal)
}

/// Opens standard error for messages.
#[must_use]
pub fn messages() -> SafeWriter<Stderr> {
    SafeWriter::page(io::stderr())
}
