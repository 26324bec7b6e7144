//! Drives the server over standard input and output, as a client does.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is the failure report, in the helpers too"
)]

mod client;
mod inspector;
mod limits;
mod pages;
mod python;
mod tools;

use std::path::{Path, PathBuf};

/// Returns `metalens`, which is built beside this program.
fn metalens() -> &'static Path {
    metalens_testing::metalens_beside(env!("CARGO_BIN_EXE_metalens-mcp"))
}

/// Returns the place of a program beside the server.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_metalens-mcp")).with_file_name(name)
}

/// Writes built-in scenarios as bundles `NAME.trace`, each with the truth inside.
fn recordings(folder: &Path, names: &[&str]) {
    for name in names {
        let scenario = metalens_simulator::Scenario::preset(name).unwrap();
        let bundle = folder.join(format!("{name}.trace"));
        metalens_simulator::write_bundle(&scenario, &bundle, false).unwrap();
    }
}
