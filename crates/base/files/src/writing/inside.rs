//! Keeps files out of bundles.

use std::path::Path;

use super::error::{Error, Result};
use crate::bundle::bundle_around;

/// Refuses a path inside a bundle: a file there would look like a part of the recording.
///
/// # Errors
///
/// Fails if a folder around the path is a bundle, or has the name of one.
pub fn refuse_inside_bundle(path: &Path) -> Result<()> {
    match bundle_around(path) {
        Some(bundle) => Err(Error::InsideBundle {
            path: path.to_owned(),
            bundle,
        }),
        None => Ok(()),
    }
}
