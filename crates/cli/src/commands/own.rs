//! `metalens own`: a bundle that `sudo` left to root becomes the user's again.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use metalens_analyzer::units::counted;
use metalens_recorder::ownership::{Given, Owner, give_folder, is_root};

use crate::args::recording::OwnArguments;
use crate::exit::{self, Unavailable};
use crate::screen::safe::safe;

pub(crate) fn run(arguments: &OwnArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if !is_root() {
        return Err(Unavailable("only root can give files away: sudo metalens own BUNDLE").into());
    }
    let Some(owner) = arguments.user.or_else(Owner::who_ran_sudo) else {
        anyhow::bail!("nobody ran sudo; name the new owner: --user UID:GID");
    };
    let mut failed = 0;
    for bundle in &arguments.bundles {
        match own(bundle, owner) {
            Ok(given) if quiet => drop(given),
            Ok(given) => tell(bundle, &given)?,
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
fn own(bundle: &Path, owner: Owner) -> anyhow::Result<Given> {
    let is_bundle = bundle.extension().is_some_and(|ending| ending == "trace");
    let shown = bundle.display();
    anyhow::ensure!(
        is_bundle,
        "{shown} is no .trace bundle: only those change owners"
    );
    Ok(give_folder(bundle, owner)?)
}

/// What changed, on stdout: it is what was asked for.
pub(crate) fn tell(bundle: &Path, given: &Given) -> anyhow::Result<()> {
    Ok(writeln!(anstream::stdout(), "{}", in_words(bundle, given))?)
}

/// What changed, and what was left alone.
pub(crate) fn in_words(bundle: &Path, given: &Given) -> String {
    let shown = bundle.display().to_string();
    let mut text = format!(
        "{}: {} given back",
        safe(&shown),
        counted(given.changed, "file or folder").replace("file or folders", "files and folders")
    );
    if given.links > 0 {
        text.push_str(&format!("; {} not followed", counted(given.links, "link")));
    }
    for shared in &given.shared {
        let shared = shared.display().to_string();
        text.push_str(&format!(
            "\nleft alone, since it has a second name somewhere: {}",
            safe(&shared)
        ));
    }
    if given.others > 0 {
        text.push_str(&format!(
            "; {} left alone, neither files nor folders of this disk",
            given.others
        ));
    }
    text
}
