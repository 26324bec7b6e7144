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
use std::process::Command;
use std::sync::OnceLock;

/// Returns `metalens`, which a test of the whole workspace has built beside this program. A test
/// of this crate alone builds it first.
fn metalens() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let beside = beside("metalens");
        if !beside.is_file() {
            let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
            let built = Command::new(cargo)
                .args(["build", "--locked", "-p", "metalens"])
                .status();
            assert!(built.unwrap().success());
        }
        beside
    })
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
