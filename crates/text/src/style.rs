//! Colors that only this program can ask for.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Begins every styling of this run of the program. No file can name it: it is drawn
/// anew each time.
pub(crate) static PREFIX: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}[{};", RandomState::new().hash_one(())));

/// A style of text on a terminal. `{style}` begins it, `{style:#}` ends it.
///
/// It is written as a mark that [`Door::page`](crate::Door::page) turns into what a
/// terminal obeys. The same written by anybody else stays text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style(&'static str);

impl Style {
    /// Like the rest.
    pub const NONE: Self = Self("");
    /// Bold.
    pub const BOLD: Self = Self("1");
    /// Less bright than the rest.
    pub const DIMMED: Self = Self("2");
    /// Bold and red.
    pub const BOLD_RED: Self = Self("1;31");
    /// Bold and green.
    pub const BOLD_GREEN: Self = Self("1;32");
    /// Bold and yellow.
    pub const BOLD_YELLOW: Self = Self("1;33");
    /// Bold and cyan.
    pub const BOLD_CYAN: Self = Self("1;36");
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
