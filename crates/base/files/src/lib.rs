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
//! * Nothing is written inside a bundle: it would look like a part of the recording.
//! * Files made with `sudo` belong to the user who ran it.
//! * The next process that writes to a folder removes the drafts and work folders of killed ones.

mod bundle;
mod digest;
mod limit;
mod open;
mod program;
mod size;
#[cfg(unix)]
mod writing;

pub use bundle::{has_bundle_files, is_bundle};
pub use digest::{hexadecimal, sha256, sha256_of_bytes, sha256_of_file};
pub use limit::{TooLarge, limited, too_large, too_large_error};
pub use open::{
    NotAFile, is_absent, not_a_file, open, open_unlinked, read, read_optional, read_text,
};
pub use program::find_program;
#[cfg(unix)]
pub use size::free_bytes;
pub use size::path_size;
#[cfg(unix)]
pub use writing::{
    Draft, Error, Folder, Owner, OwnershipChanges, Result, WorkFolder, give_file, give_folder,
    parent, refuse_existing, refuse_inside_bundle, refuse_link, refused, without_trailing, write,
    write_bytes,
};
