//! `metalens own`: a bundle that `sudo` left to root becomes the user's again.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use metalens_analyzer::units::counted;
use metalens_files::{Owner, OwnershipChanges, give_folder, is_root, without_trailing};
use metalens_text::shown;

use crate::args::recording::OwnArguments;
use crate::exit::{self, NotRecorded};
use crate::out;

pub(crate) fn run(arguments: &OwnArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if !is_root() {
        return Err(NotRecorded("only root can give files away: sudo metalens own BUNDLE").into());
    }
    let Some(owner) = arguments.user.or_else(Owner::sudo_user) else {
        anyhow::bail!("nobody ran sudo; name the new owner: --user UID:GID");
    };
    let mut failed = 0;
    for bundle in &arguments.bundles {
        let bundle = without_trailing(bundle);
        match own(&bundle, owner) {
            Ok(given) if quiet => drop(given),
            Ok(given) => tell(&bundle, &given)?,
            Err(error) => {
                failed += 1;
                exit::tell(&error);
            }
        }
    }
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => exit::some_failed(),
    })
}

/// Of a bundle only: a slip of the keyboard gives nobody a whole disk.
fn own(bundle: &Path, owner: Owner) -> anyhow::Result<OwnershipChanges> {
    let is_bundle = bundle.extension().is_some_and(|ending| ending == "trace");
    let shown = bundle.display();
    anyhow::ensure!(
        is_bundle,
        "{shown} is no .trace bundle: only those change owners"
    );
    Ok(give_folder(bundle, owner)?)
}

/// What changed, on stdout: it is what was asked for.
fn tell(bundle: &Path, given: &OwnershipChanges) -> anyhow::Result<()> {
    let mut out = out::page();
    for line in in_words(bundle, given) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns lines that say what changed, and what was left alone.
pub(crate) fn in_words(bundle: &Path, given: &OwnershipChanges) -> Vec<String> {
    let path = bundle.display().to_string();
    let mut text = format!(
        "{}: {} given back",
        shown(&path),
        counted(given.changed, "file or folder").replace("file or folders", "files and folders")
    );
    if given.links > 0 {
        text.push_str(&format!("; {} not followed", counted(given.links, "link")));
    }
    if given.others > 0 {
        text.push_str(&format!(
            "; {} left alone, neither files nor folders of this disk",
            given.others
        ));
    }
    let shared = given.shared.iter().map(|path| {
        let path = path.display().to_string();
        format!(
            "left alone, since it has a second name somewhere: {}",
            shown(&path)
        )
    });
    [text].into_iter().chain(shared).collect()
}
