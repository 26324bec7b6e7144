//! Keeps the files of metalens out of recordings.

use std::path::Path;

use metalens_trace::{PathKind, path_kind};

use crate::exit::Misuse;

/// Refuses a recording, or the name of one, as a folder for other files, and a folder inside a bundle.
/// Files there would look like a part of it, and metalens would no longer read it.
pub(crate) fn refuse_recording(folder: &Path) -> anyhow::Result<()> {
    metalens_files::refuse_inside_bundle(folder)?;
    let is_name_of_bundle = folder.extension().is_some_and(|ending| ending == "trace");
    let is_recording = matches!(path_kind(folder), Ok(PathKind::Bundle | PathKind::Export));
    if !is_recording && !is_name_of_bundle {
        return Ok(());
    }

    let shown = folder.display();
    let what = if is_recording {
        "is a recording"
    } else {
        "is a name for a recording"
    };
    Err(Misuse(format!(
        "{shown} {what}: choose another folder for the output"
    ))
    .into())
}
