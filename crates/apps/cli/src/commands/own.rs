//! Runs `metalens own`: changes the owner of a bundle from root back to the user who ran `sudo`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use metalens_files::{Owner, OwnershipChanges, give_folder, is_root, without_trailing};
use metalens_text::shown;
use metalens_text::units::counted;

use crate::args::recording::OwnArguments;
use crate::exit::{self, Unavailable};
use crate::out;

pub(crate) fn run(arguments: &OwnArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if !is_root() {
        let message = "only root can change the owner of files: run sudo metalens own BUNDLE";
        return Err(Unavailable(message).into());
    }
    let Some(owner) = arguments.user.or_else(Owner::sudo_user) else {
        anyhow::bail!("cannot find out who ran sudo: give the new owner with --user UID:GID");
    };

    let mut is_complete = true;
    for bundle in &arguments.bundles {
        let bundle = without_trailing(bundle);
        match own(&bundle, owner) {
            Ok(given) if quiet => drop(given),
            Ok(given) => print_result(&bundle, &given)?,
            Err(error) => {
                is_complete = false;
                exit::print_error(&error);
            }
        }
    }

    Ok(if is_complete {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Changes the owner of a bundle. Refuses other folders, so that a mistyped path cannot change a
/// whole disk.
fn own(bundle: &Path, owner: Owner) -> anyhow::Result<OwnershipChanges> {
    let is_bundle = bundle.extension().is_some_and(|ending| ending == "trace");
    let shown = bundle.display();
    anyhow::ensure!(
        is_bundle,
        "{shown} is not a .trace bundle; `own` changes only bundles"
    );
    Ok(give_folder(bundle, owner)?)
}

/// Prints what changed on stdout, as the result of the command.
fn print_result(bundle: &Path, given: &OwnershipChanges) -> anyhow::Result<()> {
    let mut out = out::page();
    for line in in_words(bundle, given) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns lines that say what changed, and what did not.
pub(crate) fn in_words(bundle: &Path, given: &OwnershipChanges) -> Vec<String> {
    let path = bundle.display().to_string();
    let mut text = format!(
        "{}: changed the owner of {}",
        shown(&path),
        counted(given.changed, "file or folder").replace("file or folders", "files and folders")
    );
    if given.links > 0 {
        text.push_str(&format!(
            "; did not follow {}",
            counted(given.links, "link")
        ));
    }
    if given.others > 0 {
        text.push_str(&format!(
            "; unchanged: {} on another disk, or neither a file nor a folder",
            given.others
        ));
    }

    let shared = given.shared.iter().map(|path| {
        let path = path.display().to_string();
        format!(
            "left unchanged, because the file has another hard link: {}",
            shown(&path)
        )
    });
    [text].into_iter().chain(shared).collect()
}
