//! What becomes of a bundle that was made: nothing that fails from here on costs it.

use std::path::{Path, PathBuf};

use metalens_files::{Owner, OwnershipChanges, give_folder};

use crate::error::{Error, Result};
use crate::promote::{free_name, move_new};

/// Whoever is as quick takes a free name; nobody is so again and again.
const ATTEMPTS: u32 = 10;

/// A bundle under a name that says what is wrong with it, or wherever it could stay.
pub(crate) struct Kept {
    pub(crate) at: PathBuf,
    /// Why it is not as it should be beside that.
    pub(crate) troubles: Vec<String>,
}

/// Keeps a bundle that cannot have the name that was asked for.
pub(crate) fn set_aside(found: &Path, output: &Path, what: &str) -> Kept {
    let given = give_back(found);
    let mut troubles: Vec<String> = given
        .err()
        .map(|error| error.to_string())
        .into_iter()
        .collect();
    for _ in 0..ATTEMPTS {
        let at = free_name(output, what);
        match move_new(found, &at) {
            Ok(()) => return Kept { at, troubles },
            Err(Error::Exists(_)) => {}
            Err(error) => {
                troubles.push(error.to_string());
                break;
            }
        }
    }
    // Else whoever ran `sudo` could not even enter it.
    let _ = found.parent().map(give_back);
    let at = found.to_owned();
    Kept { at, troubles }
}

/// Gives a bundle to whom ran `sudo`, if anybody did.
pub(crate) fn give_back(bundle: &Path) -> Result<Option<OwnershipChanges>> {
    let owner = Owner::sudo_user();
    Ok(owner.map(|owner| give_folder(bundle, owner)).transpose()?)
}

/// Calls a bundle in a text by the name that it has now.
pub(crate) fn renamed(text: &str, from: &Path, to: &Path) -> String {
    text.replace(&from.display().to_string(), &to.display().to_string())
}

impl Kept {
    /// Returns what is wrong with the bundle: the reason, and what its recorder said, which
    /// may be why.
    pub(crate) fn why(&self, reason: &str, found: &Path, said: &[String]) -> String {
        let mut why = match said {
            [] => reason.to_owned(),
            said => format!("{reason}. Of the recording: {}", said.join("; ")),
        };
        for trouble in &self.troubles {
            why.push_str("; ");
            why.push_str(trouble);
        }
        renamed(&why, found, &self.at)
    }
}
