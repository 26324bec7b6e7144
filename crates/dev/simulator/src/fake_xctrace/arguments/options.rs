//! Reads the options of a command, by a table of those that each version knows.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::fake_xctrace::version::Build;

/// The reason why a command line is refused.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fake_xctrace) struct UsageError(pub(in crate::fake_xctrace) String);

/// Words that follow an option. Only an option with [`Values`](Takes::Values) may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    Values,
    /// All words to the end.
    Rest,
}

/// An option, what follows it, and the first version that knows it.
pub(super) type KnownOption = (&'static str, Takes, Build);

/// The name of a word that no option takes, for commands that know such a word.
pub(super) const FILE: &str = "FILE";

/// The options of a command, with their values.
#[derive(Debug, Default)]
pub(super) struct Options(BTreeMap<&'static str, Vec<OsString>>);

impl Options {
    /// Reads all words. Refuses what is not known to the version, and values that lack or repeat.
    pub(super) fn read(
        mut words: impl Iterator<Item = OsString>,
        known: &[KnownOption],
        build: Build,
    ) -> Result<Self, UsageError> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            let shown = word.to_string_lossy();
            let is_file = !shown.starts_with('-');
            let wanted = if is_file { FILE } else { &*shown };
            let mut found = known.iter().filter(|(_, _, first)| *first <= build);
            let Some((name, takes, _)) = found.find(|(name, ..)| *name == wanted) else {
                return Err(UsageError(format!("Unrecognized option: {shown}")));
            };
            if options.has(name) && *takes != Takes::Values {
                return Err(repeated(name));
            }

            let values = options.0.entry(name).or_default();
            match takes {
                Takes::Nothing if is_file => values.push(word),
                Takes::Nothing => {}
                Takes::Value | Takes::Values => {
                    values.push(words.next().ok_or_else(|| missing(name))?);
                }
                Takes::Rest => values.extend(words.by_ref()),
            }
        }
        Ok(options)
    }

    /// Tells whether the option was given.
    pub(super) fn has(&self, option: &str) -> bool {
        self.0.contains_key(option)
    }

    /// Takes out all values of an option.
    pub(super) fn values(&mut self, option: &str) -> Vec<OsString> {
        self.0.remove(option).unwrap_or_default()
    }

    /// Takes out the last value of an option, which is the one that counts.
    pub(super) fn value(&mut self, option: &str) -> Option<OsString> {
        self.values(option).pop()
    }

    /// Takes out the last value of an option as text.
    pub(super) fn text(&mut self, option: &str) -> Option<String> {
        Some(self.value(option)?.to_string_lossy().into_owned())
    }

    /// Takes out all values of an option as texts.
    pub(super) fn texts(&mut self, option: &str) -> Vec<String> {
        let values = self.values(option).into_iter();
        values
            .map(|value| value.to_string_lossy().into_owned())
            .collect()
    }
}

/// Makes the error for an option whose value is missing.
pub(super) fn missing(option: &str) -> UsageError {
    UsageError(format!("Missing value for option: {option}"))
}

/// Makes the error for an option that is there too often.
pub(super) fn repeated(option: &str) -> UsageError {
    UsageError(format!("Option given more than once: {option}"))
}
