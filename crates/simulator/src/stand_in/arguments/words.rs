//! The words of a command line, taken one by one.

use std::ffi::OsString;
use std::vec::IntoIter;

use super::Usage;
use crate::stand_in::version::Build;

/// The words not read yet, and the version that reads them.
#[derive(Debug)]
pub(super) struct Words {
    words: IntoIter<OsString>,
    build: Build,
}

impl Words {
    pub(super) fn new(words: Vec<OsString>, build: Build) -> Self {
        Self {
            words: words.into_iter(),
            build,
        }
    }

    /// Refuses what came later than the version.
    pub(super) fn since(&self, option: &str, first: Build) -> Result<(), Usage> {
        match self.build >= first {
            true => Ok(()),
            false => Err(Usage::option(option)),
        }
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<OsString> {
        self.words.next()
    }

    /// The next word, which must be text.
    pub(super) fn text(&mut self) -> Result<Option<String>, Usage> {
        self.word().map(text).transpose()
    }

    /// The value of an option.
    pub(super) fn value(&mut self, option: &str) -> Result<OsString, Usage> {
        self.word().ok_or_else(|| Usage::missing(option))
    }

    /// The value of an option, which must be text.
    pub(super) fn text_value(&mut self, option: &str) -> Result<String, Usage> {
        text(self.value(option)?)
    }

    /// All the rest.
    pub(super) fn rest(&mut self) -> Vec<OsString> {
        self.words.by_ref().collect()
    }
}

fn text(word: OsString) -> Result<String, Usage> {
    let text = word.into_string();
    text.map_err(|word| Usage(format!("Not text: {}", word.display())))
}
