//! `X.work.json`, in which a bundled workload says how much it did, beside its
//! bundle. It is written under another name until the bundle is there: what
//! belongs to an old bundle is not lost to a recording that fails, and never lies
//! beside a new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_recorder::Error;

/// What tells of the work that is recorded in a bundle.
pub(super) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("work.json")
}

/// Where it is written at first. Nobody else who runs now has that name.
pub(super) fn draft(work: &Path) -> PathBuf {
    work.with_file_name(format!(".metalens-{}.work.json", std::process::id()))
}

/// Puts it in its place. An old one tells of another recording: it goes, even
/// if there is no new one.
pub(super) fn keep(draft: Option<&Path>, work: &Path) -> anyhow::Result<()> {
    let shown = work.display();
    match draft.filter(|draft| draft.is_file()) {
        Some(draft) => fs::rename(draft, work).with_context(|| format!("cannot write {shown}")),
        None => removed(work).with_context(|| format!("cannot remove {shown}")),
    }
}

/// What becomes of it without a recording: a recorder that still saves will want
/// it beside its bundle.
pub(super) fn give_up(draft: &Path, why: &Error) {
    // It may never have been written, and what failed is told already.
    let _ = match why {
        Error::StillSaving { bundle, .. } | Error::GaveUp { bundle, .. } => {
            fs::rename(draft, beside(bundle))
        }
        _ => fs::remove_file(draft),
    };
}

fn removed(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
