//! Finds the other programs of a metalens installation.

use std::env;
use std::path::{Path, PathBuf};

/// Finds a program in the folder of this one, then on PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let this = env::current_exe().ok();
    let beside = this.as_deref().and_then(Path::parent);
    let path = env::var_os("PATH").unwrap_or_default();

    let folders = beside.map(PathBuf::from).into_iter();
    folders
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(&file))
        .find(|file| file.is_file())
}
