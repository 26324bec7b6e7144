//! Opens the standard streams of the programs beside `metalens`. That program has doors of its own,
//! for more kinds of output.

#![expect(
    clippy::disallowed_methods,
    reason = "the programs beside `metalens` open the standard streams nowhere else"
)]

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout};

use crate::{SafeWriter, UntilClosed};

/// Returns whether a runner of GitHub Actions reads the standard streams, and obeys some lines.
pub fn is_on_runner() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| !value.is_empty())
}

/// Opens standard output for an answer. Only a terminal gets unsafe characters replaced.
pub fn answer() -> SafeWriter<BufWriter<UntilClosed<Stdout>>> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    SafeWriter::data(BufWriter::new(UntilClosed::new(stdout)), is_terminal)
        .on_runner(is_on_runner())
}

/// Opens standard error for messages.
pub fn messages() -> SafeWriter<UntilClosed<Stderr>> {
    SafeWriter::page(UntilClosed::new(io::stderr())).on_runner(is_on_runner())
}
