//! Writes files and folders as a whole or not at all, and gives them to their owner.

mod draft;
mod error;
mod folder;
mod give;
mod inside;
mod owner;
mod ownership_changes;
mod walk;
mod work_folder;
mod write;

pub use draft::Draft;
pub use error::{Error, Result, io as refused};
pub use folder::Folder;
pub use give::{give_file, give_folder};
pub use inside::refuse_inside_bundle;
pub use owner::Owner;
pub use ownership_changes::OwnershipChanges;
pub use work_folder::WorkFolder;
pub use write::{parent, refuse_existing, refuse_link, without_trailing, write, write_bytes};
