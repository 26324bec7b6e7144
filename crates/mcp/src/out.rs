//! Opens the standard streams with writers that keep text from controlling a terminal. While the
//! server runs, standard output belongs to the protocol, and nothing is written here.

#![expect(
    clippy::disallowed_methods,
    reason = "nothing else opens the standard streams"
)]

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout};

use metalens_text::SafeWriter;

/// Opens standard output for what an option prints instead of starting the server.
pub(crate) fn answer() -> SafeWriter<BufWriter<Stdout>> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    SafeWriter::data(BufWriter::new(stdout), is_terminal)
}

/// Opens standard error for messages.
pub(crate) fn messages() -> SafeWriter<Stderr> {
    SafeWriter::page(io::stderr())
}
