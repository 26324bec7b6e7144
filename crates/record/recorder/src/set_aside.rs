//! Keeps a bundle that cannot get its requested path, and gives bundles back to their user.

use std::path::{Path, PathBuf};

use metalens_files::{Owner, OwnershipChanges, give_folder};

use crate::error::{Error, Result};
use crate::promote::{first_free, is_unused, move_new};

/// Number of attempts to find an unused name, in case other processes take one at the same time.
const ATTEMPTS: u32 = 10;

/// A bundle that was moved to a name that says what is wrong with it, or left where it was.
pub(crate) struct KeptBundle {
    pub(crate) path: PathBuf,
    /// Further errors on the way there.
    pub(crate) troubles: Vec<String>,
}

/// Moves a bundle beside its requested path, under a name with `suffix`.
pub(crate) fn set_aside(bundle: &Path, output: &Path, suffix: &str) -> KeptBundle {
    let mut troubles: Vec<String> = give_back(bundle)
        .err()
        .map(|error| error.to_string())
        .into_iter()
        .collect();

    for _ in 0..ATTEMPTS {
        let path = first_free(&output.with_extension(suffix), ".trace", is_unused);
        match move_new(bundle, &path) {
            Ok(()) => return KeptBundle { path, troubles },
            Err(Error::Exists(_)) => {}
            Err(error) => {
                troubles.push(error.to_string());
                break;
            }
        }
    }

    // The bundle stays in the staging folder, which the user who ran `sudo` must be able to enter.
    let _ = bundle.parent().map(give_back);
    let path = bundle.to_owned();
    KeptBundle { path, troubles }
}

/// Gives a bundle to the user who ran `sudo`, if `sudo` was used.
pub(crate) fn give_back(bundle: &Path) -> Result<Option<OwnershipChanges>> {
    let owner = Owner::sudo_user();
    Ok(owner.map(|owner| give_folder(bundle, owner)).transpose()?)
}

/// Replaces a former path of a bundle in a text by its present one.
pub(crate) fn renamed(text: &str, from: &Path, to: &Path) -> String {
    text.replace(&from.display().to_string(), &to.display().to_string())
}

impl KeptBundle {
    /// Returns what is wrong with the bundle: the reason, and the warnings of the recording,
    /// which may explain it.
    pub(crate) fn explain(&self, reason: &str, bundle: &Path, warnings: &[String]) -> String {
        let mut why = match warnings {
            [] => reason.to_owned(),
            warnings => format!("{reason}. Warnings: {}", warnings.join("; ")),
        };
        for trouble in &self.troubles {
            why.push_str("; ");
            why.push_str(trouble);
        }
        renamed(&why, bundle, &self.path)
    }
}
