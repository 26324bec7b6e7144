//! Reads the arguments of a command line, one by one.

use std::ffi::OsString;
use std::vec::IntoIter;

use crate::fake_xctrace::version::Build;

/// The reason why a command line is refused.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fake_xctrace) struct UsageError(pub(in crate::fake_xctrace) String);

impl UsageError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn option(option: &str) -> Self {
        Self(format!("Unrecognized option: {option}"))
    }

    pub(super) fn missing(option: &str) -> Self {
        Self(format!("Missing value for option: {option}"))
    }

    pub(super) fn twice(option: &str) -> Self {
        Self(format!("Option given more than once: {option}"))
    }
}

/// Sets the value of an option that may be given only once.
pub(super) fn set_once<T>(place: &mut Option<T>, option: &str, value: T) -> Result<(), UsageError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(UsageError::twice(option)),
    }
}

/// The arguments that are not read yet, and the version that reads them.
#[derive(Debug)]
pub(super) struct ArgumentReader {
    words: IntoIter<OsString>,
    build: Build,
}

impl ArgumentReader {
    pub(super) fn new(words: Vec<OsString>, build: Build) -> Self {
        Self {
            words: words.into_iter(),
            build,
        }
    }

    /// Refuses an option that is newer than the version.
    pub(super) fn require_build(&self, option: &str, first: Build) -> Result<(), UsageError> {
        if self.build >= first {
            Ok(())
        } else {
            Err(UsageError::option(option))
        }
    }

    /// Returns the next argument, if any is left.
    pub(super) fn word(&mut self) -> Option<OsString> {
        self.words.next()
    }

    /// Returns the next argument, which must be text.
    pub(super) fn text(&mut self) -> Result<Option<String>, UsageError> {
        self.word().map(text).transpose()
    }

    /// Returns the value of an option.
    pub(super) fn value(&mut self, option: &str) -> Result<OsString, UsageError> {
        self.word().ok_or_else(|| UsageError::missing(option))
    }

    /// Returns the value of an option, which must be text.
    pub(super) fn text_value(&mut self, option: &str) -> Result<String, UsageError> {
        text(self.value(option)?)
    }

    /// Returns all arguments that are left.
    pub(super) fn rest(&mut self) -> Vec<OsString> {
        self.words.by_ref().collect()
    }
}

fn text(word: OsString) -> Result<String, UsageError> {
    let text = word.into_string();
    text.map_err(|word| UsageError(format!("Not text: {}", word.display())))
}
