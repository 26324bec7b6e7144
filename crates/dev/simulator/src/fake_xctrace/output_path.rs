//! Chooses the path at which a recording is saved.

use std::path::PathBuf;

use super::arguments::RecordOrder;
use super::misbehavior::Misbehavior;
use super::session::Session;
use super::settings::{Exit, USAGE};

/// Returns the path of the bundle, which must not exist.
pub(super) fn find(order: &RecordOrder, session: &mut Session<'_>) -> Result<PathBuf, Exit> {
    let is_bundle = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "trace")
    };
    let Some(output) = order.output.as_ref().filter(is_bundle) else {
        session.print_error("The fake xctrace needs --output X.trace");
        return Err(Exit::Code(USAGE));
    };
    let path = match output.file_name() {
        Some(name) if session.misbehaves(Misbehavior::BasenameInCwd) => PathBuf::from(name),
        _ => output.clone(),
    };
    if path.symlink_metadata().is_ok() || session.misbehaves(Misbehavior::OutputExists) {
        session.print_error(&format!("Trace file already exists: {}", path.display()));
        return Err(Exit::Code(1));
    }
    Ok(path)
}
