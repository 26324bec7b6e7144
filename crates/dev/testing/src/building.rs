//! Builds programs that tests of another workspace start.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Builds `metalens` beside a program of another workspace, once, and returns its path.
pub fn metalens_beside(program: &str) -> &'static Path {
    static METALENS: OnceLock<PathBuf> = OnceLock::new();
    METALENS.get_or_init(|| {
        let metalens = Path::new(program).with_file_name("metalens");
        let built = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["build", "--locked", "--package", "metalens"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."))
            .env("CARGO_TARGET_DIR", metalens.ancestors().nth(2).unwrap())
            .status();
        assert!(built.unwrap().success());
        metalens
    })
}
