//! Errors of Metal's calls.

use objc2_foundation::NSError;

use crate::error::Error;

/// Returns an error for an object that Metal returned as `nil`.
pub(super) fn missing(what: &str) -> Error {
    Error::Metal {
        what: what.to_owned(),
        why: "Metal gave no reason".to_owned(),
    }
}

/// Returns an error with Metal's own reason.
pub(super) fn refused(what: impl Into<String>, error: &NSError) -> Error {
    Error::Metal {
        what: what.into(),
        why: error.localizedDescription().to_string(),
    }
}
