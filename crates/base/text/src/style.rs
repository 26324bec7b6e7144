//! Styles terminal text in a way that text from outside cannot forge.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Prefix of every style mark in this run of the program. It is random, so that no file can
/// contain it.
pub(crate) static PREFIX: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}[{};", RandomState::new().hash_one(())));

/// Style of text on a terminal: `{style}` begins it, `{style:#}` ends it.
///
/// A style is written as a mark that [`SafeWriter::page`](crate::SafeWriter::page) turns into
/// an escape sequence. Escape sequences from anywhere else stay text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style(&'static str);

impl Style {
    /// The terminal's default style.
    pub const NONE: Self = Self("");
    /// The bold style, in the default color.
    pub const BOLD: Self = Self("1");
    /// The dimmed style, in the default color.
    pub const DIMMED: Self = Self("2");
    /// The bold style, in red.
    pub const BOLD_RED: Self = Self("1;31");
    /// The bold style, in green.
    pub const BOLD_GREEN: Self = Self("1;32");
    /// The bold style, in yellow.
    pub const BOLD_YELLOW: Self = Self("1;33");
    /// The bold style, in cyan.
    pub const BOLD_CYAN: Self = Self("1;36");

    /// Returns the style with the parameters of an escape sequence, such as `38;5;178` for one of 256
    /// colors.
    #[must_use]
    pub const fn of(parameters: &'static str) -> Self {
        Self(parameters)
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let parameters = if f.alternate() { "0" } else { self.0 };
        write!(f, "{}{parameters}m", *PREFIX)
    }
}
