//! Opens, reads and writes files in folders that somebody else can change, and changes their
//! owner.
//!
//! A bundle is a folder from anywhere. In the place of a file it can contain a named pipe, which
//! waits for a writer for ever, a device, which has side effects or endless bytes, or a file of
//! any size. This crate never waits, opens only regular files, and limits what it reads into
//! memory.
//!
//! Rules of writing:
//!
//! * A file is complete or missing, and replaces another only on request.
//! * A link is followed only where a user named it. Inside the named folder, a link in the place
//!   of a folder is refused, and one in the place of a file is replaced.
//! * Files made with `sudo` belong to the user who ran it.
//! * The next process that writes to a folder removes the drafts of killed ones.

#[cfg(unix)]
mod draft;
#[cfg(unix)]
mod error;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod give;
#[cfg(unix)]
mod owner;
#[cfg(unix)]
mod ownership_changes;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod write;

mod digest;
mod limit;
mod open;
mod program;
mod size;

pub use digest::{hexadecimal, sha256, sha256_of_file};
#[cfg(unix)]
pub use draft::Draft;
#[cfg(unix)]
pub use error::{Error, Result};
#[cfg(unix)]
pub use folder::Folder;
#[cfg(unix)]
pub use give::{give_file, give_folder};
pub use limit::{TooLarge, limited, too_large, too_large_error};
pub use open::{NotAFile, not_a_file, open, open_unlinked, read, read_text};
#[cfg(unix)]
pub use owner::{Owner, is_root};
#[cfg(unix)]
pub use ownership_changes::OwnershipChanges;
pub use program::find_program;
pub use size::folder_size;
#[cfg(unix)]
pub use write::{parent, refuse_existing, refuse_link, without_trailing, write, write_bytes};
